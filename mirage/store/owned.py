"""Arenas that readers of a deployed app have made by uploads: each reader's own copies, which nobody else is shown.

    HOME/own/<owner>/NAME/    a copy of an arena with the systems that the owner brought

An owner is a name that a login verified (`login:NAME`), or a session (`session:ID`). What a session brought goes a day
after it last brought something, since nobody can come back to it. What an owner keeps is limited by `quota`.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import ArenaError
from mirage.store import home
from mirage.store.manifest import arena_folders
from mirage.store.settings import megabytes

if TYPE_CHECKING:
    from mirage.store.arena import Arena

QUOTA = "MIRAGE_UPLOAD_MB"
"""Environment variable: how many megabytes the copies of one owner may take."""
_QUOTA_MB = 1_000
_OWNERS = 20
"""All owners together may take so many times what one may."""
KEPT_HOURS = 24
"""How long what a session brought is kept after its last upload."""


_ADDED = "added from a file: "


def added_note(system: str) -> str:
    """The note in the manifest of an arena that a system of the reader's own was added."""
    return f"{_ADDED}{system}"


def added(arena: Arena) -> tuple[str, ...]:
    """The systems of the reader's own in an arena, the last added last."""
    notes = arena.manifest["made"].get("answers", {}).get("notes", [])
    return tuple(note.removeprefix(_ADDED) for note in notes if note.startswith(_ADDED))


def owner_folder(owner: str) -> Path:
    """The folder of an owner's copies; it need not exist yet.

    Args:
        owner: `login:NAME` or `session:ID`, in any Unicode.
    """
    kind = "login" if owner.startswith("login:") else "session"
    return (
        home.home_folder() / "own" / f"{kind}-{hashlib.sha256(owner.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    )


def owned_arenas(owner: str) -> dict[str, Path]:
    """The copies of an owner, by name."""
    return arena_folders(owner_folder(owner))


def quota() -> int:
    """How many bytes the copies of one owner may take.

    Raises:
        BadInput: if the setting is no positive number.
    """
    return megabytes(QUOTA, _QUOTA_MB)


def need_room(owner: str, size: int) -> None:
    """Remove what has expired, and refuse more than the quota allows.

    Args:
        owner: who wants to add.
        size: bytes that are to be added.

    Raises:
        ArenaError: if the owner's copies, or all copies, would then take more than they may.
    """
    expire()
    limit = quota()
    if (used := _size(owner_folder(owner))) + size > limit:
        raise ArenaError(
            f"your copies would take {(used + size) / 1e6:,.0f} MB, and may take {limit / 1e6:,.0f} MB",
            where=f"{used / 1e6:,.0f} MB are kept for you now",
            do=f"delete a copy of yours first; whoever runs this app can set {QUOTA}",
        )
    if _size(owner_folder(owner).parent) + size > _OWNERS * limit:
        raise ArenaError(
            f"the copies of all readers take {_OWNERS * limit / 1e6:,.0f} MB, which is all they may",
            do=f"try again tomorrow, when what was left behind is gone; whoever runs this app can set {QUOTA}",
        )


def delete(owner: str, path: Path) -> None:
    """Remove a copy of an owner's for good.

    Raises:
        ArenaError: if it is not one of the owner's copies, or cannot be removed.
    """
    if path not in owned_arenas(owner).values():
        raise ArenaError("this is no copy of yours", where=path.name, do="delete only what you brought")
    try:
        # Without its manifest it is no arena: whoever is stopped halfway leaves nothing that looks whole.
        (path / "manifest.json").unlink()
        shutil.rmtree(path)
    except OSError as error:
        raise ArenaError(f"the copy cannot be removed: {error.strerror or error}", do="try again") from None


def expire(*, now: float | None = None) -> None:
    """Remove what sessions brought that ended long ago.

    Args:
        now: seconds since 1970; the clock's by default.
    """
    limit = (time.time() if now is None else now) - KEPT_HOURS * 3600
    for old in (home.home_folder() / "own").glob("session-*"):
        with suppress(OSError):  # another session may be removing it
            if max(path.stat().st_mtime for path in (old, *old.glob("*"), *old.glob("*/manifest.json"))) < limit:
                shutil.rmtree(old)


def _size(path: Path) -> int:
    """Bytes of all files under a folder; 0 where there is none."""
    total = 0
    for file in path.rglob("*"):
        with suppress(OSError):  # another session may be removing it
            total += file.stat().st_size if file.is_file() else 0
    return total
