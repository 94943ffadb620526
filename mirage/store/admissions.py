"""Admissions to a live arena: rates, streams at once and spending, in one SQLite file that all processes share.

Readers and addresses are kept as keyed hashes, and rows are deleted a day after their question, except for their price.
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
    """Questions of one reader within an hour."""
    per_address: int = 60
    """Questions from one address within an hour; not applied where the address is unknown."""
    at_once: int = 20
    """Questions that are being answered at one time."""
    budget: float | None = None
    """Maximum spending in all, in the currency of the prices; None for no limit."""


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
            seconds: how long an answer may take; then its place is free again, should its process have died.
            money: the most that the answers can cost.

        Returns:
            The id of the admission, for `settle`.

        Raises:
            BadInput: if a limit is reached, with when to ask again.
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
                    f"{at_once} questions are being answered, the most at one time", do="ask again in a minute"
                )
            if quota.budget is not None and self._spent(db) + money > quota.budget:
                raise BadInput("the budget for answers is used up", do="ask the operator of this arena")
            db.execute(
                "INSERT INTO admissions VALUES (?, ?, ?, ?, ?, ?)",
                [name, now, reader_hash, address_hash, now + seconds, money],
            )
        return name

    def settle(self, name: str, money: float) -> None:
        """Free the place of a question, and replace its reserved price by the actual one; idempotent.

        Raises:
            ArenaError: if the file cannot be used.
        """
        with self._transaction() as db:
            db.execute("UPDATE admissions SET until = 0, money = ? WHERE id = ? AND until > 0", [money, name])

    def spent(self) -> float:
        """Return what was spent and is reserved, in the currency of the prices.

        Raises:
            ArenaError: if the file cannot be used.
        """
        with self._transaction() as db:
            return self._spent(db)

    def pseudonym(self, reader: str) -> str:
        """Return the name under which a reader's votes are stored: it tells readers apart, and names none.

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
        """Delete the rows of the day before, and add their prices to the total."""
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
        """Open the file and hold its write lock, so that a count and the row after it are one step."""
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
        raise BadInput(f"{whose} {n} questions within an hour, the most allowed", do=f"ask again in {minutes} minutes")
