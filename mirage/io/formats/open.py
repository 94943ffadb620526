"""Reading records of any file or folder, independent of format."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from mirage.errors import BadInput, UnknownName
from mirage.io.formats.build import Format
from mirage.io.formats.spec import SAMPLED, Record, Sample
from mirage.io.options import Options
from mirage.store import records as store_records
from mirage.store.archives import archive_names, is_archive
from mirage.store.files import Line, list_files
from mirage.store.json_members import json_members
from mirage.store.records import is_longer

LOG = "log"
"""Field of a record with the other members of its document."""
_LARGE = 4_000_000
"""Bytes from which a JSON document is not held whole to detect its format."""


def read_sample(path: Path, options: Options | None = None, lists: Collection[tuple[str, ...]] = ()) -> Sample:
    """Read the beginning of a file, or of the first record file in a folder.

    Args:
        path: the file or folder.
        options: names of its fields.
        lists: places of lists of records in JSON documents (`spec.Format.lists`), used to stream large lists.

    Raises:
        BadInput: if there is nothing at the path, or its first records are invalid.
    """
    first = files_of(path)[0] if path.is_dir() else path
    if is_archive(first):
        try:
            return Sample(path, (), (), members=archive_names(first))
        except BadInput as error:
            return Sample(path, (), (), error.with_traceback(None))
    lines = tuple(store_records.beginning(first, SAMPLED)) if not path.is_dir() else ()
    if not store_records.kind(first):
        return Sample(path, (), lines)
    values: list[dict[str, Any]] = []
    wrong = None
    options = options or Options()
    try:
        large = bool(lists) and store_records.kind(first) == ".json" and is_longer(first, _LARGE)
        if large and (shown := outline(first, lists)):
            return Sample(path, tuple(options.apply(value) for value in shown), lines)
        with closing(store_records.records(first)) as records:  # type: ignore[type-var]  # a generator
            values.extend(options.apply(line.value) for line in itertools.islice(records, SAMPLED))
    except BadInput as error:
        wrong = error.with_traceback(None)  # a format of plain lines may take it all the same: qrels named .tsv
    return Sample(path, tuple(values), lines, wrong)


def sampled_lines(path: Path, lines: Iterator[Line], options: Options) -> Sample:
    """Read the beginning of records from another source than a file."""
    return Sample(path, tuple(options.apply(line.value) for line in itertools.islice(lines, SAMPLED)), ())


def files_of(path: Path) -> list[Path]:
    """Return a file, or the record files in a folder, sorted by name.

    Raises:
        BadInput: if the folder has none.
    """
    if not path.is_dir():
        return [path]
    every = list_files(path, "**/*")
    files = [file for file in every if store_records.ending(file)] or every
    if not files:
        raise BadInput(
            f"{path} has no record file", do="use JSON, CSV or Parquet, followed by .gz or .zst if compressed"
        )
    return files


def other_files(path: Path) -> list[Path]:
    """Return the files in a folder that `files_of` leaves out, except hidden ones."""
    read = files_of(path)
    return [file for file in list_files(path, "**/*") if file not in read and not file.name.startswith(".")]


def open_records(path: Path, options: Options, entry: Format, lines: Iterable[Line] | None = None) -> Iterator[Record]:
    """Yield the records of a file or folder under our names, in order.

    Raises:
        BadInput: if a file cannot be read further.
        UnknownName: after the last record, if a mapped field occurs in none of them.
    """
    changed = options != Options()
    mapped = frozenset(options.names.values())
    absent = set(options.names)
    fields: set[str] = set()
    for value, where in _raw(path, entry) if lines is None else ((line.value, line.where) for line in lines):
        if absent:
            absent -= {name for name in absent if name in value or options.find(value, name) is not None}
            fields.update(value)
        yield Record(options.apply(value) if changed else value, where, mapped)
    if absent and fields:
        raise UnknownName("field", sorted(absent)[0], fields, where=f"--map, {path}")


def _raw(path: Path, entry: Format) -> Iterator[tuple[Any, str]]:
    for file in [path] if entry.folder else files_of(path):
        if entry.lines is not None:
            yield from entry.lines(file)
        elif entry.lists:
            yield from elements(file, entry.lists)
        else:
            for line in store_records.records(file):
                yield line.value, line.where


def elements(file: Path, lists: Collection[tuple[str, ...]]) -> Iterator[tuple[Any, str]]:
    """Yield the elements of lists in the JSON documents of a file, each with the document's members before it as `log`.

    A document without any of the lists is a record itself; so are the rows of CSV and Parquet.

    Raises:
        BadInput: if the file is damaged, or an element is not an object.
    """
    if store_records.kind(file) not in (".json", ".jsonl"):
        for line in store_records.records(file):
            yield line.value, line.where
        return
    head: dict[str, Any] = {}
    found = False
    for member in json_members(file, lists):
        place = member.place
        if not place:
            if head and not found:
                yield head, member.where
            head, found = {}, False
        elif place[:-1] in lists and place[-1] == "*":
            if not isinstance(member.value, dict):
                raise BadInput(
                    f"an element of {place[-2]} is not an object", where=member.where, do="write or copy the file again"
                )
            found = True
            yield {**member.value, LOG: head}, member.where
        elif place == ("*",):
            raise BadInput("this is no JSON object", where=member.where, do="write one object a record")
        else:
            _put(head, [name for name in place if name != "*"], member.value)


def _put(head: dict[str, Any], place: list[str], value: Any) -> None:
    """Set a member of a document at its place."""
    for name in place[:-1]:
        if not isinstance(head.get(name), dict):
            head[name] = {}
        head = head[name]
    head[place[-1]] = value


def outline(file: Path, lists: Collection[tuple[str, ...]]) -> list[Mapping[str, Any]]:
    """Return the beginning of a large JSON document: the first elements of its list of records.

    If that is within other objects, the document itself, as far as it was read; nothing if it has none of the lists.

    Raises:
        BadInput: if the file is damaged before that.
    """
    head: dict[str, Any] = {}
    shown: list[Any] = []
    depth = 0
    with closing(json_members(file, lists)) as members:  # type: ignore[type-var]  # a generator
        for member in members:
            if not member.place or len(shown) == SAMPLED:
                break
            names = [name for name in member.place if name != "*"]
            if member.place[:-1] in lists and member.place[-1] == "*":
                shown.append(member.value)
                depth = len(names)
                _put(head, names, shown)
            else:
                _put(head, names, member.value)
    return [value for value in shown if isinstance(value, dict)] if depth == 1 else [head] if shown else []
