"""Systems of an arena: their names and removal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import Outdated, UnknownName
from mirage.store.arena import Arena, open_arena
from mirage.store.lineage import ABOUT, SYSTEMS, derived_tables
from mirage.store.upsert import NewRows, retry_outdated, upsert
from mirage.store.writing import sweep

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """Result of removing a system."""

    arena: Arena
    """The arena after the removal."""
    rows: dict[str, int]
    """Removed rows by table, including all rows of derived tables."""


def remove_system(path: Path, system: str, *, made_by: str) -> RemovalResult:
    """Remove a system from every table of an arena in one transaction, and delete tables derived from its rows.

    Raises:
        ArenaError: if there is no arena, or it cannot be written.
        UnknownName: if no table has the system.
    """

    def write() -> RemovalResult:
        arena = open_arena(path)
        parts: dict[str, NewRows] = {}
        emptied: list[str] = []
        names: set[str] = set()
        about_systems = derived_tables(ABOUT)
        for table in arena.tables:
            sides = _sides(table)
            if not sides or table in about_systems:
                continue
            rows = arena.read(table)
            names.update(name for side in sides for name in rows[side].unique().to_pylist() if name)
            own = _of_system(rows, sides, system)
            if len(own) == len(rows):
                emptied.append(table)
            elif len(own):
                parts[table] = NewRows(rows.slice(0, 0), own.select(list(schema.key(table))))
        if system not in names:
            sweep(path)
            raise UnknownName("system", system, names, where=arena.address)
        stale = {*emptied, *(name for name in derived_tables((*parts, *emptied)) if name in about_systems)}

        result = upsert(path, parts, made_by=made_by, check=_check_unchanged(arena), stale=stale)
        before = {table: arena.rows(table) for table in arena.tables}
        after = {table: result.arena.rows(table) for table in result.arena.tables}
        gone = {table: n - after.get(table, 0) for table, n in before.items() if after.get(table, 0) < n}
        return RemovalResult(result.arena, gone)

    return retry_outdated(write)


def _sides(table: str) -> list[str]:
    """Return the columns of a table that name systems."""
    return [side for side in SYSTEMS if side in schema.arrow_schema(table).names]


def _check_unchanged(arena: Arena) -> Callable[[Arena], None]:
    """Return a check that nobody has changed the arena since it was read."""

    def check(current: Arena) -> None:
        if current.version != arena.version:
            raise Outdated("another program has changed the arena", where=arena.address)

    return check


def system_names(arena: Arena, tables: Iterable[str]) -> list[str]:
    """Return every system that has a row in one of these tables, those that the arena lacks aside, by name."""
    names: set[str] = set()
    for table in tables:
        if table in arena.tables:
            for side in (name for name in SYSTEMS if name in schema.key(table)):
                names.update(arena.sql(f'SELECT DISTINCT "{side}" AS name FROM {table}')["name"].to_pylist())  # noqa: S608  # our own names
    return sorted(names)


def _of_system(rows: pa.Table, sides: list[str], system: str) -> pa.Table:
    """Return the rows that name a system."""
    import pyarrow.compute as pc

    masks: list[Any] = [pc.fill_null(pc.equal(rows[side], system), False) for side in sides]
    return rows.filter(masks[0] if len(masks) == 1 else pc.or_(*masks))
