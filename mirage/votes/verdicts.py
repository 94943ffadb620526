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
    """Mean points of the first system: 1 for a win, 0.5 for a tie."""
    flipped: bool
    """Whether the orders do not agree about the winner."""


def battle(vote: Vote) -> Battle:
    """The battle of a vote."""
    first, second = sorted((vote.system_a, vote.system_b))
    return vote.language, vote.query_id, first, second


def label(vote: Vote) -> int | None:
    """What a vote says of its battle: `FIRST`, `SECOND`, `TIE`; None for a skip."""
    said = _OF_VOTE.get(vote.vote)
    return None if said is None else _turned(said, vote.system_a > vote.system_b)


def points(said: int) -> float:
    """Points of the first system."""
    return _POINTS[said]


def _turned(said: int, turned: bool) -> int:
    return {FIRST: SECOND, SECOND: FIRST, TIE: TIE}[said] if turned else said


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

    asked = None if among is None else set(among)
    rows = judgments.select(["judge", "language", "query_id", "system_a", "system_b", "verdict"])
    if asked is not None:
        ids = pa.array(sorted({one[1] for one in asked}), pa.string())
        rows = rows.filter(pc.is_in(rows["query_id"], value_set=ids))
    found: dict[str, dict[Battle, list[int]]] = {}
    for judge, language, query, a, b, verdict in zip(*(c.to_pylist() for c in rows.columns), strict=True):
        said = _OF_VERDICT.get(verdict)
        one = (language, query, a, b) if a < b else (language, query, b, a)
        if said is not None and (asked is None or one in asked):
            found.setdefault(judge, defaultdict(list))[one].append(_turned(said, a > b))
    return {judge: {one: _said(all_) for one, all_ in by.items()} for judge, by in sorted(found.items())}


def _said(labels: Sequence[int]) -> Said:
    same = len(set(labels)) == 1
    return Said(labels[0] if same else TIE, sum(map(points, labels)) / len(labels), not same)


def of_judge(said: Mapping[str, Mapping[Battle, Said]], judge: str) -> Mapping[Battle, Said]:
    """The verdicts of one judge.

    Raises:
        UnknownName: if it has none here.
    """
    if judge not in said:
        raise UnknownName("judge", judge, said)
    return said[judge]


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
    said = [vote for vote in votes if vote.vote in _OF_VOTE]
    columns = {name: [getattr(vote, name) for vote in said] for name in names}
    columns["verdict"] = ["tie" if vote.vote == "both_bad" else vote.vote for vote in said]
    return pa.table(columns, schema=pa.schema([(name, pa.string()) for name in (*names, "verdict")]))
