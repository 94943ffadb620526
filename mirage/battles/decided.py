"""What each judge's verdicts on each battle come to, as columns: `decisions` of a whole table at once.

    battles = decided(judgments)
    battles.judges[battles.judge[k]], battles.label[k]       # who decided the battle k, and what

The rule is that of `mirage.battles.decision`; where battles are looked up one at a time, use `decisions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import codes
from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS, points, swap, with_grades

if TYPE_CHECKING:
    import pyarrow as pa

Places = NDArray[np.intp]
Array = NDArray[np.float64]

_POINTS = np.array([points(FIRST), points(SECOND), points(TIE)])
_SWAPPED = np.array([swap(FIRST), swap(SECOND), swap(TIE)])


@dataclass(frozen=True, eq=False)
class DecidedBattles:
    """The M battles of which a judge's verdict could be read, a row a judge and battle: by judge, language, query and
    systems.
    """

    judges: tuple[str, ...]
    """Judges, by name."""
    languages: tuple[str, ...]
    """Languages, by code."""
    queries: tuple[str, ...]
    """Queries, by id."""
    systems: tuple[str, ...]
    """Systems, by name."""
    judge: Places
    """M: the judge, as its place in `judges`."""
    language: Places
    """M: the language."""
    query: Places
    """M: the query."""
    first: Places
    """M: the system whose name comes first."""
    second: Places
    """M: the other system."""
    label: Places
    """M: `FIRST`, `SECOND` or `TIE`."""
    points: Array
    """M: mean points of the first system."""
    of: Places
    """V: the battle of each readable verdict, as its place among the M; ascending."""
    verdict_points: Array
    """V: points that the verdict gives the first system."""
    swapped: NDArray[np.bool_]
    """V: whether the second system's answer was shown first."""


def decided(judgments: pa.Table) -> DecidedBattles:
    """Decide every battle of a table of judgments.

    Args:
        judgments: columns judge, language, query_id, system_a, system_b, verdict, and points where there are grades.
    """
    n = len(judgments)
    judges, judge = codes(judgments["judge"])
    languages, language = codes(judgments["language"])
    queries, query = codes(judgments["query_id"])
    systems, both = codes(judgments["system_a"], judgments["system_b"])
    words, word = codes(judgments["verdict"])
    shown = np.array([VERDICTS[name] for name in words], dtype=np.intp)[word]
    grades = np.full(n, np.nan)
    if "points" in judgments.column_names:
        grades = judgments["points"].to_numpy().astype(np.float64)
    shown = with_grades(shown, grades)
    rows = np.flatnonzero(shown != UNPARSED)
    shown, grades, a, b = shown[rows], grades[rows], both[:n][rows], both[n:][rows]
    of_shown = np.where(np.isnan(grades), _POINTS[shown], grades)
    swapped = a > b
    labels = np.where(swapped, _SWAPPED[shown], shown)
    taken = np.where(swapped, 1 - of_shown, of_shown)
    first, second = np.where(swapped, b, a), np.where(swapped, a, b)
    s, key = len(systems), judge[rows].astype(np.int64)
    for column, width in ((language[rows], len(languages)), (query[rows], len(queries)), (first, s), (second, s)):
        key = key * width + column
    order = np.argsort(key, kind="stable")
    key, labels = key[order], labels[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    sizes = np.diff(starts, append=len(key))
    head = order[starts]
    least, most, total = (
        operation.reduceat(values, starts) if len(starts) else np.zeros(0, values.dtype)
        for operation, values in ((np.minimum, labels), (np.maximum, labels), (np.add, taken[order]))
    )
    return DecidedBattles(
        judges,
        languages,
        queries,
        systems,
        judge[rows][head],
        language[rows][head],
        query[rows][head],
        first[head],
        second[head],
        np.where(least == most, least, TIE),
        total / sizes,
        np.repeat(np.arange(len(starts)), sizes),
        taken[order],
        swapped[order],
    )
