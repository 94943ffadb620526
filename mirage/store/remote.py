"""An arena on object storage: the manifest is asked for again and again, its files are fetched once.

The layout is that of a folder (`arena.py`), so that either can be copied to the other. A file's name and its entry in
the manifest hold the hash of its bytes: a file never changes, and a kept one is never stale. Only `manifest.json` is
replaced, under the condition that it still is what the writer has read. Of two writers one is told that it was
overtaken, and does its work again on the other's result.

What no manifest names is removed by the next write, but for what the manifest before this one names (somebody may be
reading by it), and what is younger than an hour (somebody may be about to name it).
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
from mirage.store.cache import cache_path, cached, forget, kept
from mirage.store.location import address, is_remote
from mirage.store.objects import Objects, Overtaken, Stored, objects

FRESH = 5.0
"""Seconds for which whoever opens an arena again and again takes the manifest for what it was."""
_RARE = 60.0
"""The same for what hardly ever changes: which arenas a folder has, and files beside the tables."""
_LEFTOVER = timedelta(hours=1)
_AT_ONCE = 8
"""Files that are fetched or written at the same time."""
_NAME = "manifest.json"
_SETTINGS = ("AWS_", "AZURE_", "GOOGLE_")

_T = TypeVar("_T")


class Remote:
    """One arena, or folder of arenas, on object storage. Several threads may use it at once."""

    def __init__(self, where: str) -> None:
        self.address = where
        self._objects: Objects = objects(where)
        self._lock = threading.Lock()
        self._manifest: Stored | None = None
        self._known: dict[str, tuple[float, Any]] = {}

    def manifest(self, *, age: float = 0.0) -> bytes:
        """The bytes of the manifest.

        Args:
            age: seconds for which what was read before is good enough.

        Raises:
            FileNotFoundError: if there is none.
            ArenaError: if the service refuses.
            Unreachable: if it does not answer.
        """
        stored = self._remembered(_NAME, age, self._newest)
        if stored is None:
            raise FileNotFoundError(errno.ENOENT, "there is no manifest", self.address)
        return stored.data

    def beside(self, name: str) -> bytes | None:
        """The bytes of a small file beside the tables; None without it."""

        def read() -> bytes | None:
            try:
                return self._objects.get(name).data
            except FileNotFoundError:
                return None

        return self._remembered(name, _RARE, read)

    def folders(self) -> list[str]:
        """Names of the folders right under the address."""
        return self._remembered("/", _RARE, self._objects.folders)

    def file(self, entry: Mapping[str, Any]) -> Path:
        """A file of the arena on this machine, fetched unless it is here.

        Args:
            entry: what the manifest says of it.

        Raises:
            OSError: if it is absent or not what the manifest says.
            MirageError: if it cannot be fetched or kept.
        """
        try:
            return cached(entry["sha256"], entry["bytes"], lambda: self._objects.pieces(entry["path"]))
        except ValueError as error:
            raise OSError(errno.EIO, str(error), f"{self.address}/{entry['path']}") from None

    def files(self, entries: Sequence[Mapping[str, Any]]) -> list[Path]:
        """Files of the arena on this machine, fetched at the same time; raises as `file`."""
        paths = [kept(entry["sha256"]) for entry in entries]
        absent = [entry for entry, path in zip(entries, paths, strict=True) if path is None]
        if absent:
            with ThreadPoolExecutor(min(len(absent), _AT_ONCE)) as pool:
                list(pool.map(self.file, absent))
        return [path or cache_path(entry["sha256"]) for entry, path in zip(entries, paths, strict=True)]

    def commit(
        self, old: Mapping[str, Any], text: str, parts: Sequence[tuple[Mapping[str, Any], bytes | Path]]
    ) -> None:
        """Write files that are new, and then the manifest in place of the one that was read.

        Args:
            old: the manifest that `parts` were made from; empty for a new arena.
            text: the new manifest.
            parts: entries of the new manifest, with the bytes of each, or a file that holds them.

        Raises:
            Overtaken: if the manifest is another one now.
            ArenaError: if the service refuses, or replaces objects whatever the condition.
            Unreachable: if it does not answer.
        """
        self._objects.need_conditions()
        before = self._newest()
        if (json.loads(before.data) if before is not None else {}) != old:
            raise Overtaken(
                "other programs keep changing this arena",
                where=self.address,
                do="run the command again when they are done",
            )
        old_names = _named(old)
        new = [(entry, data) for entry, data in parts if entry["path"] not in old_names]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._put, new))
        data = text.encode("utf-8")
        try:
            stored = self._objects.replace(_NAME, data, before)
        except Overtaken:
            # A request that was sent twice, since its first answer got lost, is overtaken by itself.
            newest = self._newest()
            if newest is None or newest.data != data:
                raise
            stored = newest
        self._remember(_NAME, stored)
        # What is not removed does no harm, and goes with the next write.
        with suppress(MirageError):
            self._sweep(_named(json.loads(text)) | old_names, new)

    def refuse_other_files(self) -> None:
        """Refuse to begin an arena where other things are. An arena that somebody began meanwhile is none of them.

        Raises:
            ArenaError: naming the first of them.
        """
        names = [listed.name for listed in self._objects.names()]
        if _NAME in names:
            return
        for name in names:
            if name.partition("/")[0] not in (*schema.TABLES, "source", "makers.csv", ".conditions"):
                raise ArenaError(
                    f"{self.address} holds other files and is not an arena",
                    where=name,
                    do="give an address under which there is nothing yet",
                )

    def _newest(self) -> Stored | None:
        """The manifest as it is now; None without one."""
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
            # What was written is kept, to save its way back.
            cached(entry["sha256"], entry["bytes"], lambda: [data])

    def _sweep(self, named: set[str], new: Sequence[tuple[Mapping[str, Any], bytes | Path]]) -> None:
        """Remove what nobody names; write again what another program has swept before it was named."""
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

    def _remembered(self, name: str, age: float, read: Callable[[], _T]) -> _T:
        with self._lock:
            when, value = self._known.get(name, (-1e9, None))
        if age and time.monotonic() - when < age:
            return value  # type: ignore[no-any-return]  # what `read` gave
        value = read()
        self._remember(name, value)
        return value

    def _remember(self, name: str, value: object) -> None:
        with self._lock:
            self._known[name] = (time.monotonic(), value)
            if name == _NAME:
                self._manifest = value if isinstance(value, Stored) else None


def remote_of(path: Path) -> Remote | None:
    """The arena on object storage that a folder stands for; None for any other folder.

    Raises:
        BadInput: if the extra `storage` is not installed.
        ArenaError: if the service cannot be used.
    """
    if not is_remote(path):
        return None
    # What a service is reached by is read once: with other settings it is another.
    settings = "\n".join(f"{key}={value}" for key, value in sorted(os.environ.items()) if key.startswith(_SETTINGS))
    return _remote(address(path), hashlib.sha256(settings.encode("utf-8", "surrogateescape")).hexdigest())


def local_file(path: Path, entry: Mapping[str, Any]) -> Path:
    """Where a file of an arena can be read on this machine; raises as `Remote.file`.

    Args:
        path: the arena's folder, or the one that stands for it.
        entry: what the manifest says of the file.
    """
    remote = remote_of(path)
    return remote.file(entry) if remote is not None else path / entry["path"]


def local_files(path: Path, entries: Sequence[Mapping[str, Any]]) -> list[Path]:
    """As `local_file`, of several at the same time."""
    remote = remote_of(path)
    return remote.files(entries) if remote is not None else [path / entry["path"] for entry in entries]


def renew(path: Path, entry: Mapping[str, Any]) -> Path:
    """As `local_file`, where what is on this machine is not what the manifest says: it is fetched again."""
    if is_remote(path):
        forget(entry["sha256"])
    return local_file(path, entry)


@lru_cache(maxsize=64)
def _remote(where: str, _settings: str) -> Remote:
    return Remote(where)


def _named(manifest: Mapping[str, Any]) -> set[str]:
    """The names of all files of a manifest."""
    return {file["path"] for entries in manifest.get("tables", {}).values() for file in entries}
