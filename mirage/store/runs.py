"""What the steps of a run were run with, kept in the manifest: by it a later run knows what it may skip."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage.store.arena import Arena, open_arena
from mirage.store.writing import commit, exclusively


def content(arena: Arena, table: str) -> str | None:
    """Hash of a table's content, from its files' hashes in the manifest; None if the arena lacks the table."""
    if table not in arena.tables:
        return None
    digests = "\n".join(f"{file['language']} {file['sha256']}" for file in arena.manifest["tables"][table])
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


def runs(arena: Arena, table: str) -> dict[str, dict[str, Any]]:
    """What each stage that made rows of a table was run with, by the stage's name.

    A command that changes the table and is no step of a run takes the records away: nobody knows then what is up to
    date.
    """
    origin = arena.manifest["made"].get(table, {})
    return dict(origin.get("runs", {}))


def record_run(path: Path, table: str, step: str, record: Mapping[str, Any], *, left: str | None) -> Arena:
    """Keep what a step that wrote rows of a table was run with, in place of what was kept for it.

    Nothing is kept where the table is no longer as the step left it: another program has written it since.

    Args:
        path: the arena's folder.
        table: the table.
        step: the step's name.
        record: anything JSON can hold.
        left: hash of the table as the step left it (`content`); None if it wrote nothing.

    Raises:
        ArenaError: if the arena cannot be written.
    """
    path = path.absolute()

    def change() -> Arena:
        arena = open_arena(path)
        if left is None or content(arena, table) != left:
            return arena
        records = {**runs(arena, table), step: dict(record)}
        origin = {**arena.manifest["made"][table], "runs": dict(sorted(records.items()))}
        commit(path, arena.manifest, {}, origins={table: origin}, texts={})
        return open_arena(path)

    return exclusively(path, change)
