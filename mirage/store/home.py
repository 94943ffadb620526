"""The user's folder: downloaded data, and the arenas made from it.

    HOME/nomiracl/       public files, as published
    HOME/arenas/NAME/    arenas, listed by the explorer with the bundled arenas
    HOME/own/            arenas uploaded by readers, private to their owners (`owned.py`)
    HOME/views/          computed results, safe to delete (`cache_files.py`)
    HOME/votes.sqlite    people's votes and notes, of every arena

HOME is the environment variable MIRAGE_HOME, else `mirage` in the user's data folder (`XDG_DATA_HOME`, by default
`~/.local/share`).
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mirage.errors import ArenaError, BadInput, MirageError
from mirage.store import arena as arenas
from mirage.store.files import need_file, write_bytes
from mirage.store.folders import home_folder as home_folder
from mirage.store.folders import make_folder, make_private
from mirage.store.manifest import NAME, arena_folders

VOTES = "votes.sqlite"
"""File name of people's votes."""
TEXTS = "nomiracl-texts"
"""Name of the arena with the published NoMIRACL outputs and their texts."""


def home_arenas() -> dict[str, Path]:
    """Return the arenas in the user's folder, by name."""
    return arena_folders(home_folder() / "arenas")


def all_arenas() -> tuple[dict[str, Path], list[str]]:
    """Return every available arena: those of MIRAGE_ARENAS, the bundled arenas, the user's own.

    MIRAGE_ARENAS holds folders, each an arena or a folder of arenas, separated by the system's path separator.

    Returns:
        The arenas' folders by name; and problems with the variable, in sentences.
    """
    paths: dict[str, Path] = {}
    problems = []
    for part in filter(None, os.environ.get("MIRAGE_ARENAS", "").split(os.pathsep)):
        named = Path(part).expanduser()
        try:
            folders = arenas_in(named)
        except MirageError as error:
            problems.append(f"MIRAGE_ARENAS: {error.what}. {error.do}.")
            continue
        if not folders:
            problems.append(f"MIRAGE_ARENAS: there is no arena in {named}. Create one: mirage import nomiracl --help.")
        for folder in folders:
            path = folder.absolute()
            name = path.name if path.name not in paths else f"{path.parent.name}-{path.name}"
            paths[name] = path
    for name, path in (*arenas.bundled_arenas().items(), *home_arenas().items()):
        paths.setdefault(name if path not in paths.values() else path.name, path)
    return paths, problems


def arenas_in(folder: Path) -> list[Path]:
    """Return the arena in a folder, or the arenas in its subfolders.

    Raises:
        BadInput: if the folder does not exist.
    """
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}", do="check the path")
    return [folder] if (folder / NAME).is_file() else [*arena_folders(folder).values()]


def votes_file() -> Path:
    """Return the path of people's votes in the user's folder, whether it exists or not."""
    return home_folder() / VOTES


def make_votes_file() -> None:
    """Create the file of people's votes unless it exists; only its owner can read it.

    Raises:
        ArenaError: if it cannot be created.
    """
    file = votes_file()
    try:
        make_folder(file.parent)
        make_private(file)
    except OSError as error:
        raise _unwritable_error(file, error) from None


def write_key(file: Path, key: str) -> None:
    """Write a secret key to a new file that only its owner can read.

    Raises:
        BadInput: if there is such a file already, or it cannot be written.
    """
    try:
        if os.path.lexists(file):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(file))
        write_bytes(file, f"{key}\n".encode("ascii"), mode=0o600)
    except OSError as error:
        raise BadInput(f"the key cannot be written: {error.strerror}", where=str(file), do="name a new file") from None


def read_key(file: Path) -> str:
    """Return the key in a file.

    Raises:
        BadInput: if it is not a regular file, or cannot be read.
    """
    need_file(file)
    with file.open("rb") as given:
        return given.read(200).decode("ascii", "replace").strip()


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder of the user's.

    Raises:
        ArenaError: if it is locked, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    try:
        make_folder(folder)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout:
        raise ArenaError(
            "another session is already downloading this", where=str(folder), do="wait until it is done, then reload"
        ) from None
    except OSError as error:
        raise _unwritable_error(folder, error) from None
    try:
        yield
    finally:
        lock.release()


def _unwritable_error(folder: Path, error: OSError) -> ArenaError:
    return ArenaError(
        f"the folder cannot be written: {error.strerror or error}",
        where=str(folder),
        do="check permissions, or name another folder in MIRAGE_HOME",
    )
