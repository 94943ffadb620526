"""The ledger: every paid reply, kept by the content of its question, in one SQLite file beside an arena's tables.

A row is written the moment a reply arrives, so whoever is killed at any moment has lost no reply that had come, and
asks again only for those that had not.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mirage.errors import ArenaError

_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
  key TEXT PRIMARY KEY,
  request TEXT NOT NULL,
  reply TEXT NOT NULL
) WITHOUT ROWID
"""


def key(request: Mapping[str, Any]) -> str:
    """The ledger key of a request: a hash of its model, parameters and messages, whatever their order."""
    canonical = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:24]


class Ledger:
    """Replies by key. One process may write while others read.

    Args:
        path: the SQLite file; made when it is absent.
        read_only: open an existing file for reading alone.

    Raises:
        ArenaError: if the file cannot be opened or written.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path.absolute()
        try:
            if read_only:
                self._db = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True, check_same_thread=False)
            else:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._db = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._db.execute(_TABLE)
                self._db.commit()
        except (sqlite3.Error, OSError) as error:
            raise self._broken(error) from None

    def get(self, key: str) -> dict[str, Any] | None:
        """The reply kept under a key, or None."""
        row = self._db.execute("SELECT reply FROM calls WHERE key = ?", [key]).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def request(self, key: str) -> dict[str, Any] | None:
        """The request kept under a key, or None."""
        row = self._db.execute("SELECT request FROM calls WHERE key = ?", [key]).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def have(self, keys: Iterable[str]) -> set[str]:
        """Which of the keys have a reply."""
        wanted = list(keys)
        found: set[str] = set()
        for at in range(0, len(wanted), 500):
            part = wanted[at : at + 500]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT key FROM calls WHERE key IN ({marks})", part)  # noqa: S608  # marks only
            found.update(row[0] for row in rows)
        return found

    def put(self, key: str, request: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        """Keep a reply; it is on disk when this returns. A key that is there already stays as it is."""
        values = [key, *(json.dumps(part, ensure_ascii=False) for part in (request, reply))]
        try:
            self._db.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?)", values)
            self._db.commit()
        except sqlite3.Error as error:
            self._db.rollback()
            raise self._broken(error) from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _broken(self, error: Exception) -> ArenaError:
        return ArenaError(
            f"the ledger of replies cannot be used: {error}",
            where=str(self.path),
            do="free space or check permissions, then run the command again; the replies in it are kept",
        )
