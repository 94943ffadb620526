"""Writing an arena: whole tables in one step, under a lock that all writers take.

Everything is validated and serialised before the first byte; the manifest is written last.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mirage import schema
from mirage.cores import available
from mirage.errors import ArenaError, BadInput
from mirage.languages import in_order, is_code
from mirage.store import manifest as manifests
from mirage.store.arena import Arena, open_arena
from mirage.store.files import write_bytes, write_text
from mirage.store.ledger import NAME as LEDGER
from mirage.store.location import address
from mirage.store.objects import Overtaken
from mirage.store.remote import remote_of

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = {"queries": 2_000, "passages": 400, "answers": 400, "judgments": 2_000}
"""Rows of a row group: few where a page fetches the long texts of one query, all where a table is read whole."""
LEVELS = {"passages": 3}
"""How hard zstd packs a table, 7 where it is not named: of an import of long texts, packing at 7 is half of the time,
and what it saves is 7%.
"""
LOCK_SECONDS = 60
"""How long a write waits for another program that writes into the same arena."""

_ATTEMPTS = 20
"""How often a change is made again, where others are faster: of n writers at once the last has n attempts."""
_PAUSE = 0.05
"""Seconds by which each pause is longer than the last."""
_T = TypeVar("_T")

Files = list[tuple[dict[str, Any], bytes]]
"""A table as files: the manifest's entry and the bytes of each."""


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
    path = path.absolute()
    texts = {"title": title, "label": label, "about": about, "licence": licence}
    refuse_lone_surrogates(made_by, *texts.values(), *notes, *named(made_from))
    files = {table: serialise(table, data, where=address(path)) for table, data in tables.items()}
    origin = {"by": made_by, "from": list(made_from), "notes": list(notes)}

    def change() -> None:
        old = manifests.load_manifest(path)[0] if manifests.has_manifest(path) else {}
        commit(path, old, files, origins=dict.fromkeys(files, origin), texts=texts, stale=stale)

    exclusively(path, change)
    return open_arena(path)


def refuse_lone_surrogates(*texts: str | None) -> None:
    """Refuse a text for the manifest that UTF-8 cannot hold.

    Raises:
        BadInput: naming the first.
    """
    for words in filter(None, texts):
        if any("\ud800" <= letter <= "\udfff" for letter in words):
            raise BadInput("half a character (a lone surrogate) in what is said of the arena", where=repr(words))


def named(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """The texts in records of what something was made from."""
    return [value for source in sources for value in source.values() if isinstance(value, str)]


def exclusively(path: Path, change: Callable[[], _T]) -> _T:
    """Change an arena while no other program does. On object storage, where nothing can be locked, the change is made
    again on what others have written meanwhile.

    Args:
        path: the arena's folder.
        change: reads the arena as it is, and commits.

    Raises:
        ArenaError: as `exclusive_lock`, or if others were faster each time.
    """
    for attempt in range(_ATTEMPTS):
        with exclusive_lock(path):
            try:
                return change()
            except Overtaken:
                if attempt == _ATTEMPTS - 1:
                    raise
        time.sleep(_PAUSE * attempt)
    raise AssertionError


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Let one program or thread at a time change an arena; the others wait `LOCK_SECONDS` at most.

    Of an arena on object storage it keeps only the programs of this machine apart.

    Args:
        path: the arena's folder; it is made where it is absent.

    Raises:
        ArenaError: if the folder holds something that is not an arena, cannot be written, or another program holds the
            lock for longer than that.
    """
    from filelock import FileLock, Timeout

    manifests.refuse_undecodable(path)
    try:
        remote = remote_of(path)
        if remote is not None:
            if not manifests.has_manifest(path):
                remote.refuse_other_files()
        elif path.is_dir() and not (path / manifests.NAME).exists() and not _only_ours(path):
            raise ArenaError(
                f"{path} holds other files and is not an arena", do="give a new or an empty folder for the arena"
            )
        path.mkdir(parents=True, exist_ok=True)
        with FileLock(path / ".lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise ArenaError(
            f"another program is writing into this arena, for more than {LOCK_SECONDS} seconds",
            where=address(path),
            do="wait until it is done, then run the command again",
        ) from None
    except OSError as error:
        raise ArenaError(
            f"the arena cannot be written: {error.strerror or error}",
            where=str(error.filename or path),
            do="free space or check permissions, then run the command again; the arena is as it was",
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
    """Put serialised tables in place of those of their names, and the manifest last. The caller holds the lock.

    Args:
        path: the arena's folder.
        old: its manifest as it is now; empty where there is none.
        files: tables from `serialise`.
        origins: what the manifest says of how each of them was made.
        texts: title, label, about and licence; each is kept from the old manifest where it is None or absent.
        stale: tables that are removed if what is written differs from what was there.

    Raises:
        OSError: if a file cannot be written; the arena is then as it was.
        Overtaken: on object storage, if another program has changed it since `old` was read.
    """
    tables = dict(old.get("tables", {}))
    new = {table: [entry for entry, _ in parts] for table, parts in files.items()}
    if any(tables.get(table) != entries for table, entries in new.items()):
        tables = {table: entries for table, entries in tables.items() if table not in stale}
    tables |= new
    order = [table for table in schema.TABLES if table in tables]
    merged = {**old.get("made", {}), **origins}
    default = {"title": path.name, "label": "own data"}
    manifest = {
        "format": manifests.FORMAT,
        **{name: texts.get(name) or old.get(name, default.get(name, "")) for name in manifests.TEXTS},
        "made": {table: dict(merged[table]) for table in order},
        "tables": {table: tables[table] for table in order},
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=False) + "\n"
    if (remote := remote_of(path)) is not None:
        remote.commit(old, text, [pair for parts in files.values() for pair in parts])
        return
    try:
        for entry, data in (pair for parts in files.values() for pair in parts):
            write_bytes(path / entry["path"], data)
        write_text(path / manifests.NAME, text)
    except OSError:
        _sweep(path, old)
        raise
    _sweep(path, manifest)


def serialise(table: str, data: pa.Table, *, where: str) -> Files:
    """Validate a table and turn it into one Parquet file a language, with its manifest entry; a table without languages
    is one file.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    schema.validate(table, data, where=where)
    data = schema.sort(table, data)
    # In the files of one table the same columns, as DuckDB reads them together.
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

    # Packing takes most of the time, and lets other threads run.
    with ThreadPoolExecutor(available()) as threads:
        return list(threads.map(part, codes))


def _only_ours(path: Path) -> bool:
    """Whether a folder without a manifest holds nothing but a ledger, what an interrupted write leaves, and the files
    that the arena is made from, in the folder `source`; or an arena that another program began meanwhile.
    """
    own_names = {*schema.TABLES, manifests.NAME, ".lock", "source", LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm"}
    return all(file.name in own_names or file.suffix == ".tmp" for file in path.iterdir())


def _sweep(path: Path, manifest: Mapping[str, Any]) -> None:
    """Remove what the manifest does not name: tables of before, and what an interrupted write left.

    A file that cannot be removed does no harm, and goes with the next write.
    """
    named_files = {file["path"] for file in manifests.listed_files(manifest)} if manifest else set()
    own_files = [
        file for table in schema.TABLES for pattern in ("*.parquet", ".*.tmp") for file in (path / table).glob(pattern)
    ]
    for file in [*own_files, *path.glob(f".{manifests.NAME}.*.tmp")]:
        if file.relative_to(path).as_posix() not in named_files:
            with suppress(OSError):
                file.unlink()
