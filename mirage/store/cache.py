"""Files of arenas on object storage, kept on this machine by the hash of their content.

    CACHE/objects/<sha256>     whole files, each checked by its hash
    CACHE/locks/               one program at a time fetches a file

CACHE is the environment variable MIRAGE_CACHE, else `mirage` in the user's cache folder. All programs of a user share
it, and what is in it can be deleted at any time. Where it takes more than MIRAGE_CACHE_MB, what was used longest ago
goes.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from mirage.errors import ArenaError
from mirage.store.folders import cache_folder
from mirage.store.settings import megabytes

LIMIT = "MIRAGE_CACHE_MB"
"""Environment variable: how many megabytes the cache may take."""
_MB = 20_000
SPARED = 60.0
"""Seconds for which a file that was used stays in any case: whoever asked for its path is about to open it."""
_LEFT = 3600.0
"""Seconds after which an unfinished file belongs to nobody."""


def cache_path(digest: str) -> Path:
    """Where a file is kept, or would be."""
    return cache_folder() / "objects" / digest


def cache_limit() -> int:
    """How many bytes the cache may take.

    Raises:
        BadInput: if the setting is no positive number.
    """
    return megabytes(LIMIT, _MB)


def kept(digest: str) -> Path | None:
    """The path of a file that is there, which counts as used now; None without it."""
    path = cache_path(digest)
    return path if _used(path) else None


def cached(digest: str, size: int, fetch: Callable[[], Iterable[bytes]]) -> Path:
    """The path of a file, which is fetched unless it is there. It stays there for `SPARED` seconds at least.

    Args:
        digest: SHA-256 of its bytes, in hexadecimal digits.
        size: number of its bytes.
        fetch: yields its bytes.

    Raises:
        ValueError: if what was fetched is not what the hash says.
        ArenaError: if the cache cannot be written.
        OSError: what `fetch` raises.
    """
    if (path := kept(digest)) is not None:
        return path
    path = cache_path(digest)
    from filelock import FileLock

    limit = cache_limit()
    try:
        for folder in (path.parent, locks := cache_folder() / "locks"):
            folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(locks / f"{digest[:2]}.lock")
        lock.acquire()
    except OSError as error:
        raise _unwritable(error) from None
    try:
        if not _used(path):
            _keep(path, digest, size, fetch)
            _evict(path.parent, limit)
    finally:
        lock.release()
    return path


def forget(digest: str) -> None:
    """Remove a file."""
    with suppress(OSError):
        cache_path(digest).unlink()


def _used(path: Path) -> bool:
    """Whether a file is there; it counts as used now."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except OSError:
        return path.is_file()  # another user's cache, which can be read
    return True


def _keep(path: Path, digest: str, size: int, fetch: Callable[[], Iterable[bytes]]) -> None:
    """Fetch a file beside its place, and give it its name when it is whole."""
    temporary = path.with_name(f".{digest}.{os.getpid()}.{threading.get_ident()}.tmp")
    actual, length = hashlib.sha256(), 0
    try:
        try:
            stream = temporary.open("wb")
        except OSError as error:
            raise _unwritable(error) from None
        with stream:
            for piece in fetch():
                actual.update(piece)
                length += len(piece)
                if length > size:
                    break
                try:
                    stream.write(piece)
                    stream.flush()
                except OSError as error:
                    raise _unwritable(error) from None
        if length != size or actual.hexdigest() != digest:
            raise ValueError("its content is not what the manifest says (SHA-256)")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _evict(folder: Path, limit: int) -> None:
    """Remove what was used longest ago, until the rest is within the limit."""
    now = time.time()
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another program removes it
                status = entry.stat()
                if not entry.name.endswith(".tmp"):
                    files.append((status.st_mtime, status.st_size, entry.path))
                elif status.st_mtime < now - _LEFT:
                    Path(entry.path).unlink()
    total = sum(size for _, size, _ in files)
    for modified, size, path in sorted(files):
        if total <= limit or modified > now - SPARED:
            break
        with suppress(OSError):
            Path(path).unlink()
            total -= size


def _unwritable(error: OSError) -> ArenaError:
    return ArenaError(
        f"the cache of files cannot be written: {error.strerror or error}",
        where=str(cache_folder()),
        do="free space, check permissions, or name another folder in MIRAGE_CACHE",
    )
