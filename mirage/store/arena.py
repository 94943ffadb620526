"""Arenas on disk: Parquet files by table and language, and a manifest that is written last.

    DIR/manifest.json                      what the arena is, its files with rows, bytes and SHA-256
    DIR/<table>/<language>-<hash>.parquet  zstd, rows sorted by key, text in row groups of 2,000

A file's name holds the hash of its bytes, so a write never touches a file in use: new files are laid beside the old,
then the manifest is replaced in one step, then what it no longer names is removed. Whoever is killed at any moment
leaves the old arena or the new one. Readers follow the manifest alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import ArenaError, BadInput, TableMissing, UnknownName
from mirage.languages import LANGUAGES
from mirage.store import manifest as manifests
from mirage.store.files import write_bytes, write_text
from mirage.store.ledger import NAME as LEDGER

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = {"queries": 2_000, "passages": 400, "answers": 400, "judgments": 2_000}
"""Rows of a row group: few where a page fetches the long texts of one question, all where a table is read whole."""
LOCK_SECONDS = 60
"""How long a write waits for another program that writes into the same arena."""


@dataclass(frozen=True)
class Arena:
    """A readable arena. Immutable: a later write gives a new manifest, and `open_arena` a new object."""

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
        return sum(f["rows"] for f in self.manifest["tables"].get(table, []))

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file["bytes"] for file in manifests.files(self.manifest))

    def languages(self, table: str) -> tuple[str, ...]:
        """Languages a table has rows in, in the order of their codes."""
        return tuple(f["language"] for f in self.manifest["tables"].get(table, []) if f["language"])

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
        wanted = None if languages is None else set(languages)
        for code in sorted((wanted or set()) - set(self.languages(table))):
            raise UnknownName("language", code, self.languages(table), where=f"{self.path} ({table})")
        kept = full if columns is None else pa.schema([full.field(c) for c in columns])
        files = [f for f in self.manifest["tables"][table] if wanted is None or f["language"] in wanted]
        return pa.concat_tables([kept.empty_table(), *(_read(self, file, kept) for file in files)])

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
    return (path / manifests.NAME).is_file()


def open_arena(path: Path) -> Arena:
    """Open an arena folder; cheap checks only (`check` reads every byte).

    Raises:
        ArenaError: if there is no manifest, it is not one of this format, or a file it names is absent or has another
            size.
    """
    path = path.absolute()
    return Arena(path, *manifests.load(path))


def reopen(path: Path) -> Arena:
    """As `open_arena`, for whoever opens it again and again: files are looked for only when the manifest has changed.

    Raises:
        ArenaError: as `open_arena`.
    """
    path = path.absolute()
    try:
        found = (path / manifests.NAME).stat()
    except OSError:
        return open_arena(path)
    return _opened(path, (found.st_ino, found.st_mtime_ns, found.st_size))


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
    said = []
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
        said.append(f"{table}: {len(data):,} rows in {len(files)} files, hashes and contract hold")
    return said


def write(
    path: Path,
    tables: Mapping[str, pa.Table],
    *,
    title: str | None = None,
    label: str | None = None,
    about: str | None = None,
    licence: str | None = None,
    made_by: str,
    made_from: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[str] = (),
    stale: Collection[str] = (),
) -> Arena:
    """Write tables into an arena, new or existing, in one step; tables not given stay as they are.

    Everything is validated and serialised before the first byte is written.

    Args:
        path: the arena's folder.
        tables: whole tables by name; each replaces the one of its name.
        title: the arena's name for people; this and the next three are kept from the old manifest where None.
        label: what kind of numbers these are (`Arena.label`).
        about: a sentence or two on what is in it.
        licence: under which terms it may be used.
        made_by: the command that made these tables.
        made_from: what they were made from: records with at least `name`, often `sha256`, `url`, `licence`.
        notes: what a reader must know (what is missing and why).
        stale: tables that were made from those written here; they are removed in the same step if what is written
            differs from what was there.

    Raises:
        BadInput: if a table breaks the contract, or a text is none.
        ArenaError: if the folder holds something that is not an arena, or cannot be written.
    """
    from filelock import FileLock, Timeout

    path = path.absolute()
    for words in filter(None, (title, label, about, licence, made_by, *notes)):
        if any("\ud800" <= letter <= "\udfff" for letter in words):
            raise BadInput("half a character (a lone surrogate) in what is said of the arena", where=repr(words))
    files = {table: _serialise(table, data, where=str(path)) for table, data in tables.items()}
    if path.is_dir() and not (path / manifests.NAME).exists() and not _only_ours(path):
        raise ArenaError(
            f"{path} holds other files and is not an arena", do="give a new or an empty folder for the arena"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
        with FileLock(path / ".lock", timeout=LOCK_SECONDS):
            old = manifests.load(path)[0] if (path / manifests.NAME).exists() else {}
            listed = dict(old.get("tables", {}))
            made = dict(old.get("made", {}))
            new = {table: [entry for entry, _ in parts] for table, parts in files.items()}
            if any(listed.get(table) != entries for table, entries in new.items()):
                listed = {table: entries for table, entries in listed.items() if table not in stale}
            listed |= new
            made |= {table: {"by": made_by, "from": list(made_from), "notes": list(notes)} for table in new}
            order = [t for t in schema.TABLES if t in listed]
            manifest = {
                "format": manifests.FORMAT,
                "title": title or old.get("title", path.name),
                "label": label or old.get("label", "own data"),
                "about": about or old.get("about", ""),
                "licence": licence or old.get("licence", ""),
                "made": {t: made[t] for t in order},
                "tables": {t: listed[t] for t in order},
            }
            text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=False) + "\n"
            try:
                for entry, data in (pair for parts in files.values() for pair in parts):
                    write_bytes(path / entry["path"], data)
                write_text(path / manifests.NAME, text)
            except OSError:
                _sweep(path, old)
                raise
            _sweep(path, manifest)
    except Timeout:
        raise ArenaError(
            "another program is writing into this arena", where=str(path), do="wait until it is done"
        ) from None
    except OSError as error:
        raise ArenaError(
            f"the arena cannot be written: {error.strerror or error}",
            where=str(error.filename or path),
            do="free space or check permissions, then run the command again; the arena is as it was",
        ) from None
    return open_arena(path)


def bundled() -> dict[str, Path]:
    """The arenas that come with the program, by name."""
    root = Path(__file__).resolve().parents[2] / "data"
    return {p.parent.name: p.parent for p in sorted(root.glob("*/manifest.json"))}


def _serialise(table: str, data: pa.Table, *, where: str) -> list[tuple[dict[str, Any], bytes]]:
    """Validate a table and turn it into one Parquet file a language, with its manifest entry."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    schema.validate(table, data, where=where)
    data = schema.sort(table, data)
    known = [*LANGUAGES, "all", ""]
    codes = sorted(pc.unique(data["language"]).to_pylist(), key=known.index)
    parts = []
    for code in codes:
        rows = data.filter(pc.equal(data["language"], code))
        buffer = io.BytesIO()
        pq.write_table(
            rows.replace_schema_metadata(None),
            buffer,
            compression="zstd",
            compression_level=7,
            row_group_size=ROW_GROUP.get(table, 1_000_000),
            store_schema=False,
        )
        raw = buffer.getvalue()
        digest = hashlib.sha256(raw).hexdigest()
        entry = {
            "path": f"{table}/{code or 'none'}-{digest[:12]}.parquet",
            "language": code if code in LANGUAGES else "",
            "rows": len(rows),
            "bytes": len(raw),
            "sha256": digest,
        }
        parts.append((entry, raw))
    return parts


