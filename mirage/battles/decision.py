"""What a referee's verdicts on one battle come to: the one rule, for every page, table and statistic that asks.

    by_judge = decisions(judgments)                      # {judge: {Battle: Decision}}
    by_judge["gpt-4o"][battle].winner                    # "first", "second" or "tie"

A ranking is not made from decisions: it counts every verdict by itself (`Battles`), each order as one battle. Decisions
are for the Battle page, people's votes, statistics of judges and preference pairs. The rule is that of MT-Bench (Zheng
et al. 2023, section 3.4): a system wins a battle if every readable verdict on it names that system, in whatever order
the answers were shown. Verdicts that do not agree, also a win and a tie, come to a tie.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

FIRST, SECOND, TIE, UNPARSED = range(4)
"""Labels of a decision: the first system wins, the second wins, neither, or no verdict could be read."""
Winner = Literal["first", "second", "tie", "unparsed"]
WINNERS: tuple[Winner, ...] = ("first", "second", "tie", "unparsed")
"""Their names, in the same order."""
VERDICTS: dict[str, int] = {"A": FIRST, "B": SECOND, "tie": TIE, "both_bad": TIE, "unparsed": UNPARSED}
"""What each verdict of `schema.Verdict` comes to, seen from the system whose answer was shown first. Everything that
reads verdicts reads this table: a new verdict is a word there and a line here."""
READABLE = tuple(name for name, label in VERDICTS.items() if label != UNPARSED)
"""The verdicts that decide something."""
_SWAPPED = {FIRST: SECOND, SECOND: FIRST, TIE: TIE}
_POINTS = (1.0, 0.0, 0.5)


class Battle(NamedTuple):
    """A query and two systems, whatever the order their answers were shown in."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    first: str
    """The system whose name comes first."""
    second: str
    """The other system."""


def battle(language: str, query_id: str, system_a: str, system_b: str) -> Battle:
    """The battle of two systems in either order."""
    first, second = sorted((system_a, system_b))
    return Battle(language, query_id, first, second)


@dataclass(frozen=True, slots=True)
class Decision:
    """What all verdicts of one referee on one battle come to."""

    label: int
    """`FIRST`, `SECOND`, `TIE` or `UNPARSED`, by the rule of this module."""
    points: float
    """Mean points of the first system, in [0, 1]: what a graded verdict gives it, else 1 for a win and 0.5 for a tie;
    NaN if no verdict could be read."""
    consistent: bool
    """Whether all readable verdicts agree: the same system wins, or all are ties."""
    order: float = 0.0
    """The order in which the answers were shown: 1 the first system always first, -1 the second, 0 both orders."""
    n_verdicts: int = 1
    """Verdicts on the battle."""
    n_read: int = 1
    """Those of them that could be read."""

    @property
    def winner(self) -> Winner:
        """The label's name."""
        return WINNERS[self.label]


class Shown(NamedTuple):
    """One verdict, seen from the first system of its battle."""

    label: int
    """`FIRST`, `SECOND`, `TIE` or `UNPARSED`."""
    points: float
    """Points of the first system; NaN if the verdict could not be read."""
    swapped: bool
    """Whether the second system's answer was shown first."""


def points(label: int) -> float:
    """Points that the first system takes by a label: 1, 0 or 0.5."""
    return _POINTS[label]


def swap(label: int) -> int:
    """The label with the two systems exchanged."""
    return _SWAPPED[label]


def shown(verdict: str, *, swapped: bool, grade: float | None = None) -> Shown:
    """A verdict, seen from the first system of its battle.

    Args:
        verdict: one of `VERDICTS`, of the answers as they were shown.
        swapped: whether the second system's answer was shown first.
        grade: points of the answer shown first, where the judge gave a grade; it stands in for a verdict that could not
            be read: from 0.25 to 0.75 a tie.
    """
    label = VERDICTS[verdict]
    if label == UNPARSED and grade is not None:
        label = TIE if 0.25 <= grade <= 0.75 else FIRST if grade > 0.5 else SECOND
    if label == UNPARSED:
        return Shown(UNPARSED, math.nan, swapped)
    of_shown = _POINTS[label] if grade is None else grade
    return Shown(_SWAPPED[label], 1 - of_shown, True) if swapped else Shown(label, of_shown, False)


def with_grades(label: NDArray[Any], grades: NDArray[Any]) -> NDArray[Any]:
    """Labels of verdicts as they were shown, a grade in the place of one that could not be read, as in `shown`.

    Args:
        label: n: `FIRST`, `SECOND`, `TIE` or `UNPARSED`.
        grades: n: points of the answer shown first; NaN where the judge gave no grade.
    """
    import numpy as np

    graded = np.where((grades >= 0.25) & (grades <= 0.75), TIE, np.where(grades > 0.5, FIRST, SECOND))
    return np.where((label == UNPARSED) & ~np.isnan(grades), graded, label)


def decide(verdicts: Sequence[Shown]) -> Decision:
    """What the verdicts of one referee on one battle come to, by the rule of this module."""
    read = [verdict for verdict in verdicts if verdict.label != UNPARSED]
    n = len(read)
    if not n:
        return Decision(UNPARSED, math.nan, True, 0.0, len(verdicts), 0)
    agree = all(verdict.label == read[0].label for verdict in read)
    return Decision(
        read[0].label if agree else TIE,
        sum(verdict.points for verdict in read) / n,
        agree,
        1 - 2 * sum(verdict.swapped for verdict in read) / n,
        len(verdicts),
        n,
    )


def decisions(
    judgments: pa.Table, *, among: Collection[Battle] | None = None, unparsed: bool = False
) -> dict[str, dict[Battle, Decision]]:
    """What each judge's verdicts on each battle come to.

    Args:
        judgments: table `judgments`.
        among: the battles that are wanted; None for all.
        unparsed: whether battles without a readable verdict are in the result.

    Returns:
        Decisions by judge, sorted by name, and battle, in the order of the table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = None if among is None else set(among)
    names = ("judge", "language", "query_id", "system_a", "system_b", "verdict")
    graded = "points" in judgments.column_names
    rows = judgments.select([*names, *(["points"] if graded else [])])
    if wanted is not None:
        ids = pa.array(sorted({battle.query_id for battle in wanted}), pa.string())
        rows = rows.filter(pc.is_in(rows["query_id"], value_set=ids))
    grades = rows["points"].to_pylist() if graded else [None] * len(rows)
    verdicts: dict[str, dict[Battle, list[Shown]]] = {}
    columns = (rows[name].to_pylist() for name in names)
    for judge, language, query_id, a, b, verdict, grade in zip(*columns, grades, strict=True):
        swapped = a > b
        key = Battle(language, query_id, b, a) if swapped else Battle(language, query_id, a, b)
        if wanted is None or key in wanted:
            verdicts.setdefault(judge, {}).setdefault(key, []).append(shown(verdict, swapped=swapped, grade=grade))
    decided = {
        judge: {key: decide(each) for key, each in by_battle.items()} for judge, by_battle in sorted(verdicts.items())
    }
    if unparsed:
        return decided
    readable = {
        judge: {key: decision for key, decision in by_battle.items() if decision.n_read}
        for judge, by_battle in decided.items()
    }
    return {judge: by_battle for judge, by_battle in readable.items() if by_battle}
