"""Votes and verdicts about the same battles, side by side.

A battle is a question and two systems, whatever the order they were shown in; its first system is the one whose name
comes first. A vote for `both_bad` is a tie against referees that have no such verdict; a `skip` is no opinion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.errors import UnknownName
from mirage.votes.rows import Vote

if TYPE_CHECKING:
    import pyarrow as pa

Battle = tuple[str, str, str, str]
"""Language, query_id, and the two systems by name."""
FIRST, SECOND, TIE = 0, 1, 2
_OF_VOTE = {"A": FIRST, "B": SECOND, "tie": TIE, "both_bad": TIE}
_OF_VERDICT = {"A": FIRST, "B": SECOND, "tie": TIE}
_POINTS = (1.0, 0.0, 0.5)


@dataclass(frozen=True, slots=True)
class Said:
    """What one judge said of one battle, in all orders it was shown."""

    label: int
    """`FIRST`, `SECOND` or `TIE`: what every readable verdict says; where they differ (the order was flipped, or one is
    a tie), a tie."""
    points: float
    """Mean points of the first system: what a graded verdict gives it, else 1 for a win and 0.5 for a tie."""
    flipped: bool
    """Whether the orders do not agree about the winner."""
    order: float = 0.0
    """In which order the judge saw the two: 1 where the first system was always shown first, -1 where the second, 0
    where both orders were."""


def battle(vote: Vote) -> Battle:
    """The battle of a vote."""
    first, second = sorted((vote.system_a, vote.system_b))
    return vote.language, vote.query_id, first, second


def label(vote: Vote) -> int | None:
    """What a vote says of its battle: `FIRST`, `SECOND`, `TIE`; None for a skip."""
    outcome = _OF_VOTE.get(vote.vote)
    return None if outcome is None else _turned(outcome, vote.system_a > vote.system_b)


def points(outcome: int) -> float:
    """Points of the first system."""
    return _POINTS[outcome]


def _turned(outcome: int, turned: bool) -> int:
    return {FIRST: SECOND, SECOND: FIRST, TIE: TIE}[outcome] if turned else outcome


def judged(judgments: pa.Table, *, among: Iterable[Battle] | None = None) -> dict[str, dict[Battle, Said]]:
    """What each judge said of each battle.

    Args:
        judgments: table `judgments`.
        among: the battles that are asked about; None for all.

    Returns:
        By judge and battle; battles without a readable verdict are not in it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    selection = None if among is None else set(among)
    names = ("judge", "language", "query_id", "system_a", "system_b", "verdict")
    graded = "points" in judgments.column_names
    rows = judgments.select([*names, *(["points"] if graded else [])])
    if selection is not None:
        ids = pa.array(sorted({battle_key[1] for battle_key in selection}), pa.string())
        rows = rows.filter(pc.is_in(rows["query_id"], value_set=ids))
    grades = rows["points"].to_pylist() if graded else [None] * len(rows)
    by_judge: dict[str, dict[Battle, list[tuple[int, float, bool]]]] = {}
    columns = (rows[name].to_pylist() for name in names)
    for judge, language, query, a, b, verdict, grade in zip(*columns, grades, strict=True):
        outcome = _OF_VERDICT.get(verdict)
        turned = a > b
        battle_key = (language, query, b, a) if turned else (language, query, a, b)
        if outcome is None and grade is not None:
            outcome = _nearest(grade)
        if outcome is not None and (selection is None or battle_key in selection):
            of_first = points(outcome) if grade is None else grade
            record = (_turned(outcome, turned), 1 - of_first if turned else of_first, turned)
            by_judge.setdefault(judge, defaultdict(list))[battle_key].append(record)
    return {
        judge: {battle_key: _said(verdicts) for battle_key, verdicts in by_battle.items()}
        for judge, by_battle in sorted(by_judge.items())
    }


def _nearest(grade: float) -> int:
    """What a graded verdict comes to: the value whose points are nearest, a tie between two."""
    return TIE if 0.25 <= grade <= 0.75 else FIRST if grade > 0.5 else SECOND


def _said(verdicts: Sequence[tuple[int, float, bool]]) -> Said:
    labels, grades, turned = zip(*verdicts, strict=True)
    same = len(set(labels)) == 1
    n = len(verdicts)
    return Said(labels[0] if same else TIE, sum(grades) / n, not same, 1 - 2 * sum(turned) / n)


def of_judge(verdicts: Mapping[str, Mapping[Battle, Said]], judge: str) -> Mapping[Battle, Said]:
    """The verdicts of one judge.

    Raises:
        UnknownName: if it has none here.
    """
    if judge not in verdicts:
        raise UnknownName("judge", judge, verdicts)
    return verdicts[judge]


def people(votes: Iterable[Vote]) -> pa.Table:
    """Votes as verdicts: a row for each vote that is an opinion.

    Args:
        votes: those that stand (`standing`).

    Returns:
        Columns language, query_id, system_a, system_b (as shown) and verdict (`A`, `B` or `tie`), in the order of the
        votes.
    """
    import pyarrow as pa

    names = ("language", "query_id", "system_a", "system_b")
    opinions = [vote for vote in votes if vote.vote in _OF_VOTE]
    columns = {name: [getattr(vote, name) for vote in opinions] for name in names}
    columns["verdict"] = ["tie" if vote.vote == "both_bad" else vote.vote for vote in opinions]
    return pa.table(columns, schema=pa.schema([(name, pa.string()) for name in (*names, "verdict")]))
