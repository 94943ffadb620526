"""Arenas on object storage: the manifest is polled, files are fetched once.

The layout is that of a folder (`arena.py`), so either can be copied to the other. A file's name and manifest entry
contain the hash of its bytes: files are immutable, and cached files never stale. Only `manifest.json` is replaced, on
condition that it is unchanged since the writer read it. A writer that loses the race repeats its work on the new state.

Files in no manifest are removed by the next write, except those in the previous manifest (which a reader may be using)
and those younger than an hour (which a writer may be about to commit).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from mirage import schema
from mirage.errors import ArenaError, MirageError
from mirage.store.cache import cache_path, cached, cached_path, forget
from mirage.store.location import address, is_remote
from mirage.store.objects import Objects, Overtaken, Stored, objects

FRESH = 5.0
"""Seconds for which a polled manifest counts as current."""
_RARE = 60.0
"""Seconds for which rarely changing facts count as current: the arenas in a folder, and files beside the tables."""
_LEFTOVER = timedelta(hours=1)
_AT_ONCE = 8
"""Number of parallel transfers."""
_NAME = "manifest.json"
_SETTINGS = ("AWS_", "AZURE_", "GOOGLE_")

_T = TypeVar("_T")


class Remote:
    """One arena, or folder of arenas, on object storage; thread-safe."""

    def __init__(self, where: str) -> None:
        self.address = where
        self._objects: Objects = objects(where)
        self._lock = threading.Lock()
        self._manifest: Stored | None = None
        self._known: dict[str, tuple[float, Any]] = {}

    def manifest(self, *, age: float = 0.0) -> bytes:
        """Return the bytes of the manifest.

        Args:
            age: maximum age of a cached manifest in seconds.

        Raises:
            FileNotFoundError: if there is none.
            ArenaError: if the service denies access.
            Unreachable: if it does not answer.
        """
        stored = self._recall(_NAME, age, self._newest)
        if stored is None:
            raise FileNotFoundError(errno.ENOENT, "there is no manifest", self.address)
        return stored.data

    def beside(self, name: str) -> bytes | None:
        """Return the bytes of a small file beside the tables; None if there is none."""

        def read() -> bytes | None:
            try:
                return self._objects.get(name).data
            except FileNotFoundError:
                return None

        return self._recall(name, _RARE, read)

    def put_beside(self, name: str, data: bytes) -> None:
        """Write a small file beside the tables."""
        self._objects.put(name, data)

    def folders(self) -> list[str]:
        """Return the names of the folders directly under the address."""
        return self._recall("/", _RARE, self._objects.folders)

    def file(self, entry: Mapping[str, Any]) -> Path:
        """Return the local path of a file of the arena, fetching it if needed.

        Args:
            entry: its entry in the manifest.

        Raises:
            OSError: if it is missing or does not match the manifest.
            MirageError: if it cannot be fetched or cached.
        """
        try:
            return cached(entry["sha256"], entry["bytes"], lambda: self._objects.pieces(entry["path"]))
        except ValueError as error:
            raise OSError(errno.EIO, str(error), f"{self.address}/{entry['path']}") from None

    def files(self, entries: Sequence[Mapping[str, Any]]) -> list[Path]:
        """Return the local paths of files of the arena, fetched in parallel; raises as `file`."""
        paths = [cached_path(entry["sha256"]) for entry in entries]
        absent = [entry for entry, path in zip(entries, paths, strict=True) if path is None]
        if absent:
            with ThreadPoolExecutor(min(len(absent), _AT_ONCE)) as pool:
                list(pool.map(self.file, absent))
        return [path or cache_path(entry["sha256"]) for entry, path in zip(entries, paths, strict=True)]

    def commit(
        self, old: Mapping[str, Any], text: str, parts: Sequence[tuple[Mapping[str, Any], bytes | Path]]
    ) -> None:
        """Write new files, then replace the manifest.

        Args:
            old: the manifest that `parts` are based on; empty for a new arena.
            text: the new manifest.
            parts: entries of the new manifest, each with its bytes, or a file that contains them.

        Raises:
            Overtaken: if the manifest has changed since.
            ArenaError: if the service denies access, or ignores write conditions.
            Unreachable: if it does not answer.
        """
        self._objects.need_conditions()
        before = self._newest()
        if (json.loads(before.data) if before is not None else {}) != old:
            raise Overtaken(
                "other programs keep changing this arena",
                where=self.address,
                do="rerun the command when they are done",
            )
        old_names = _file_names(old)
        new = [(entry, data) for entry, data in parts if entry["path"] not in old_names]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._put, new))
        data = text.encode("utf-8")
        try:
            stored = self._objects.replace(_NAME, data, before)
        except Overtaken:
            # A retried request whose first response was lost conflicts with itself.
            newest = self._newest()
            if newest is None or newest.data != data:
                raise
            stored = newest
        self._remember(_NAME, stored)
        # Leftover files are harmless; the next write removes them.
        with suppress(MirageError):
            self._sweep(_file_names(json.loads(text)) | old_names, new)

    def refuse_other_files(self) -> None:
        """Check that a new arena's address is empty, or already an arena by another writer.

        Raises:
            ArenaError: naming the first other file.
        """
        names = [listed.name for listed in self._objects.names()]
        if _NAME in names:
            return
        for name in names:
            if name.partition("/")[0] not in (*schema.TABLES, "source", "makers.csv", "taxonomy.yaml", ".conditions"):
                raise ArenaError(
                    f"{self.address} holds other files and is not an arena",
                    where=name,
                    do="use an empty address",
                )

    def _newest(self) -> Stored | None:
        """Fetch the current manifest; None if there is none."""
        try:
            stored = self._objects.get(_NAME, self._manifest)
        except FileNotFoundError:
            stored = None
        self._remember(_NAME, stored)
        return stored

    def _put(self, part: tuple[Mapping[str, Any], bytes | Path]) -> None:
        entry, data = part
        self._objects.put(entry["path"], data)
        if isinstance(data, bytes):
            # Cache what was written, to save a download.
            cached(entry["sha256"], entry["bytes"], lambda: [data])

    def _sweep(self, named: set[str], new: Sequence[tuple[Mapping[str, Any], bytes | Path]]) -> None:
        """Remove unreferenced files, and restore files that another program removed before they were committed."""
        listed = self._objects.names()
        present = {file.name for file in listed}
        for part in new:
            if part[0]["path"] not in present:
                self._put(part)
        limit = datetime.now(UTC) - _LEFTOVER
        self._objects.delete(
            [
                file.name
                for file in listed
                if file.name.partition("/")[0] in schema.TABLES
                and file.name.endswith(".parquet")
                and file.name not in named
                and file.modified < limit
            ]
        )

    def _recall(self, name: str, age: float, read: Callable[[], _T]) -> _T:
        with self._lock:
            when, value = self._known.get(name, (-1e9, None))
        if age and time.monotonic() - when < age:
            return value  # type: ignore[no-any-return]  # from `read`
        value = read()
        self._remember(name, value)
        return value

    def _remember(self, name: str, value: object) -> None:
        with self._lock:
            self._known[name] = (time.monotonic(), value)
            if name == _NAME:
                self._manifest = value if isinstance(value, Stored) else None


def remote_of(path: Path) -> Remote | None:
    """Return the remote arena that a placeholder folder stands for; None for any other folder.

    Raises:
        BadInput: if the extra `storage` is not installed.
        ArenaError: if the service cannot be used.
    """
    if not is_remote(path):
        return None
    # Clients are cached per settings, which they read only once.
    settings = "\n".join(f"{key}={value}" for key, value in sorted(os.environ.items()) if key.startswith(_SETTINGS))
    return _remote(address(path), hashlib.sha256(settings.encode("utf-8", "surrogateescape")).hexdigest())


def local_file(path: Path, entry: Mapping[str, Any]) -> Path:
    """Return the local path of a file of an arena; raises as `Remote.file`.

    Args:
        path: the arena's folder or stand-in folder.
        entry: the file's entry in the manifest.
    """
    remote = remote_of(path)
    return remote.file(entry) if remote is not None else path / entry["path"]


def local_files(path: Path, entries: Sequence[Mapping[str, Any]]) -> list[Path]:
    """Return the local paths of several files, fetched in parallel."""
    remote = remote_of(path)
    return remote.files(entries) if remote is not None else [path / entry["path"] for entry in entries]


def renew(path: Path, entry: Mapping[str, Any]) -> Path:
    """Fetch a file again whose local copy does not match the manifest."""
    if is_remote(path):
        forget(entry["sha256"])
    return local_file(path, entry)


@lru_cache(maxsize=64)
def _remote(where: str, _settings: str) -> Remote:
    return Remote(where)


def _file_names(manifest: Mapping[str, Any]) -> set[str]:
    """Return the names of all files in a manifest."""
    return {file["path"] for entries in manifest.get("tables", {}).values() for file in entries}
