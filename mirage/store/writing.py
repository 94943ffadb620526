"""Writing an arena: whole tables in one step, under a lock that all writers take.

Everything is validated and serialised before the first byte; the manifest is written last.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import ArenaError, BadInput
from mirage.store import manifest as manifests
from mirage.store.arena import Arena, open_arena, refuse_bundled
from mirage.store.cores import available
from mirage.store.files import write_bytes, write_text
from mirage.store.folders import make_folder, refuse_link
from mirage.store.ledger import LOCK as LEDGER_LOCK
from mirage.store.ledger import NAME as LEDGER
from mirage.text.languages import in_order, is_code

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = {"queries": 2_000, "passages": 400, "answers": 400, "judgments": 2_000}
"""Rows per row group: few in tables from which a page reads the long texts of one query, all in tables read whole."""
LEVELS = {"passages": 3}
"""zstd level of a table, by default 7. For long texts, level 7 doubles the import time and saves 7%."""
LOCK_SECONDS = 60
"""Maximum seconds to wait for another writer of the same arena."""


Settings = Mapping[str, Mapping[str, Any]]
"""Fields of JSON values by the owner of rows."""
Files = list[tuple[dict[str, Any], bytes]]
"""A serialised table: manifest entry and bytes of each file."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of rows, for the manifest."""

    by: str
    """The command that made them."""
    sources: Sequence[Mapping[str, Any]] = ()
    """Their sources: records with at least `name`, often `sha256`, `url`, `licence`."""
    notes: Sequence[str] = ()
    """Caveats: missing data, with reasons."""
    settings: Settings = field(default_factory=dict)
    """Settings that made the rows of each owner (a system, judge, retriever ...); they replace its older ones."""
    step: str | None = None
    """The pipeline step; records of other steps are then kept (`record_run`)."""
    labels: schema.Maker | None = None
    """Maker of the labels of the queries and passages among the rows; None for unknown."""

    @classmethod
    def of(cls, made_by: str | Provenance) -> Provenance:
        """Return the provenance, from a command alone or as it is; check its texts.

        Raises:
            BadInput: if a text is not valid Unicode.
        """
        origin = cls(made_by) if isinstance(made_by, str) else made_by
        names = [value for source in origin.sources for value in source.values() if isinstance(value, str)]
        made = json.dumps(dict(origin.settings), ensure_ascii=False)
        refuse_lone_surrogates(origin.by, *origin.notes, *names, made)
        return origin

    def after(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return the manifest entry for new rows added to existing rows, whose entry is `before`."""
        starts = tuple(f"{owner}: " for owner in self.settings)  # how earlier versions wrote settings
        sources = [source for source in before.get("from", []) if source not in self.sources]
        notes = [note for note in before.get("notes", []) if note not in self.notes and not note.startswith(starts)]
        settings = {**before.get("settings", {}), **self.settings}
        return {
            "by": self.by,
            "from": [*sources, *self.sources],
            "notes": [*notes, *self.notes],
            **({"settings": {owner: settings[owner] for owner in sorted(settings)}} if settings else {}),
        }


def write(
    path: Path,
    tables: Mapping[str, pa.Table],
    *,
    title: str | None = None,
    label: str | None = None,
    about: str | None = None,
    licence: str | None = None,
    made_by: str | Provenance | Mapping[str, Provenance],
    stale: Collection[str] = (),
) -> Arena:
    """Write whole tables into an arena, new or existing, in one step; other tables stay.

    Everything is validated and serialised before the first byte is written.

    Args:
        path: the arena's folder.
        tables: whole tables by name, replacing existing tables.
        title: human-readable title; None keeps the old value, also of the next three.
        label: kind of numbers (`Arena.label`).
        about: one or two sentences on the content.
        licence: terms of use.
        made_by: the command that made these tables, their provenance, or that of each.
        stale: tables derived from these, to remove in the same step if the content changes.

    Raises:
        BadInput: if a table breaks the contract, or a text is not valid Unicode.
        ArenaError: if the folder is not an arena, or cannot be written.
    """
    path = path.absolute()
    by_table = made_by if isinstance(made_by, Mapping) else dict.fromkeys(tables, made_by)
    given = {table: Provenance.of(by_table[table]) for table in tables}
    origins = {table: provenance.after({}) for table, provenance in given.items()}
    makers = {provenance.labels for provenance in given.values() if provenance.labels}
    labels = makers.pop() if len(makers) == 1 else None
    texts = {"title": title, "label": label, "about": about, "licence": licence, "labels": labels}
    refuse_lone_surrogates(*texts.values())
    files = {table: serialise(table, data, where=str(path)) for table, data in tables.items()}

    with exclusive_lock(path):
        old = manifests.load_manifest(path)[0] if manifests.has_manifest(path) else {}
        commit(path, old, files, origins=origins, texts=texts, stale=stale)
    return open_arena(path)


def refuse_lone_surrogates(*texts: str | None) -> None:
    """Reject a text for the manifest that UTF-8 cannot encode.

    Raises:
        BadInput: naming the first.
    """
    for words in filter(None, texts):
        if any("\ud800" <= letter <= "\udfff" for letter in words):
            raise BadInput("a text about the arena has a lone surrogate", where=repr(words))


@contextmanager
def exclusive_lock(path: Path, *, seconds: float | None = None) -> Iterator[None]:
    """Hold the exclusive lock of an arena.

    Args:
        path: the arena's folder; created if missing.
        seconds: how long to wait for another program; None for `LOCK_SECONDS`.

    Raises:
        ArenaError: if the folder has other files, cannot be written, or stays locked for too long.
    """
    from filelock import FileLock, Timeout

    manifests.refuse_undecodable(path)
    seconds = LOCK_SECONDS if seconds is None else seconds
    try:
        if path.is_dir() and not (path / manifests.NAME).exists() and not _has_only_own_files(path):
            raise ArenaError(
                f"{path} holds other files and is not an arena", do="use a new or empty folder for the arena"
            )
        make_folder(path)
        for name in schema.TABLES:
            refuse_link(path / name)
        with FileLock(path / ".lock", timeout=seconds):
            yield
    except Timeout:
        raise ArenaError(
            f"another program has been writing to this arena for more than {seconds:g} seconds",
            where=str(path),
            do="wait until it is done, then rerun the command",
        ) from None
    except OSError as error:
        raise ArenaError(
            f"the arena cannot be written: {error.strerror or error}",
            where=str(error.filename or path),
            do="free space or check permissions, then rerun the command; the arena is unchanged",
        ) from None


def commit(
    path: Path,
    old: Mapping[str, Any],
    files: Mapping[str, Files],
    *,
    origins: Mapping[str, Mapping[str, Any]],
    texts: Mapping[str, str | None],
    stale: Collection[str] = (),
) -> None:
    """Write serialised tables, and the manifest last; the caller holds the lock.

    Args:
        path: the arena's folder.
        old: its current manifest; empty if there is none.
        files: tables from `serialise`.
        origins: provenance of each table.
        texts: title, label, about, licence, judge and labels; None or missing keeps the old value.
        stale: tables to remove if the content changes.

    Raises:
        OSError: if a file cannot be written; the arena is then unchanged.
    """
    tables = dict(old.get("tables", {}))
    new = {table: [entry for entry, _ in parts] for table, parts in files.items()}
    if any(tables.get(table) != entries for table, entries in new.items()):
        tables = {table: entries for table, entries in tables.items() if table not in stale}
    tables |= new
    order = [table for table in schema.TABLES if table in tables]
    merged = {**old.get("made", {}), **origins}
    default = {"title": path.name, "label": "own data"}
    facts = {name: texts.get(name) or old.get(name) for name in ("judge", "labels")}
    manifest = {
        "format": manifests.FORMAT,
        **{name: texts.get(name) or old.get(name, default.get(name, "")) for name in manifests.TEXTS},
        **{name: fact for name, fact in facts.items() if fact},
        "made": {table: dict(merged[table]) for table in order},
        "tables": {table: tables[table] for table in order},
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


def serialise(table: str, data: pa.Table, *, where: str) -> Files:
    """Validate a table and serialise it to one Parquet file per language, or one without languages, with manifest
    entries.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    schema.validate(table, data, where=where)
    data = schema.sort(table, data)
    # All files of a table have the same columns, as DuckDB reads them as one.
    data = data.drop_columns([name for name in schema.left_out(table) if data[name].null_count == len(data)])
    by_language = "language" in data.column_names
    codes = in_order(pc.unique(data["language"]).to_pylist()) if by_language else [""]

    def part(code: str) -> tuple[dict[str, Any], bytes]:
        rows = data.filter(pc.equal(data["language"], code)) if by_language else data
        buffer = io.BytesIO()
        pq.write_table(
            rows.replace_schema_metadata(None),
            buffer,
            compression="zstd",
            compression_level=LEVELS.get(table, 7),
            row_group_size=ROW_GROUP.get(table, 1_000_000),
            store_schema=False,
        )
        raw = buffer.getvalue()
        digest = hashlib.sha256(raw).hexdigest()
        entry = {
            "path": f"{table}/{code or 'none'}-{digest[:12]}.parquet",
            "language": code if is_code(code) else "",
            "rows": len(rows),
            "bytes": len(raw),
            "sha256": digest,
        }
        return entry, raw

    # Compression takes most of the time and releases the GIL.
    with ThreadPoolExecutor(available()) as threads:
        return list(threads.map(part, codes))


def _has_only_own_files(path: Path) -> bool:
    """Return whether a folder without a manifest has only files of ours.

    These are a ledger, leftovers of an interrupted write, the folder `source`, or an arena that another program has
    begun.
    """
    ledger_files = (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", LEDGER_LOCK)
    own_names = {*schema.TABLES, manifests.NAME, ".lock", "source", *ledger_files}
    return all(file.name in own_names or file.suffix == ".tmp" for file in path.iterdir())


def claim_arena(path: Path) -> Path:
    """Return the folder of an arena that a command may change, after removing what a killed command left in it.

    Nothing is removed while another program is writing: it cleans up at the end.

    Raises:
        BadInput: if the arena is bundled.
    """
    refuse_bundled(path)
    with suppress(ArenaError):  # whatever reads the arena next says what is wrong
        if _leftovers(path, manifests.load_manifest(path)[0]):
            with exclusive_lock(path, seconds=0):
                _sweep(path, manifests.load_manifest(path)[0])
    return path


def _sweep(path: Path, manifest: Mapping[str, Any]) -> None:
    """Remove files that the manifest does not name.

    Files that cannot be removed are harmless; the next write tries again.
    """
    for file in _leftovers(path, manifest):
        with suppress(OSError):
            file.unlink()


def _leftovers(path: Path, manifest: Mapping[str, Any]) -> list[Path]:
    """Return the files that the manifest does not name: old tables, and leftovers of interrupted writes."""
    named_files = {file["path"] for file in manifests.listed_files(manifest)} if manifest else set()
    own_files = [
        file for table in schema.TABLES for pattern in ("*.parquet", ".*.tmp") for file in (path / table).glob(pattern)
    ]
    own_files += path.glob(f".{manifests.NAME}.*.tmp")
    return [file for file in own_files if file.relative_to(path).as_posix() not in named_files]
