"""Ranking the systems of an arena by one referee, in memory or in blocks of queries."""

from __future__ import annotations

from dataclasses import dataclass

import mirage.ranking as rank
from mirage.battles.referee import Referee
from mirage.llm.engines.tasks import Executor
from mirage.ranking.large import VerdictFiles, rank_files
from mirage.ranking.ranking import rank_by, read_decisions, remarks
from mirage.ranking.settings import RankSettings
from mirage.store import Arena


@dataclass(frozen=True, slots=True)
class ArenaRanking:
    """The ranking of an arena, with what a reader needs besides its table."""

    ranking: rank.Ranking
    """The ranking."""
    remarks: tuple[str, ...]
    """Caveats: what was left out, and what the data cannot determine."""
    in_blocks: bool = False
    """True if the verdicts were counted in blocks of queries."""


def rank_arena(
    arena: Arena, referee: str, settings: RankSettings = RankSettings(), *, executor: Executor | None = None
) -> ArenaRanking:
    """Rank the systems of an arena by one referee with every verdict.

    Args:
        arena: the arena.
        referee: `relevance`, `nuggets`, or a judge's name.
        settings: the settings; those that select verdicts of judges need `what_if`.
        executor: runs the counting of verdicts that do not fit in memory; None for this process.

    Raises:
        TableMissing: if the arena lacks the referee's table.
        UnknownName: if a language or judge has no battles.
        NotEnoughData: if there is no battle to rate.
    """
    by_judges = Referee.from_name(referee).by_judges
    files = None if not by_judges or arena.tags else VerdictFiles.of_arena(arena, languages=settings.languages)
    if files is not None and files.large:
        ranking = rank_files(files, settings, judge=referee, executor=executor)
        return ArenaRanking(ranking, tuple(remarks(ranking)), in_blocks=True)
    table, lines = read_decisions(arena, referee, settings)
    ranking = rank_by(table, referee, settings)
    return ArenaRanking(ranking, (*lines, *remarks(ranking, table, languages=settings.languages)))
