"""Every stage that needs no model, in order, and applying some of them to tables in memory.

    tables = derive(tables, {"outcomes": {}, "features": {"tools": tools}})

`steps.py` runs the same stages on an arena, with those between them that ask a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirage.errors import UnknownName
from mirage.features.stage import FEATURES
from mirage.generate.stage import BASELINES
from mirage.judge.stage import HEURISTIC_JUDGMENTS
from mirage.nuggets.stage import TERM_ASSIGNMENTS
from mirage.outcomes.stage import OUTCOMES
from mirage.rank.stage import JUDGED_RATINGS, JUDGED_TOURNAMENTS, RELEVANCE_RATINGS, RELEVANCE_TOURNAMENTS
from mirage.stage import Tables
from mirage.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS

if TYPE_CHECKING:
    import pyarrow as pa

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
"""Every stage after the sources that needs no model, in order."""


def derive(tables: Tables, options: Mapping[str, Mapping[str, Any]]) -> dict[str, pa.Table]:
    """Apply some stages to tables, in the order of `STAGES`, whatever the order they are named in.

    Args:
        tables: the tables that are there, by name. Answers of baselines are added to those there are.
        options: the stages to apply, by name, each with its options.

    Returns:
        These tables and those that the stages make; rows that several stages make of one table are put together.

    Raises:
        UnknownName: if there is no stage of a name.
        MirageError: what a stage raises.
    """
    import pyarrow as pa

    names = [stage.name for stage in STAGES]
    for name in options:
        if name not in names:
            raise UnknownName("stage", name, names)
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
