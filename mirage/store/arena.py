"""Arenas on disk: Parquet files by table and language, and a manifest that is written last.

    DIR/manifest.json                      metadata, and each file's rows, bytes and SHA-256
    DIR/<table>/<language>-<hash>.parquet  zstd, rows sorted by key, text in row groups of 2,000

A file name contains the hash of its bytes, so a write never touches a file in use: new files are added, then the
manifest is replaced atomically, then files it no longer names are removed. A process killed at any moment leaves the
old arena or the new one. Readers use only the files in the manifest.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import ArenaError, BadInput, TableMissing, UnknownName
from mirage.stats.encoding import positions
from mirage.store import manifest as manifests
from mirage.store.bundled import shipped_folder
from mirage.store.contract import refuse_foreign_values
from mirage.store.folders import is_listed
from mirage.store.lineage import LINEAGE, Lineage
from mirage.text.languages import in_order, is_code
from mirage.text.printing import terminal_text

if TYPE_CHECKING:
    import pyarrow as pa


TEXTS = "mirage pull nomiracl --into answers && mirage evaluate answers"
"""Command that brings the texts of the bundled arena nomiracl, in an arena `answers-arena`."""
EVALUATED = frozenset({"queries", "passages", "answers", "outcomes", "features", "judgments", "ratings"})
"""Tables of that arena."""


@dataclass(frozen=True, repr=False)
class Arena:
    """A folder of tables about some systems: Parquet files with a manifest.

    Immutable: a later write creates a new manifest, and `open_arena` returns a new object.
    """

    path: Path
    """The folder."""
    manifest: Mapping[str, Any] = field(hash=False)
    """The parsed `manifest.json`."""
    version: str
    """Hash of the manifest: changes with any content; the key for caches."""
    tags: tuple[tuple[str, str], ...] = ()
    """Required tags and values of queries (`select_tagged`): any value per tag, for every tag. Rows of other queries
    are not read; tables without a column `query_id` are not filtered. Empty: all queries.
    """

    @property
    def name(self) -> str:
        """Short name: the name of the folder."""
        return self.path.name

    @property
    def address(self) -> str:
        """The folder's path."""
        return str(self.path)

    @property
    def title(self) -> str:
        """Human-readable title."""
        return str(self.manifest["title"])

    @property
    def label(self) -> str:
        """Kind of numbers: `real replies`, `published figures`, `simulated` ..."""
        return str(self.manifest["label"])

    @property
    def judge(self) -> str | None:
        """Name of the default judge: the one that `mirage evaluate` used; None if it did not run."""
        return self.manifest.get("judge")

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of its tables; with tags, only tables with rows on the selected queries."""
        return tuple(name for name in self.manifest["tables"] if not self.is_narrowed(name) or _counts(self, name))

    def describe(self) -> list[str]:
        """Return title, address, tables with their rows, and languages, in at most nine lines."""
        codes = sorted({code for table in self.tables for code in self.languages(table)})
        tables = ", ".join(f"{name} {self.rows(name):,}" for name in self.tables) or "none"
        tags = [f"tags: {', '.join(f'{tag}={value}' for tag, value in self.tags)}"] if self.tags else []
        return [
            f"{self.title} ({self.label})",
            f"address: {self.address}",
            *wrap(f"tables: {tables}", 100, max_lines=4),
            *wrap(f"{len(codes)} languages: {', '.join(codes)}", 100, max_lines=2),
            *tags,
        ]

    def __repr__(self) -> str:
        return "\n".join(map(terminal_text, self.describe()))

    def _repr_html_(self) -> str:
        title, *lines = map(escape, self.describe())
        return f"<p><b>{title}</b><br>{'<br>'.join(lines)}</p>"

    def rows(self, table: str) -> int:
        """Return the number of rows of a table; 0 if the arena lacks it."""
        if self.is_narrowed(table):
            return sum(_counts(self, table).values())
        return sum(file["rows"] for file in self.manifest["tables"].get(table, []))

    @property
    def size(self) -> int:
        """Size of all its files in bytes."""
        return sum(file["bytes"] for file in manifests.listed_files(self.manifest))

    def languages(self, table: str) -> tuple[str, ...]:
        """Return the languages of a table's rows, in code order."""
        if self.is_narrowed(table):
            return tuple(_counts(self, table))
        return tuple(file["language"] for file in self.manifest["tables"].get(table, []) if file["language"])

    @property
    def whole(self) -> Arena:
        """The same arena with all its queries."""
        return replace(self, tags=()) if self.tags else self

    def is_narrowed(self, table: str) -> bool:
        """Return whether tags filter the rows of a table."""
        return bool(self.tags) and "query_id" in schema.key(table)

    def need(self, table: str) -> None:
        """Check that a table exists.

        Raises:
            TableMissing: with the command that creates it; if the table it is derived from is missing too, about that
                one.
        """
        schema.table_class(table)
        tables = self.tables
        if table not in tables:
            missing = table
            while (origin := LINEAGE.get(missing, Lineage()).needs) is not None and origin not in tables:
                missing = origin
            command = self.command(missing)
            raise TableMissing(missing, where=self.address, command=command, adds=schema.ADDS[table])

    @property
    def bundled(self) -> str | None:
        """Its name, if it is bundled; such an arena is read only."""
        return next((name for name, path in bundled_arenas().items() if path.absolute() == self.path.absolute()), None)

    @property
    def argument(self) -> str:
        """The arena as an argument of commands that read it, quoted: the name of a bundled one or of one in the user's
        folder, else its address.
        """
        return shlex.quote(self.bundled or (self.name if is_listed(self.path) else self.address))

    def command(self, table: str) -> str:
        """Return the shell command that creates a table in this arena, or in one of `fill`; empty if none does."""
        lacking = self.bundled == "nomiracl" and "answers" not in self.tables
        return TEXTS if lacking and table in EVALUATED else self.fill(schema.COMMANDS[table])

    def fill(self, command: str) -> str:
        """Return a shell command that writes into `DIR` for this arena; empty if it needs texts that are unavailable.

        For a bundled arena it writes into a copy, or into an arena of the published texts if they are not bundled.
        """
        if self.bundled is None:
            return command.replace("DIR", self.argument)
        if "answers" in self.tables:
            return f"mirage arena copy {self.bundled} my-arena && {command.replace('DIR', 'my-arena')}"
        return f"{TEXTS} && {command.replace('DIR', 'answers-arena')}" if self.bundled == "nomiracl" else ""

    def known_languages(self, table: str, languages: Iterable[str] | None) -> tuple[str, ...]:
        """Return the languages asked for, none if all are.

        Raises:
            UnknownName: if the table has no rows in one of them.
        """
        codes = tuple(dict.fromkeys(languages or ()))
        for code in sorted(set(codes) - set(self.languages(table))):
            raise UnknownName("language", code, self.languages(table), where=f"{self.address} ({table})")
        return codes

    def read(
        self,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        languages: Iterable[str] | None = None,
        encoded: Collection[str] = (),
    ) -> pa.Table:
        """Read a table, or some of its columns and languages, sorted by key.

        Args:
            table: its name.
            columns: names of columns; None for all.
            languages: codes; None for all.
            encoded: text columns to read as Arrow dictionaries in one chunk, which is several times as fast for columns
                with few distinct values.

        Raises:
            TableMissing: if the arena lacks it.
            UnknownName: if there is no such column, or no rows in a language.
            ArenaError: if a file cannot be read, or the arena was changed since it was opened.
            BadInput: if a value of the table breaks the contract.
        """
        import pyarrow as pa

        self.need(table)
        full = schema.arrow_schema(table)
        for name in columns or ():
            if name not in full.names:
                raise UnknownName(f"{table} column", name, full.names, where=self.address)
        codes = None if languages is None else set(self.known_languages(table, list(languages)))
        names = full.names if columns is None else list(columns)
        wanted = [*names, *(key for key in _QUERY if key not in names)] if self.is_narrowed(table) else names
        codes_of_texts = pa.dictionary(pa.int32(), pa.string())
        selection = pa.schema(
            [full.field(name).with_type(codes_of_texts) if name in encoded else full.field(name) for name in wanted]
        )
        files = [file for file in self.manifest["tables"][table] if codes is None or file["language"] in codes]
        self.refuse_foreign_values(table, files)
        parts = (_read(self, *pair, selection) for pair in zip(files, self.files(files), strict=True))
        data = pa.concat_tables([selection.empty_table(), *parts])
        if encoded:
            data = data.unify_dictionaries().combine_chunks()
        return of_queries(data, chosen_queries(self)).select(names) if self.is_narrowed(table) else data

    def read_optional(self, table: str, *, languages: Iterable[str] | None = None) -> pa.Table | None:
        """Read an optional table in those of the languages it has; None if the arena lacks it.

        Raises:
            ArenaError: if a file cannot be read, or the arena was changed since it was opened.
        """
        if table not in self.tables:
            return None
        return self.read(table, languages=None if languages is None else set(languages) & set(self.languages(table)))

    def stores_column(self, table: str, column: str) -> bool:
        """Return whether a table's files have a column, even one that is not read any more."""
        files = self.manifest["tables"].get(table)
        return bool(files) and column in _stored_columns(self.files(files)[0])

    def files(self, entries: Iterable[Mapping[str, Any]]) -> list[Path]:
        """Return the paths of files by their entries in the manifest."""
        return [self.path / entry["path"] for entry in entries]

    def refuse_foreign_values(self, table: str, files: Iterable[Mapping[str, Any]]) -> None:
        """Check the values of files against the contract; those of bundled arenas are part of this program.

        Raises:
            ArenaError: if a file is damaged.
            BadInput: if a value breaks the contract.
        """
        if self.bundled is None:
            refuse_foreign_values(self.path, self.manifest, self.version, table, files)

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] = (),
        *,
        given: Mapping[str, pa.Table] | None = None,
    ) -> pa.Table:
        """Run a read-only DuckDB query on the tables, each a view of its name.

        Pass values as parameters, never by formatting, and whole tables by name in `given`. The connection can only
        access this arena's files.

        Args:
            query: the query.
            parameters: its values.
            given: further tables.

        Raises:
            ArenaError: if a file cannot be read, or the arena was changed since it was opened.
            BadInput: if a value of a table that the query names breaks the contract.
        """
        import duckdb

        for table, files in self.manifest["tables"].items():
            if table in query:
                self.refuse_foreign_values(table, files)
        try:
            with _connection(self).cursor() as cursor:
                for name, table in (given or {}).items():
                    cursor.register(name, table)
                return cursor.execute(query, parameters).to_arrow_table()
        except duckdb.Error as error:
            manifests.verify(self.path, self.manifest, self.version)
            if "string encoding" in str(error):
                do = manifests.rebuild_hint(self.path)
                raise ArenaError(f"the arena cannot be read: {error}", where=self.address, do=do) from None
            raise


