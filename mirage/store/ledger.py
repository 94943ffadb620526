"""The ledger: every paid reply, cached by the content of its request, in one SQLite file beside an arena's tables.

A row is committed as soon as a reply arrives, so a killed process loses no reply that had arrived.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from mirage.errors import ArenaError, MirageError
from mirage.store.folders import make_folder, make_private, refuse_link

NAME = "ledger.sqlite"
"""File name in an arena's folder."""
LOCK = "ledger.lock"
"""File name in an arena's folder; locked while only one program may send requests."""
_FORMAT = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
  key TEXT PRIMARY KEY,
  request TEXT NOT NULL,
  reply TEXT NOT NULL,
  at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID
"""
_REPLACEMENTS = """
CREATE TABLE IF NOT EXISTS replacements (
  system TEXT NOT NULL,
  number INTEGER NOT NULL,
  scope TEXT NOT NULL,
  finished INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (system, number)
) WITHOUT ROWID
"""
"""Created when a system's answers are first replaced; a ledger without it has the same format."""
BATCH_SHARE = 0.5
"""Price of a call in a batch, as a share of the price of a single call."""


def ledger_key(request: Mapping[str, Any]) -> str:
    """Hash a request: its model, parameters and messages, independent of key order."""
    canonical = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def price_share(reply: Mapping[str, Any]) -> float:
    """Return the price of a stored reply as a share of that of a single call: half if it came in a batch."""
    return BATCH_SHARE if reply.get("batched") else 1.0


def ledger_path(folder: Path) -> Path:
    """Return the path of the ledger in an arena's folder."""
    return folder / NAME


@contextmanager
def kept_ledger(folder: Path) -> Iterator[Ledger | None]:
    """Open the ledger of an arena's folder read-only; None if there is none."""
    if not ledger_path(folder).exists():
        yield None
        return
    with Ledger(ledger_path(folder), read_only=True) as ledger:
        yield ledger


@contextmanager
def scratch_ledger() -> Iterator[Ledger]:
    """Open a ledger in a temporary folder, deleted afterwards."""
    with TemporaryDirectory() as folder, Ledger(Path(folder) / NAME) as ledger:
        yield ledger


@contextmanager
def lock_ledger(path: Path, seconds: float, error: MirageError) -> Iterator[None]:
    """Exclude other programs that lock this ledger.

    Args:
        path: the ledger's file.
        seconds: how long to wait for another program.
        error: raised after that.
    """
    from filelock import FileLock, Timeout

    try:
        with FileLock(path.with_name(LOCK), timeout=seconds):
            yield
    except Timeout:
        raise error from None


