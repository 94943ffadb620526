"""Options of the commands agree with the settings records: every field has its option, with the same default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any

import pytest
from commands import build_command

from mirage import llm
from mirage.cli import app
from mirage.cli.connection import Connection
from mirage.pipeline import EvaluateSettings
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.judge.stage import BattleSample, JudgeSettings
from mirage.stages.retrieve.stage import RetrieveSettings

NONE: Mapping[str, str] = MappingProxyType({})
OF_SERVICE = {"--" + name.name.replace("_", "-") for name in fields(Connection)} | {"--rpm", "--tpm"}
PRINTING = {"--format", "--help", "-h"}


@dataclass(frozen=True)
class Agreement:
    """A command, the records it fills, and each exception with its reason."""

    command: str
    records: tuple[Any, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Option by field, where the names differ."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Reason by field without an option."""
    other_default: Mapping[str, str] = field(default_factory=dict)
    """Reason by field whose option has another default."""
    more: Mapping[str, str] = field(default_factory=dict)
    """Reason by option that is no field."""


SHARD = {"--shard": "which part of the queries"}
OF_BATTLES = {
    "sample": "the record whose fields are options",
    "battles": "lists are for Python",
    "possible": "set by --until",
}
AGREEMENTS = (
    Agreement(
        "generate default",
        (GenerateSettings,),
        without={"queries": "set by --shard", "tokens": "the default counter", "seed": "for Python only"},
        other_default={"system": "named after model and retriever", "template": "the command has the common one"},
        more={"--baselines": "answers without a model", "--samples": "how many times", **SHARD},
    ),
    Agreement(
        "measure features",
        (MeasureSettings,),
        without=dict.fromkeys(("assigner", "grader"), "every one is measured"),
        more=SHARD,
    ),
    Agreement(
        "judge default",
        (JudgeSettings, BattleSample),
        without={"repeat": "counted up to --repeats", **OF_BATTLES},
        other_default={"criterion": "loaded by its name, from a rubric or from a prompt"},
        more={"--repeats": "how many times", "--prompt": "where the criterion comes from", **SHARD}
        | dict.fromkeys(("--until", "--rounds"), "settings of adaptive judging"),
    ),
    Agreement("generate retrieve", (RetrieveSettings,)),
    Agreement(
        "evaluate",
        (EvaluateSettings, BattleSample),
        renamed={"kind": "--as"},
        without={"options": "own formats need no names", "known": "only `mirage judge` examines a judge"}
        | dict.fromkeys(("draws", "seed"), "for Python only")
        | OF_BATTLES,
        more={"--into": "where the arena is written", "--open": "opens the explorer", "--yes": "agrees to the cost"},
    ),
)


def defaults_of(command: str) -> dict[str, Any]:
    """Default of every option of a command, by its name."""
    found: Any = build_command(app)
    for word in command.split():
        found = found.commands[word]
    return {name: parameter.default for parameter in found.params for name in parameter.opts if name.startswith("-")}


def plain(value: Any) -> Any:
    """No selection is None for an option and may be empty in a record."""
    return None if value in ((), [], None, MISSING) else value


@pytest.mark.parametrize("agreement", AGREEMENTS, ids=lambda agreement: agreement.command)
def test_options_are_the_fields_of_the_settings_with_their_defaults(agreement: Agreement) -> None:
    options = defaults_of(agreement.command)
    own = {setting.name: setting for record in agreement.records for setting in fields(record)}
    names = {name: agreement.renamed.get(name, "--" + name.replace("_", "-")) for name in own}
    assert {name for name in own if names[name] not in options} == agreement.without.keys()
    assert options.keys() - set(names.values()) - OF_SERVICE - PRINTING == agreement.more.keys()
    for name in own.keys() - agreement.without.keys() - agreement.other_default.keys():
        if own[name].default is not MISSING:
            assert plain(options[names[name]]) == plain(own[name].default), name


@pytest.mark.parametrize(
    ("record", "renamed", "without"),
    [
        (llm.Settings, {"seed": "model_seed"}, NONE),
        (llm.Limits, NONE, {"backoff": "for tests", "longest_pause": "beyond it a run is resumed by hand"}),
        (
            llm.Endpoint,
            {"secret": "key_env", "name": "service"},
            {"limit": "known for each provider", "azure_version": "read from the environment"},
        ),
        (llm.ChatModel, {"options": "engine_args"}, dict.fromkeys(("settings", "limits", "endpoint"), "records")),
    ],
    ids=["settings", "limits", "endpoint", "model"],
)
def test_options_of_a_service_are_fields_of_its_records(
    record: Any, renamed: Mapping[str, str], without: Mapping[str, str]
) -> None:
    defaults = {setting.name: setting.default for setting in fields(Connection)}
    by_prompt = {"max_tokens"}  # the prompt may set another default
    for setting in fields(record):
        if setting.name in without:
            continue
        name = renamed.get(setting.name, setting.name)
        assert name in defaults
        if setting.default not in (MISSING, None) and name not in by_prompt:
            assert defaults[name] == setting.default, name


def test_the_limits_and_parameters_given_arrive_in_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-planted")
    given = {"concurrency": 3, "timeout": 9.0, "retries": 2, "price_in": 1.0, "price_out": 2.0, "budget": 3.0}
    model = Connection(model="m", base_url="https://host/v1", key_env="MY_KEY", temperature=0.5, **given).chat_model()  # type: ignore[arg-type]
    assert {name: getattr(model.limits, name) for name in given} == given
    assert (model.settings.model, model.settings.temperature) == ("m", 0.5)
    assert model.settings.service == model.service().service == "https://host/v1"
