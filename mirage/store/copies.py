"""A copy of an arena, to put into what the original shall not hold."""

from __future__ import annotations

import shutil
from pathlib import Path

from mirage.errors import ArenaError
from mirage.store import manifest as manifests
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.files import write_bytes


def copy(arena: Arena, into: Path) -> Arena:
    """Copy an arena's tables into a folder; its ledger and what else lies beside them stay behind.

    Args:
        arena: the original, which stays as it is.
        into: a new or empty folder, or one that holds an arena already: that one is then opened as it is.

    Raises:
        ArenaError: if the folder holds other files, or cannot be written.
    """
    if is_arena(into):
        return open_arena(into)
    if into.is_dir() and any(into.iterdir()):
        raise ArenaError(f"{into} holds other files and is not an arena", do="give a new or an empty folder")
    try:
        for file in manifests.listed_files(arena.manifest):
            target = into / file["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(arena.path / file["path"], target)
        # The manifest last: whoever is killed before leaves no arena.
        write_bytes(into / manifests.NAME, (arena.path / manifests.NAME).read_bytes())
    except OSError as error:
        raise ArenaError(
            f"the arena cannot be copied: {error.strerror or error}",
            where=str(error.filename or into),
            do="free space or check permissions",
        ) from None
    return open_arena(into)
