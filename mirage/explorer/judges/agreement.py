"""Agreement as the pages show it: of people with each judge and with each other, and of judges with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mirage.ranking as rank
from mirage.battles.referee import judges
from mirage.battles.verdict_rows import programs
from mirage.people import votes
from mirage.people.votes.agreement import judges_agreement

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

STATISTICS = {
    "raw": "Share of the pairs of opinions that agree about the winner, or about a tie.",
    "kappa": "Cohen's kappa: agreement beyond chance. 1 is perfect, 0 is what chance gives.",
    "alpha": "Krippendorff's alpha: agreement beyond chance with any number of voters. 1 is perfect, 0 is chance.",
}
"""What is told of two who decide, and what it means."""


def voted(log: Iterable[votes.Vote], languages: Sequence[str]) -> dict[str, int]:
    """How many votes on battles drawn at random each of some languages has: 0 where nobody has voted."""
    counts = Counter(vote.language for vote in log if vote.control)
    return {code: counts[code] for code in languages}


def agreement_rows(arena: Arena, people: Iterable[votes.Agreement], languages: Sequence[str]) -> pa.Table:
    """Who agrees with whom in some languages.

    Args:
        arena: the arena.
        people: what `views.people.agreement` found.
        languages: codes, and `all`.

    Returns:
        The columns of `votes.Agreement`, with `one` before them: who is compared with the referee, `people` or a
        judge. People first, then judges.
    """
    import pyarrow as pa

    records: list[dict[str, Any]] = [
        {"one": votes.PEOPLE, **asdict(row)} for row in people if row.language in languages
    ]
    codes = tuple(code for code in languages if code != "all")
    for judge, row in between(arena, codes):
        if row.language in languages:
            records.append({"one": judge, **asdict(row)})
    return pa.Table.from_pylist(records, schema=_schema())


@lru_cache(maxsize=16)
def between(arena: Arena, languages: tuple[str, ...]) -> tuple[tuple[str, votes.Agreement], ...]:
    """How far every two judges agree on the battles that both decided: the first judge, and the figures with the
    second as referee. Every verdict counts, since no queue chose them. People are compared by their votes.
    """
    if len(judges(arena)) < 2:
        return ()
    codes = [code for code in languages if code in arena.languages("judgments")]
    judgments = arena.read("judgments", columns=(*rank.COLUMNS, "person"), languages=codes)
    return tuple(judges_agreement(programs(judgments)))


def _schema() -> pa.Schema:
    import pyarrow as pa

    from mirage import schema

    return pa.schema([pa.field("one", pa.string(), nullable=False), *schema.from_rows(votes.Agreement, []).schema])
