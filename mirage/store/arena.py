"""Arenas on disk: Parquet files by table and language, and a manifest that is written last.

    DIR/manifest.json                      what the arena is, its files with rows, bytes and SHA-256
    DIR/<table>/<language>-<hash>.parquet  zstd, rows sorted by key, text in row groups of 2,000

A file's name holds the hash of its bytes, so a write never touches a file in use: new files are laid beside the old,
then the manifest is replaced in one step, then what it no longer names is removed. Whoever is killed at any moment
leaves the old arena or the new one. Readers follow the manifest alone.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.encoded import positions
from mirage.errors import ArenaError, TableMissing, UnknownName
from mirage.languages import is_code
from mirage.shipped import shipped
from mirage.store import manifest as manifests
from mirage.store.cache import cache_path
from mirage.store.location import address, is_remote
from mirage.store.remote import FRESH, local_files, remote_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Arena:
    """A folder of tables about some systems: Parquet files with a manifest. Immutable: a later write makes a new
    manifest, and `open_arena` a new object.
    """

    path: Path
    """The folder; of an arena on object storage, the one that stands for it (`location.py`)."""
    manifest: Mapping[str, Any] = field(hash=False)
    """The parsed `manifest.json`."""
    version: str
    """Hash of the manifest: changes with any content; the key for caches."""
    tags: tuple[tuple[str, str], ...] = ()
    """Tag and value that its queries must have (`tagged`): any of the values of one tag, of every tag. Rows of other
    queries are not there to read; tables without a column `query_id` are whole. Empty: all queries."""

    @property
    def name(self) -> str:
        """Short name: the folder's."""
        return self.path.name

    @property
    def address(self) -> str:
        """How a person names it: the folder's path, or the address on object storage."""
        return address(self.path)

    @property
    def title(self) -> str:
        """Title for people."""
        return str(self.manifest["title"])

    @property
    def label(self) -> str:
        """What kind of numbers these are: `real replies`, `published figures`, `simulated` ..."""
        return str(self.manifest["label"])

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables it has; of some queries only, those that have rows on them."""
        return tuple(name for name in self.manifest["tables"] if not self.narrowed(name) or _counts(self, name))

    def rows(self, table: str) -> int:
        """How many rows a table has; 0 if the arena lacks it."""
        if self.narrowed(table):
            return sum(_counts(self, table).values())
        return sum(file["rows"] for file in self.manifest["tables"].get(table, []))

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file["bytes"] for file in manifests.listed_files(self.manifest))

    def languages(self, table: str) -> tuple[str, ...]:
        """Languages a table has rows in, in the order of their codes."""
        if self.narrowed(table):
            return tuple(_counts(self, table))
        return tuple(file["language"] for file in self.manifest["tables"].get(table, []) if file["language"])

    @property
    def whole(self) -> Arena:
        """The same arena with all its queries."""
        return replace(self, tags=()) if self.tags else self

    def narrowed(self, table: str) -> bool:
        """Whether rows of a table are left out, since only some queries are wanted."""
        return bool(self.tags) and "query_id" in schema.key(table)

    def need(self, table: str) -> None:
        """Refuse to go on without a table.

        Raises:
            TableMissing: with the command that brings it; of a table that is made from another that the arena lacks
                too, about that other.
        """
        schema.table_class(table)
        tables = self.tables
        if table not in tables:
            missing = table
            while (origin := schema.MADE_FROM.get(missing)) is not None and origin not in tables:
                missing = origin
            command = self.command(missing)
            raise TableMissing(missing, where=self.address, command=command, adds=schema.ADDS[table])

    def command(self, table: str) -> str:
        """The command that brings a table into this arena, as a shell takes it."""
        return schema.COMMANDS[table].replace("DIR", shlex.quote(self.address))

    def read(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        languages: Iterable[str] | None = None,
        encoded: Collection[str] = (),
    ) -> pa.Table:
        """Read a table, or some columns and languages of it, sorted by key.

        Args:
            table: its name.
            columns: names of columns; None for all.
            languages: codes; None for all.
            encoded: those columns of text that come as Arrow dictionaries, in one chunk: the distinct values, and a
                number a row. Where few values are distinct, that is read several times as fast.

        Raises:
            TableMissing: if the arena lacks it.
            UnknownName: if a column is not one of the table's, or a language has no rows in it.
            ArenaError: if a file cannot be read, or the arena was changed since it was opened.
        """
        import pyarrow as pa

        self.need(table)
        full = schema.arrow_schema(table)
        for name in columns or ():
            if name not in full.names:
                raise UnknownName(f"{table} column", name, full.names, where=self.address)
        codes = None if languages is None else set(languages)
        for code in sorted((codes or set()) - set(self.languages(table))):
            raise UnknownName("language", code, self.languages(table), where=f"{self.address} ({table})")
        names = full.names if columns is None else list(columns)
        wanted = [*names, *(key for key in _QUERY if key not in names)] if self.narrowed(table) else names
        selection = pa.schema([_encoded(full.field(name)) if name in encoded else full.field(name) for name in wanted])
        files = [file for file in self.manifest["tables"][table] if codes is None or file["language"] in codes]
        parts = (_read(self, *pair, selection) for pair in zip(files, self.fetch(files), strict=True))
        data = pa.concat_tables([selection.empty_table(), *parts])
        if encoded:
            data = data.unify_dictionaries().combine_chunks()
        return of_queries(data, chosen_queries(self)).select(names) if self.narrowed(table) else data

    def read_optional(self, table: str, *, languages: Iterable[str] | None = None) -> pa.Table | None:
        """Read a table that says more of what others hold, in those of the languages that it has; None where the arena
        lacks it.

        Raises:
            ArenaError: if a file cannot be read, or the arena was changed since it was opened.
        """
        if table not in self.tables:
            return None
        return self.read(table, languages=None if languages is None else set(languages) & set(self.languages(table)))

    def fetch(self, files: Sequence[Mapping[str, Any]]) -> list[Path]:
        """Bring files from object storage to this machine, several at the same time; those of a folder are there.

        Returns:
            Where they can be read.

        Raises:
            ArenaError: if they cannot be had, or the arena was changed since it was opened.
        """
        try:
            return local_files(self.path, files)
        except OSError as error:
            manifests.verify(self.path, self.manifest, self.version)
            raise ArenaError(
                f"a file of the arena cannot be had: {error.strerror or error}",
                where=str(error.filename or self.address),
                do="write the arena again, or copy it from where it is whole",
            ) from None

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] = (),
        *,
        given: Mapping[str, pa.Table] | None = None,
        languages: Iterable[str] | None = None,
    ) -> pa.Table:
        """Ask the tables, each a view of its name, in DuckDB's SQL, read-only.

        Values go in as parameters, never by formatting, and whole tables by name in `given`. The connection reaches
        this arena's files and nothing else.

        Args:
            query: the query.
            parameters: its values.
            given: further tables.
            languages: codes that the query itself confines every table to: of an arena on object storage no files of
                other languages are fetched. None for all.

        Raises:
            ArenaError: if a file cannot be read, or the arena was changed since it was opened.
        """
        import duckdb

        remote = is_remote(self.path)

        def answer() -> pa.Table:
            with _connection(self).cursor() as cursor:
                for name, table in (given or {}).items():
                    cursor.register(name, table)
                if remote:
                    _provide(self, cursor, query, None if languages is None else frozenset(languages))
                return cursor.execute(query, parameters).to_arrow_table()

        try:
            return answer()
        except duckdb.Error:
            manifests.verify(self.path, self.manifest, self.version)
            if not remote:
                raise
        # What was damaged or gone on this machine has been fetched anew.
        return answer()


_QUERY = ("language", "query_id")


@lru_cache(maxsize=32)
def chosen_queries(arena: Arena) -> pa.Table:
    """The keys of the queries that have the tags of an arena: `language` and `query_id`, sorted.

    Raises:
        TableMissing: if it has no tags.
    """
    from itertools import groupby

    import pyarrow as pa
    import pyarrow.compute as pc

    tags = arena.whole.read("tags")
    keys = tags.select(list(_QUERY))
    for tag, pairs in groupby(sorted(arena.tags), key=lambda pair: pair[0]):
        values = pa.array([value for _, value in pairs], pa.string())
        having = tags.filter(pc.and_(pc.equal(tags["tag"], tag), pc.is_in(tags["value"], value_set=values)))
        keys = of_queries(keys, having)
    return keys.group_by(list(_QUERY)).aggregate([]).sort_by([(name, "ascending") for name in _QUERY])


def of_queries(data: pa.Table, queries: pa.Table) -> pa.Table:
    """The rows of a table that belong to some queries, in their order."""
    return data.filter(positions(data, queries, _QUERY) >= 0)


@lru_cache(maxsize=256)
def _counts(arena: Arena, table: str) -> dict[str, int]:
    """Rows by language of a table that belong to the chosen queries; languages without are left out."""
    if table not in arena.manifest["tables"]:
        return {}
    rows = arena.sql(f'SELECT language, count(*) AS n FROM "{table}" GROUP BY ALL ORDER BY ALL').to_pylist()  # noqa: S608  # a table's name
    return {row["language"]: row["n"] for row in rows}


def is_arena(path: Path) -> bool:
    """Whether a folder holds an arena, sound or not."""
    return manifests.has_manifest(path.absolute())


def open_arena(path: Path) -> Arena:
    """Open an arena folder; cheap checks only (`check` reads every byte).

    Raises:
        ArenaError: if there is no manifest, it is not one of this format, or a file it names is absent or has another
            size.
    """
    path = path.absolute()
    return Arena(path, *manifests.load_manifest(path))


def reopen(path: Path) -> Arena:
    """As `open_arena`, for whoever opens it again and again: files are looked for only when the manifest has changed,
    and object storage is asked for it every few seconds at most.

    Raises:
        ArenaError: as `open_arena`.
    """
    path = path.absolute()
    if (remote := remote_of(path)) is not None:
        try:
            return _parsed(path, remote.manifest(age=FRESH))
        except FileNotFoundError:
            return open_arena(path)
    try:
        status = (path / manifests.NAME).stat()
    except OSError:
        return open_arena(path)
    return _opened(path, (status.st_ino, status.st_mtime_ns, status.st_size))


def check(arena: Arena) -> list[str]:
    """Read every byte and row: hashes, row counts, languages, and the contract of every table.

    Returns:
        One line a table, saying what was checked.

    Raises:
        ArenaError: at the first file that is not what the manifest says.
        BadInput: at the first row that breaks the contract.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    manifests.verify(arena.path, arena.manifest, arena.version)
    lines = []
    for table, files in arena.manifest["tables"].items():
        full = schema.arrow_schema(table)
        parts = [full.empty_table()]
        for file in files:
            part = _read(arena, file, arena.fetch([file])[0], full)
            if len(part) != file["rows"]:
                raise manifests.damaged(arena.path, file, f"{len(part):,} rows, the manifest says {file['rows']:,}")
            names = pc.unique(part["language"]).to_pylist() if "language" in part.column_names else [""]
            codes = {code if is_code(code) else "" for code in names}
            if codes != {file["language"]}:
                raise manifests.damaged(arena.path, file, "it holds another language than the manifest says")
            parts.append(part)
        data = pa.concat_tables(parts)
        schema.validate(table, data, where=f"{arena.address}/{table}")
        lines.append(f"{table}: {len(data):,} rows in {len(files)} files, hashes and contract hold")
    return lines


