"""Reading records of any file or folder, independent of format."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput, UnknownName
from mirage.io.formats.spec import Format, Record, Sample
from mirage.io.sources.files.options import Options

_SAMPLED = 20
"""Number of records and lines used to detect a format."""


def read_sample(path: Path, options: Options | None = None) -> Sample:
    """Read the beginning of a file, or of the first record file in a folder.

    Raises:
        BadInput: if there is nothing at the path, or its first records are invalid.
    """
    first = files_of(path)[0] if path.is_dir() else path
    lines = tuple(store.beginning(first, _SAMPLED)) if not path.is_dir() else ()
    if not store.kind(first):
        return Sample(path, (), lines)
    values: list[dict[str, Any]] = []
    wrong = None
    try:
        with closing(store.records(first)) as records:  # type: ignore[type-var]  # a generator
            values.extend((options or Options()).apply(line.value) for line in itertools.islice(records, _SAMPLED))
    except BadInput as error:
        wrong = error.with_traceback(None)  # a format of plain lines may take it all the same: qrels named .tsv
    return Sample(path, tuple(values), lines, wrong)


def sampled_lines(path: Path, lines: Iterator[store.Line], options: Options) -> Sample:
    """Read the beginning of records from another source than a file."""
    return Sample(path, tuple(options.apply(line.value) for line in itertools.islice(lines, _SAMPLED)), ())


def files_of(path: Path) -> list[Path]:
    """Return a file, or the record files in a folder, sorted by name.

    Raises:
        BadInput: if the folder has none.
    """
    if not path.is_dir():
        return [path]
    every = store.list_files(path, "**/*")
    files = [file for file in every if store.ending(file)] or every
    if not files:
        raise BadInput(
            f"{path} has no record file", do="use JSON, CSV or Parquet, followed by .gz or .zst if compressed"
        )
    return files


def open_records(
    path: Path, options: Options, entry: Format, lines: Iterable[store.Line] | None = None
) -> Iterator[Record]:
    """Yield the records of a file or folder under our names, in order.

    Raises:
        BadInput: if a file cannot be read further.
        UnknownName: after the last record, if a mapped field occurs in none of them.
    """
    mapped = bool(options.names or options.values or options.meanings)
    absent = set(options.names)
    fields: set[str] = set()
    for value, where in _raw(path, entry) if lines is None else ((line.value, line.where) for line in lines):
        if absent:
            absent -= {name for name in absent if name in value or name.partition(".")[0] in value}
            fields.update(value)
        yield Record(options.apply(value) if mapped else value, where)
    if absent and fields:
        raise UnknownName("field", sorted(absent)[0], fields, where=f"--map, {path}")


def _raw(path: Path, entry: Format) -> Iterator[tuple[Any, str]]:
    if entry.records is not None:
        records: Iterable[tuple[Any, int]] = entry.records(path)
        for value, number in records:
            yield value, f"{path}:{number}"
        return
    for file in files_of(path):
        for line in store.records(file):
            yield line.value, line.where
