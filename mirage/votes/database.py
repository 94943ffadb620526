"""Votes in SQL: a log that is only added to, in SQLite or PostgreSQL, the same code on both.

By default one SQLite file in the user's own folder; `MIRAGE_VOTES_URL` names another database, such as
`postgresql://user:password@host/votes` for a team. When `submit` returns, the vote is kept: it survives the end of the
program at any moment, and, as far as the disk keeps its word, a power cut (each commit is flushed: SQLite's WAL with
`synchronous = FULL`, PostgreSQL's `synchronous_commit`). When it raises, the same vote can be submitted again and is
kept once.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from mirage.errors import ArenaError, BadInput, Unreachable
from mirage.store import home
from mirage.votes import tables
from mirage.votes.rows import UNDO, AnyRow, Row, checked, item, now, token

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

FORMAT = 1
"""Version of the tables."""
_LOCK = 0x6D6972616765
"""Number under which PostgreSQL lets one program at a time make the tables."""

T = TypeVar("T")


class Votes:
    """The votes of one database. Serves many threads; several programs may use the database at the same time.

    Args:
        url: the database; by default what `MIRAGE_VOTES_URL` names, else the SQLite file of the user's own folder.
            Nothing is opened before the first use, and no file is made before the first vote.

    Raises:
        BadInput: if the address is not one of SQLite or PostgreSQL, or PostgreSQL's driver is not installed.
    """

    def __init__(self, url: str | None = None) -> None:
        self._given = url or os.environ.get(tables.URL, "")
        self._address = self._given or f"sqlite:///{home.votes_file()}"
        self._ready = False
        if self._given:
            # Whoever named a wrong address hears of it here.
            _ = self._engine
        self._preparing = threading.Lock()

    @cached_property
    def _engine(self) -> Engine:
        """SQLAlchemy's engine. Its import takes as long as a page, which without any vote would wait for nothing."""
        return tables.engine(self._address)

    @property
    def _absent(self) -> bool:
        """Whether the user's own file is not there yet: it has no vote."""
        return not self._given and not self._ready and not home.votes_file().exists()

    @property
    def where(self) -> str:
        """The database, without its password."""
        return self._engine.url.render_as_string(hide_password=True) if self._given else self._address

    def submit(self, row: AnyRow) -> AnyRow:
        """Keep a vote; when this returns it outlives the program.

        Returns:
            The row as it is kept: a vote that is there already stays as it is.

        Raises:
            BadInput: if the row is not sound, or its id is that of another vote.
            Unreachable: if the database does not answer; the vote may be submitted again, with its id.
        """
        row = checked(row)
        table = tables.vote_tables()[type(row)]

        def work(db: Connection) -> AnyRow:
            db.execute(self._insert(table), [asdict(row)])
            return self._one(db, type(row), row.vote_id)

        stored = self._do(work, write=True)
        if _about(stored) != _about(row):
            raise BadInput(f"the id {row.vote_id} is that of another vote", do="give every vote an id of its own")
        return stored

    def undo(self, kind: type[AnyRow], vote_id: str, *, voter: str, session: str | None = None) -> AnyRow:
        """Take a vote back, by a row that says so; doing it twice does it once.

        Args:
            kind: of the vote.
            vote_id: the vote.
            voter: who takes it back.
            session: the session in which it must have been given; None where it is certain who the voter is.

        Returns:
            The row that takes it back.

        Raises:
            BadInput: if there is no such vote of this voter, or it was given in another session.
            Unreachable: if the database does not answer.
        """
        table = tables.vote_tables()[kind]

        def work(db: Connection) -> AnyRow:
            vote = self._one(db, kind, vote_id)
            if vote.voter != voter.strip() or vote.vote == UNDO:
                raise BadInput(f"{vote_id} is no vote of {voter}", do="take back a vote of your own")
            if session is not None and vote.session != session:
                raise BadInput(
                    f"{vote_id} was given in another session",
                    do="take it back where it was given, or log in under that name",
                )
            back = replace(
                vote, vote_id=f"undo-{vote_id}", time=now(), vote=UNDO, undoes=vote_id, note=None, seconds=None
            )
            db.execute(self._insert(table), [asdict(back)])
            return self._one(db, kind, back.vote_id)

        return self._do(work, write=True)

    def forget(self, voter: str) -> int:
        """Take a person out of their votes, for good: their name becomes a pseudonym drawn at random, the same in all
        of them, and their notes and sessions go. Which votes stand, and agreement with others, stays as it was.

        A backup and an earlier export still hold the name; who imports that export again is refused.

        Args:
            voter: the name, as in the votes.

        Returns:
            How many rows held it.

        Raises:
            Unreachable: if the database does not answer; nothing has changed then, or all.
        """
        from sqlalchemy import insert, update

        # Drawn before: what is done again after a lost connection then does the same.
        name = f"anonymous-{token()}"

        def work(db: Connection) -> int:
            changed = 0
            for table in tables.vote_tables().values():
                statement = update(table).where(table.c.voter == voter.strip())
                changed += db.execute(statement.values(voter=name, note=None, session=None)).rowcount
            if changed:
                db.execute(insert(tables.metadata().tables["mirage_erasure"]).values(erasure=name, time=now()))
            return changed

        return self._do(work, write=True)

    def append(self, rows: Sequence[AnyRow], where: Sequence[str] = ()) -> int:
        """Keep rows that were exported elsewhere: all of them, or none; those that are there already stay.

        Args:
            rows: votes, takings back, or both.
            where: where each comes from, for messages.

        Returns:
            How many were new.

        Raises:
            BadInput: at the first row that is not sound, has the id of a row with other contents, or takes back what
                is not there.
            Unreachable: if the database does not answer.
        """
        if not rows:
            return 0
        kind, places = type(rows[0]), where or [""] * len(rows)
        sound: dict[str, AnyRow] = {}
        place_of: dict[str, str] = {}
        for row, place in zip(rows, places, strict=True):
            try:
                checked_row = checked(row)
                if sound.get(checked_row.vote_id, checked_row) != checked_row:
                    raise BadInput(
                        f"the id {checked_row.vote_id} stands for another vote at {place_of[checked_row.vote_id]}"
                    )
            except BadInput as error:
                raise BadInput(error.what, where=place, do=error.do or "nothing was imported") from None
            sound[checked_row.vote_id], place_of[checked_row.vote_id] = checked_row, place

        def work(db: Connection) -> int:
            ids = [*sound, *(row.undoes for row in sound.values() if row.undoes and row.undoes not in sound)]
            stored = {row.vote_id: row for row in self._by_id(db, kind, ids)}
            for name, row in sound.items():
                if stored.get(name, row) != row:
                    raise BadInput(
                        f"the database has another vote of the id {name}",
                        where=place_of[name],
                        do="nothing was imported",
                    )
                back = sound.get(row.undoes or "") or stored.get(row.undoes or "")
                if row.undoes and (back is None or _about(back) != _about(row)):
                    raise BadInput(
                        f"it takes back {row.undoes}, which is no vote of {row.voter} on this",
                        where=place_of[name],
                        do="import the vote with it; nothing was imported",
                    )
            new = [asdict(row) for name, row in sound.items() if name not in stored]
            if new:
                db.execute(self._insert(tables.vote_tables()[kind]), new)
            return len(new)

        return self._do(work, write=True)

    def rows(self, kind: type[AnyRow], *, language: str | None = None, voter: str | None = None) -> list[AnyRow]:
        """The log of all arenas, or a part of it, in the order of time (`votes_on` says which rows count for an arena).

        Raises:
            Unreachable: if the database does not answer.
        """
        if self._absent:
            return []
        from sqlalchemy import select

        table = tables.vote_tables()[kind]
        query = select(*table.c).order_by(table.c.time, table.c.vote_id)
        for name, value in (("language", language), ("voter", voter)):
            if value is not None:
                query = query.where(table.c[name] == value)
        return self._do(lambda db: [kind(*row) for row in db.execute(query)])

    def version(self) -> tuple[int, ...]:
        """How many rows of each kind (on battles, citations, nuggets) the log has, and how often a person was taken
        out, added up: neither ever shrinks, so this is a key for caches.
        """

        def work(db: Connection) -> tuple[int, ...]:
            *of_logs, erasures = map(int, db.execute(_counts()).one())
            return tuple(n + erasures for n in of_logs)

        return (0,) * len(tables.KINDS) if self._absent else self._do(work)

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        if "_engine" in vars(self):
            self._engine.dispose()

    def __enter__(self) -> Votes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _one(self, db: Connection, kind: type[AnyRow], vote_id: str) -> AnyRow:
        rows = self._by_id(db, kind, [vote_id])
        if not rows:
            raise BadInput(f"there is no vote {vote_id}", do="reload; the last vote was not kept")
        return rows[0]

    def _by_id(self, db: Connection, kind: type[AnyRow], ids: Sequence[str]) -> list[AnyRow]:
        from sqlalchemy import select

        table, rows = tables.vote_tables()[kind], []
        for start in range(0, len(ids), 500):
            query = select(*table.c).where(table.c.vote_id.in_(ids[start : start + 500]))
            rows += [kind(*row) for row in db.execute(query)]
        return rows

    def _insert(self, table: Table) -> Any:
        """An insertion that leaves a row of the same id as it is."""
        from sqlalchemy.dialects import postgresql, sqlite

        insert = postgresql.insert if self._engine.dialect.name == "postgresql" else sqlite.insert
        return insert(table).on_conflict_do_nothing(index_elements=["vote_id"])

    def _do(self, work: Callable[[Connection], T], *, write: bool = False) -> T:
        """Do it in a transaction; what a lost connection interrupts is done again, once, on a new one.

        Everything that is done here can be done twice: ids are unique.
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
                    raise self._gone(error.orig or error) from None
            except exc.TimeoutError as error:
                raise self._gone(error) from None
        raise AssertionError("unreachable")

    def _in_transaction(self, work: Callable[[Connection], T], *, write: bool) -> T:
        with self._engine.connect().execution_options(mirage_write=write) as db, db.begin():
            return work(db)

    def _prepare(self) -> None:
        """Make the tables where they are absent; one program at a time does."""
        with self._preparing:
            if self._ready:
                return
            if not self._given:
                home.votes_file()
            if self._engine.dialect.name == "sqlite":
                self._write_ahead()
            self._in_transaction(self._make, write=True)
            self._ready = True

    def _make(self, db: Connection) -> None:
        from sqlalchemy import func, insert, inspect, select

        formats = tables.metadata().tables["mirage_format"]
        if not inspect(db).has_table(formats.name):
            if self._engine.dialect.name == "postgresql":
                db.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            tables.metadata().create_all(db)
            if db.execute(select(formats.c.format)).scalar_one_or_none() is None:
                db.execute(insert(formats).values(format=FORMAT))
        else:
            self._widen(db)
        stored_format = db.execute(select(formats.c.format)).scalar_one()
        if stored_format != FORMAT:
            raise ArenaError(
                f"the votes have format {stored_format}, this version of mirage reads {FORMAT}",
                where=self.where,
                do="use the version of mirage that wrote them",
            )

    def _widen(self, db: Connection) -> None:
        """Add the tables and columns that an earlier version lacks: null in its rows, and unknown to its programs,
        which go on reading and writing the others. Tables that change are copied before; the copy stays.
        """
        from sqlalchemy import func, inspect, select, text

        def lacking() -> list[str]:
            inspector = inspect(db)
            return [
                f"ALTER TABLE {table.name} ADD COLUMN {column.name} {column.type.compile(db.dialect)}"
                for table in tables.vote_tables().values()
                if inspector.has_table(table.name)
                for column in table.columns
                if column.name not in {existing["name"] for existing in inspector.get_columns(table.name)}
            ]

        catalog = tables.metadata()
        if lacking() or catalog.tables.keys() - set(inspect(db).get_table_names()):
            if self._engine.dialect.name == "postgresql":
                db.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            statements = lacking()  # another program may have done it while this waited
            if statements:
                tables.back_up(db)
            for statement in statements:
                db.execute(text(statement))
            catalog.create_all(db)

    def _write_ahead(self) -> None:
        """Switch the file to a write-ahead log. SQLite does not wait for others here, so this does."""
        from sqlalchemy import exc

        until = time.monotonic() + tables.PATIENCE
        while True:
            try:
                with self._engine.connect() as db:
                    raw: Any = db.connection.dbapi_connection
                    raw.execute("PRAGMA journal_mode = WAL")
                    return
            except Exception as error:
                if isinstance(error, exc.DBAPIError) or "locked" not in str(error) or time.monotonic() > until:
                    raise self._gone(error) from None
                time.sleep(0.02)

    def _gone(self, error: object) -> Unreachable:
        message = " ".join(str(error).split())
        do = "try again: the vote is sent with the same id, and kept once. "
        if self._engine.dialect.name == "postgresql":
            do += f"If it stays so, check that the server runs and that {tables.URL} is right"
        elif "locked" in message:
            do += "Another program holds the file; if it stays so, end it"
        elif "not a database" in message or "malformed" in message:
            do = "move the file away and import your last export of it: mirage votes import FILE"
        else:
            do += "If it stays so, free space on the disk and check the permissions of the folder"
        return Unreachable(f"the votes cannot be reached: {message}", where=self.where, do=do)


def _about(row: Row) -> tuple[str, ...]:
    """Whose vote it is, where it was given and on what."""
    return (row.voter, row.arena, *item(row))


@cache
def _counts() -> Any:
    """The statement behind `version`: one, made once, since every page with people's votes asks it at every click."""
    from sqlalchemy import func, select

    logs = (select(func.count()).select_from(table) for table in tables.vote_tables().values())
    erased = select(func.count()).select_from(tables.metadata().tables["mirage_erasure"])
    return select(*(count.scalar_subquery() for count in (*logs, erased)))
