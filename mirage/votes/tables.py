"""The database of the votes: its tables, and connections set up so that a commit is on the disk when it returns."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput
from mirage.extras import install_command
from mirage.votes.rows import Evidence, NuggetVote, Vote

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

URL = "MIRAGE_VOTES_URL"
"""Environment variable that names the database."""
PATIENCE = 10
"""Seconds to wait for others that write, and for a server."""
KINDS: tuple[type, ...] = (Vote, Evidence, NuggetVote)
"""What is voted on: battles, citations, nuggets."""
_EXAMPLES = "give sqlite:////path/to/votes.sqlite or postgresql://user:password@host/name"


@cache
def metadata() -> Any:
    """The tables, their columns those of the rows' classes."""
    from sqlalchemy import Boolean, Column, Double, Index, Integer, MetaData, Table, Text

    types = {"text": Text, "number": Double, "count": Integer, "flag": Boolean}
    catalog = MetaData()
    for kind in KINDS:
        name = f"mirage_{kind.__name__.lower()}"
        columns: list[Column[Any]] = [
            Column(c.name, types[c.kind], primary_key=c.name == "vote_id", nullable=c.nullable)
            for c in schema.columns(kind)
        ]
        Table(name, catalog, *columns, Index(f"{name}_by_voter", "voter"))
    Table("mirage_erasure", catalog, Column("erasure", Text, primary_key=True), Column("time", Text, nullable=False))
    Table("mirage_format", catalog, Column("format", Integer, primary_key=True, autoincrement=False))
    return catalog


def vote_tables() -> Mapping[type, Table]:
    """The table of each kind of rows."""
    return {kind: metadata().tables[f"mirage_{kind.__name__.lower()}"] for kind in KINDS}


def engine(address: str) -> Engine:
    """An engine for an address, set up so that a commit is on the disk when it returns."""
    from sqlalchemy import create_engine, event, exc, make_url

    try:
        url = make_url(address)
    except (exc.ArgumentError, ValueError):
        raise BadInput(f"{URL} is no address of a database", do=_EXAMPLES) from None
    name = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if name not in ("sqlite", "postgresql") or (name == "sqlite" and url.database in (None, "", ":memory:")):
        raise BadInput(f"votes cannot be kept in {url.render_as_string(hide_password=True)}", do=_EXAMPLES)
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
        event.listen(sql_engine, "connect", _durable)
    return sql_engine


def back_up(db: Connection) -> None:
    """Copy the votes before their tables change: SQLite's file beside itself (`votes.sqlite-before-TIME`), PostgreSQL's
    tables in the same database (`mirage_vote_before_TIME`).

    Args:
        db: a connection in a transaction that writes: nobody else does until it ends.
    """
    from sqlalchemy import inspect, text

    time = datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
    if db.dialect.name == "sqlite":
        file = str(db.engine.url.database)
        # A second connection: it reads what was committed, which this one has not changed yet.
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(f"{file}-before-{time}")) as copy:
            source.backup(copy)
        return
    there = set(inspect(db).get_table_names())
    for table in vote_tables().values():
        if table.name in there:
            db.execute(text(f"CREATE TABLE {table.name}_before_{time} AS TABLE {table.name}"))


def _sqlite(engine: Engine, file: Path) -> None:
    from sqlalchemy import event, exc

    @event.listens_for(engine, "connect")
    def opened(raw: Any, record: Any) -> None:
        # Transactions are begun by `begin` below: the driver would begin them late, and never for a read.
        raw.isolation_level = None
        raw.execute("PRAGMA synchronous = FULL")
        raw.execute("PRAGMA fullfsync = ON")
        record.info["file"] = _identity(file)

    @event.listens_for(engine, "checkout")
    def taken(_raw: Any, record: Any, _proxy: Any) -> None:
        # A file that was removed or replaced would take votes that nobody reads again.
        if record.info["file"] != _identity(file):
            raise exc.DisconnectionError

    @event.listens_for(engine, "begin")
    def begin(db: Connection) -> None:
        # A writer takes its turn at once: a reader that becomes one in the middle is refused without a wait.
        db.exec_driver_sql("BEGIN IMMEDIATE" if db.get_execution_options().get("mirage_write") else "BEGIN")


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _durable(raw: Any, _record: Any) -> None:
    """Have PostgreSQL flush commits where its settings say otherwise, and not wait for ever."""
    with raw.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        cursor.execute(f"SET statement_timeout = '{2 * PATIENCE}s'")
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
    raw.commit()
