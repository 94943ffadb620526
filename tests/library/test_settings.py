"""Keywords of the API and options of the commands against the records of settings: same names, same defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

import pytest

from mirage import api, llm
from mirage.cli.comparing import compare
from mirage.cli.ranking import rank
from mirage.pipeline import EvaluateSettings
from mirage.ranking.settings import CompareSettings, RankSettings
from mirage.stages.abstain import RiskSettings
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.judge.stage import BattleSample, JudgeSettings
from mirage.stages.testset.settings import TestsetSettings

SUBJECT = "what the function is about, not how it is done"
OUTPUT = "output of the command"
OF_JUDGES = "selects verdicts of judges: on the command line and the page, not in Python"
BY_LABELS = "applies to relevance labels of an arena, not to rows of battles"
LABELLED = "levels by people's labels, which ranking does not know"
FIXED = "a gate in CI has the default draws"


@dataclass(frozen=True)
class Door:
    """A function of the API or a command, with the records of its settings."""

    function: Callable[..., Any]
    records: tuple[type, ...]
    others: Mapping[str, str]
    """Parameters that are no fields, with the reason."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Fields that are no parameters, with the reason."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Parameters with a default of their own, with the reason."""


RANKED = {"judge": SUBJECT}
OF_SAMPLE = {"sample": "its fields are keywords", "battles": "lists of battles are for `mirage judge`"}
DOORS = {
    "api.rank": Door(
        api.rank,
        (RankSettings,),
        {"battles": SUBJECT, **RANKED},
        dict.fromkeys(("without", "exclude_own", "consistent", "control", "makers"), OF_JUDGES)
        | dict.fromkeys(("skill", "parser", "languages"), BY_LABELS),
    ),
    "mirage rank": Door(
        rank,
        (RankSettings,),
        {
            **dict.fromkeys(("dir_", "judges", "tags", "by", "votes", "max_price", "max_latency"), SUBJECT),
            **dict.fromkeys(("store_", "output_format", "reference", "scale"), OUTPUT),
        },
        {"makers": "makers.csv of the arena"}
        | dict.fromkeys(("without", "assigner", "nugget_margin", "penalty"), "for Python only"),
        {"control": "a comma-separated list, None for nothing"},
    ),
    "api.compare": Door(
        api.compare,
        (CompareSettings,),
        {
            **dict.fromkeys(("data", "first", "second", "against", "since"), SUBJECT),
            "corrected": LABELLED,
        },
    ),
    "mirage compare": Door(
        compare,
        (CompareSettings,),
        {
            **dict.fromkeys(("arena", "first", "second", "against", "tags"), SUBJECT),
            **dict.fromkeys(("require", "junit", "markdown", "output_format"), OUTPUT),
            "corrected": LABELLED,
        },
        {"draws": FIXED} | dict.fromkeys(("assigner", "moved", "seed"), "for Python only"),
    ),
    "api.evaluate": Door(
        api.evaluate,
        (EvaluateSettings, BattleSample),
        {"data": SUBJECT, "into": SUBJECT, **dict.fromkeys(("names", "values"), "make the options")},
        {
            "options": "made from `names` and `values`",
            **OF_SAMPLE,
            "possible": "set by --until",
            "known": "examines a judge, which ranks nothing",
        },
    ),
    "api.generate": Door(
        api.generate,
        (GenerateSettings,),
        {"arena": SUBJECT, "rag": "another kind of model", "samples": "how many times"},
        {"tokens": "the default counter", "queries": "set by shards"},
        {"system": "named after the model", "template": "the common one", "model": SUBJECT},
    ),
    "api.testset": Door(
        api.testset,
        (TestsetSettings,),
        {
            **dict.fromkeys(("corpus", "into", "model"), SUBJECT),
            "length": "cuts documents",
        },
        {},
        {"languages": "those of the passages", "types": "None for all"},
    ),
    "api.features": Door(
        api.features, (MeasureSettings,), {"arena": SUBJECT, "model": SUBJECT, "executor": "where it runs"}
    ),
    "api.judge": Door(
        api.judge,
        (JudgeSettings, BattleSample),
        {"arena": SUBJECT, "model": SUBJECT, **dict.fromkeys(("rubric", "prompt"), "make the criterion")}
        | {"repeats": "how many times", "until": "a goal of AdaptiveSettings", "budget": "of the model's limits"}
        | {"passport": "makes the battles"},
        {**OF_SAMPLE, "repeat": "counted up to `repeats`", "possible": "set by --until"},
        {"judge": "named after the model", "criterion": "loaded by its name"},
    ),
    "api.chat_model": Door(
        api.chat_model,
        (llm.Settings, llm.Limits),
        {
            **dict.fromkeys(("base_url", "provider", "key_env"), "the service"),
            "model_seed": "`seed` of the model",
            "options": "of a model here",
        },
        {"seed": "`model_seed`", "backoff": "for tests", "longest_pause": "beyond it a run is resumed by hand"},
        {"model": SUBJECT},
    ),
    "api.risk_coverage": Door(
        api.risk_coverage, (RiskSettings,), {"arena": SUBJECT, "signal": SUBJECT}, {"parser": "the default parser"}
    ),
}


def default(entry: Field[Any]) -> Any:
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_keywords_and_options_are_the_fields_of_the_settings_with_their_defaults(door: Door) -> None:
    known = {entry.name: default(entry) for record in door.records for entry in fields(record)}
    given = {name: p.default for name, p in inspect.signature(door.function).parameters.items()}
    assert given.keys() - known.keys() == door.others.keys()
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
