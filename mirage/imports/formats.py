"""Any file in a known format, into an arena in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mirage import store
from mirage.formats import run
from mirage.formats.hub import dataset_lines
from mirage.formats.open import files_of, sampled
from mirage.formats.registry import format_named
from mirage.formats.run import Progress, Summary
from mirage.formats.spec import Tables
from mirage.formats.values import shortened
from mirage.imports import misfits
from mirage.imports.public import prints
from mirage.sources.files import Options


@dataclass(frozen=True, slots=True)
class FileImport:
    """What an import of a file did."""

    arena: store.Arena
    """The arena as it is now."""
    summary: Summary
    """What was read, guessed and left out."""


@dataclass(frozen=True, slots=True)
class FieldUse:
    """What becomes of one field of a file."""

    field: str
    """Its name in the file."""
    becomes: str
    """The table and column it goes to; `left out` where it goes nowhere."""
    records: int
    """How many of the first records have it."""
    example: str
    """One of its values, shortened."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would make of a file."""

    fields: tuple[FieldUse, ...]
    """What becomes of its fields, by its first records."""
    summary: Summary
    """What was read, guessed and left out."""


def read_file(
    path: Path,
    into: Path | None = None,
    *,
    name: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> tuple[Tables, Summary]:
    """Read a file in any known format, writing nothing; its tables must fit the arena, if there is one.

    Raises:
        BadInput: listing every wrong record.
        ArenaError: if a query or passage would change that the arena has answers to.
    """
    arena = store.open_arena(into) if into is not None and store.is_arena(into) else None
    tables, summary = run.read(path, name=name, options=options, arena=arena, progress=progress)
    if arena is not None:
        misfits.refuse_changes(arena, arena, tables)
    return tables, summary


def plan_file(
    path: Path,
    into: Path | None = None,
    *,
    name: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> ImportPlan:
    """Read a file as `import_file` would, writing nothing.

    Raises:
        BadInput: listing every wrong record.
        ArenaError: if a query or passage would change that the arena has answers to.
    """
    options = options or Options()
    _, summary = read_file(path, into, name=name, options=options, progress=progress)
    becomes = format_named(summary.format).fields
    records = sampled(path).records
    fields = dict.fromkeys(name for record in records for name in record)
    uses = []
    for theirs in fields:
        ours = options.names.get(theirs, theirs)
        held = [record[theirs] for record in records if record.get(theirs) not in (None, "")]
        place = becomes.get(ours, "left out" if becomes else "")
        uses.append(FieldUse(theirs, place, len(held), shortened(held[0]) if held else ""))
    return ImportPlan(tuple(uses), summary)


def import_file(
    path: Path,
    into: Path,
    *,
    name: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> FileImport:
    """Read a file or a folder in any known format into an arena, new or existing, in one step.

    Queries and passages that the arena has are shared. The same file a second time changes nothing.

    Args:
        path: the file or folder.
        into: the arena's folder.
        name: the format's name; None: it is recognised by the first records.
        options: how its fields are named.
        progress: called with the number of records read, and None.

    Raises:
        BadInput: listing every wrong record; nothing is then imported.
        ArenaError: if a query or passage would change that the arena has answers to, or the arena cannot be written.
    """
    origins = [origin for file in files_of(path) for origin in prints(file.parent, [file])]
    return _imported(path, into, origins, name, options, progress)


def _imported(
    path: Path,
    into: Path,
    origins: Sequence[Mapping[str, str]],
    name: str | None,
    options: Options | None,
    progress: Progress | None,
    lines: Callable[[], Iterator[store.Line]] | None = None,
) -> FileImport:
    def write() -> FileImport:
        arena = store.open_arena(into) if store.is_arena(into) else None
        tables, summary = run.read(path, name=name, options=options, arena=arena, progress=progress, lines=lines)
        grown = arena is not None and misfits.grows(arena, tables)
        result = store.upsert(
            into,
            {table: store.by_key(table, data) for table, data in tables.items()},
            made_by=f"mirage import {summary.format}",
            made_from=origins,
            check=lambda current: misfits.refuse_changes(current, arena, tables),
            stale=store.derived({"passages"}) if grown else (),
        )
        return FileImport(result.arena, summary)

    return store.retry_outdated(write)


def import_dataset(
    dataset: str,
    into: Path,
    *,
    split: str | None = None,
    config: str | None = None,
    name: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> FileImport:
    """Read a dataset of the Hugging Face hub, or a folder of `save_to_disk`, as `import_file` reads a file.

    Args:
        dataset: `owner/name` of the hub, or the folder.
        into: the arena's folder.
        split: which part; needed where there are several.
        config: which configuration; needed where the hub has several.
        name: the format's name; None: it is recognised by the first records.
        options: how its fields are named.
        progress: called with the number of records read, and None.

    Raises:
        Unreachable: if the hub does not answer, or has no such dataset.
        BadInput: as `import_file`, and if there is no such split or configuration.
        ArenaError: as `import_file`.
    """

    def lines() -> Iterator[store.Line]:
        return dataset_lines(dataset, split=split, config=config)

    part = "/".join(filter(None, (dataset, config, split)))
    return _imported(Path(dataset), into, [{"name": part}], name, options, progress, lines)
