"""Arenas on disk: Parquet files by table and language, and a manifest that is written last.

    DIR/manifest.json                      what the arena is, its files with rows, bytes and SHA-256
    DIR/<table>/<language>-<hash>.parquet  zstd, rows sorted by key, row groups of 2,000

A file's name holds the hash of its bytes, so a write never touches a file in use: new files are laid beside the old,
then the manifest is replaced in one step, then what it no longer names is removed. Whoever is killed at any moment
leaves the old arena or the new one. Readers follow the manifest alone.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import ArenaError, TableMissing, UnknownName
from mirage.languages import LANGUAGES
from mirage.store.files import write_bytes, write_text

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
ROW_GROUP = 2_000


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
            command = schema.COMMANDS[table].replace("DIR", str(self.path))
            raise TableMissing(table, where=str(self.path), command=command)

    def read(
        self, table: str, *, columns: Sequence[str] | None = None, languages: Iterable[str] | None = None
    ) -> pa.Table:
        """Read a table, or some columns and languages of it, sorted by key.

        Raises:
            TableMissing: if the arena lacks it.
            UnknownName: if a column is not one of the table's, or a language has no rows in it.
            ArenaError: if a file that the manifest names cannot be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.need(table)
        full = schema.arrow_schema(table)
        for name in columns or ():
            if name not in full.names:
                raise UnknownName(f"{table} column", name, full.names, where=str(self.path))
        wanted = None if languages is None else set(languages)
        if wanted is not None:
            for code in wanted - set(self.languages(table)):
                raise UnknownName("language", code, self.languages(table), where=f"{self.path} ({table})")
        parts = []
        for file in self.manifest["tables"][table]:
            if wanted is None or file["language"] in wanted:
                try:
                    parts.append(pq.ParquetFile(self.path / file["path"]).read(columns=columns))
                except (OSError, pa.ArrowInvalid) as error:
                    raise _damaged(self.path / file["path"], str(error)) from None
        kept = full if columns is None else pa.schema([full.field(c) for c in columns])
        return pa.concat_tables(parts).cast(kept) if parts else kept.empty_table()

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> pa.Table:
        """Ask the tables, each a view of its name, in DuckDB's SQL, read-only.

        Values go in as parameters, never by formatting. The connection reaches this arena's files and nothing else.
        """
        cursor = _connection(self).cursor()
        try:
            return cursor.execute(query, parameters).to_arrow_table()
        finally:
            cursor.close()


def open_arena(path: Path) -> Arena:
    """Open an arena folder; cheap checks only (`check` reads every byte).

    Raises:
        ArenaError: if there is no manifest, it is not one of this format, or a file it names is absent or has another
            size.
    """
    path = path.absolute()
    manifest_path = path / "manifest.json"
    if not manifest_path.is_file():
        if not path.exists():
            raise ArenaError(
                f"there is no arena at {path}",
                do="check the path, or make one: mirage import nomiracl --help",
            )
        raise ArenaError(
            f"{path} is not a finished arena: it has no manifest.json",
            do="run the command that was writing it again; nothing in it is lost by that",
        )
    raw = manifest_path.read_bytes()
    try:
        manifest = json.loads(raw)
        if manifest["format"] != FORMAT:
            raise ArenaError(
                f"this arena has format {manifest['format']}, this program reads {FORMAT}",
                where=str(manifest_path),
                do="make it again with this version",
            )
        for table, files in manifest["tables"].items():
            schema.table_class(table)
            for file in files:
                _confined(path, file["path"], manifest_path)
                found = path / file["path"]
                if not found.is_file():
                    raise _damaged(found, "the manifest names it, but it is absent")
                if found.stat().st_size != file["bytes"]:
                    raise _damaged(found, f"{found.stat().st_size} bytes, the manifest says {file['bytes']}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArenaError(
            f"the manifest cannot be read: {type(error).__name__}: {error}",
            where=str(manifest_path),
            do="make the arena again",
        ) from None
    return Arena(path, manifest, hashlib.sha256(raw).hexdigest()[:16])