def _read(arena: Arena, file: Mapping[str, Any], kept: pa.Schema) -> pa.Table:
    """Read some columns of one file; the error says whether the file or a change of the arena is at fault."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(arena.path / file["path"]) as parquet:
            data = parquet.read(columns=kept.names)
        for k, column in enumerate(kept):
            if column.nullable and column.name not in data.column_names:
                # The file was written before the table had this column.
                data = data.add_column(k, column, pa.nulls(len(data), column.type))
        return data.cast(kept)
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
    paths = [str(arena.path / f["path"]) for f in manifests.files(arena.manifest)]
    connection.execute("SET allowed_paths = ?", [paths])
    connection.execute("SET enable_external_access = false")
    for table, files in arena.manifest["tables"].items():
        if files:
            # A view takes no parameters; the names are the manifest's, confined to the folder by open_arena.
            names = ", ".join("'" + str(arena.path / f["path"]).replace("'", "''") + "'" for f in files)
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
        there = set(pq.read_schema(arena.path / file["path"]).names)
    except (OSError, pa.ArrowException):
        return []  # a file that cannot be read is named where its rows are asked for
    return [(c.name, kinds[c.kind]) for c in schema.columns(table) if c.nullable and c.name not in there]


def _only_ours(path: Path) -> bool:
    """Whether a folder without a manifest holds nothing but a ledger, what an interrupted write leaves, and the files
    that the arena is made from, in the folder `source`.
    """
    ours = {*schema.TABLES, ".lock", "source", LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm"}
    return all(p.name in ours or p.suffix == ".tmp" for p in path.iterdir())


def _sweep(path: Path, manifest: Mapping[str, Any]) -> None:
    """Remove what the manifest does not name: tables of before, and what an interrupted write left.

    A file that cannot be removed does no harm, and goes with the next write.
    """
    keep = {file["path"] for file in manifests.files(manifest)} if manifest else set()
    ours = [
        file for table in schema.TABLES for pattern in ("*.parquet", ".*.tmp") for file in (path / table).glob(pattern)
    ]
    for file in [*ours, *path.glob(f".{manifests.NAME}.*.tmp")]:
        if file.relative_to(path).as_posix() not in keep:
            with suppress(OSError):
                file.unlink()
