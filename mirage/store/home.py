"""The user's own folder: what a page brings from outside, and the arenas made of it.

    HOME/nomiracl/       files of others, as published
    HOME/arenas/NAME/    arenas, which the explorer lists beside the bundled ones
    HOME/own/            arenas that readers made by uploads, each for its owner alone (`owned.py`)
    HOME/remote/         what stands here for arenas on object storage (`location.py`): their ledgers
    HOME/search/         indexes of answers, which can be deleted at any time
    HOME/votes.sqlite    people's votes, of every arena

HOME is the environment variable MIRAGE_HOME, else `mirage` in the user's data folder (`XDG_DATA_HOME`, by default
`~/.local/share`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mirage import store
from mirage.errors import ArenaError, BadInput, MirageError
from mirage.store.folders import home_folder as home_folder
from mirage.store.location import SCHEMES, address, located
from mirage.store.manifest import NAME, arena_folders
from mirage.store.remote import FRESH, remote_of

_PLACE = re.compile(
    "(?:{0})://(?:[^/{1}@]*{1}(?:(?!://).)*?@)?[^/{1}]*(?:{1}[0-9]+)?[^{1}]*|[^{1}]+".format(
        "|".join(SCHEMES), re.escape(os.pathsep)
    )
)
"""A folder or an address in MIRAGE_ARENAS. What separates two is no separator in an address before `//` and a port, nor
in a name and password, which must stay in one piece to be refused.
"""
VOTES = "votes.sqlite"
"""Name of the file of people's votes."""
TEXTS = "nomiracl-texts"
"""Name of the arena that holds the published NoMIRACL outputs with their texts."""


def home_arenas() -> dict[str, Path]:
    """The arenas in the user's own folder, by name."""
    return arena_folders(home_folder() / "arenas")


def all_arenas() -> tuple[dict[str, Path], list[str]]:
    """Every arena that an installation offers: those that MIRAGE_ARENAS names, the bundled ones, the user's own.

    Returns:
        The arenas' folders by name; and what is wrong with the variable, in sentences. It holds folders or addresses on
        object storage with the system's path separator between them, each an arena or a folder of arenas.
    """
    paths: dict[str, Path] = {}
    problems = []
    for part in _PLACE.findall(os.environ.get("MIRAGE_ARENAS", "")):
        try:
            named = located(part).expanduser()
            folders = arenas_in(named)
        except MirageError as error:
            problems.append(f"MIRAGE_ARENAS: {error.what}. {error.do}.")
            continue
        if not folders:
            problems.append(
                f"MIRAGE_ARENAS: there is no arena in {address(named)}. Make one: mirage import nomiracl --help."
            )
        for folder in folders:
            path = folder.absolute()
            name = path.name if path.name not in paths else f"{path.parent.name}-{path.name}"
            paths[name] = path
    for name, path in (*store.bundled().items(), *home_arenas().items()):
        paths.setdefault(name if path not in paths.values() else path.name, path)
    return paths, problems


def arenas_in(folder: Path) -> list[Path]:
    """The arena that is in a folder, or the arenas that are in its folders; on object storage, as they were within the
    last minute.

    Raises:
        BadInput: if the folder does not exist.
        MirageError: if the object storage refuses or does not answer.
    """
    remote = remote_of(folder)
    if remote is None:
        if not folder.is_dir():
            raise BadInput(f"there is no folder {folder}", do="check the path")
        return [folder] if (folder / NAME).is_file() else [*arena_folders(folder).values()]
    try:
        remote.manifest(age=FRESH)
    except FileNotFoundError:
        return [folder / name for name in remote.folders() if _has_arena(folder / name)]
    return [folder]


def _has_arena(folder: Path) -> bool:
    """Whether an arena is at an address, as it was a moment ago."""
    remote = remote_of(folder)
    try:
        return remote is not None and bool(remote.manifest(age=FRESH))
    except FileNotFoundError:
        return False


def votes_file() -> Path:
    """The file of people's votes in the user's own folder, which is made; the file need not exist yet.

    Raises:
        ArenaError: if the folder cannot be made.
    """
    try:
        home_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(home_folder(), error) from None
    return home_folder() / VOTES


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let one program or session at a time bring something into the user's own folder.

    Raises:
        ArenaError: if another one is at it, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout:
        raise ArenaError(
            "another session is bringing this already", where=str(folder), do="wait until it is done, then reload"
        ) from None
    except OSError as error:
        raise _unwritable(folder, error) from None
    try:
        yield
    finally:
        lock.release()


def _unwritable(folder: Path, error: OSError) -> ArenaError:
    return ArenaError(
        f"the folder cannot be written: {error.strerror or error}",
        where=str(folder),
        do="check permissions, or name another folder in MIRAGE_HOME",
    )
