"""Decisions of a whole table of judgments, as columns.

    battles = decide_battles(judgments)
    battles.judges[battles.judge[k]], battles.label[k]       # judge and decision of battle k

Applies the rule of `mirage.battles.decision`; to look up single battles, use `decisions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import read_verdicts

if TYPE_CHECKING:
    import pyarrow as pa

Places = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DecidedBattles:
    """The M battles with a parsed verdict, one row per judge and battle, sorted by judge, language, query and
    systems.
    """

    judges: tuple[str, ...]
    """Judges, sorted by name."""
    languages: tuple[str, ...]
    """Language codes, sorted."""
    queries: tuple[str, ...]
    """Query ids, sorted."""
    systems: tuple[str, ...]
    """Systems, sorted by name."""
    judge: Places
    """M: index in `judges`."""
    language: Places
    """M: index in `languages`."""
    query: Places
    """M: index in `queries`."""
    first: Places
    """M: index of the system whose name sorts first."""
    second: Places
    """M: index of the other system."""
    label: Places
    """M: `FIRST`, `SECOND` or `TIE`."""
    points: Array
    """M: mean points of the first system."""
    of: Places
    """V: index of the battle of each parsed verdict, among the M; ascending."""
    verdict_points: Array
    """V: points the verdict gives the first system."""
    swapped: NDArray[np.bool_]
    """V: whether the second system's answer was shown first."""


def decide_battles(judgments: pa.Table) -> DecidedBattles:
    """Decide every battle of a table of judgments.

    Args:
        judgments: columns judge, language, query_id, system_a, system_b, verdict, and points where there are grades.
    """
    verdicts = read_verdicts(judgments).select_parsed()
    decided = verdicts.decide()
    head, rows = decided.head, decided.rows
    return DecidedBattles(
        verdicts.judges,
        verdicts.languages,
        verdicts.queries,
        verdicts.systems,
        verdicts.judge[head],
        verdicts.language[head],
        verdicts.query[head],
        verdicts.first[head],
        verdicts.second[head],
        decided.label.astype(np.intp),
        decided.points,
        decided.of[rows],
        verdicts.points[rows],
        verdicts.swapped[rows],
    )
