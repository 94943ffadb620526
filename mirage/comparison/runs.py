"""Two runs of one system in two arenas, ranked together: what links them is the systems that both of them met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirage import schema
from mirage.battles.referee import Referee, only_judge, referees
from mirage.errors import NotEnoughData, UnknownName
from mirage.rank.ranking import rank_by

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.rank import Ranking
    from mirage.store import Arena


def rank_runs(
    arena: Arena,
    first: str,
    against: Arena,
    second: str,
    referee: str | None,
    *,
    languages: Sequence[str] | None,
    parser: schema.Parser,
    draws: int,
    seed: int,
) -> tuple[Ranking, str]:
    """Rank the systems of an arena beside one of another arena.

    By relevance labels the two meet on every query of both. By a judge they meet through the systems of the first arena
    that the second met in its own: systems of the same name count as the same. A query_id of both arenas is one query.

    Args:
        arena: holds the first system; all its battles count.
        first: its name, for the error.
        against: holds the second; its battles with systems of the first arena count.
        second: its name there.
        referee: who decides in both; None for the only one of the first arena.
        languages: codes; None for all.
        parser: whose outcomes count, by relevance labels.
        draws: bootstrap draws.
        seed: their seed.

    Returns:
        The ranking, and the name of the second system in it: with that of its arena if the first arena has such a name.

    Raises:
        UnknownName: if a referee, language or system has no battles.
        NotEnoughData: if no battle of the second system is with one of the first arena.
    """
    import pyarrow as pa

    name = only_judge(referees(arena, panel=True) if referee else referees(arena), referee, noun="referee")
    decider = Referee.named(name)
    table, other = arena.read(decider.table), against.read(decider.table)
    sides = ("system",) if decider.by_labels else ("system_a", "system_b")
    known, theirs = _names(table, sides), _names(other, sides)
    if second not in theirs:
        raise UnknownName("system", second, sorted(theirs), where=against.address)
    label = second
    while label in known:
        label = f"{label} ({against.name})"
    rows = _renamed(_of(other, sides, second, known), sides, second, label)
    if not len(rows):
        raise NotEnoughData(
            f"{second} met no system of {arena.address} in {against.address}, so that nothing links it to {first}",
            do="compare by rate, nuggets or feature:NAME, or let both runs meet the same systems",
        )
    both = pa.concat_tables([table, rows.select(table.column_names)])
    return rank_by(both, name, parser=parser, languages=languages, draws=draws, seed=seed), label


def _names(table: pa.Table, sides: Sequence[str]) -> set[str]:
    import pyarrow.compute as pc

    return {name for side in sides for name in pc.unique(table[side]).to_pylist()}


def _of(table: pa.Table, sides: Sequence[str], system: str, opponents: set[str]) -> pa.Table:
    """The rows of a system; those of battles only with the opponents."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(sides) == 1:
        return table.filter(pc.equal(table[sides[0]], system))
    others = pa.array(sorted(opponents - {system}), pa.string())
    first, second = (table[side] for side in sides)
    as_first = pc.and_(pc.equal(first, system), pc.is_in(second, value_set=others))
    as_second = pc.and_(pc.equal(second, system), pc.is_in(first, value_set=others))
    return table.filter(pc.or_(as_first, as_second))


def _renamed(table: pa.Table, sides: Sequence[str], system: str, label: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for side in sides:
        names = pc.if_else(pc.equal(table[side], system), label, table[side])
        table = table.set_column(table.column_names.index(side), table.schema.field(side), names.cast(pa.string()))
    return table
