"""Votes in SQL: an append-only log in SQLite or PostgreSQL, with the same code for both.

By default one SQLite file in the user's folder; `MIRAGE_VOTES_URL` selects another database, such as
`postgresql://user:password@host/votes` for a team. When `submit` returns, the vote is durable: it survives a crash at
any moment, and power loss if the disk honours fsync (each commit is flushed: SQLite's WAL with `synchronous = FULL`,
PostgreSQL's `synchronous_commit`). If it raises, the same vote can be submitted again and is stored once.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mirage import schema
from mirage.errors import ArenaError, BadInput, Unreachable
from mirage.people.votes.kinds import KINDS, UNDO, AnyRow, Row, kind_of
from mirage.people.votes.proof import is_signed, known_or_opinion, row_content, sign
from mirage.people.votes.rows import now, token, validate_row
from mirage.store import home
from mirage.store.extras import install_command
from mirage.store.folders import make_private
from mirage.text.names import Names

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

FORMAT = 1
"""Schema version of the tables."""
_LOCK = 0x6D6972616765
"""PostgreSQL advisory lock for creating the tables."""

URL = "MIRAGE_VOTES_URL"
"""Environment variable with the database URL."""
PATIENCE = 10
"""Seconds to wait for locks and for a server."""
_EXAMPLES = "give sqlite:////path/to/votes.sqlite or postgresql://user:password@host/name"

T = TypeVar("T")


class Votes:
    """The votes of one database. Thread-safe; several processes may use the database at the same time.

    Args:
        url: the database; by default `MIRAGE_VOTES_URL`, else the SQLite file in the user's folder. It is opened on
            first use, and the file is created by the first vote.

    Raises:
        BadInput: if the URL is neither SQLite nor PostgreSQL, or PostgreSQL's driver is not installed.
    """

    def __init__(self, url: str | None = None) -> None:
        self._given = url or os.environ.get(URL, "")
        self._address = self._given or f"sqlite:///{home.votes_file()}"
        self._ready = False
        if self._given:
            # Fail early on an invalid URL.
            _ = self._engine
        self._preparing = threading.Lock()

    @cached_property
    def _engine(self) -> Engine:
        """SQLAlchemy's engine, imported lazily: the import takes as long as a page."""
        engine = open_engine(self._address)
        # The explorer never closes its votes explicitly.
        weakref.finalize(self, engine.dispose)
        return engine

    @property
    def _absent(self) -> bool:
        """True if the user's file does not exist yet, so there are no votes."""
        return not self._given and not self._ready and not home.votes_file().exists()

    @property
    def where(self) -> str:
        """The database URL without its secrets."""
        return _show_url(self._engine.url) if self._given else self._address

    def submit(self, row: AnyRow) -> AnyRow:
        """Store a vote durably.

        Returns:
            The stored row: an existing vote is unchanged.

        Raises:
            BadInput: if the row is invalid, or its id belongs to another vote.
            Unreachable: if the database does not respond; the vote may be submitted again, with its id.
        """
        row = validate_row(row)
        table = vote_tables()[type(row)]

        def work(db: Connection) -> AnyRow:
            db.execute(self._insert(table), [asdict(row)])
            return self._find_vote(db, type(row), row.vote_id)

        stored = self._do(work, write=True)
        if _about(stored) != _about(row):
            raise BadInput(f"the id {row.vote_id} belongs to another vote", do="give every vote a unique id")
        return stored

    def undo(self, kind: type[AnyRow], vote_id: str, *, voter: str, session: str | None = None) -> AnyRow:
        """Undo a vote by appending a row; idempotent.

        Args:
            kind: kind of the vote.
            vote_id: the vote.
            voter: the voter who undoes it.
            session: session in which it must have been given; None if the voter is authenticated.

        Returns:
            The appended row.

        Raises:
            BadInput: if there is no such vote of this voter, or it was given in another session.
            Unreachable: if the database does not respond.
        """
        table = vote_tables()[kind]

        def work(db: Connection) -> AnyRow:
            vote = self._find_vote(db, kind, vote_id)
            if vote.voter != voter.strip() or vote.vote == UNDO:
                raise BadInput(f"{vote_id} is not a vote by {voter}", do="undo a vote of your own")
            if session is not None and vote.session != session:
                raise BadInput(
                    f"{vote_id} was given in another session",
                    do="take it back where it was given, or log in under that name",
                )
            # An id that nobody else can take first, the same for each attempt.
            undo_id = sign(self._keys(db)[0], UNDO, vote_id)
            gone: dict[str, Any] = {"vote": UNDO, "undoes": vote_id, "note": None, "seconds": None}
            back = replace(vote, vote_id=undo_id, time=now(), **gone)
            db.execute(self._insert(table), [asdict(back)])
            return self._find_vote(db, kind, back.vote_id)

        return self._do(work, write=True)

    def forget(self, voter: str) -> int:
        """Anonymise a person's votes permanently: the name becomes one random pseudonym, and notes and sessions are
        deleted. Valid votes and agreement with others are unchanged.

        Backups and earlier exports still contain the name; importing such an export again is rejected.

        Args:
            voter: the name, as in the votes.

        Returns:
            The number of changed rows.

        Raises:
            Unreachable: if the database does not respond; either nothing or everything has changed then.
        """
        from sqlalchemy import insert, update

        # Drawn before the transaction, so that a retry after a lost connection uses the same name.
        name = f"anonymous-{token()}"

        def work(db: Connection) -> int:
            changed = 0
            for table in vote_tables().values():
                statement = update(table).where(table.c.voter == voter.strip())
                changed += db.execute(statement.values(voter=name, note=None, session=None)).rowcount
            if changed:
                db.execute(insert(metadata().tables["mirage_erasure"]).values(erasure=name, time=now()))
            return changed

        return self._do(work, write=True)

    def append(self, rows: Sequence[Any], where: Sequence[str] = (), signatures: Sequence[object] | None = None) -> int:
        """Store rows: all of them, or none; existing rows are unchanged.

        Args:
            rows: votes and undos, of any kinds.
            where: location of each, for error messages.
            signatures: signature of each, of rows from a file: those without that of a known key are stored as
                opinions. None for rows that this program made.

        Returns:
            The number of new rows.

        Raises:
            BadInput: at the first row that is invalid, has the id of a different row, or undoes a missing vote.
            Unreachable: if the database does not respond.
        """
        sound: dict[str, Any] = {}
        place_of: dict[str, str] = {}
        voters = Names()
        for row, place in zip(rows, where or [""] * len(rows), strict=True):
            try:
                checked_row = validate_row(row)
                voters.check(checked_row.voter, "voter", "")
                if sound.get(checked_row.vote_id, checked_row) != checked_row:
                    raise BadInput(
                        f"the id {checked_row.vote_id} is that of another vote at {place_of[checked_row.vote_id]}"
                    )
            except BadInput as error:
                do = "; ".join(filter(None, (error.do, "nothing was imported")))
                raise BadInput(error.what, where=place, do=do) from None
            sound[checked_row.vote_id], place_of[checked_row.vote_id] = checked_row, place

        signature_of = dict(zip((row.vote_id for row in rows), signatures or (), strict=False))

        def work(db: Connection) -> int:
            keys = self._keys(db)
            unsigned = {
                name
                for name, row in sound.items()
                if signatures is not None
                and kind_of(row).says
                and not is_signed(keys, signature_of.get(name), *row_content(row))
            }
            return sum(self._append_kind(db, kind.row, sound, place_of, unsigned) for kind in KINDS.values())

        return self._do(work, write=True) if sound else 0

    def _append_kind(
        self,
        db: Connection,
        kind: type[Any],
        rows: Mapping[str, Any],
        place_of: Mapping[str, str],
        unsigned: set[str],
    ) -> int:
        """Store the valid rows of one kind, and return the number of new ones."""
        sound = {name: row for name, row in rows.items() if type(row) is kind}
        ids = [*sound, *(row.undoes for row in sound.values() if row.undoes and row.undoes not in sound)]
        stored = {row.vote_id: row for row in self._by_id(db, kind, ids)}
        for name in sound.keys() & unsigned:
            sound[name] = known_or_opinion(sound[name], stored.get(name))
        for name, row in sound.items():
            if stored.get(name, row) != row:
                raise BadInput(
                    f"the database has another vote of the id {name}", where=place_of[name], do="nothing was imported"
                )
            back = sound.get(row.undoes or "") or stored.get(row.undoes or "")
            if row.undoes and (back is None or _about(back) != _about(row)):
                raise BadInput(
                    f"it undoes {row.undoes}, which is not a vote by {row.voter} on this",
                    where=place_of[name],
                    do="import the vote with it; nothing was imported",
                )
        new = [asdict(row) for name, row in sound.items() if name not in stored]
        if new:
            db.execute(self._insert(vote_tables()[kind]), new)
        return len(new)

    def rows(self, kind: type[AnyRow], *, language: str | None = None, voter: str | None = None) -> list[AnyRow]:
        """Return the log of all arenas, or a part of it, in order of time (`votes_on` selects the rows of an arena).

        Raises:
            Unreachable: if the database does not respond.
        """
        if self._absent:
            return []
        from sqlalchemy import select

        table = vote_tables()[kind]
        query = select(*table.c).order_by(table.c.time, table.c.vote_id)
        for name, value in (("language", language), ("voter", voter)):
            if value is not None:
                query = query.where(table.c[name] == value)
        return self._do(lambda db: _read_rows(db, kind, query))

    def version(self) -> dict[str, int]:
        """Return the number of rows of each kind, plus the number of anonymisations: a cache key, since neither ever
        shrinks.
        """

        def work(db: Connection) -> dict[str, int]:
            *of_logs, erasures = map(int, db.execute(_counts()).one())
            return {kind: n + erasures for kind, n in zip(KINDS, of_logs, strict=True)}

        return dict.fromkeys(KINDS, 0) if self._absent else self._do(work)

    def keys(self) -> list[str]:
        """Return the keys of valid signatures: that of this database first, then those of others (`add_key`).

        Raises:
            Unreachable: if the database does not respond.
        """
        return self._do(self._keys)

    def add_key(self, key: str) -> None:
        """Accept the signatures of another database by its key.

        Raises:
            BadInput: if it is not a key.
            Unreachable: if the database does not respond.
        """
        if not re.fullmatch("[0-9a-f]{64}", key):
            raise BadInput("this is no key of votes", do="give the file that mirage votes export --key wrote")
        statement = self._insert(metadata().tables["mirage_key"], "key").values(key=key, time=now())
        self._do(lambda db: db.execute(statement), write=True)

    def _keys(self, db: Connection) -> list[str]:
        from sqlalchemy import select

        table = metadata().tables["mirage_key"]
        return list(db.execute(select(table.c.key).order_by(table.c.time, table.c.key)).scalars())

    def close(self) -> None:
        """Close the connections; the next use reconnects."""
        if "_engine" in vars(self):
            self._engine.dispose()

    def __enter__(self) -> Votes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find_vote(self, db: Connection, kind: type[AnyRow], vote_id: str) -> AnyRow:
        rows = self._by_id(db, kind, [vote_id])
        if not rows:
            raise BadInput(f"there is no vote {vote_id}", do="reload; the last vote was not kept")
        return rows[0]

    def _by_id(self, db: Connection, kind: type[AnyRow], ids: Sequence[str]) -> list[AnyRow]:
        from sqlalchemy import select

        table, rows = vote_tables()[kind], []
        for start in range(0, len(ids), 500):
            query = select(*table.c).where(table.c.vote_id.in_(ids[start : start + 500]))
            rows += _read_rows(db, kind, query)
        return rows

    def _insert(self, table: Table, name: str = "vote_id") -> Any:
        """Return an insert statement that leaves existing ids unchanged."""
        from sqlalchemy.dialects import postgresql, sqlite

        insert = postgresql.insert if self._engine.dialect.name == "postgresql" else sqlite.insert
        return insert(table).on_conflict_do_nothing(index_elements=[name])

    def _do(self, work: Callable[[Connection], T], *, write: bool = False) -> T:
        """Run work in a transaction, retrying once on a new connection after a lost one.

        All work is idempotent: ids are unique.
        """
        from sqlalchemy import exc

        for again in (True, False):
            try:
                self._prepare()
                return self._in_transaction(work, write=write)
            except exc.DBAPIError as error:
                self._ready = False
                self._engine.dispose()
                if not again:
                    raise self._unreachable_error(error.orig or error) from None
            except exc.TimeoutError as error:
                raise self._unreachable_error(error) from None
        raise AssertionError("unreachable")

    def _in_transaction(self, work: Callable[[Connection], T], *, write: bool) -> T:
        with self._engine.connect().execution_options(mirage_write=write) as db, db.begin():
            return work(db)

    def _prepare(self) -> None:
        """Create missing tables under a lock."""
        with self._preparing:
            if self._ready:
                return
            if not self._given:
                home.make_votes_file()
            if self._engine.dialect.name == "sqlite":
                with suppress(OSError):  # another user's file, or a missing folder; SQLite's error says which
                    make_private(Path(str(self._engine.url.database)))
                self._write_ahead()
            self._in_transaction(self._make, write=True)
            self._ready = True

    def _make(self, db: Connection) -> None:
        from sqlalchemy import func, insert, inspect, select

        formats, keys = (metadata().tables[name] for name in ("mirage_format", "mirage_key"))
        # The key was added last: votes of earlier versions have no table for it.
        if not inspect(db).has_table(keys.name):
            if self._engine.dialect.name == "postgresql":
                db.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            metadata().create_all(db)
            _add_columns(db)
            if db.execute(select(formats.c.format)).scalar_one_or_none() is None:
                db.execute(insert(formats).values(format=FORMAT))
            if not self._keys(db):
                db.execute(insert(keys).values(key=secrets.token_hex(32), time=now()))
        stored_format = db.execute(select(formats.c.format)).scalar_one()
        if stored_format != FORMAT:
            raise ArenaError(
                f"the votes have format {stored_format}, this version of mirage reads {FORMAT}",
                where=self.where,
                do="use the version of mirage that wrote them",
            )

    def _write_ahead(self) -> None:
        """Switch the file to a write-ahead log, with retries, since SQLite does not wait for locks here."""
        from sqlalchemy import exc

        until = time.monotonic() + PATIENCE
        while True:
            try:
                with self._engine.connect() as db:
                    raw: Any = db.connection.dbapi_connection
                    raw.execute("PRAGMA journal_mode = WAL")
                    return
            except Exception as error:
                if isinstance(error, exc.DBAPIError) or "locked" not in str(error) or time.monotonic() > until:
                    raise self._unreachable_error(error) from None
                time.sleep(0.02)

    def _unreachable_error(self, error: object) -> Unreachable:
        message = " ".join(str(error).split())
        do = "try again: the vote is sent with the same id, and kept once. "
        if self._engine.dialect.name == "postgresql":
            do += f"If it stays so, check that the server runs and that {URL} is right"
        elif "locked" in message:
            do += "Another program holds the file; if it stays so, end it"
        elif "not a database" in message or "malformed" in message:
            do = "move the file away and import your last export of it: mirage votes import FILE --key KEY"
        else:
            do += "If it stays so, free space on the disk and check the permissions of the folder"
        return Unreachable(f"the votes cannot be reached: {message}", where=self.where, do=do)