def check(arena: Arena) -> list[str]:
    """Read every byte and row: hashes, row counts, and the contract of every table.

    Returns:
        One line a table, saying what was checked.

    Raises:
        ArenaError: at the first file that is not what the manifest says.
        BadInput: at the first row that breaks the contract.
    """
    import pyarrow as pa

    said = []
    for table, files in arena.manifest["tables"].items():
        for file in files:
            digest = hashlib.sha256((arena.path / file["path"]).read_bytes()).hexdigest()
            if digest != file["sha256"]:
                raise _damaged(arena.path / file["path"], "its content is not what the manifest says (SHA-256)")
        data = arena.read(table)
        if len(data) != arena.rows(table):
            raise _damaged(arena.path / table, f"{len(data)} rows, the manifest says {arena.rows(table)}")
        schema.validate(table, data, where=str(arena.path / table))
        codes = pa.compute.unique(data["language"]).to_pylist()
        if set(codes) - {"all", ""} - set(arena.languages(table)):
            raise _damaged(arena.path / table, "a file holds another language than the manifest says")
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

    Raises:
        BadInput: if a table breaks the contract.
        ArenaError: if the folder holds something that is not an arena, or cannot be written.
    """
    from filelock import FileLock

    path = path.absolute()
    files = {table: _serialise(table, data, where=str(path)) for table, data in tables.items()}
    if path.is_dir() and not (path / "manifest.json").exists() and not _only_ours(path):
        raise ArenaError(
            f"{path} holds other files and is not an arena", do="give a new or an empty folder for the arena"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
        with FileLock(path / ".lock"):
            old = open_arena(path).manifest if (path / "manifest.json").exists() else {}
            made = {**old.get("made", {})}
            listed = dict(old.get("tables", {}))
            for table, parts in files.items():
                for entry, data in parts:
                    target = path / entry["path"]
                    if not target.exists() or target.stat().st_size != entry["bytes"]:
                        write_bytes(target, data)
                listed[table] = [entry for entry, _ in parts]
                made[table] = {"by": made_by, "from": list(made_from), "notes": list(notes)}
            order = [t for t in schema.TABLES if t in listed]
            manifest = {
                "format": FORMAT,
                "title": title or old.get("title", path.name),
                "label": label or old.get("label", "own data"),
                "about": about or old.get("about", ""),
                "licence": licence or old.get("licence", ""),
                "made": {t: made[t] for t in order},
                "tables": {t: listed[t] for t in order},
            }
            write_text(
                path / "manifest.json",
                json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=False) + "\n",
            )
            _sweep(path, {file["path"] for parts in listed.values() for file in parts})
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
            compression_level=12,
            row_group_size=ROW_GROUP,
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


@lru_cache(maxsize=16)
def _connection(arena: Arena) -> Any:
    """A locked in-memory DuckDB that sees the arena's tables as views, one for each version of an arena."""
    import duckdb

    connection = duckdb.connect(":memory:")
    paths = [str(arena.path / f["path"]) for files in arena.manifest["tables"].values() for f in files]
    connection.execute("SET allowed_paths = ?", [paths])
    connection.execute("SET enable_external_access = false")
    for table, files in arena.manifest["tables"].items():
        # A view takes no parameters; the names are the manifest's, confined to the folder by open_arena.
        names = ", ".join("'" + str(arena.path / f["path"]).replace("'", "''") + "'" for f in files)
        if files:
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{names}])")  # noqa: S608  # as above
    connection.execute("SET lock_configuration = true")
    return connection


def _confined(root: Path, relative: str, manifest: Path) -> None:
    if not (root / relative).resolve().is_relative_to(root.resolve()):
        raise ArenaError(
            f"the manifest names a file outside the arena: {relative}",
            where=str(manifest),
            do="do not use this arena; its manifest was tampered with",
        )


def _damaged(file: Path, what: str) -> ArenaError:
    return ArenaError(f"a file of the arena is damaged: {what}", where=str(file), do="make the arena again")


def _only_ours(path: Path) -> bool:
    """Whether a folder without a manifest holds nothing but what an interrupted write leaves."""
    tables = set(schema.TABLES)
    return all(p.name in tables or p.name == ".lock" or p.suffix == ".tmp" for p in path.iterdir())


def _sweep(path: Path, keep: set[str]) -> None:
    """Remove the table files that the manifest no longer names."""
    for table in schema.TABLES:
        for file in (path / table).glob("*"):
            ours = file.suffix == ".parquet" or file.suffix == ".tmp"
            if ours and file.relative_to(path).as_posix() not in keep:
                file.unlink()
