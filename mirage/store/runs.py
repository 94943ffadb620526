"""What the steps of a run were run with, kept in the manifest: by it a later run knows what it may skip."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage.store import manifest as manifests
from mirage.store.arena import LOCK_SECONDS, Arena, open_arena
from mirage.store.files import write_text


def content(arena: Arena, table: str) -> str | None:
    """Hash of a table's content, from its files' hashes in the manifest; None if the arena lacks the table."""
    if table not in arena.tables:
        return None
    digests = "\n".join(f"{file['language']} {file['sha256']}" for file in arena.manifest["tables"][table])
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


def runs(arena: Arena, table: str) -> dict[str, dict[str, Any]]:
    """What each stage that made rows of a table was run with, by the stage's name.

    A command that writes the table without a record takes the records away: nobody knows then what is up to date.
    """
    made = arena.manifest["made"].get(table, {})
    return dict(made.get("runs", {}))


def record_runs(path: Path, table: str, made: Mapping[str, Mapping[str, Any]]) -> Arena:
    """Keep what the stages of a table were run with, in place of what was kept; the tables stay as they are.

    Args:
        path: the arena's folder.
        table: a table the arena has.
        made: records by stage: anything JSON can hold.

    Raises:
        TableMissing: if the arena lacks the table.
    """
    from filelock import FileLock

    path = path.absolute()
    with FileLock(path / ".lock", timeout=LOCK_SECONDS):
        open_arena(path).need(table)
        manifest = manifests.load(path)[0]
        manifest["made"][table]["runs"] = {name: dict(one) for name, one in sorted(made.items())}
        write_text(path / manifests.NAME, json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=False) + "\n")
    return open_arena(path)
