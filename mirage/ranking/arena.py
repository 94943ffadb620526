"""Ranking the systems of an arena by one referee, in memory or in blocks of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mirage.battles.counts import Battles
from mirage.battles.referee import Referee
from mirage.llm.engines.tasks import Executor
from mirage.ranking.bootstrap import RankingReport, rank_battles
from mirage.ranking.large import VerdictFiles, rank_files
from mirage.ranking.ranking import read_decisions, remarks
from mirage.ranking.settings import RankSettings
from mirage.store import Arena


@dataclass(frozen=True, eq=False)
class RankResult:
    """A ranking that counts every verdict, with notes for readers."""

    ranking: RankingReport
    """The ranking."""
    notes: Sequence[str] = ()
    """Remarks on the battles it was computed from."""

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Caveats: excluded data, and quantities that the data cannot determine."""
        blocks = () if self.ranking.battles else ("counted in blocks of queries: too many battles for memory",)
        return (*self.notes, *remarks(self.ranking), *blocks)


def rank_arena(
    arena: Arena, referee: Referee, settings: RankSettings = RankSettings(), *, executor: Executor | None = None
) -> RankResult:
    """Rank the systems of an arena by one referee with every verdict.

    Args:
        arena: the arena.
        referee: the referee; `RankSettings.referee` makes it with the skill and the parser of the settings.
        settings: the settings; those that select verdicts of judges need `what_if`.
        executor: runs the counting of verdicts that do not fit in memory; None for this process.

    Raises:
        TableMissing: if the arena lacks the referee's table.
        UnknownName: if a language or judge has no battles.
        NotEnoughData: if there is no battle to rate.
        BadInput: if the settings select verdicts.
    """
    if referee.kind == "judge" and not arena.tags:
        files = VerdictFiles.of_arena(arena, languages=settings.languages)
        if files.large:
            return RankResult(rank_files(files, settings, judge=referee.name, executor=executor))
    battles, notes = read_battles(arena, referee, settings)
    return RankResult(rank_battles(battles, settings), notes)


def read_battles(
    arena: Arena, referee: Referee, settings: RankSettings = RankSettings()
) -> tuple[dict[str, Battles], list[str]]:
    """Read the battles of an arena by one referee, by language, and remarks on them. Errors as for `rank_arena`."""
    table, notes = read_decisions(arena, referee, settings)
    lacking = referee.lacking(table) if settings.languages is None else {}
    if lacking:
        notes = [*notes, "not ranked: " + ", ".join(f"{code} ({reason})" for code, reason in lacking.items())]
    return referee.battles(table, languages=settings.languages), notes
