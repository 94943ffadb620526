"""Systems of an arena and their runs: the current run under the system's name, earlier runs as `NAME@DATE`; removal.

An earlier run is a system like any other: it has its answers, outcomes, features and verdicts, and every page and
command takes its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput, Outdated, UnknownName
from mirage.store.arena import Arena, open_arena
from mirage.store.lineage import ABOUT, SYSTEMS, derived_tables
from mirage.store.runs import settings_of
from mirage.store.upsert import NewRows, retry_outdated, upsert
from mirage.store.writing import Provenance
from mirage.text.dates import today, utc_day

if TYPE_CHECKING:
    import pyarrow as pa

_EARLIER = re.compile(r"(.+)@(\d{4}-\d{2}-\d{2})(~\d+)?")
"""Name of an earlier run. Versions such as `claude@20240620` have no dashes, and are not runs."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """Result of keeping a run."""

    arena: Arena
    """The arena after it."""
    name: str
    """Name of the kept run."""
    rows: dict[str, int]
    """Renamed rows by table."""


def keep_run(path: Path, system: str, *, date: str | None = None, made_by: str) -> KeptRun:
    """Rename the present run of a system to `NAME@DATE`, in every table and in one transaction.

    Outcomes, features and verdicts stay with their answers; ratings and what else is derived from the set of systems
    is removed. Votes stay with the system's name.

    Args:
        path: the arena's folder.
        system: the system.
        date: day of the run; None for the day of its last answer.
        made_by: the command, for the manifest.

    Raises:
        ArenaError: if there is no arena, or it cannot be written.
        UnknownName: if no table has the system.
        BadInput: if it is an earlier run already, its date is unknown, is later than today, or differs from that of
            its answers.
    """

    def write() -> KeptRun:
        arena = open_arena(path)
        name = _name_kept(arena, system, date)
        own_list = "SELECT 1 FROM answers WHERE system = ? AND retriever = ? LIMIT 1"
        has_list = "answers" in arena.tables and len(arena.sql(own_list, [system, system])) > 0
        parts: dict[str, NewRows] = {}
        about_systems = derived_tables(ABOUT)
        for table in arena.tables:
            sides = _sides(table) or (["retriever"] if table == "retrieved" and has_list else [])
            if not sides or table == "published" or table in about_systems:
                continue
            own = _of_system(arena.read(table), sides, system)
            if not len(own):
                continue
            # A RAG service's passages are the list of a retriever with its name.
            renamed = _rename(own, [*sides, "retriever"] if table == "answers" else sides, system, name)
            # The card is of both runs, and other systems may use the list.
            replaced = renamed if table in ("systems", "retrieved") else own
            parts[table] = NewRows(renamed, replaced.select(list(schema.key(table))))
        stale = {table for table in derived_tables(parts) if table in about_systems}

        made = settings_of(arena, "answers", system)
        result = upsert(
            path,
            parts,
            made_by=Provenance(made_by, settings={} if made is None else {name: made}),
            check=_check_unchanged(arena),
            stale=stale,
        )
        return KeptRun(result.arena, name, {table: len(part.new) for table, part in parts.items()})

    return retry_outdated(write)


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
    """Return a check that the arena is unchanged since it was read."""

    def check(current: Arena) -> None:
        if current.version != arena.version:
            raise Outdated("another program has changed the arena", where=arena.address)

    return check


def _name_kept(arena: Arena, system: str, date: str | None) -> str:
    """Return the name under which the present run of a system is kept."""
    names = system_names(arena, ("answers", "outcomes", "judgments"))
    if system not in names:
        raise UnknownName("system", system, names, where=arena.address)
    if earlier := _EARLIER.fullmatch(system):
        raise BadInput(f"{system} is an earlier run already", do=f"name the system: {earlier[1]}")
    last, day = None, None if date is None else utc_day(date, where="--date")
    if "answers" in arena.tables:
        last = arena.sql("SELECT max(run_date) AS day FROM answers WHERE system = ?", [system])["day"][0].as_py()
    if day is None and last is None:
        raise BadInput(
            f"the date of the present run of {system} is unknown",
            where=arena.address,
            do="give it: --date 2026-11-20; or import the answers again with --set run_date=2026-11-20",
        )
    if day is not None and last is not None and day != last:
        raise BadInput(f"{system} was run on {last}, not on {day}", where=arena.address, do="omit --date")
    if day is not None and day > today():
        raise BadInput(f"{day} is in the future", where="--date", do="give the day on which the system was run")
    first = f"{system}@{day or last}"
    return next(name for name in chain([first], (f"{first}~{number}" for number in count(2))) if name not in names)


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


def _rename(rows: pa.Table, sides: list[str], system: str, name: str) -> pa.Table:
    """Return rows with another name of a system."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for side in sides:
        is_named = pc.fill_null(pc.equal(rows[side], system), False)
        names = pc.if_else(is_named, name, rows[side]).cast(pa.string())
        rows = rows.set_column(rows.column_names.index(side), rows.schema.field(side), names)
    return rows
