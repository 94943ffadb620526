"""Ranking the systems of an arena, or of rows of verdicts, by one judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mirage.battles.blocks import count_blocks
from mirage.battles.counts import Battles
from mirage.battles.judge import Judge
from mirage.battles.verdict_rows import judges_of, only_judge
from mirage.errors import BadInput, UnknownName
from mirage.ranking.blocks import rate_blocks
from mirage.ranking.bootstrap import RankingReport, rank_battles
from mirage.ranking.ranking import name_absent, read_decisions, remarks
from mirage.ranking.settings import RankSettings
from mirage.store import Arena

if TYPE_CHECKING:
    import pyarrow as pa

DENSE = 60_000_000
"""Number of cells (query x system x system, about 30 bytes each) above which only the pairs that met are counted."""


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
        blocks = (
            () if self.ranking.battles else ("counted by pairs that met: too many queries for a table of all pairs",)
        )
        return (*self.notes, *remarks(self.ranking), *blocks)


def rank_arena(arena: Arena, judge: Judge, settings: RankSettings = RankSettings()) -> RankResult:
    """Rank the systems of an arena by one judge with every verdict.

    Args:
        arena: the arena.
        judge: the judge; `RankSettings.judge` makes it with the skill and the parser of the settings.
        settings: the settings; those that select verdicts of judges need `what_if`.

    Raises:
        TableMissing: if the arena lacks the judge's table.
        UnknownName: if a language or judge has no battles.
        NotEnoughData: if there is no battle to rate.
        BadInput: if the settings select verdicts.
    """
    if judge.kind == "single":
        table, notes = read_decisions(arena, judge, settings)
        return RankResult(name_absent(rank_judgments(table, settings, judge=judge.name), arena), notes)
    table, notes = read_decisions(arena, judge, settings)
    battles = judge.battles(table, languages=settings.languages)
    ranking = rank_battles(battles, settings, unranked=judge.find_unranked(table, settings.languages))
    return RankResult(name_absent(ranking, arena), notes)


def rank_judgments(
    judgments: pa.Table, settings: RankSettings = RankSettings(), *, judge: str | None = None
) -> RankingReport:
    """Rank systems by the verdicts of one judge.

    Args:
        judgments: table `judgments`.
        settings: the settings.
        judge: name of the judge; None if there is only one.

    Raises:
        BadInput: if a value cannot be read, or the settings select verdicts.
        UnknownName: if the judge or a language has no verdicts.
        NotEnoughData: if there is no battle to rate.
    """
    import pyarrow.compute as pc

    name = only_judge(judges_of(judgments), judge)
    rows = judgments.filter(pc.equal(judgments["judge"], name))
    if settings.selects_verdicts or not _needs_blocks(rows):
        return rank_battles(Judge.single(name).battles(judgments, languages=settings.languages), settings)
    parts = {
        code: rows.filter(pc.equal(rows["language"], code)) for code in sorted(rows["language"].unique().to_pylist())
    }
    for code in settings.languages or ():
        if code not in parts:
            raise UnknownName("language", code, parts, where=f"battles by {name}")
    return rate_blocks(
        {code: count_blocks(parts[code], drop_ties=settings.ties == "drop") for code in settings.languages or parts},
        judge=name,
        draws=settings.draws,
        seed=settings.seed,
        ties=settings.ties,
        penalty=settings.penalty,
    )


def _needs_blocks(judgments: pa.Table) -> bool:
    """Return whether counts of every two systems on every query would not fit in memory.

    Raises:
        BadInput: if they would not, and verdicts are weighted, which counting by pairs that met cannot do.
    """
    systems = len({*judgments["system_a"].unique().to_pylist(), *judgments["system_b"].unique().to_pylist()})
    if len(judgments) * systems**2 <= DENSE or len(judgments["query_id"].unique()) * systems**2 <= DENSE:
        return False
    if "inclusion" in judgments.column_names and judgments["inclusion"].null_count < len(judgments):
        raise BadInput(
            "verdicts with inclusion probabilities are too many to weight", do="rank fewer languages at a time"
        )
    return True


def read_battles(arena: Arena, judge: Judge, settings: RankSettings = RankSettings()) -> dict[str, Battles]:
    """Read the battles of an arena by one judge, by language. Errors as for `rank_arena`."""
    return judge.battles(read_decisions(arena, judge, settings)[0], languages=settings.languages)
