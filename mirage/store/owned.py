"""Arenas uploaded by readers of a deployed app, private to their owners.

    HOME/own/<owner>/NAME/    a copy of an arena with the owner's systems added

An owner is a name verified by a login (`login:NAME`), or a session (`session:ID`). Uploads of a session are deleted a
day after its last upload, since they can no longer be reached. `quota` limits the size per owner.
"""

import hashlib
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mirage.errors import ArenaError, MirageError
from mirage.store import home
from mirage.store.arena import Arena
from mirage.store.files import write_bytes
from mirage.store.manifest import arena_folders
from mirage.store.settings import megabytes

QUOTA = "MIRAGE_UPLOAD_MB"
"""Environment variable: maximum megabytes of one owner's copies."""
_QUOTA_MB = 1_000
_OWNERS = 20
"""Maximum size of all owners' copies, as a multiple of one owner's maximum."""
KEPT_HOURS = 24
"""Hours that a session's uploads are kept after the last one."""


ADDED = {"added": "from a file"}
"""Settings of a reader's own system, in the manifest."""


def added_systems(arena: Arena) -> tuple[str, ...]:
    """Return the reader's own systems in an arena."""
    made = arena.manifest["made"].get("answers", {}).get("settings", {})
    return tuple(system for system, settings in made.items() if settings == ADDED)


def owner_folder(owner: str) -> Path:
    """Return the folder of an owner's copies, whether it exists or not.

    Args:
        owner: `login:NAME` or `session:ID`, in any Unicode.
    """
    kind = "login" if owner.startswith("login:") else "session"
    return (
        home.home_folder() / "own" / f"{kind}-{hashlib.sha256(owner.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    )


def owned_arenas(owner: str) -> dict[str, Path]:
    """Return the copies of an owner, by name."""
    return arena_folders(owner_folder(owner))


def quota() -> int:
    """Return the maximum bytes of one owner's copies.

    Raises:
        BadInput: if the setting is not a positive number.
    """
    return megabytes(QUOTA, _QUOTA_MB)


def need_room(owner: str, size: int) -> None:
    """Delete expired copies, and check that an upload fits the quota.

    Args:
        owner: the uploading owner.
        size: bytes to add.

    Raises:
        ArenaError: if the owner's copies, or all copies, would exceed their maximum.
    """
    expire()
    limit = quota()
    if (used := _size(owner_folder(owner))) + size > limit:
        raise ArenaError(
            f"your copies would take {(used + size) / 1e6:,.0f} MB; the maximum is {limit / 1e6:,.0f} MB",
            where=f"{used / 1e6:,.0f} MB are in use",
            do=f"delete one of your copies first; the operator can raise {QUOTA}",
        )
    if _size(owner_folder(owner).parent) + size > _OWNERS * limit:
        raise ArenaError(
            f"the copies of all readers reach the maximum of {_OWNERS * limit / 1e6:,.0f} MB",
            do=f"try again tomorrow, when expired copies are deleted; the operator can raise {QUOTA}",
        )


def delete(owner: str, path: Path) -> None:
    """Delete an owner's copy permanently.

    Raises:
        ArenaError: if it is not one of the owner's copies, or cannot be deleted.
    """
    if path not in owned_arenas(owner).values():
        raise ArenaError("this is not one of your copies", where=path.name, do="delete only your own copies")
    try:
        # Remove the manifest first: an interrupted deletion leaves nothing that looks like an arena.
        (path / "manifest.json").unlink()
        shutil.rmtree(path)
    except OSError as error:
        raise ArenaError(f"the copy cannot be deleted: {error.strerror or error}", do="try again") from None


@contextmanager
def stored_upload(owner: str, name: str, data: bytes) -> Iterator[Path]:
    """Hold an uploaded file in the owner's folder while it is read; errors name it without the folder."""
    path = owner_folder(owner) / f"upload-{secrets.token_hex(8)}" / name
    try:
        write_bytes(path, data)
        yield path
    except MirageError as error:
        raise error.rename_path(str(path), name) from None
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def expire(*, now: float | None = None) -> None:
    """Delete uploads of sessions that ended long ago.

    Args:
        now: seconds since 1970; the current time by default.
    """
    limit = (time.time() if now is None else now) - KEPT_HOURS * 3600
    for old in (home.home_folder() / "own").glob("session-*"):
        with suppress(OSError):  # another session may be removing it
            if max(path.stat().st_mtime for path in (old, *old.glob("*"), *old.glob("*/manifest.json"))) < limit:
                shutil.rmtree(old)


def _size(path: Path) -> int:
    """Return the bytes of all files under a folder; 0 if there is none."""
    total = 0
    for file in path.rglob("*"):
        with suppress(OSError):  # another session may be removing it
            total += file.stat().st_size if file.is_file() else 0
    return total
