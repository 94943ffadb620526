"""Keywords of the API and options of the commands against the records of settings: same names, same defaults."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from types import MappingProxyType
from typing import Any

import pytest
from commands import build_command

import mirage
from mirage.cli import app
from mirage.cli.connection import Connection
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.presets import Endpoint
from mirage.pipeline.evaluating import EvaluateSettings
from mirage.ranking.settings import CompareSettings, RankSettings
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.judge.stage import BattleSample, JudgeSettings
from mirage.stages.retrieve.stage import RetrieveSettings
from mirage.stages.testset.settings import TestsetSettings

SUBJECT = "what the function is about, not how it is done"
OUTPUT = "output of the command"
OF_JUDGES = "selects verdicts of judges: on the command line and the page, not in Python"
BY_LABELS = "applies to relevance labels of an arena, not to rows of battles"
FIXED = "a gate in CI has the default draws"


@dataclass(frozen=True)
class Door:
    """A function of the API or a command, with the records of its settings."""

    function: Callable[..., Any] | str
    """The function, or the words of the command."""
    records: tuple[type, ...]
    others: Mapping[str, str]
    """Parameters that are no fields, with the reason."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Fields that are no parameters, with the reason."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Parameters with a default of their own, with the reason."""


FIXED_LIMITS = dict.fromkeys(("backoff", "longest_pause", "max_body", "batch_size"), "for tests")
RANKED = {"judge": SUBJECT}
NONE: Mapping[str, str] = MappingProxyType({})
OF_SERVICE = {setting.name for setting in fields(Connection)} | {"rpm", "tpm", "format", "help"}
SHARD = {"shard": "which part of the queries"}
OF_SAMPLE = {"sample": "its fields are keywords", "battles": "lists of battles are for `mirage judge`"}
DOORS = {
    "api.rank": Door(
        mirage.rank,
        (RankSettings,),
        {"battles": SUBJECT, **RANKED},
        dict.fromkeys(("without", "exclude_own", "consistent", "control", "makers"), OF_JUDGES)
        | dict.fromkeys(("skill", "parser"), BY_LABELS),
    ),
    "mirage rank": Door(
        "rank default",
        (RankSettings,),
        {
            **dict.fromkeys(("judge", "tag", "votes", "max_price", "max_latency"), SUBJECT),
            **dict.fromkeys(("store", "reference", "scale"), OUTPUT),
            "no_own_family": "`exclude_own`",
        },
        {"makers": "makers.csv of the arena", "exclude_own": "--no-own-family"}
        | dict.fromkeys(("without", "assigner", "nugget_margin", "penalty"), "for Python only"),
        {"control": "a comma-separated list, None for nothing"},
    ),
    "api.compare": Door(
        mirage.compare,
        (CompareSettings,),
        {
            **dict.fromkeys(("data", "first", "second", "against"), SUBJECT),
        },
    ),
    "mirage compare": Door(
        "compare",
        (CompareSettings,),
        {
            **dict.fromkeys(("against", "tag"), SUBJECT),
            **dict.fromkeys(("require", "junit", "markdown"), OUTPUT),
        },
        {"draws": FIXED} | dict.fromkeys(("assigner", "moved", "seed"), "for Python only"),
    ),
    "api.evaluate": Door(
        mirage.evaluate,
        (EvaluateSettings, BattleSample),
        {"data": SUBJECT, "into": SUBJECT, **dict.fromkeys(("names", "values"), "make the options")},
        {
            "options": "made from `names` and `values`",
            **OF_SAMPLE,
            "known": "examines a judge, which ranks nothing",
        },
    ),
    "api.generate": Door(
        mirage.generate,
        (GenerateSettings,),
        {"arena": SUBJECT, "rag": "another kind of model", "samples": "how many times"},
        {"tokens": "the default counter", "queries": "set by shards"},
        {"system": "named after the model", "template": "the common one", "model": SUBJECT},
    ),
    "api.testset": Door(
        mirage.testset,
        (TestsetSettings,),
        dict.fromkeys(("corpus", "into", "model"), SUBJECT),
        {},
        {"languages": "those of the passages"},
    ),
    "api.features": Door(
        mirage.features, (MeasureSettings,), {"arena": SUBJECT, "model": SUBJECT, "executor": "where it runs"}
    ),
    "api.judge": Door(
        mirage.judge,
        (JudgeSettings, BattleSample),
        {"arena": SUBJECT, "model": SUBJECT, "rubric": "makes the criterion"}
        | {"repeats": "how many times"}
        | {"passport": "makes the battles"},
        {**OF_SAMPLE, "repeat": "counted up to `repeats`"},
        {"judge": "named after the model", "criterion": "loaded by its name"},
    ),
    "api.chat_model": Door(
        mirage.chat_model,
        (Settings, Limits),
        {
            **dict.fromkeys(("base_url", "provider", "key_env"), "the service"),
            "model_seed": "`seed` of the model",
            "options": "of a model here",
        },
        {"seed": "`model_seed`", "grace": "for the command line", **FIXED_LIMITS},
        {"model": SUBJECT},
    ),
    "mirage generate": Door(
        "generate default",
        (GenerateSettings,),
        {"samples": "how many times", **SHARD},
        {"queries": "set by --shard", "tokens": "the default counter", "seed": "for Python only"},
        {"system": "named after model and retriever", "template": "the common one", "model": SUBJECT},
    ),
    "mirage generate retrieve": Door("generate retrieve", (RetrieveSettings,), {}),
    "mirage measure features": Door(
        "measure features",
        (MeasureSettings,),
        SHARD,
        dict.fromkeys(("assigner", "grader"), "every one is measured"),
        {"only": "None for all"},
    ),
    "mirage judge": Door(
        "judge default",
        (JudgeSettings, BattleSample),
        {"repeats": "how many times", **SHARD},
        {**OF_SAMPLE, "repeat": "counted up to --repeats"},
        {"judge": SUBJECT, "criterion": "loaded by its name, or from a rubric"},
    ),
    "mirage evaluate": Door(
        "evaluate",
        (EvaluateSettings, BattleSample),
        {"as": "`kind`", "into": SUBJECT, "open": "opens the explorer", "yes": "agrees to the cost"}
        | dict.fromkeys(("map", "set", "value"), "`options`"),
        {"kind": "--as", "options": "--map, --set and --value", "known": "only `mirage judge` examines a judge"}
        | dict.fromkeys(("draws", "seed"), "for Python only")
        | OF_SAMPLE,
    ),
}


def default(entry: Field[Any]) -> Any:
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def parameters(function: Callable[..., Any] | str) -> dict[str, Any]:
    """Default of each parameter of a function, or of each option of a command."""
    if not isinstance(function, str):
        return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    found = build_command(app)
    for word in function.split():
        found = found.commands[word]
    options = {name: option.default for option in found.params for name in option.opts if name.startswith("--")}
    return {name[2:].replace("-", "_"): default for name, default in options.items()}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_keywords_and_options_are_the_fields_of_the_settings_with_their_defaults(door: Door) -> None:
    known = {entry.name: default(entry) for record in door.records for entry in fields(record)}
    given = parameters(door.function)
    of_service = OF_SERVICE if isinstance(door.function, str) else set()
    assert given.keys() - known.keys() - of_service == door.others.keys()
    assert known.keys() - given.keys() == door.lacking.keys()
    different = {name for name in known.keys() & given.keys() if known[name] != given[name]}
    assert different == door.defaults.keys()


def test_settings_that_cannot_be_are_refused() -> None:
    from mirage.errors import BadInput

    for make in (
        lambda: CompareSettings(margin=-1.0),
        lambda: CompareSettings(margin=float("nan")),
    ):
        with pytest.raises(BadInput):
            make()


@pytest.mark.parametrize(
    ("record", "renamed", "without"),
    [
        (Settings, {"seed": "model_seed"}, NONE),
        (Limits, NONE, FIXED_LIMITS),
        (
            Endpoint,
            {"secret": "key_env", "name": "service"},
            {"limit": "known for each provider"},
        ),
        (ChatModel, {"options": "engine_args"}, dict.fromkeys(("settings", "limits", "endpoint"), "records")),
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
