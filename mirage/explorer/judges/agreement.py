"""Agreement for the pages: of people with each judge and each other, and of judges with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.battles.judge import verdict_judges
from mirage.battles.verdict_rows import COLUMNS, programs
from mirage.people import votes
from mirage.people.votes.agreement import judges_agreement

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


def votes_by_language(log: Iterable[votes.Vote], languages: Sequence[str]) -> dict[str, int]:
    """Return the number of random votes by language; 0 for languages without votes."""
    counts = Counter(vote.language for vote in log if vote.control)
    return {code: counts[code] for code in languages}


def agreement_rows(arena: Arena, people: Iterable[votes.Agreement], languages: Sequence[str]) -> pa.Table:
    """Return the agreement of judges and people in some languages.

    Args:
        arena: the arena.
        people: result of `views.people.agreement`.
        languages: codes, and `all`.

    Returns:
        The columns of `votes.Agreement`, with `one` before them: the side compared with the judge, `people` or a
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
    """Return the agreement of every two judges on the battles both decided, keyed by the first; the second is the
    judge. People are compared by their votes.
    """
    if len(verdict_judges(arena)) < 2:
        return ()
    codes = [code for code in languages if code in arena.languages("judgments")]
    judgments = arena.read("judgments", columns=(*COLUMNS, "person"), languages=codes)
    return tuple(judges_agreement(programs(judgments)))


def _schema() -> pa.Schema:
    import pyarrow as pa

    from mirage import schema

    return pa.schema([pa.field("one", pa.string(), nullable=False), *schema.from_rows(votes.Agreement, []).schema])