_QUERY = ("language", "query_id")


@lru_cache(maxsize=32)
def chosen_queries(arena: Arena) -> pa.Table:
    """Return the keys of the queries with an arena's tags: `language` and `query_id`, sorted.

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
    """Return the rows of a table that belong to some queries, in their order."""
    return data.filter(positions(data, queries, _QUERY) >= 0)


@lru_cache(maxsize=256)
def _counts(arena: Arena, table: str) -> dict[str, int]:
    """Return a table's rows on the selected queries by language, omitting languages without rows."""
    if table not in arena.manifest["tables"]:
        return {}
    rows = arena.sql(f'SELECT language, count(*) AS n FROM "{table}" GROUP BY ALL ORDER BY ALL').to_pylist()  # noqa: S608  # a table's name
    return {row["language"]: row["n"] for row in rows}


def is_arena(path: Path) -> bool:
    """Return whether a folder has an arena, intact or not."""
    return manifests.has_manifest(path.absolute())


def open_arena(path: Path) -> Arena:
    """Open an arena folder; cheap checks only (`check` reads every byte).

    Raises:
        ArenaError: if there is no manifest, it has another format, or a file it names is missing or has another size.
    """
    path = path.absolute()
    return Arena(path, *manifests.load_manifest(path))


def reopen(path: Path) -> Arena:
    """Open an arena repeatedly at low cost.

    Files are checked only if the manifest has changed.

    Raises:
        ArenaError: as `open_arena`.
    """
    path = path.absolute()
    try:
        status = (path / manifests.NAME).stat()
    except OSError:
        return open_arena(path)
    return _open_stamped(path, (status.st_ino, status.st_mtime_ns, status.st_size))


