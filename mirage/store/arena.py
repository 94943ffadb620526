"""Arenas on disk: Parquet files by table and language, and a manifest that is written last.

    DIR/manifest.json                      what the arena is, its files with rows, bytes and SHA-256
    DIR/<table>/<language>-<hash>.parquet  zstd, rows sorted by key, text in row groups of 2,000

A file's name holds the hash of its bytes, so a write never touches a file in use: new files are laid beside the old,
then the manifest is replaced in one step, then what it no longer names is removed. Whoever is killed at any moment
leaves the old arena or the new one. Readers follow the manifest alone.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import TableMissing, UnknownName
from mirage.languages import LANGUAGES
from mirage.shipped import shipped
from mirage.store import manifest as manifests

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Arena:
    """A folder of tables about some systems: Parquet files with a manifest. Immutable: a later write makes a new
    manifest, and `open_arena` a new object.
    """

    path: Path
    """The folder."""
    manifest: Mapping[str, Any] = field(hash=False)
    """The parsed `manifest.json`."""
    version: str
    """Hash of the manifest: changes with any content; the key for caches."""

    @property
    def name(self) -> str:
        """Short name: the folder's."""
        return self.path.name

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
        """Names of the tables it has."""
        return tuple(self.manifest["tables"])

    def rows(self, table: str) -> int:
        """How many rows a table has; 0 if the arena lacks it."""
        return sum(file["rows"] for file in self.manifest["tables"].get(table, []))

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file["bytes"] for file in manifests.listed_files(self.manifest))

    def languages(self, table: str) -> tuple[str, ...]:
        """Languages a table has rows in, in the order of their codes."""
        return tuple(file["language"] for file in self.manifest["tables"].get(table, []) if file["language"])

    def need(self, table: str) -> None:
        """Refuse to go on without a table.

        Raises:
            TableMissing: with the command that brings it.
        """
        schema.table_class(table)
        if table not in self.manifest["tables"]:
            raise TableMissing(table, where=str(self.path), command=self.command(table))

    def command(self, table: str) -> str:
        """The command that brings a table into this arena, as a shell takes it."""
        return schema.COMMANDS[table].replace("DIR", shlex.quote(str(self.path)))

    def read(
        self, table: str, *, columns: Sequence[str] | None = None, languages: Iterable[str] | None = None
    ) -> pa.Table:
        """Read a table, or some columns and languages of it, sorted by key.

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
                raise UnknownName(f"{table} column", name, full.names, where=str(self.path))
        codes = None if languages is None else set(languages)
        for code in sorted((codes or set()) - set(self.languages(table))):
            raise UnknownName("language", code, self.languages(table), where=f"{self.path} ({table})")
        selection = full if columns is None else pa.schema([full.field(column) for column in columns])
        files = [file for file in self.manifest["tables"][table] if codes is None or file["language"] in codes]
        return pa.concat_tables([selection.empty_table(), *(_read(self, file, selection) for file in files)])

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] = (),
        *,
        given: Mapping[str, pa.Table] | None = None,
    ) -> pa.Table:
        """Ask the tables, each a view of its name, in DuckDB's SQL, read-only.

        Values go in as parameters, never by formatting, and whole tables by name in `given`. The connection reaches
        this arena's files and nothing else.

        Raises:
            ArenaError: if a file cannot be read, or the arena was changed since it was opened.
        """
        import duckdb

        try:
            with _connection(self).cursor() as cursor:
                for name, table in (given or {}).items():
                    cursor.register(name, table)
                return cursor.execute(query, parameters).to_arrow_table()
        except duckdb.Error:
            manifests.verify(self.path, self.manifest, self.version)
            raise


def is_arena(path: Path) -> bool:
    """Whether a folder holds an arena, sound or not."""
    return manifests.is_file(path / manifests.NAME)


def open_arena(path: Path) -> Arena:
    """Open an arena folder; cheap checks only (`check` reads every byte).

    Raises:
        ArenaError: if there is no manifest, it is not one of this format, or a file it names is absent or has another
            size.
    """
    path = path.absolute()
    return Arena(path, *manifests.load_manifest(path))


def reopen(path: Path) -> Arena:
    """As `open_arena`, for whoever opens it again and again: files are looked for only when the manifest has changed.

    Raises:
        ArenaError: as `open_arena`.
    """
    path = path.absolute()
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
            part = _read(arena, file, full)
            if len(part) != file["rows"]:
                raise manifests.damaged(arena.path, file, f"{len(part):,} rows, the manifest says {file['rows']:,}")
            codes = {code if code in LANGUAGES else "" for code in pc.unique(part["language"]).to_pylist()}
            if codes != {file["language"]}:
                raise manifests.damaged(arena.path, file, "it holds another language than the manifest says")
            parts.append(part)
        data = pa.concat_tables(parts)
        schema.validate(table, data, where=str(arena.path / table))
        lines.append(f"{table}: {len(data):,} rows in {len(files)} files, hashes and contract hold")
    return lines


def bundled() -> dict[str, Path]:
    """The arenas that come with the program, by name."""
    root = shipped() / "data"
    return {path.parent.name: path.parent for path in sorted(root.glob("*/manifest.json"))}


def _read(arena: Arena, file: Mapping[str, Any], columns: pa.Schema) -> pa.Table:
    """Read some columns of one file; the error says whether the file or a change of the arena is at fault."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(arena.path / file["path"]) as parquet:
            data = parquet.read(columns=columns.names)
        for k, column in enumerate(columns):
            if column.nullable and column.name not in data.column_names:
                # The file was written before the table had this column.
                data = data.add_column(k, column, pa.nulls(len(data), column.type))
        return data.cast(columns)
    except (OSError, ValueError, pa.ArrowException) as error:
        manifests.verify(arena.path, arena.manifest, arena.version)
        raise manifests.damaged(arena.path, file, str(error)) from None


@lru_cache(maxsize=64)
def _opened(path: Path, _stamp: tuple[int, int, int]) -> Arena:
    return open_arena(path)


@lru_cache(maxsize=16)
def _connection(arena: Arena) -> Any:
    """A locked in-memory DuckDB that sees the arena's tables as views, one for each version of an arena."""
    import duckdb

    connection = duckdb.connect(":memory:")
    paths = [str(arena.path / file["path"]) for file in manifests.listed_files(arena.manifest)]
    connection.execute("SET allowed_paths = ?", [paths])
    connection.execute("SET enable_external_access = false")
    for table, files in arena.manifest["tables"].items():
        if files:
            # A view takes no parameters; the names are the manifest's, confined to the folder by open_arena.
            names = ", ".join("'" + str(arena.path / file["path"]).replace("'", "''") + "'" for file in files)
            columns = ", ".join(["*", *(f"NULL::{kind} AS {name}" for name, kind in _later(arena, table, files[0]))])
            connection.execute(f"CREATE VIEW {table} AS SELECT {columns} FROM read_parquet([{names}])")  # noqa: S608  # as above
        else:
            connection.from_arrow(schema.arrow_schema(table).empty_table()).create(table)
    connection.execute("SET lock_configuration = true")
    return connection


def _later(arena: Arena, table: str, file: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The nullable columns, with their type in SQL, that a table has got since a file of it was written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"text": "VARCHAR", "number": "DOUBLE", "count": "INTEGER", "flag": "BOOLEAN"}
    try:
        names = set(pq.read_schema(arena.path / file["path"]).names)
    except (OSError, pa.ArrowException):
        return []  # a file that cannot be read is named where its rows are asked for
    return [
        (column.name, kinds[column.kind])
        for column in schema.columns(table)
        if column.nullable and column.name not in names
    ]
