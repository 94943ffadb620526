"""Votes beside verdicts: the battle of a vote, what it says of it, and votes as verdicts.

A vote for `both_bad` is a tie against referees that have no such verdict; a `skip` is no opinion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mirage.battles.decision import FIRST, SECOND, TIE, Battle, swap
from mirage.battles.decision import battle as battle_of
from mirage.votes.rows import Vote

if TYPE_CHECKING:
    import pyarrow as pa

_OF_VOTE = {"A": FIRST, "B": SECOND, "tie": TIE, "both_bad": TIE}


def battle(vote: Vote) -> Battle:
    """The battle of a vote."""
    return battle_of(vote.language, vote.query_id, vote.system_a, vote.system_b)


def label(vote: Vote) -> int | None:
    """What a vote says of its battle: `FIRST`, `SECOND`, `TIE`; None for a skip."""
    outcome = _OF_VOTE.get(vote.vote)
    return swap(outcome) if outcome is not None and vote.system_a > vote.system_b else outcome


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
