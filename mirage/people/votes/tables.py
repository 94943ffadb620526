"""Database of the votes: its tables, and connections whose commits are durable."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput
from mirage.people.votes.rows import Evidence, LabelVote, Note, Vote
from mirage.store.extras import install_command

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

URL = "MIRAGE_VOTES_URL"
"""Environment variable with the database URL."""
PATIENCE = 10
"""Seconds to wait for locks and for a server."""
KINDS: tuple[type, ...] = (Vote, Evidence, Note, LabelVote)
"""Kinds of rows: votes on battles and citations, notes, and votes on labels of queries."""
_EXAMPLES = "give sqlite:////path/to/votes.sqlite or postgresql://user:password@host/name"


@cache
def metadata() -> Any:
    """Return the tables, with the columns of the row classes."""
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
    """Return the SQL table for each kind of row."""
    return {kind: metadata().tables[f"mirage_{kind.__name__.lower()}"] for kind in KINDS}


def engine(address: str) -> Engine:
    """Return an engine for a URL, configured for durable commits."""
    from sqlalchemy import create_engine, event, exc, make_url

    try:
        url = make_url(address)
    except (exc.ArgumentError, ValueError):
        raise BadInput(f"{URL} is not a database URL", do=_EXAMPLES) from None
    name = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if name not in ("sqlite", "postgresql") or (name == "sqlite" and url.database in (None, "", ":memory:")):
        raise BadInput(f"votes cannot be stored in {url.render_as_string(hide_password=True)}", do=_EXAMPLES)
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


def _durable(raw: Any, _record: Any) -> None:
    """Make PostgreSQL flush commits even if its settings do not, and set a statement timeout."""
    with raw.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        cursor.execute(f"SET statement_timeout = '{2 * PATIENCE}s'")
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
    raw.commit()
