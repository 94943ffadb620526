"""The rule that turns a judge's verdicts on one battle into a decision.

    by_judge = decisions(judgments)                      # {judge: {Battle: Decision}}
    by_judge["gpt-4o"][battle].winner                    # "first", "second" or "tie"
    battles = decide_battles(judgments)                  # all as columns
    battles.judges[battles.judge[k]], battles.label[k]   # judge and decision of battle k

Rankings do not use decisions: they count every verdict (`Battles`), each order as one battle. Decisions are for the
Battle page, votes, judge statistics and preference pairs. The rule is that of MT-Bench (Zheng et al. 2023, section
3.4): a system wins a battle if every parsed verdict names it, in whichever order the answers were shown. Verdicts that
disagree, including a win and a tie, give a tie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from mirage import schema
from mirage.battles.counts import codes
from mirage.stats.arrays import Array, Flags, Integers, Places

if TYPE_CHECKING:
    import pyarrow as pa

FIRST, SECOND, TIE, UNPARSED = range(4)
"""Labels of a decision: the first system wins, the second wins, a tie, or no parsed verdict."""
Winner = Literal["first", "second", "tie", "unparsed"]
WINNERS: tuple[Winner, ...] = get_args(Winner)
"""Names of the labels, in the same order."""
VERDICTS: dict[str, int] = {
    "A": FIRST,
    "B": SECOND,
    "tie": TIE,
    "both_bad": TIE,
    "unparsed": UNPARSED,
}
"""Label of each verdict of `schema.Verdict`, from the side of the system shown first. To add a verdict, add it there
and here.
"""
READABLE = tuple(name for name, label in VERDICTS.items() if label != UNPARSED)
"""Verdicts that give a decision."""
_SWAPPED = np.array([SECOND, FIRST, TIE, UNPARSED])
_POINTS = np.array([1.0, 0.0, 0.5, math.nan])

Labels = NDArray[np.integer[Any]]


class Battle(NamedTuple):
    """A query and two systems, regardless of the order their answers were shown in."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    first: str
    """The system whose name sorts first."""
    second: str
    """The other system."""


def battle(language: str, query_id: str, system_a: str, system_b: str) -> Battle:
    """Return the battle of two systems, given in either order."""
    first, second = sorted((system_a, system_b))
    return Battle(language, query_id, first, second)


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of all verdicts of one judge on one battle."""

    label: int
    """`FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: float
    """Mean points of the first system, in [0, 1]: the grade of a graded verdict, else 1 for a win and 0.5 for a
    tie; NaN without a parsed verdict.
    """
    consistent: bool
    """Whether all parsed verdicts agree: the same system wins, or all are ties."""
    order: float = 0.0
    """Order in which the answers were shown: 1 the first system always first, -1 the second, 0 both orders."""
    n_verdicts: int = 1
    """Number of verdicts on the battle."""
    n_read: int = 1
    """Number of parsed verdicts."""

    @property
    def winner(self) -> Winner:
        """The label's name."""
        return WINNERS[self.label]


class OrientedVerdict(NamedTuple):
    """A verdict from the side of the battle's first system."""

    label: int
    """`FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: float
    """Points of the first system; NaN for an unparsed verdict."""
    swapped: bool
    """Whether the second system's answer was shown first."""


