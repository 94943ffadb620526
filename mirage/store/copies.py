"""Copies of arenas, for writing without changing the original."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mirage.errors import ArenaError
from mirage.store import manifest as manifests
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.files import write_bytes
from mirage.store.location import address
from mirage.store.remote import remote_of
from mirage.store.user_files import BESIDE, file_beside


def copy(arena: Arena, into: Path) -> Arena:
    """Copy an arena's tables with its makers and taxonomy files, without its ledger and other files.

    Args:
        arena: the original, which is not changed.
        into: a new or empty folder or address on object storage; an arena that is already there is opened unchanged.

    Raises:
        ArenaError: if the folder has other files, or cannot be written.
    """
    if is_arena(into):
        return open_arena(into)
    remote = remote_of(into)
    if remote is None and into.is_dir() and any(into.iterdir()):
        raise ArenaError(f"{into} holds other files and is not an arena", do="use a new or empty folder")
    try:
        files = manifests.listed_files(arena.manifest)
        paths = arena.fetch(files)
        beside = [found for name in BESIDE if (found := file_beside(arena, name)) is not None]
        manifest = manifests.manifest_bytes(arena.path)
        if remote is not None:
            remote.refuse_other_files()
            for extra in beside:
                remote.put_beside(extra.name, extra.read_bytes())
            remote.commit({}, manifest.decode("utf-8"), list(zip(files, paths, strict=True)))
            return open_arena(into)
        with _undo_on_failure(into):
            for file, path in zip(files, paths, strict=True):
                target = into / file["path"]
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            for extra in beside:
                shutil.copyfile(extra, into / extra.name)
            # Write the manifest last: a process killed before leaves no arena.
            write_bytes(into / manifests.NAME, manifest)
    except OSError as error:
        raise ArenaError(
            f"the arena cannot be copied: {error.strerror or error}",
            where=str(error.filename or address(into)),
            do="free space or check permissions",
        ) from None
    return open_arena(into)


@contextmanager
def _undo_on_failure(folder: Path) -> Iterator[None]:
    """Restore a new or empty folder if copying into it fails."""
    before = folder.is_dir()
    try:
        yield
    except BaseException:
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if not before and folder.is_dir():
            folder.rmdir()
        raise
