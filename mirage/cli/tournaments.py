"""The paper's ranking method: `mirage rank --paper`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage.cli.output import Format, note, progress, show

if TYPE_CHECKING:
    from mirage.battles.referee import Referee
    from mirage.ranking.settings import RankSettings
    from mirage.store import Arena

COLUMNS = ("language", "system", "rating", "low", "high", "rank", "tournaments", "failed", "rated", "reason")
"""Columns of `rank --paper`."""


def as_published(arena: Arena, referee: Referee, settings: RankSettings, *, how: Format) -> None:
    """Run the tournaments and print each system's mean rating with the published kind of interval."""
    from mirage.ranking.tournaments import tournament_rows, tournaments

    with progress("Tournaments") as update:
        result = tournaments(arena, referee, settings, progress=update)
    show(tournament_rows(result), COLUMNS, how)
    for line in (result.method, *result.remarks()):
        note(line)


def keep_tournaments(arena: Arena, referee: Referee, settings: RankSettings) -> None:
    """Write every tournament of a referee into the arena, keeping those of other referees."""
    from mirage.ranking import tournaments

    with progress("Storing"):
        tournaments.keep_tournaments(arena.path, referee, tournaments=settings.draws, seed=settings.seed)
