"""Joint ranking of two runs of one system in two arenas, linked by the systems that both met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirage.battles.judge import choose_judge
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking.board import read_decisions
from mirage.ranking.bootstrap import rank_battles
from mirage.ranking.settings import RankSettings

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.ranking.bootstrap import RankingReport
    from mirage.store import Arena


def rank_runs(
    arena: Arena,
    first: str,
    against: Arena,
    second: str,
    judge: str | None,
    settings: RankSettings,
) -> tuple[RankingReport, str]:
    """Rank the systems of an arena together with one system of another arena.

    With relevance labels the two meet on every query of both. With a judge or nuggets they are linked by the systems of
    the first arena that the second met in its own: systems of the same name are identical. A query_id in both arenas is
    one query.

    Args:
        arena: holds the first system; all its battles count.
        first: its name, for the error message.
        against: holds the second; its battles with systems of the first arena count.
        second: its name there.
        judge: judge of both, `relevance` or `nuggets`; None for the only one of the first arena.
        settings: settings of the ranking.

    Returns:
        The ranking, and the name of the second system in it: the arena's name is appended if the first arena has a
        system of that name.

    Raises:
        UnknownName: if a judge, language or system has no battles.
        NotEnoughData: if no battle of the second system is with one of the first arena.
    """
    import pyarrow as pa

    by = settings.judge(choose_judge(arena, judge))
    (table, _), (other, _) = (read_decisions(side, by, settings) for side in (arena, against))
    sides = ("system",) if by.by_labels else ("system_a", "system_b")
    known, theirs = _names(table, sides), _names(other, sides)
    if second not in theirs:
        raise UnknownName("system", second, sorted(theirs), where=against.address)
    label = second
    while label in known:
        label = f"{label} ({against.name})"
    rows = _rename_system(_of(other, sides, second, known), sides, second, label)
    if not len(rows):
        raise NotEnoughData(
            f"{second} met no system of {arena.address} in {against.address}, so nothing links it to {first}",
            do="compare by rate, nuggets or feature:NAME, or let both runs meet the same systems",
        )
    both = pa.concat_tables([table, rows.select(table.column_names)])
    return rank_battles(by.battles(both, languages=settings.languages), settings), label


def _names(table: pa.Table, sides: Sequence[str]) -> set[str]:
    import pyarrow.compute as pc

    return {name for side in sides for name in pc.unique(table[side]).to_pylist()}


def _of(table: pa.Table, sides: Sequence[str], system: str, opponents: set[str]) -> pa.Table:
    """Return the rows of a system, with battles only against the opponents."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(sides) == 1:
        return table.filter(pc.equal(table[sides[0]], system))
    others = pa.array(sorted(opponents - {system}), pa.string())
    first, second = (table[side] for side in sides)
    as_first = pc.and_(pc.equal(first, system), pc.is_in(second, value_set=others))
    as_second = pc.and_(pc.equal(second, system), pc.is_in(first, value_set=others))
    return table.filter(pc.or_(as_first, as_second))


def _rename_system(table: pa.Table, sides: Sequence[str], system: str, label: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for side in sides:
        names = pc.if_else(pc.equal(table[side], system), label, table[side])
        table = table.set_column(table.column_names.index(side), table.schema.field(side), names.cast(pa.string()))
    return table
