"""Local cache of files on object storage, by the hash of their content.

    CACHE/objects/<sha256>     complete files, each verified by its hash
    CACHE/locks/               one lock per file being fetched

CACHE is the environment variable MIRAGE_CACHE, else `mirage` in the user's cache folder. All programs of a user share
it; its contents can be deleted at any time. Above MIRAGE_CACHE_MB the least recently used files are evicted.
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
"""Environment variable: maximum size of the cache in megabytes."""
_MB = 20_000
SPARED = 60.0
"""Seconds for which a recently used file is not evicted: the caller that got its path is about to open it."""
_LEFT = 3600.0
"""Seconds after which an incomplete file counts as abandoned."""


def cache_path(digest: str) -> Path:
    """Return the path of a file in the cache, whether it exists or not."""
    return cache_folder() / "objects" / digest


def cache_limit() -> int:
    """Return the maximum size of the cache in bytes.

    Raises:
        BadInput: if the setting is not a positive number.
    """
    return megabytes(LIMIT, _MB)


def cached_path(digest: str) -> Path | None:
    """Return the path of a cached file and mark it as used; None if it is not cached."""
    path = cache_path(digest)
    return path if _touch(path) else None


def cached(digest: str, size: int, fetch: Callable[[], Iterable[bytes]]) -> Path:
    """Return the path of a file, fetching it if needed; it stays for at least `SPARED` seconds.

    Args:
        digest: SHA-256 of its bytes, in hexadecimal digits.
        size: number of its bytes.
        fetch: yields its bytes.

    Raises:
        ValueError: if the fetched bytes do not match the hash.
        ArenaError: if the cache cannot be written.
        OSError: from `fetch`.
    """
    if (path := cached_path(digest)) is not None:
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
        if not _touch(path):
            _fetch_file(path, digest, size, fetch)
            _evict(path.parent, limit)
    finally:
        lock.release()
    return path


def forget(digest: str) -> None:
    """Remove a file from the cache."""
    with suppress(OSError):
        cache_path(digest).unlink()


def _touch(path: Path) -> bool:
    """Mark a file as used, and return whether it exists."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    except OSError:
        return path.is_file()  # another user's cache, which can be read
    return True


def _fetch_file(path: Path, digest: str, size: int, fetch: Callable[[], Iterable[bytes]]) -> None:
    """Fetch a file under a temporary name, and rename it once it is complete."""
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
            raise ValueError("its content does not match the manifest (SHA-256)")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _evict(folder: Path, limit: int) -> None:
    """Remove the least recently used files until the rest is within the limit."""
    now = time.time()
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another program may remove it
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
        f"the file cache cannot be written: {error.strerror or error}",
        where=str(cache_folder()),
        do="free space, check permissions, or set MIRAGE_CACHE to another folder",
    )