@dataclass(frozen=True, eq=False)
class DecisionColumns:
    """The decisions on M battles from V verdicts, as columns."""

    battle: Integers
    """M: number of the battle; ascending."""
    head: Places
    """M: the first verdict on the battle."""
    of: Places
    """V: place of each verdict's battle among the M."""
    rows: Places
    """V: the verdicts, battle by battle."""
    label: Labels
    """M: `FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: Array
    """M: mean points of the first system; NaN without a parsed verdict."""
    consistent: Flags
    """M: whether all parsed verdicts agree."""
    order: Array
    """M: order in which the answers were shown, as in `Decision`."""
    n_verdicts: Places
    """M: number of verdicts."""
    n_read: Places
    """M: number of parsed verdicts."""

    def decisions(self) -> list[Decision]:
        """Return the M decisions."""
        columns = (self.label, self.points, self.consistent, self.order, self.n_verdicts, self.n_read)
        return list(map(Decision, *(column.tolist() for column in columns)))


@dataclass(frozen=True, eq=False)
class VerdictColumns:
    """The n verdicts of a table of judgments as columns, each from the side of its battle's first system."""

    judges: tuple[str, ...]
    """Judges, sorted by name."""
    languages: tuple[str, ...]
    """Language codes, sorted."""
    queries: tuple[str, ...]
    """Query ids, sorted."""
    systems: tuple[str, ...]
    """Systems, sorted by name."""
    judge: Places
    """n: index in `judges`."""
    language: Places
    """n: index in `languages`."""
    query: Places
    """n: index in `queries`."""
    first: Places
    """n: index of the system whose name sorts first."""
    second: Places
    """n: index of the other system."""
    label: Labels
    """n: `FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: Array
    """n: points of the first system; NaN for an unparsed verdict."""
    swapped: Flags
    """n: whether the second system's answer was shown first."""

    @property
    def coded(self) -> tuple[tuple[tuple[str, ...], Places], ...]:
        """Names and index of judge, language, query, first and second system."""
        return (
            (self.judges, self.judge),
            (self.languages, self.language),
            (self.queries, self.query),
            (self.systems, self.first),
            (self.systems, self.second),
        )

    @property
    def shown(self) -> Labels:
        """n: the labels for the answers in the order shown."""
        return np.where(self.swapped, _SWAPPED[self.label], self.label)

    def select(self, rows: Places) -> VerdictColumns:
        """Select verdicts by index."""
        columns = ("judge", "language", "query", "first", "second", "label", "points", "swapped")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def select_parsed(self) -> VerdictColumns:
        """Select the parsed verdicts."""
        return self.select(np.flatnonzero(self.label != UNPARSED))

    def decide(self) -> DecisionColumns:
        """Decide every battle by each judge, sorted by judge, language, query and systems."""
        key = np.zeros(len(self.judge), dtype=np.int64)
        for names, column in self.coded:
            key = key * len(names) + column
        return decide_verdicts(key, self.label, self.points, self.swapped)


@dataclass(frozen=True, eq=False)
class DecidedBattles(VerdictColumns):
    """The M battles with a parsed verdict as columns, one row per judge and battle, sorted by judge, language, query
    and systems: `label` and `points` are the decision's, `swapped` that of one verdict.
    """

    of: Places
    """V: index of the battle of each parsed verdict, among the M; ascending."""
    verdict_points: Array
    """V: points the verdict gives the first system."""
    verdict_swapped: Flags
    """V: whether the second system's answer was shown first."""


def points(label: int) -> float:
    """Return the points a label gives the first system: 1, 0 or 0.5."""
    return float(_POINTS[label])


def swap(label: int) -> int:
    """Return the label with the two systems exchanged."""
    return int(_SWAPPED[label])


def verdict_of_points(points: float) -> schema.Verdict:
    """Return the verdict for the first system's share of a battle's point; only exactly one half is a tie."""
    return "tie" if points == 0.5 else "A" if points > 0.5 else "B"


def orient_verdicts(label: Labels, swapped: Flags, grades: NDArray[np.floating] | None = None) -> tuple[Labels, Array]:
    """Express verdicts from the side of the battle's first system.

    Args:
        label: n: `FIRST`, `SECOND`, `TIE` or `UNPARSED`, for the answers in the order shown.
        swapped: n: whether the second system's answer was shown first.
        grades: n: points of the answer shown first, NaN where the judge gave no grade.

    Returns:
        n labels, and n points of the first system: the grade of a parsed verdict that has one. An unparsed verdict
        decides nothing, also with a grade, as in rankings.
    """
    shown = _POINTS[label]
    if grades is not None:
        shown = np.where(np.isnan(grades) | (label == UNPARSED), shown, grades)
    return np.where(swapped, _SWAPPED[label], label), np.where(swapped, 1 - shown, shown)


def orient_verdict(verdict: str, *, swapped: bool, grade: float | None = None) -> OrientedVerdict:
    """Express one verdict from the side of the battle's first system, as `orient_verdicts` does.

    Args:
        verdict: one of `VERDICTS`, for the answers in the order shown.
        swapped: whether the second system's answer was shown first.
        grade: points of the answer shown first, where the judge gave a grade.
    """
    grades = np.array([math.nan if grade is None else grade])
    (label,), (value,) = orient_verdicts(np.array([VERDICTS[verdict]]), np.array([swapped]), grades)
    return OrientedVerdict(int(label), float(value), swapped)