def bundled() -> dict[str, Path]:
    """The arenas that come with the program, by name."""
    return manifests.arena_folders(shipped() / "data")


def _read(arena: Arena, file: Mapping[str, Any], path: Path, columns: pa.Schema) -> pa.Table:
    """Read some columns of one file, which is at a path; the error says whether the file or a change of the arena is at
    fault.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        encoded = [column.name for column in columns if pa.types.is_dictionary(column.type)]
        known = set(pq.read_schema(path).names) if encoded else set()
        with pq.ParquetFile(path, read_dictionary=[name for name in encoded if name in known]) as parquet:
            # A file has one language: as a dictionary it needs no reading.
            single = bool(file["language"]) and "language" in encoded and len(columns) > 1
            data = parquet.read(columns=[name for name in columns.names if name != "language" or not single])
        if single:
            place = columns.get_field_index("language")
            zeros = pa.repeat(pa.scalar(0, pa.int32()), len(data))
            data = data.add_column(
                place, columns.field(place), pa.DictionaryArray.from_arrays(zeros, [file["language"]])
            )
        for k, column in enumerate(columns):
            if column.nullable and column.name not in data.column_names:
                # The file was written before the table had this column.
                data = data.add_column(k, column, pa.nulls(len(data), column.type))
        return data.cast(columns)
    except (OSError, ValueError, pa.ArrowException) as error:
        manifests.verify(arena.path, arena.manifest, arena.version)
        raise manifests.damaged(arena.path, file, str(error)) from None


def _encoded(column: pa.Field) -> pa.Field:
    """The field of a column of text that comes as a dictionary."""
    import pyarrow as pa

    return column.with_type(pa.dictionary(pa.int32(), pa.string()))


@lru_cache(maxsize=64)
def _parsed(path: Path, raw: bytes) -> Arena:
    return Arena(path, *manifests.parse_manifest(path, raw))


@lru_cache(maxsize=64)
def _opened(path: Path, _stamp: tuple[int, int, int]) -> Arena:
    return open_arena(path)


@lru_cache(maxsize=16)
def _connection(arena: Arena) -> Any:
    """A locked in-memory DuckDB that sees the arena's tables as views, one for each version of an arena."""
    import duckdb

    connection = duckdb.connect(":memory:")
    remote = is_remote(arena.path)
    connection.execute(
        "SET allowed_paths = ?",
        [
            [
                str(cache_path(file["sha256"]) if remote else arena.path / file["path"])
                for file in manifests.listed_files(arena.manifest)
            ]
        ],
    )
    connection.execute("SET enable_external_access = false")
    if arena.tags:
        connection.from_arrow(chosen_queries(arena)).create("chosen_queries")
    for table, files in arena.manifest["tables"].items():
        if files and not remote:
            connection.execute(_view(arena, table, arena.fetch(files)))
        elif not files:
            connection.from_arrow(schema.arrow_schema(table).empty_table()).create(table)
    connection.execute("SET lock_configuration = true")
    return connection


