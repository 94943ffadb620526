"""Import of a file in any known format into an arena, in one transaction."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from mirage.errors import BadInput, Unreachable
from mirage.io.formats import run
from mirage.io.formats.open import files_of
from mirage.io.formats.run import Progress, Summary
from mirage.io.formats.spec import Tables
from mirage.io.imports import misfits
from mirage.io.imports.public import prints
from mirage.io.options import Options
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.extras import extra
from mirage.store.files import Line
from mirage.store.lineage import derived_tables
from mirage.store.upsert import by_key, retry_outdated, upsert
from mirage.store.writing import Provenance


@dataclass(frozen=True, slots=True)
class FileImport:
    """Result of importing a file."""

    arena: Arena
    """The arena after the import."""
    summary: Summary
    """Summary of what was read, inferred and ignored."""


def read_file(
    path: Path,
    into: Path | None = None,
    *,
    name: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> tuple[Tables, Summary]:
    """Read a file in any known format without writing; its tables must fit the arena, if there is one.

    Raises:
        BadInput: listing every invalid record.
        ArenaError: if a query or passage that existing answers refer to would change.
    """
    arena = open_arena(into) if into is not None and is_arena(into) else None
    tables, summary = run.read(path, name=name, options=options, arena=arena, progress=progress)
    if arena is not None:
        misfits.refuse_changes(arena, arena, tables)
    return tables, summary


def import_file(
    path: Path,
    into: Path,
    *,
    name: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> FileImport:
    """Import a file or a folder in any known format into an arena, new or existing, in one step.

    Existing queries and passages are shared. Repeating an import changes nothing.

    Args:
        path: the file or folder.
        into: the arena's folder.
        name: the format's name; None to detect it from the first records.
        options: names of its fields.
        progress: called with the number of records read, and None.

    Raises:
        BadInput: listing every invalid record; nothing is then imported.
        ArenaError: if a query or passage that existing answers refer to would change, or the arena cannot be written.
    """
    origins = [origin for file in files_of(path) for origin in prints(file.parent, [file])]
    return _import(path, into, origins, name, options, progress)


def _import(
    path: Path,
    into: Path,
    origins: Sequence[Mapping[str, str]],
    name: str | None,
    options: Options | None,
    progress: Progress | None,
    lines: Callable[[], Iterator[Line]] | None = None,
) -> FileImport:
    def write() -> FileImport:
        arena = open_arena(into) if is_arena(into) else None
        tables, summary = run.read(path, name=name, options=options, arena=arena, progress=progress, lines=lines)
        grown = arena is not None and misfits.adds_passages(arena, tables)
        result = upsert(
            into,
            {table: by_key(table, data) for table, data in tables.items()},
            made_by=Provenance(f"mirage import {summary.format}", sources=origins),
            check=lambda current: misfits.refuse_changes(current, arena, tables),
            stale=derived_tables({"passages"}) if grown else (),
        )
        return FileImport(result.arena, summary)

    return retry_outdated(write)


def import_table(table: pa.Table, into: Path, *, name: str | None = None, options: Options | None = None) -> FileImport:
    """Import the rows of a table, such as a data frame, as `import_file` imports the records of a file.

    Args:
        table: the rows; the index of a data frame is ignored.
        into: the arena's folder.
        name: the format's name; None to detect it from the first rows.
        options: names of its fields.

    Raises:
        BadInput: listing every invalid row by its number, from 1; nothing is then imported.
        ArenaError: as `import_file`.
    """
    fields = [field for field in table.column_names if not field.startswith("__index_level_")]

    def lines() -> Iterator[Line]:
        number = 0
        for batch in table.select(fields).to_batches(max_chunksize=1000):
            for row in batch.to_pylist():
                number += 1
                yield Line(f"row {number:,}", row)

    return _import(Path("rows"), into, [{"name": "rows given in Python"}], name, options, None, lines)


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
    """Import a dataset of the Hugging Face Hub, or a folder of `save_to_disk`, as `import_file` imports a file.

    Args:
        dataset: `owner/name` on the Hub, or the folder.
        into: the arena's folder.
        split: the split; required if there are several.
        config: the configuration; required if there are several.
        name: the format's name; None to detect it from the first records.
        options: names of its fields.
        progress: called with the number of records read, and None.

    Raises:
        Unreachable: if the Hub does not answer, or has no such dataset.
        BadInput: as `import_file`, and if there is no such split or configuration.
        ArenaError: as `import_file`.
    """
    lines = partial(dataset_lines, dataset, split=split, config=config)
    part = "/".join(filter(None, (dataset, config, split)))
    return _import(Path(dataset), into, [{"name": part}], name, options, progress, lines)


def dataset_lines(name: str, *, split: str | None = None, config: str | None = None) -> Iterator[Line]:
    """Yield the rows of a dataset, each at `NAME:ROW`, counted from 1.

    Args:
        name: a folder made with `save_to_disk`, or the name of a dataset on the Hub: `owner/name`. Rows from the Hub
            are streamed, and not stored.
        split: the split; required if there are several.
        config: the configuration; required if the Hub has several.

    Raises:
        BadInput: if `datasets` is not installed, the folder has no dataset, or there is no such split or config.
        Unreachable: if the Hub does not answer, or has no such dataset.
    """
    with extra("hub", "reading datasets of the hub"):
        import datasets

    folder = Path(name)
    try:
        if folder.is_dir():
            data: Any = datasets.load_from_disk(name)
        else:
            data = datasets.load_dataset(name, config, split=split, streaming=True)
        rows: Iterable[Mapping[str, Any]] = _part(data, name, split) if isinstance(data, Mapping) else data
        for number, row in enumerate(rows, start=1):
            yield Line(f"{name}:{number}", dict(row))
    except FileNotFoundError as error:
        if folder.is_dir():
            raise BadInput(
                f"{name} was not saved by save_to_disk: {error}", do="import its files: mirage import FILE"
            ) from None
        raise _unreachable(name, error) from None
    except (ConnectionError, OSError) as error:
        raise _unreachable(name, error) from None
    except ValueError as error:
        # datasets has no error of its own for a configuration or a split that is not there; its text names those.
        raise BadInput(f"{name} cannot be read: {error}", do="choose with --config NAME or --split NAME") from None


def _part(data: Mapping[str, Any], name: str, split: str | None) -> Any:
    """Return the requested split, or the only one."""
    if split is None and len(data) == 1:
        return next(iter(data.values()))
    if split is None or split not in data:
        what = "has several splits" if split is None else f"has no split {split!r}"
        raise BadInput(f"{name} {what}", do=f"choose one: --split {' or '.join(sorted(data))}")
    return data[split]


def _unreachable(name: str, error: Exception) -> Unreachable:
    return Unreachable(
        f"the dataset {name} could not be loaded: {error}",
        do="check name and connection; or save it on a connected machine (save_to_disk) and import the folder",
    )
