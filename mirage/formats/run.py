"""Reading a file in a format: all that is wrong is gathered, and what was guessed and left out is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from mirage import store, text
from mirage.errors import BadInput
from mirage.formats.build import Collector
from mirage.formats.finish import finished
from mirage.formats.open import opened, sampled, sampled_lines
from mirage.formats.registry import Recognised, format_named, formats, recognise
from mirage.formats.spec import Format, Record, Sample, Tables
from mirage.sources.files.options import Options
from mirage.sources.files.read import Refused

Progress = Callable[[int, int | None], None]
_STEP = 1000
"""Records between two calls of what is told of the progress."""
_GUESSES = {
    "query_id": (
        "record",
        "without an id of the query: it is made from the query, the same in every file; intervals take each for a unit",
    ),
    "passage_id": ("passage", "without an id: it is made from the text, the same in every file"),
    "folded": ("record", "with another passage to the same answer: taken for one answer to all of them"),
    "repeated": ("record", "with an answer that came before as it is: it is taken once"),
}
"""By what was counted: the noun for it, and what the summary says of so many."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that a file says and an arena has no place for."""

    what: str
    """The field, or what it is."""
    why: str
    """Why it has no place."""
    n: int
    """How often it was seen."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What reading a file came to."""

    format: str
    """Name of the format."""
    why: str
    """Why the file was taken for it; empty where the user said so."""
    records: int
    """Records that were read."""
    rows: Mapping[str, int]
    """Rows that were made, by table."""
    guessed: Mapping[str, str]
    """What was assumed, by a word for it, and on what grounds."""
    left_out: tuple[LeftOut, ...]
    """What the file says and the tables do not hold."""

    def lines(self) -> list[str]:
        """The summary in lines for people."""
        rows = ", ".join(f"{n:,} {name}" for name, n in self.rows.items())
        return [
            f"{text.counted(self.records, 'record')} read as {self.format}" + (f": {self.why}" if self.why else ""),
            f"made: {rows}",
            *(f"guessed: {what}: {why}" for what, why in self.guessed.items()),
            *(
                f"left out: {entry.what} ({'once' if entry.n == 1 else f'{entry.n:,} times'}): {entry.why}"
                for entry in self.left_out
            ),
        ]


def taken_for(path: Path, options: Options | None = None) -> Recognised:
    """The format that a file is in, by its first records.

    Raises:
        BadInput: if no format takes it, or it cannot be read.
    """
    return _recognised(sampled(path, options))


def _recognised(sample: Sample) -> Recognised:
    taken = recognise(sample)
    if taken is None and sample.error is not None:
        raise sample.error
    if taken is None and not sample.fields:
        raise BadInput(
            f"no record can be read from this {'folder' if sample.path.is_dir() else 'file'}",
            where=str(sample.path),
            do=f"give JSON, CSV or Parquet (save a workbook as CSV, unpack an archive), or say the format: "
            f"{', '.join(formats())}",
        )
    if taken is None:
        names = ", ".join(sorted(sample.fields)[:12])
        raise BadInput(
            f"this file is in no known format; its records have {names}",
            where=str(sample.path),
            do=f"say which it is ({', '.join(formats())}) and map its fields: mirage import rag FILE --map THEIRS=OURS",
        )
    return taken


def read(
    path: Path,
    *,
    name: str | None = None,
    options: Options | None = None,
    arena: store.Arena | None = None,
    progress: Progress | None = None,
    lines: Callable[[], Iterator[store.Line]] | None = None,
) -> tuple[Tables, Summary]:
    """Read a file or a folder in a format; one wrong record refuses the whole.

    Args:
        path: the file or folder.
        name: the format's name; None: it is recognised.
        options: how its fields are named.
        arena: the arena that the tables are to join; what it has of the same queries is kept in them.
        progress: called with the number of records read, and None.
        lines: gives the records anew at each call, where they come from elsewhere; `path` is then what errors name.

    Returns:
        The tables by name, and what there is to say of them.

    Raises:
        Refused: listing every wrong record.
        BadInput: if the file cannot be read, is in no known format or holds no record.
        UnknownName: if there is no such format.
    """
    options = options or Options()
    if name is not None:
        taken = Recognised(format_named(name), "", ())
    else:
        taken = taken_for(path, options) if lines is None else _recognised(sampled_lines(path, lines(), options))
    collected = Collector()
    errors: list[BadInput] = []
    records = opened(path, options, taken.format, None if lines is None else lines())
    n = _collect(taken.format, records, collected, errors, progress)
    if not n and not errors:
        raise BadInput("this file holds no record", where=str(path), do="give a file with at least one record")
    try:
        tables = finished(collected, arena, errors=errors, n=n)
    except Refused:
        if len(errors) == 1 and not errors[0].where.startswith(str(path)):
            raise errors[0] from None
        raise
    for word, n_times in collected.counts.items():
        noun, told = _GUESSES[word]
        collected.guessed(word, f"{text.counted(n_times, noun)} {told}")
    mapped = {field.partition(".")[0] for field in options.names if "." in field}
    return tables, Summary(
        format=taken.format.name,
        why=taken.reason,
        records=n,
        rows=MappingProxyType({table: len(data) for table, data in tables.items()}),
        guessed=MappingProxyType(dict(sorted(collected.guesses.items()))),
        left_out=tuple(
            LeftOut(what, why, times) for (what, why), times in sorted(collected.omitted.items()) if what not in mapped
        ),
    )


def _collect(
    entry: Format, records: Iterator[Record], collected: Collector, errors: list[BadInput], progress: Progress | None
) -> int:
    """Let a format read all records; after one that is wrong it goes on with the next. Returns their number."""
    n, ended = 0, False

    def counted() -> Iterator[Record]:
        nonlocal n, ended
        for record in records:
            n += 1
            if progress is not None and n % _STEP == 0:
                progress(n, None)
            yield record
        ended = True

    while not ended:
        before = n
        try:
            entry.read(counted(), collected)
            ended = True
        except BadInput as error:
            # A traceback keeps the record and all that was read with it.
            errors.append(error.with_traceback(None))
            # What is no fault of one record (the file ends in the middle) would be raised again and again.
            ended = ended or n == before
    return n