def check(arena: Arena) -> list[str]:
    """Verify every byte and row: hashes, row counts, languages, order, and the contract of every table.

    Returns:
        One line per table with the checks done.

    Raises:
        ArenaError: at the first file that does not match the manifest.
        BadInput: at the first row that breaks the contract.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    manifests.verify(arena.path, arena.manifest, arena.version)
    manifests.refuse_further_members(arena.path, arena.manifest)
    lines = []
    for table, files in arena.manifest["tables"].items():
        arena.refuse_foreign_values(table, files)
        full = schema.arrow_schema(table)
        parts = [full.empty_table()]
        for file in files:
            part = _read(arena, file, arena.files([file])[0], full)
            if len(part) != file["rows"]:
                raise manifests.damage_error(arena.path, file, f"{len(part):,} rows instead of {file['rows']:,}")
            names = pc.unique(part["language"]).to_pylist() if "language" in part.column_names else [""]
            if {code if is_code(code) else "" for code in names} != {file["language"]}:
                raise manifests.damage_error(arena.path, file, "its language does not match the manifest")
            parts.append(part)
        data = pa.concat_tables(parts)
        schema.validate(table, data, where=f"{arena.address}/{table}")
        codes = [file["language"] for file in files]
        ordered = codes == [*in_order(filter(None, codes)), *[""] * codes.count("")]
        for file, part in zip(files, parts[1:], strict=True):
            keys = part.select(schema.key(table))
            if not ordered or not keys.equals(schema.sort(table, keys)):
                raise manifests.damage_error(arena.path, file, f"the files or rows of {table} are not in order")
        lines.append(f"{table}: {len(data):,} rows in {len(files)} files, hashes and contract valid")
    return lines


def bundled_arenas() -> dict[str, Path]:
    """Return the bundled arenas by name."""
    return manifests.arena_folders(shipped_folder() / "data")


def refuse_bundled(path: Path) -> Path:
    """Return the folder of an arena that may be changed.

    Raises:
        BadInput: if the arena is bundled.
    """
    for name, folder in bundled_arenas().items():
        if path.absolute() == folder.absolute():
            raise BadInput(
                f"{name} is bundled, and is not changed",
                do=f"run: mirage arena copy {name} my-arena; then give my-arena",
            )
    return path


def _read(arena: Arena, file: Mapping[str, Any], path: Path, columns: pa.Schema) -> pa.Table:
    """Read some columns of one file; errors distinguish a damaged file from a changed arena."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        encoded = [column.name for column in columns if pa.types.is_dictionary(column.type)]
        known = set(pq.read_schema(path).names) if encoded else set()
        with pq.ParquetFile(path, read_dictionary=[name for name in encoded if name in known]) as parquet:
            data = parquet.read(columns=columns.names)
        for k, column in enumerate(columns):
            if column.nullable and column.name not in data.column_names:
                # The file predates this column.
                data = data.add_column(k, column, pa.nulls(len(data), column.type))
        data = data.cast(columns)
        data.validate(full=True)  # texts are UTF-8
        return data
    except (OSError, ValueError, pa.ArrowException) as error:
        manifests.verify(arena.path, arena.manifest, arena.version)
        raise manifests.damage_error(arena.path, file, str(error)) from None


