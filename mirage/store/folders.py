"""The user's folder, and the folders of arenas."""

import os
from contextlib import suppress
from pathlib import Path

from mirage.errors import ArenaError, BadInput


def home_folder() -> Path:
    """Return the user's folder (`home.py`), whether it exists or not."""
    if path := os.environ.get("MIRAGE_HOME"):
        return Path(path).expanduser().absolute()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser().absolute() / "mirage"


def in_home(path: Path) -> bool:
    """Return whether a path is in the user's folder, which only its owner reads."""
    return path.absolute().is_relative_to(home_folder())


def is_listed(path: Path) -> bool:
    """Return whether a path is that of an arena in the user's folder, which has a name, or of a reader's upload."""
    return any(path.absolute().is_relative_to(home_folder() / part) for part in ("arenas", "own"))


def make_folder(path: Path) -> None:
    """Create a folder and its parents; the user's folder and those in it can be read by their owner alone, also older
    ones. A folder that MIRAGE_HOME names stays as it is, since it may be anything.

    Raises:
        OSError: if it cannot be created.
    """
    for folder in reversed((path, *path.parents)):
        if not folder.is_dir():
            folder.mkdir(mode=0o700 if in_home(folder) else 0o777, exist_ok=True)
        elif (
            in_home(folder if "MIRAGE_HOME" not in os.environ else folder.parent)
            and not folder.is_symlink()
            and folder.stat().st_mode & 0o077
        ):
            with suppress(PermissionError):  # another user's
                folder.chmod(0o700)


def refuse_link(path: Path) -> None:
    """Refuse a link where something of an arena is written: in an arena from elsewhere it may lead out of it.

    Raises:
        ArenaError: if the path is a link.
    """
    if path.is_symlink():
        raise ArenaError(
            f"{path.name} is a link, which may lead out of the arena", where=str(path), do="remove the link"
        )


def make_private(file: Path) -> None:
    """Create a file unless it exists, and let only its owner read it.

    Raises:
        OSError: if it cannot be created.
    """
    file.touch(mode=0o600)
    with suppress(PermissionError):  # another user's
        file.chmod(0o600)


def locate(text: str) -> Path:
    """Return the path of an arena.

    Raises:
        BadInput: if it is an address on object storage.
    """
    if "://" in text:
        scheme = text.partition("://")[0]  # the rest may hold a password
        raise BadInput(
            "an arena is a folder on this machine",
            where=f"{scheme}://",
            do=f"copy it first: mirage pull {scheme}://...",
        )
    return Path(text)
