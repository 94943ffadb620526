"""Admissions to a live arena: rate, concurrency and spending limits, in one SQLite file shared by all processes.

Readers and addresses are stored as keyed hashes; rows are deleted a day after their question, and only their prices are
kept.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirage.errors import ArenaError, BadInput

NAME = "ask.sqlite"
"""File name in an arena's folder."""
HOUR = 3600.0
_KEPT = 24 * HOUR
_TABLES = """
CREATE TABLE IF NOT EXISTS admissions (
  id TEXT PRIMARY KEY, at REAL NOT NULL, reader TEXT NOT NULL, address TEXT NOT NULL,
  until REAL NOT NULL, money REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS by_time ON admissions (at);
CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value)
"""


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits on the questions of a live arena."""

    per_reader: int = 10
    """Questions per reader and hour."""
    per_address: int = 60
    """Questions per address and hour; not applied if the address is unknown."""
    at_once: int = 20
    """Questions answered concurrently."""
    budget: float | None = None
    """Maximum total spending, in the currency of the prices; None for no limit."""


class Admissions:
    """Admissions to one live arena; threads and processes may share the file.

    Args:
        folder: the arena's folder.
        clock: the current time in seconds since 1970.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = folder.absolute() / NAME
        self._clock = clock

    def admit(self, reader: str, address: str, quota: Quota, *, seconds: float, money: float) -> str:
        """Admit a question, and reserve its price.

        Args:
            reader: the reader's login or session.
            address: the reader's network address; empty if unknown.
            quota: the limits.
            seconds: maximum duration of an answer, after which its slot is freed even if its process died.
            money: the maximum price of the answers.

        Returns:
            The id of the admission, for `settle`.

        Raises:
            BadInput: if a limit is reached; the message says when to ask again.
            ArenaError: if the file cannot be used.
        """
        now, name = self._clock(), secrets.token_hex(8)
        with self._transaction() as db:
            self._forget(db, now)
            reader_hash, address_hash = self._hash(db, reader), self._hash(db, address) if address else ""
            for value, column, most, whose in (
                (reader_hash, "reader", quota.per_reader, "You have asked"),
                (address_hash, "address", quota.per_address, "Your network address has asked"),
            ):
                if value:
                    _refuse_rate(db, column, value, now, most, whose)
            at_once = db.execute("SELECT count(*) FROM admissions WHERE until > ?", [now]).fetchone()[0]
            if at_once >= quota.at_once:
                raise BadInput(
                    f"{at_once} questions are being answered, the maximum at the same time", do="ask again in a minute"
                )
            if quota.budget is not None and self._spent(db) + money > quota.budget:
                raise BadInput("the budget for answers is used up", do="ask the operator of this arena")
            db.execute(
                "INSERT INTO admissions VALUES (?, ?, ?, ?, ?, ?)",
                [name, now, reader_hash, address_hash, now + seconds, money],
            )
        return name

    def settle(self, name: str, money: float) -> None:
        """Free the slot of a question, and replace its reserved price by the actual price. Idempotent.

        Raises:
            ArenaError: if the file cannot be used.
        """
        with self._transaction() as db:
            db.execute("UPDATE admissions SET until = 0, money = ? WHERE id = ? AND until > 0", [money, name])

    def spent(self) -> float:
        """Return the spent and reserved amount, in the currency of the prices.

        Raises:
            ArenaError: if the file cannot be used.
        """
        with self._transaction() as db:
            return self._spent(db)

    def pseudonym(self, reader: str) -> str:
        """Return a reader's pseudonym, under which votes are stored.

        Raises:
            ArenaError: if the file cannot be used.
        """
        with self._transaction() as db:
            return f"reader-{self._hash(db, reader)[:12]}"

    @staticmethod
    def _spent(db: sqlite3.Connection) -> float:
        rows = db.execute("SELECT coalesce(sum(money), 0) FROM admissions").fetchone()
        kept = db.execute("SELECT value FROM kept WHERE name = 'spent'").fetchone()
        return float(rows[0]) + float(kept[0] if kept else 0)

    @staticmethod
    def _forget(db: sqlite3.Connection, now: float) -> None:
        """Delete rows older than a day, and add their prices to the total."""
        money = db.execute("SELECT sum(money) FROM admissions WHERE at < ?", [now - _KEPT]).fetchone()[0]
        if money is not None:
            db.execute(
                "INSERT INTO kept VALUES ('spent', ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                [money],
            )
            db.execute("DELETE FROM admissions WHERE at < ?", [now - _KEPT])

    @staticmethod
    def _hash(db: sqlite3.Connection, text: str) -> str:
        db.execute("INSERT OR IGNORE INTO kept VALUES ('key', ?)", [secrets.token_hex(16)])
        key = str(db.execute("SELECT value FROM kept WHERE name = 'key'").fetchone()[0])
        return hmac.new(key.encode(), text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:24]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file and hold its write lock, so that counting and inserting are atomic."""
        db = None
        try:
            db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
            if db.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                db.execute("PRAGMA user_version = 1")
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise ArenaError(
                f"the file of questions cannot be used: {error}",
                where=NAME,
                do="make the arena's folder writable for the explorer, or move the file away",
            ) from None
        finally:
            if db is not None:
                db.close()


def _refuse_rate(db: Any, column: str, value: str, now: float, most: int, whose: str) -> None:
    sql = f"SELECT count(*), min(at) FROM admissions WHERE {column} = ? AND at > ?"  # noqa: S608  # our own names
    n, first = db.execute(sql, [value, now - HOUR]).fetchone()
    if n >= most:
        minutes = max(1, round((first + HOUR - now) / 60))
        raise BadInput(f"{whose} {n} questions within an hour, the maximum", do=f"ask again in {minutes} minutes")