@lru_cache(maxsize=64)
def _open_stamped(path: Path, _stamp: tuple[int, int, int]) -> Arena:
    return open_arena(path)


@lru_cache(maxsize=16)
def _connection(arena: Arena) -> Any:
    """Open a locked in-memory DuckDB with the arena's tables as views, cached per version of an arena."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET allowed_paths = ?", [list(map(str, arena.files(manifests.listed_files(arena.manifest))))])
    connection.execute("SET enable_external_access = false")
    if arena.tags:
        connection.from_arrow(chosen_queries(arena)).create("chosen_queries")
    for table, files in arena.manifest["tables"].items():
        if files:
            try:
                connection.execute(_view(arena, table, arena.files(files)))
            except duckdb.Error as error:
                manifests.verify(arena.path, arena.manifest, arena.version)
                raise manifests.damage_error(arena.path, files[0], str(error)) from None
        else:
            connection.from_arrow(schema.arrow_schema(table).empty_table()).create(table)
    connection.execute("SET lock_configuration = true")
    return connection


def _selection_sql(arena: Arena, table: str) -> str:
    """Return the SQL that restricts a view to the selected queries."""
    return f" SEMI JOIN chosen_queries USING ({', '.join(_QUERY)})" if arena.is_narrowed(table) else ""


def _view(arena: Arena, table: str, paths: Sequence[Path]) -> str:
    """Return the statement that creates a view of a table's files."""
    # A view takes no parameters; the names are from the manifest, confined to the folder by open_arena.
    names = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    columns = ", ".join(["*", *(f"NULL::{kind} AS {name}" for name, kind in _later_columns(table, paths[0]))])
    # Quoted because `references` is an SQL keyword.
    rows = f"read_parquet([{names}]){_selection_sql(arena, table)}"
    return f'CREATE VIEW "{table}" AS SELECT {columns} FROM {rows}'  # noqa: S608  # as above


def _later_columns(table: str, path: Path) -> list[tuple[str, str]]:
    """Return the nullable columns, with SQL types, that were added to a table after a file was written."""
    kinds = {"text": "VARCHAR", "number": "DOUBLE", "count": "INTEGER", "flag": "BOOLEAN"}
    names = _stored_columns(path)
    return [
        (column.name, kinds[column.kind])
        for column in schema.columns(table)
        if names and column.nullable and column.name not in names
    ]


def _stored_columns(path: Path) -> frozenset[str]:
    """Return the names of a file's columns; empty if it cannot be read, since reading its rows reports the error."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return frozenset(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return frozenset()