def _only(arena: Arena, table: str) -> str:
    """What leaves out of a view the rows of queries that are not wanted."""
    return f" SEMI JOIN chosen_queries USING ({', '.join(_QUERY)})" if arena.narrowed(table) else ""


def _provide(arena: Arena, cursor: Any, query: str, languages: frozenset[str] | None) -> None:
    """Let a query see the tables of an arena on object storage that it names, and fetch their files."""
    for table in sorted(_tables_of(query) & {*arena.manifest["tables"]}):
        if all_files := arena.manifest["tables"][table]:
            # A table without languages has one file, and one file must be there for the columns.
            files = [file for file in all_files if languages is None or file["language"] in {"", *languages}]
            files = files or all_files[:1]
            cursor.execute(_view(arena, table, arena.fetch(files), temporary=True))


@lru_cache(maxsize=256)
def _tables_of(query: str) -> frozenset[str]:
    """The names of tables that a query reads, as DuckDB's own parser tells them."""
    import duckdb

    names = set()

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE":
                names.add(str(node["table_name"]).lower())
            node = list(node.values())
        if isinstance(node, list):
            for part in node:
                visit(part)

    with duckdb.connect(":memory:") as connection:
        rows = connection.execute("SELECT json_serialize_sql($query)", {"query": query}).fetchall()
    visit(json.loads(rows[0][0]))
    return frozenset(names)


def _view(arena: Arena, table: str, paths: Sequence[Path], *, temporary: bool = False) -> str:
    """The statement that makes a view of a table's files."""
    # A view takes no parameters; the names are the manifest's, confined to the folder by open_arena.
    names = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    columns = ", ".join(["*", *(f"NULL::{kind} AS {name}" for name, kind in _later(table, paths[0]))])
    kind = "TEMPORARY VIEW" if temporary else "VIEW"
    # In quotes, as `references` is a word of SQL.
    rows = f"read_parquet([{names}]){_only(arena, table)}"
    return f'CREATE {kind} "{table}" AS SELECT {columns} FROM {rows}'  # noqa: S608  # as above


def _later(table: str, path: Path) -> list[tuple[str, str]]:
    """The nullable columns, with their type in SQL, that a table has got since a file of it was written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"text": "VARCHAR", "number": "DOUBLE", "count": "INTEGER", "flag": "BOOLEAN"}
    try:
        names = set(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return []  # a file that cannot be read is named where its rows are asked for
    return [
        (column.name, kinds[column.kind])
        for column in schema.columns(table)
        if column.nullable and column.name not in names
    ]
