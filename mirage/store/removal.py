"""Removal of a system from an arena: its rows in every table, and tables derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirage import schema
from mirage.errors import Outdated, UnknownName
from mirage.store.arena import Arena, open_arena
from mirage.store.lineage import ABOUT, SYSTEMS, derived_tables
from mirage.store.upsert import NewRows, retry_outdated, upsert
from mirage.store.writing import sweep


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
        import pyarrow.compute as pc

        arena = open_arena(path)
        parts: dict[str, NewRows] = {}
        emptied: list[str] = []
        names: set[str] = set()
        about_systems = derived_tables(ABOUT)
        for table in arena.tables:
            sides = [name for name in SYSTEMS if name in schema.arrow_schema(table).names]
            if not sides or table in about_systems:
                continue
            rows: Any = arena.read(table)
            names.update(name for side in sides for name in rows[side].unique().to_pylist() if name)
            named = [pc.fill_null(pc.equal(rows[side], system), False) for side in sides]
            mask = named[0] if len(named) == 1 else pc.or_(*named)
            own = rows.filter(mask)
            if len(own) == len(rows):
                emptied.append(table)
            elif len(own):
                parts[table] = NewRows(rows.slice(0, 0), own.select(list(schema.key(table))))
        if system not in names:
            sweep(path)
            raise UnknownName("system", system, names, where=arena.address)
        stale = {*emptied, *(name for name in derived_tables((*parts, *emptied)) if name in about_systems)}

        def check_unchanged(current: Arena) -> None:
            if current.version != arena.version:
                raise Outdated("another program has changed the arena", where=arena.address)

        result = upsert(path, parts, made_by=made_by, check=check_unchanged, stale=stale)
        before = {table: arena.rows(table) for table in arena.tables}
        after = {table: result.arena.rows(table) for table in result.arena.tables}
        gone = {table: n - after.get(table, 0) for table, n in before.items() if after.get(table, 0) < n}
        return RemovalResult(result.arena, gone)

    return retry_outdated(write)
