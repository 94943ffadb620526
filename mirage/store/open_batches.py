"""Batches of requests at a service that are not collected yet, in the file of the ledger.

A part is recorded here with its requests before anything is sent, so that a killed process neither loses a batch nor
submits a request twice. A request belongs to one part at most.
"""

import json
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mirage.errors import ArenaError
from mirage.store.ledger import LedgerFile, lock_ledger

_TABLES = """
CREATE TABLE IF NOT EXISTS batches (
  part TEXT PRIMARY KEY,
  service TEXT NOT NULL,
  changes TEXT NOT NULL,
  file TEXT,
  creating REAL,
  batch TEXT,
  at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batch_requests (
  key TEXT PRIMARY KEY,
  part TEXT,
  request TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS requests_of_part ON batch_requests (part);
DELETE FROM batch_requests WHERE part IS NULL;
"""
_WAIT = 3600
"""Maximum seconds to wait for another program that submits batches."""


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """One part of the requests, submitted as one batch."""

    part: str
    """Name of the part."""
    changes: Mapping[str, str | None]
    """Parameters that its requests rename; omitted parameters are None."""
    file: str | None
    """The service's id of the uploaded requests; None before the upload."""
    creating: float | None
    """Time of the first request to create it, in seconds since 1970; None before."""
    batch: str | None
    """The service's id of the batch; None before it is known."""


class OpenBatches(LedgerFile):
    """Record of the open batches of a ledger; safe for concurrent programs.

    Args:
        path: the ledger's file, which exists.

    Raises:
        ArenaError: if the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.executescript(_TABLES)
        except sqlite3.Error as error:
            raise self._error(error) from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Exclude other programs that submit batches for the same ledger.

        Raises:
            ArenaError: if another program submits for over an hour.
        """
        error = ArenaError(
            "another program has been submitting batches for this arena for over an hour",
            where=str(self.path),
            do="wait until it is done, then rerun the command",
        )
        with lock_ledger(self.path, _WAIT, error):
            yield

    def claim(
        self, service: str, requests: Iterable[tuple[str, Mapping[str, Any]]], changes: Mapping[str, str | None]
    ) -> OpenBatch | None:
        """Record requests as a new part, except those that are in another.

        Args:
            service: the service.
            requests: ledger key and request of each.
            changes: parameters that the requests rename or omit.

        Returns:
            The part; None if all requests are in others.
        """
        part = uuid.uuid4().hex
        rows = ((key, part, json.dumps(request, ensure_ascii=False)) for key, request in requests)
        with self.transaction():
            insert = "INSERT OR IGNORE INTO batch_requests (key, part, request) VALUES (?, ?, ?)"
            if not self._db.executemany(insert, rows).rowcount:
                return None
            values = [part, service, json.dumps(changes), time.time()]
            self._db.execute("INSERT INTO batches (part, service, changes, at) VALUES (?, ?, ?, ?)", values)
        return OpenBatch(part, changes, None, None, None)

    def find(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the part of each key that is recorded."""
        return dict(self.ask_keys("SELECT key, part FROM batch_requests", keys))

    def parts(self) -> list[OpenBatch]:
        """Return all parts, the oldest first."""
        rows = self.ask("SELECT part, changes, file, creating, batch FROM batches ORDER BY at, part")
        return [OpenBatch(part, json.loads(changes), *ids) for part, changes, *ids in rows]

    def keys(self, part: str) -> list[str]:
        """Return the ledger keys of a part's requests."""
        return [key for (key,) in self.ask("SELECT key FROM batch_requests WHERE part = ? ORDER BY key", [part])]

    def request(self, part: str, key: str) -> dict[str, Any] | None:
        """Return a request of a part; None if it is not among them."""
        rows = self.ask("SELECT request FROM batch_requests WHERE key = ? AND part = ?", [key, part])
        return dict(json.loads(rows[0][0])) if rows else None

    def update(self, part: str, column: Literal["file", "creating", "batch"], value: str | float) -> None:
        """Record a step of a part's submission: the service's id of the uploaded requests, when the creation of the
        batch was requested, or the service's id of the batch.
        """
        with self.transaction():
            self._db.execute(f"UPDATE batches SET {column} = ? WHERE part = ?", [value, part])  # noqa: S608  # a literal

    def end(self, part: str) -> None:
        """Remove a part and its requests."""
        with self.transaction():
            self._db.execute("DELETE FROM batch_requests WHERE part = ?", [part])
            self._db.execute("DELETE FROM batches WHERE part = ?", [part])

    def _error(self, error: Exception) -> ArenaError:
        return ArenaError(
            f"the record of open batches cannot be used: {error}",
            where=str(self.path),
            do="free space or check permissions, then rerun the command; batches at the service are kept",
        )
