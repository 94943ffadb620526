"""Records in the manifest of how rows were made, and of pipeline steps, which let a later run skip those up to date."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage.store.arena import Arena, open_arena
from mirage.store.writing import commit, exclusive_lock


def content(arena: Arena, table: str) -> str | None:
    """Hash a table's content, from its files' hashes in the manifest; None if the arena lacks the table."""
    if table not in arena.tables:
        return None
    digests = "\n".join(f"{file['language']} {file['sha256']}" for file in arena.manifest["tables"][table])
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


def runs(arena: Arena, table: str) -> dict[str, dict[str, Any]]:
    """Return the inputs and options of each stage that wrote rows of a table, by the stage's name.

    A command outside a run that changes the table deletes the records, since the table's state is then unknown.
    """
    origin = arena.manifest["made"].get(table, {})
    return dict(origin.get("runs", {}))


def settings_of(arena: Arena, table: str, owner: str) -> dict[str, Any] | None:
    """Return how the rows of a system, judge or other owner in a table were made; None if it is not recorded.

    Imported rows and those of earlier versions have no record.
    """
    found = arena.manifest["made"].get(table, {}).get("settings", {}).get(owner)
    return None if found is None else dict(found)


def record_run(path: Path, table: str, step: str, record: Mapping[str, Any], *, left: str | None) -> Arena:
    """Record the inputs and options of a step that wrote rows of a table, replacing its previous record.

    Nothing is recorded if another program has changed the table since.

    Args:
        path: the arena's folder.
        table: the table.
        step: the step's name.
        record: any JSON value.
        left: hash of the table after the step (`content`); None if it wrote nothing.

    Raises:
        ArenaError: if the arena cannot be written.
    """
    path = path.absolute()

    with exclusive_lock(path):
        arena = open_arena(path)
        if left is None or content(arena, table) != left:
            return arena
        records = {**runs(arena, table), step: dict(record)}
        origin = {**arena.manifest["made"][table], "runs": dict(sorted(records.items()))}
        commit(path, arena.manifest, {}, origins={table: origin}, texts={})
        return open_arena(path)


def record_judge(path: Path, judge: str) -> None:
    """Record the judge that ranked an arena as its default (`Arena.judge`).

    Raises:
        ArenaError: if the arena cannot be written.
    """
    path = path.absolute()
    with exclusive_lock(path):
        if (arena := open_arena(path)).judge != judge:
            commit(path, arena.manifest, {}, origins={}, texts={"judge": judge})
