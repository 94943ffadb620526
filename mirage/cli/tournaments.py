"""The paper's ranking method: `mirage rank --paper`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirage import schema
from mirage.cli.output import Format, note, progress, show

if TYPE_CHECKING:
    from mirage.store import Arena

COLUMNS = ("language", "system", "rating", "low", "high", "rank", "tournaments", "failed", "rated", "reason")
"""Columns of `rank --paper`."""


def as_published(
    arena: Arena,
    referee: str,
    *,
    skill: schema.Skill,
    parser: schema.Parser,
    languages: Sequence[str] | None,
    draws: int,
    seed: int,
    how: Format,
) -> None:
    """Run the tournaments and print each system's mean rating with the published kind of interval."""
    from mirage.ranking.tournaments import tournament_rows, tournaments

    with progress("Tournaments") as update:
        result = tournaments(
            arena,
            referee,
            skill=skill,
            parser=parser,
            languages=languages,
            tournaments=draws,
            seed=seed,
            progress=update,
        )
    show(tournament_rows(result), COLUMNS, how)
    for line in (result.method, *result.remarks()):
        note(line)


def keep_tournaments(arena: Arena, referee: str, *, draws: int, seed: int) -> None:
    """Write every tournament of a referee into the arena, keeping those of other referees."""
    from mirage.ranking import tournaments

    with progress("Storing"):
        tournaments.keep_tournaments(arena.path, referee, tournaments=draws, seed=seed)
