"""Stages without a model, in order, and applying them to tables in memory.

    tables = derive(tables, {"outcomes": {}, "features": {"tools": tools}})

`mirage.pipeline.steps` runs the same stages on an arena, with the model-based ones in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage.ranking.stage import (
    JUDGED_RATINGS,
    JUDGED_TOURNAMENTS,
    RELEVANCE_RATINGS,
    RELEVANCE_TOURNAMENTS,
    rated_with,
)
from mirage.ranking.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS, predicted_with
from mirage.stages.features.stage import FEATURES
from mirage.stages.generate.stage import BASELINES
from mirage.stages.judge.stage import HEURISTIC_JUDGMENTS
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.stages.stage import Tables
from mirage.store.writing import Provenance, Settings

STAGES = (
    BASELINES,
    OUTCOMES,
    TERM_ASSIGNMENTS,
    FEATURES,
    HEURISTIC_JUDGMENTS,
    RELEVANCE_RATINGS,
    JUDGED_RATINGS,
    RELEVANCE_TOURNAMENTS,
    JUDGED_TOURNAMENTS,
    RELEVANCE_PREDICTIONS,
    JUDGED_PREDICTIONS,
)
"""Every stage without a model after the sources, in order."""


def provenance(origin: Provenance, tables: Tables) -> dict[str, Provenance]:
    """Return the provenance of each table, with how ratings and predictions of each judge were made."""

    def of_judges(table: str, made: Callable[[pa.Table], dict[str, Any]]) -> Settings:
        rows = tables[table]
        judges = sorted(rows["judge"].unique().to_pylist())
        return {judge: made(rows.filter(pc.equal(rows["judge"], judge))) for judge in judges}

    predicted = of_judges("predictions", lambda rows: predicted_with(rows["regressor"].unique().to_pylist()))
    made: dict[str, Settings] = {"ratings": of_judges("ratings", lambda _: rated_with())}
    made |= {"predictions": predicted, "importances": predicted}
    return {table: replace(origin, settings=made.get(table, {})) for table in tables}


def derive(tables: Tables, options: Mapping[str, Mapping[str, Any]]) -> dict[str, pa.Table]:
    """Apply some stages to tables, in the order of `STAGES`.

    `options` has the options of each stage to apply, by its name. Baselines' answers are added to existing answers;
    rows of several stages in one table are concatenated.
    """
    derived = dict(tables)
    added = {"answers"}
    for stage in STAGES:
        if stage.name not in options:
            continue
        for name, table in stage.run(derived, **options[stage.name]).items():
            together = name in added and name in derived
            derived[name] = pa.concat_tables([derived[name], table]) if together else table
            added.add(name)
    return derived