def _read_rows(db: Connection, kind: type[AnyRow], query: Any) -> list[AnyRow]:
    return [kind(**row._mapping) for row in db.execute(query)]


def _add_columns(db: Connection) -> None:
    """Add the columns that the tables of an earlier version lack; all are nullable."""
    from sqlalchemy import inspect, text

    for table in vote_tables().values():
        there = {column["name"] for column in inspect(db).get_columns(table.name)}
        for column in table.c:
            if column.name not in there:
                db.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {column.name} {column.type.compile(db.dialect)}"))


def _about(row: Row) -> tuple[Any, ...]:
    """Return a vote's voter, arena and item."""
    return (row.voter, row.arena, *row.item)


@cache
def _counts() -> Any:
    """Return the cached statement behind `version`, which every page with votes runs on every interaction."""
    from sqlalchemy import func, select

    logs = (select(func.count()).select_from(table) for table in vote_tables().values())
    erased = select(func.count()).select_from(metadata().tables["mirage_erasure"])
    return select(*(count.scalar_subquery() for count in (*logs, erased)))


@cache
def metadata() -> Any:
    """Return the tables, with the columns of the row classes."""
    from sqlalchemy import Boolean, Column, Double, Index, Integer, MetaData, Table, Text

    types = {"text": Text, "number": Double, "count": Integer, "flag": Boolean}
    catalog = MetaData()
    for kind in KINDS.values():
        row: type = kind.row
        name = f"mirage_{row.__name__.lower()}"
        columns: list[Column[Any]] = [
            Column(c.name, types[c.kind], primary_key=c.name == "vote_id", nullable=c.nullable)
            for c in schema.columns(row)
        ]
        Table(name, catalog, *columns, Index(f"{name}_by_voter", "voter"))
    Table("mirage_erasure", catalog, Column("erasure", Text, primary_key=True), Column("time", Text, nullable=False))
    Table("mirage_key", catalog, Column("key", Text, primary_key=True), Column("time", Text, nullable=False))
    Table("mirage_format", catalog, Column("format", Integer, primary_key=True, autoincrement=False))
    return catalog