def decide_verdicts(battle: NDArray[np.integer], label: Labels, points: Array, swapped: Flags) -> DecisionColumns:
    """Decide battles from all verdicts of one judge on each.

    Args:
        battle: V: number of the battle each verdict is on.
        label: V: the verdict from the side of the battle's first system.
        points: V: points of the first system; NaN for an unparsed verdict.
        swapped: V: whether the second system's answer was shown first.
    """
    order = np.argsort(battle, kind="stable")
    key = battle[order].astype(np.int64)
    starts = np.flatnonzero(np.diff(key, prepend=key[0] - 1 if len(key) else 0))
    sizes = np.diff(starts, append=len(key))
    label, read = label[order], label[order] != UNPARSED

    def reduce(operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        return operation.reduceat(values, starts) if len(starts) else values[:0]

    n_read = reduce(np.add, read.astype(np.intp))
    # UNPARSED is the largest label, so that the minimum is that of the parsed verdicts.
    least, most = reduce(np.minimum, label), reduce(np.maximum, np.where(read, label, -1))
    total = reduce(np.add, np.where(read, points[order], 0.0))
    turned = reduce(np.add, (read & swapped[order]).astype(np.intp))
    consistent = (least == most) | (n_read == 0)
    some = np.maximum(n_read, 1)
    of = np.empty(len(key), np.intp)
    of[order] = np.repeat(np.arange(len(starts)), sizes)
    return DecisionColumns(
        battle=key[starts],
        head=order[starts],
        of=of,
        rows=order,
        label=np.where(n_read == 0, UNPARSED, np.where(consistent, least, TIE)),
        points=np.where(n_read == 0, math.nan, total / some),
        consistent=consistent,
        order=np.where(n_read == 0, 0.0, 1 - 2 * turned / some),
        n_verdicts=sizes,
        n_read=n_read,
    )


def decide(verdicts: Sequence[OrientedVerdict]) -> Decision:
    """Return the decision from all verdicts of one judge on one battle."""
    if not verdicts:
        return Decision(UNPARSED, math.nan, True, 0.0, 0, 0)
    label, value, swapped = (np.array(column) for column in zip(*verdicts, strict=True))
    return decide_verdicts(np.zeros(len(verdicts), np.int64), label, value, swapped).decisions()[0]


def read_verdicts(judgments: pa.Table, *, grades: bool = True) -> VerdictColumns:
    """Read a table of judgments as columns of verdicts.

    Args:
        judgments: columns judge, language, query_id, system_a, system_b, verdict, and points where there are grades.
        grades: whether grades count.
    """
    n = len(judgments)
    judges, judge = codes(judgments["judge"])
    languages, language = codes(judgments["language"])
    queries, query = codes(judgments["query_id"])
    systems, both = codes(judgments["system_a"], judgments["system_b"])
    words, word = codes(judgments["verdict"])
    shown = np.array([VERDICTS[name] for name in words], dtype=np.intp)[word]
    a, b = both[:n], both[n:]
    swapped = a > b
    graded = grades and "points" in judgments.column_names
    label, value = orient_verdicts(shown, swapped, judgments["points"].to_numpy().astype(float) if graded else None)
    first, second = np.minimum(a, b), np.maximum(a, b)
    return VerdictColumns(
        judges, languages, queries, systems, judge, language, query, first, second, label, value, swapped
    )


def decide_battles(judgments: pa.Table) -> DecidedBattles:
    """Decide every battle of a table of judgments; to look up single battles, use `decisions`.

    Args:
        judgments: as for `read_verdicts`.
    """
    verdicts = read_verdicts(judgments).select_parsed()
    decided = verdicts.decide()
    rows = decided.rows
    battles = replace(verdicts.select(decided.head), label=decided.label, points=decided.points)
    return DecidedBattles(
        **vars(battles),
        of=decided.of[rows],
        verdict_points=verdicts.points[rows],
        verdict_swapped=verdicts.swapped[rows],
    )


def decisions(judgments: pa.Table, *, unparsed: bool = False) -> dict[str, dict[Battle, Decision]]:
    """Return each judge's decision on each battle.

    Args:
        judgments: table `judgments`.
        unparsed: whether to include battles without a parsed verdict.

    Returns:
        Decisions by judge, sorted by name, and battle, in the order of the table.
    """
    verdicts = read_verdicts(judgments)
    columns = verdicts.decide()
    decided: dict[str, dict[Battle, Decision]] = {name: {} for name in verdicts.judges}
    heads = [[names[k] for k in column[columns.head].tolist()] for names, column in verdicts.coded]
    found = list(zip(zip(*heads, strict=True), columns.decisions(), strict=True))
    for k in np.argsort(columns.head, kind="stable").tolist():
        (name, *on), decision = found[k]
        if unparsed or decision.n_read:
            decided[name][Battle(*on)] = decision
    return {name: by_battle for name, by_battle in decided.items() if by_battle}
