"""Conversion of votes to verdicts: the battle of a vote, its label, and its verdict.

`decision.VERDICTS` gives the labels: `both_bad` is a tie. A `skip` is no opinion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mirage.battles.decision import READABLE, TIE, VERDICTS, Battle, swap
from mirage.battles.decision import battle as battle_of
from mirage.people.votes.rows import IMPORTED, UNNAMED, Evidence, Vote, majority

if TYPE_CHECKING:
    import pyarrow as pa

_OF_VOTE = {word: VERDICTS[word] for word in READABLE}


def battle(vote: Vote) -> Battle:
    """Return the battle of a vote."""
    return battle_of(vote.language, vote.query_id, vote.system_a, vote.system_b)


def label(vote: Vote) -> int | None:
    """Return the label of a vote: `FIRST`, `SECOND`, `TIE`; None for a skip."""
    outcome = _OF_VOTE.get(vote.vote)
    return swap(outcome) if outcome is not None and vote.system_a > vote.system_b else outcome


def is_named(vote: Vote) -> bool:
    """Return whether it is known who voted: imported verdicts and data frames may not say."""
    return vote.voter != UNNAMED and not (vote.why == IMPORTED and vote.vote_id.endswith("/"))


def imported_votes(judgments: pa.Table, arena: str) -> list[Vote]:
    """Return the verdicts of people among judgments as votes, one row per verdict.

    Nothing chose their battles to suit a judge, so they count like votes on battles drawn at random.

    Args:
        judgments: columns of `schema.Judgment`: its key, `verdict`, `person` and `voter`.
        arena: name of the arena.

    Returns:
        Them, in the order of the table.
    """
    import pyarrow.compute as pc

    rows = judgments.filter(pc.fill_null(judgments["person"], False))
    names = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "voter")
    columns = (rows[name].to_pylist() for name in names)
    return [
        Vote(
            vote_id="/".join((IMPORTED, language, query_id, a, b, judge, voter or "")),
            time="",
            arena=arena,
            language=language,
            query_id=query_id,
            system_a=a,
            system_b=b,
            voter=voter or judge,
            vote="skip" if verdict == "unparsed" else verdict,
            control=True,
            why=IMPORTED,
        )
        for language, query_id, judge, a, b, verdict, voter in zip(*columns, strict=True)
    ]


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
    columns["verdict"] = ["tie" if _OF_VOTE[vote.vote] == TIE else vote.vote for vote in opinions]
    return pa.table(columns, schema=pa.schema([(name, pa.string()) for name in (*names, "verdict")]))


def majorities(log: Iterable[Evidence]) -> dict[tuple[str, str, str, int, str], str]:
    """Return the majority vote on each citation (`rows.majority`), by language, query, system, sentence and passage."""
    opinions: dict[tuple[str, str, str, int, str], list[str]] = defaultdict(list)
    for vote in log:
        opinions[vote.language, vote.query_id, vote.system, vote.sentence, vote.passage_id].append(vote.vote)
    return {key: majority(words) for key, words in opinions.items()}
