"""Files of computed results in the user's folder: HOME/views/KEY.

A file begins with a digest of its key and content, so that one that is damaged, cut or of another key is not read. The
folder may be deleted at any time. `MIRAGE_CACHE_MB` bounds it: files not read for longest go first; 0 stores nothing.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from mirage.store.files import write_bytes
from mirage.store.folders import home_folder, make_folder
from mirage.store.settings import megabytes

LIMIT = "MIRAGE_CACHE_MB"
"""Environment variable: maximum megabytes of the folder."""
_LIMIT_MB = 500
PATIENCE = 60.0
"""Seconds to wait for another process that computes the same result."""
_ABANDONED = 3600.0
"""Seconds after which a lock or an unfinished file belongs to a killed process."""
_DIGEST = 32
_LIBRARIES = ("duckdb", "numpy", "pyarrow", "scikit-learn", "scipy")
"""Libraries whose version may change a number."""
_PACKAGE = Path(__file__).parents[1]
_STARTED = time.time()


def cache_folder() -> Path:
    """Return the folder of the files, whether it exists or not."""
    return home_folder() / "views"


def cache_limit() -> int:
    """Return the maximum bytes of the folder.

    Raises:
        BadInput: if the setting is not a number.
    """
    return megabytes(LIMIT, _LIMIT_MB, least=0)


def is_cached(key: str) -> bool:
    """Return whether there is a file under a key, damaged or not; false where the folder cannot be read."""
    return os.path.isfile(cache_folder() / key)  # noqa: PTH113  # Path.is_file raises where a folder may not be read


def read_cached(key: str) -> memoryview | None:
    """Return the content stored under a key; None if there is none or its file is damaged."""
    path = cache_folder() / key
    try:
        data = memoryview(path.read_bytes())
    except OSError:
        return None
    with suppress(OSError):  # a home that may only be read
        os.utime(path)  # the order of removal
    content = data[_DIGEST:]
    return content if data[:_DIGEST] == _digest(key, content) else None


def write_cached(key: str, content: bytes) -> None:
    """Store content under a key, if the folder can be written and has room.

    Nothing is stored once a file of the program has changed since it was started: newer code would take the result for
    its own.
    """
    bound = cache_limit()
    with suppress(OSError):
        if len(content) > bound or newest_change() > _STARTED:
            return
        make_folder(cache_folder())
        write_bytes(cache_folder() / key, _digest(key, content) + content)
        _remove_oldest(bound)


@contextmanager
def one_at_a_time(key: str, *, patience: float = PATIENCE) -> Iterator[None]:
    """Lock a key for other processes and threads; go on without the lock if the folder cannot be written.

    Args:
        key: the key.
        patience: seconds to wait before going on without the lock; negative for no limit.
    """
    from filelock import FileLock, Timeout

    path = cache_folder() / f"{key}.lock"
    with ExitStack() as held:
        with suppress(OSError, Timeout):
            make_folder(cache_folder())
            held.enter_context(FileLock(path, timeout=patience))
            held.callback(path.unlink, missing_ok=True)
        yield


@cache
def program_version() -> str:
    """Return a digest of the package's files, with its data files, and of the libraries that compute."""
    digest = sha256()
    for file in _package_files(_PACKAGE):
        content = Path(file).read_bytes()
        digest.update(f"{file.path.removeprefix(str(_PACKAGE))} {len(content)}\n".encode())
        digest.update(content)
    for name in _LIBRARIES:
        digest.update(f"{name} {metadata.version(name)}\n".encode())
    return digest.hexdigest()


def newest_change() -> float:
    """Return when a file of the package was last replaced or changed."""
    return max(file.stat().st_ctime for file in _package_files(_PACKAGE))


def _package_files(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    """Yield the files of the program, sorted; not those that a wheel brings for the explorer."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.is_dir():
                yield entry
            elif entry.name not in ("__pycache__", "_explorer"):
                yield from _package_files(entry.path)


def _digest(key: str, content: bytes | memoryview) -> bytes:
    digest = sha256(key.encode())
    digest.update(content)
    return digest.digest()


def _remove_oldest(bound: int) -> None:
    """Remove files until those that were read last fit a bound, and what killed processes left."""
    found = []
    with os.scandir(cache_folder()) as entries:
        for entry in entries:
            with suppress(OSError):  # another process may be removing it
                found.append((entry.stat().st_mtime, entry.stat().st_size, entry))
    used, old = 0, time.time() - _ABANDONED
    for modified, size, entry in sorted(found, key=lambda file: -file[0]):
        unfinished = "." in entry.name
        used += size
        if (unfinished and modified < old) or (not unfinished and used > bound):
            with suppress(OSError):
                Path(entry).unlink()
