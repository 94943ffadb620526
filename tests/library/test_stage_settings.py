"""Options of the commands agree with the settings records: every field has its option, with the same default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any

import pytest
import typer

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


AGREEMENTS = (
    Agreement(
        "generate",
        (GenerateSettings,),
        renamed={"tokens": "--tokenizer"},
        without={"model": "a record of the service's options", "queries": "set by --shard"},
        other_default={"system": "named after model and retriever", "template": "the command has the common one"},
        more={
            "--baselines": "answers without a model",
            "--shard": "which part of the queries",
            "--map": "paths in the responses of a RAG service",
            "--body": "body of requests to a RAG service",
            "--samples": "how many times",
        },
    ),
    Agreement(
        "features",
        (MeasureSettings,),
        more={"--shard": "which part of the queries"},
    ),
    Agreement(
        "judge",
        (JudgeSettings, BattleSample),
        without={"sample": "the record whose fields are options", "repeat": "counted up to --repeats"}
        | {"possible": "set by --until"},
        other_default={"criterion": "loaded by its name, from a rubric or from a prompt"},
        more={
            "--shard": "which part of the queries",
            "--repeats": "how many times",
            "--passport": "makes the battles",
            "--rubric": "where the criterion comes from",
            "--prompt": "where the criterion comes from",
            **dict.fromkeys(("--until", "--rounds", "--random"), "settings of adaptive judging"),
        },
    ),
    Agreement(
        "retrieve",
        (RetrieveSettings,),
        renamed={"kind": "--retriever"},
        without={"about": "made from the model"},
        other_default={"name": "named after kind and model"},
        more={
            "--query-prefix": "argument of the dense search",
            "--passage-prefix": "argument of the dense search",
            "--reranker": "argument of the reranker",
            "--device": "argument of the reranker",
        },
    ),
    Agreement(
        "evaluate",
        (EvaluateSettings, BattleSample),
        renamed={"kind": "--as"},
        without={
            "options": "made from --map, --set and --value",
            "sample": "the record whose fields are options",
            "model": "a record of the service's options",
            "battles": "only `mirage judge` reads a list",
            "known": "only `mirage judge` examines a judge",
            "possible": "set by --until of `mirage judge`",
        },
        more={
            "--into": "where the arena is written",
            "--open": "opens the explorer afterwards",
            "--yes": "agrees to the cost beforehand",
            "--map": "names of the file's fields",
            "--set": "default values of the file's fields",
            "--value": "meanings of the file's values",
        },
    ),
)


def defaults_of(command: str) -> dict[str, Any]:
    """Default of every option of a command, by its name."""
    parameters = typer.main.get_command(app).commands[command].params  # type: ignore[attr-defined]
    return {name: parameter.default for parameter in parameters for name in parameter.opts if name.startswith("-")}


def plain(value: Any) -> Any:
    """No selection is None for an option and may be empty in a record."""
    return None if value in ((), [], None, MISSING) else value


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