class LedgerFile:
    """The file of a ledger, open; safe for concurrent programs. A subclass connects to it, and words its errors."""

    _db: sqlite3.Connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def ask(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        try:
            with closing(self._db.execute(query, values)) as rows:
                return rows.fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from None

    def ask_keys(self, query: str, keys: Iterable[str]) -> list[tuple[Any, ...]]:
        """Return the rows of a query that have some keys."""
        query = f"{query} WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608  # our own names
        return self.ask(query, [json.dumps(list(keys))])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is written in the block, or nothing of it."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            with self._db:
                yield
        except sqlite3.Error as error:
            raise self._error(error) from None

    def _error(self, error: Exception) -> ArenaError:
        raise NotImplementedError


class Ledger(LedgerFile):
    """Ledger of a model's replies, keyed by the hash of the request; safe for concurrent programs.

    Args:
        path: the SQLite file; created if missing.
        read_only: open an existing file read-only.

    Raises:
        ArenaError: if the file cannot be opened or written, is not a ledger, or has another version.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path.absolute()
        refuse_link(self.path)
        if self.path.exists() and not self.path.is_file():
            raise ArenaError("the ledger of replies is not a file", where=str(self.path), do="move it away")
        try:
            self._db = self._connect_read_only() if read_only else self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from None
        # Close with the object: a worker keeps its ledger until it exits.
        weakref.finalize(self, self._db.close)
        version = self.ask("PRAGMA user_version")[0][0]
        if version != _FORMAT:
            self.close()
            raise ArenaError(
                f"the ledger has format {version}, this version of mirage reads {_FORMAT}",
                where=str(self.path),
                do="use the version of mirage that wrote it, or move the file away to start a new one",
            )

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the reply stored under a key, or None."""
        return self._read_record("reply", key)

    def request(self, key: str) -> dict[str, Any] | None:
        """Return the request stored under a key, or None."""
        return self._read_record("request", key)

    def have(self, keys: Iterable[str]) -> set[str]:
        """Return the keys that have a reply."""
        return {key for (key,) in self.ask_keys("SELECT key FROM calls", keys)}

    def days(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the day in UTC on which each stored reply arrived, `2026-11-20`, by its key."""
        return dict(self.ask_keys("SELECT key, date(at) FROM calls", keys))

    def totals(self) -> tuple[int, int, int]:
        """Return the number of replies, and their prompt and reply tokens by the service's count."""
        sums = ", ".join(f"coalesce(sum(json_extract(reply, '$.{name}')), 0)" for name in ("tokens_in", "tokens_out"))
        calls, tokens_in, tokens_out = self.ask(f"SELECT count(*), {sums} FROM calls")[0]  # noqa: S608  # our own names
        return int(calls), int(tokens_in), int(tokens_out)

    def put(self, key: str, request: Mapping[str, Any], reply: Mapping[str, Any]) -> bool:
        """Store a reply durably.

        Returns:
            Whether it was stored; an existing key is not changed.
        """
        values = [key, *(json.dumps(part, ensure_ascii=False) for part in (request, reply))]
        with self.transaction():
            insert = "INSERT OR IGNORE INTO calls (key, request, reply) VALUES (?, ?, ?)"
            return self._db.execute(insert, values).rowcount == 1

    def absorb(self, path: Path) -> int:
        """Merge the replies of another ledger.

        Of two replies to one request the lexically smaller stays, so the merge order does not matter.

        Args:
            path: the other ledger's file.

        Returns:
            Number of new replies.

        Raises:
            ArenaError: if either file cannot be used, or the other is not a ledger.
        """
        with Ledger(path, read_only=True) as other:
            rows = other._db.execute("SELECT key, request, reply, at FROM calls")
            insert = (
                "INSERT INTO calls (key, request, reply, at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
                " request = excluded.request, reply = excluded.reply, at = excluded.at"
                " WHERE (excluded.reply, excluded.at) < (calls.reply, calls.at)"
            )
            count = "SELECT count(*) FROM calls"
            before = self.ask(count)[0][0]
            with self.transaction():
                self._db.executemany(insert, rows)
            return int(self.ask(count)[0][0]) - int(before)

    def replacement(self, system: str, scope: str, *, replace: bool, begin: bool = False) -> int:
        """Return the number of the replacement that calls belong to; 0 if there was none.

        Args:
            system: the system.
            scope: the answers to replace, and their generation options.
            replace: whether the calls replace answers: they belong to the unfinished replacement of this scope, if
                there is one, or to the next.
            begin: whether to record it.
        """
        rows = self._replacements(system)
        latest = max((number for number, _, _ in rows), default=0)
        if not replace:
            return latest
        if begin:
            return self._begin_replacement(system, scope)
        return max(
            (number for number, row_scope, ended in rows if row_scope == scope and not ended), default=latest + 1
        )

    def _begin_replacement(self, system: str, scope: str) -> int:
        """Begin a replacement of a system's answers, or resume an unfinished one; return its number."""
        with self.transaction():
            self._db.execute(_REPLACEMENTS)
            number = self.replacement(system, scope, replace=True)
            insert = "INSERT OR IGNORE INTO replacements (system, number, scope) VALUES (?, ?, ?)"
            self._db.execute(insert, [system, number, scope])
            return number

    def end_replacement(self, system: str, scope: str) -> None:
        """Mark the replacement of a scope as finished; the next one gets a new number."""
        with self.transaction():
            update = "UPDATE replacements SET finished = 1 WHERE system = ? AND scope = ?"
            self._db.execute(update, [system, scope])

    def _connect(self) -> sqlite3.Connection:
        """Connect to the file, creating it if needed."""
        make_folder(self.path.parent)
        make_private(self.path)  # so are the files that SQLite puts beside it
        db = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            # Commits survive a killed process. Without a flush per commit, a power failure may lose the last
            # few, but does not corrupt the file.
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                db.execute(f"PRAGMA user_version = {_FORMAT}")
                db.execute(_TABLE)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _connect_read_only(self) -> sqlite3.Connection:
        """Connect without writing, even in a read-only folder."""
        name = self.path.as_uri()
        db = sqlite3.connect(f"{name}?mode=ro", uri=True, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            db.close()
            # WAL needs a second file; if there is none and none can be created, there is no writer either.
            if not self.path.is_file() or self.path.with_name(self.path.name + "-wal").exists():
                raise
            db = sqlite3.connect(f"{name}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        return db

    def _read_record(self, column: str, key: str) -> dict[str, Any] | None:
        rows = self.ask(f"SELECT {column} FROM calls WHERE key = ?", [key])  # noqa: S608  # our own names
        return dict(json.loads(rows[0][0])) if rows else None

    def _replacements(self, system: str) -> list[tuple[int, str, bool]]:
        """Return number, scope and completion of each replacement of a system's answers."""
        if not self.ask("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'replacements'"):
            return []
        rows = self.ask("SELECT number, scope, finished FROM replacements WHERE system = ?", [system])
        return [(int(number), str(scope), bool(finished)) for number, scope, finished in rows]

    def _error(self, error: Exception) -> ArenaError:
        do = "free space or check permissions, then rerun the command; stored replies are kept"
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            do = "move the file away: a new ledger is started, and its calls are paid for again"
        return ArenaError(f"the ledger of replies cannot be used: {error}", where=str(self.path), do=do)
