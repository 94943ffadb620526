"""Files of published boards: listing and atomic replacement of a folder, and private keys."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mirage.errors import ArenaError, BadInput

_HOST = ("CNAME", "README.md")
"""Top-level files that belong to the host, besides names that begin with a dot."""


def board_files(folder: Path) -> dict[str, int]:
    """Return the size in bytes of each file of a board, by relative path; -1 if it is not a regular file.

    Omits the host's files: `CNAME`, `README.md`, and top-level names that begin with a dot, such as `.git`.

    Raises:
        ArenaError: if there is no such folder.
    """
    if not folder.is_dir():
        raise ArenaError(f"there is no folder {folder}", do="check the path")
    found: dict[str, int] = {}
    for place, folders, names in os.walk(folder):
        top = Path(place) == folder
        if top:
            folders[:] = [name for name in folders if not name.startswith(".")]
        for name in [*names, *(other for other in folders if (Path(place) / other).is_symlink())]:
            path = Path(place) / name
            if not (top and (name.startswith(".") or name in _HOST)):
                regular = path.is_file() and not path.is_symlink()
                found[path.relative_to(folder).as_posix()] = path.stat().st_size if regular else -1
    return found


def read_board_file(folder: Path, name: str, most: int = 1 << 31) -> bytes:
    """Return a file of a board, given its path relative to the folder.

    Raises:
        ArenaError: if it cannot be read, or has more bytes than allowed.
    """
    path = folder / name
    try:
        if path.stat().st_size > most:
            raise ArenaError(f"the file has more than {most:,} bytes", where=str(path))
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArenaError(f"a file of the board cannot be read: {reason}", where=str(path)) from None


def write_board_file(folder: Path, name: str, data: bytes) -> None:
    """Write a file of a new board, given its path relative to the folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Yield a new folder that replaces the target at the end; on an error the target is unchanged.

    The host's files (`board_files`) move along.

    Raises:
        ArenaError: if the folder cannot be written.
    """
    target = target.absolute()
    former = target.with_name(f".{target.name}.former")
    try:
        if former.exists() and not target.exists():
            former.replace(target)  # a process was killed between the two renames below
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as place:
            new = Path(place) / "new"
            new.mkdir()
            yield new
            _drop_locks(new)
            if target.exists():
                shutil.rmtree(former, ignore_errors=True)
                target.replace(former)
            new.replace(target)
            if former.exists():
                for entry in former.iterdir():
                    if entry.name.startswith(".") or entry.name in _HOST:
                        entry.replace(target / entry.name)
                shutil.rmtree(former, ignore_errors=True)
    except OSError as error:
        raise ArenaError(
            f"the folder cannot be written: {error.strerror or error}",
            where=str(error.filename or target),
            do="free space or check permissions; the existing files are unchanged",
        ) from None


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield an empty folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="mirage-") as place:
        yield Path(place)


def write_private_key(path: Path, data: bytes) -> None:
    """Write a private key, readable by its owner alone.

    Raises:
        BadInput: if the file exists, or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
    except FileExistsError:
        raise BadInput(
            f"{path} exists already", do="omit --new-key to sign with it, or give another file for a new key"
        ) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}", do="check the folder") from None


def read_key(path: Path) -> bytes:
    """Return the bytes of a key file.

    Raises:
        BadInput: if it cannot be read.
    """
    try:
        return path.read_bytes()[: 1 << 16]
    except OSError as error:
        raise BadInput(f"the key {path} cannot be read: {error.strerror or error}", do="check the path") from None


def _drop_locks(folder: Path) -> None:
    """Remove the lock files that writing an arena leaves in a folder."""
    for path in folder.rglob(".lock"):
        path.unlink()