def vote_tables() -> Mapping[type, Table]:
    """Return the SQL table for each kind of row."""
    return {kind.row: metadata().tables[f"mirage_{kind.row.__name__.lower()}"] for kind in KINDS.values()}


def open_engine(address: str) -> Engine:
    """Return an engine for a URL, configured for durable commits."""
    from sqlalchemy import create_engine, event, exc, make_url

    try:
        url = make_url(address)
    except (exc.ArgumentError, ValueError):
        raise BadInput(f"{URL} is not a database URL", do=_EXAMPLES) from None
    name = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if name not in ("sqlite", "postgresql") or (name == "sqlite" and url.database in (None, "", ":memory:")):
        raise BadInput(f"votes cannot be stored in {_show_url(url)}", do=_EXAMPLES)
    options: dict[str, Any] = {"timeout": PATIENCE}
    if name == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
        options = {"connect_timeout": PATIENCE // 2, "tcp_user_timeout": PATIENCE * 1000}
    pool: dict[str, Any] = {"pool_pre_ping": True, "pool_size": 5, "max_overflow": 20, "pool_timeout": PATIENCE}
    try:
        sql_engine = create_engine(url, connect_args=options, **pool)
    except ModuleNotFoundError:
        raise BadInput(
            "PostgreSQL's driver is not installed", do=f"run: {install_command('postgres')}, or unset {URL}"
        ) from None
    if name == "sqlite":
        _sqlite(sql_engine, Path(str(url.database)))
    else:
        event.listen(sql_engine, "connect", _flush_commits)
    return sql_engine


def _show_url(url: Any) -> str:
    """Return a URL without its password and its options, which may hold another."""
    return str(url.set(query={}).render_as_string(hide_password=True))


def _sqlite(engine: Engine, file: Path) -> None:
    from sqlalchemy import event, exc

    @event.listens_for(engine, "connect")
    def on_connect(raw: Any, record: Any) -> None:
        # `begin` below starts transactions: the driver would start them late, and never for a read.
        raw.isolation_level = None
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("PRAGMA fullfsync = ON")
        record.info["file"] = _identity(file)

    @event.listens_for(engine, "checkout")
    def on_checkout(_raw: Any, record: Any, _proxy: Any) -> None:
        # Votes in a removed or replaced file would be lost.
        if record.info["file"] != _identity(file):
            raise exc.DisconnectionError

    @event.listens_for(engine, "begin")
    def begin(db: Connection) -> None:
        # Take the write lock at once: upgrading a read transaction fails without waiting.
        db.exec_driver_sql("BEGIN IMMEDIATE" if db.get_execution_options().get("mirage_write") else "BEGIN")


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _flush_commits(raw: Any, _record: Any) -> None:
    """Make PostgreSQL flush commits even if its settings do not, and set a statement timeout."""
    with raw.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        cursor.execute(f"SET statement_timeout = '{2 * PATIENCE}s'")
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
    raw.commit()
