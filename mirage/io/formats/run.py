"""Reading a file in a format: errors are collected, and inferences and ignored content counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from mirage.errors import BadInput
from mirage.io.formats import rag
from mirage.io.formats.build import Builder, TwoAnswers, read_items
from mirage.io.formats.fields import plain
from mirage.io.formats.finish import finish_tables
from mirage.io.formats.nearest import describe_unknown, tell_apart
from mirage.io.formats.open import files_of, open_records, other_files, read_sample, sampled_lines
from mirage.io.formats.plain import read_plain
from mirage.io.formats.registry import Recognised, format_named, formats, recognise, record_lists
from mirage.io.formats.spec import REPEATED, Record, Sample, Tables
from mirage.io.options import Options, Refused, count_places
from mirage.io.values import shorten
from mirage.store.arena import Arena
from mirage.store.files import Line
from mirage.text import segmentation as text
from mirage.text.dates import utc_day
from mirage.text.languages import known_code

Progress = Callable[[int, int | None], None]
_STEP = 1000
"""Records between progress calls."""
_ANSWERED = ("ok", "truncated")
"""Statuses of answers that did not fail."""
_GUESSES = {
    "query_id": (
        "record",
        "without an id of the query: it is made from the query, equal in every file; each is a unit of the intervals",
    ),
    "passage_id": ("passage", "without an id: it is made from the text, the same in every file"),
    "folded": ("record", "with another passage to the same answer: taken for one answer to all of them"),
    "averaged": ("score", "of a further run: the score of an answer is the mean over its runs"),
    "repeat": ("verdict", REPEATED),
    "repeated": ("record", "repeated: nothing is added to those before"),
}
"""By key of a count: its noun, and its sentence in the summary."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Content of a file without a place in an arena."""

    what: str
    """The field, or a description."""
    why: str
    """Why it is ignored."""
    n: int
    """Number of occurrences."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of reading a file."""

    format: str
    """Name of the format."""
    why: str
    """Why the file has this format; empty if chosen by the user."""
    records: int
    """Number of records read."""
    rows: Mapping[str, int]
    """Rows built, by table."""
    guessed: Mapping[str, str]
    """Inferences by key, with their grounds."""
    left_out: tuple[LeftOut, ...]
    """Ignored content."""
    silent: int
    """Answers without a text."""

    def lines(self) -> list[str]:
        """Return the summary as lines of text."""
        silent = {"answers": f" ({self.silent:,} without a text)"} if self.silent else {}
        rows = ", ".join(f"{text.count_rows(n, name)}{silent.get(name, '')}" for name, n in self.rows.items())
        return [
            f"{text.count_text(self.records, 'record')} read as {self.format}" + (f": {self.why}" if self.why else ""),
            f"imported: {rows}",
            *(f"assumed: {what}: {why}" for what, why in self.guessed.items()),
            *(
                f"left out: {entry.what} ({'once' if entry.n == 1 else f'{entry.n:,} times'}): {entry.why}"
                for entry in self.left_out
            ),
        ]


def recognise_file(path: Path, options: Options | None = None) -> list[Recognised]:
    """Detect the format of a file from its first records.

    Raises:
        BadInput: if no format matches, or the file cannot be read.
    """
    return _detect(path, None, options or Options(), None)[0]


def _detect(
    path: Path, name: str | None, options: Options, lines: Callable[[], Iterator[Line]] | None
) -> tuple[list[Recognised], Options]:
    """Return the formats that a file may have, and the options with the spelling of its fields."""
    if name not in (None, rag.FORMAT.name):
        return [Recognised(format_named(name), "")], options
    sample = read_sample(path, options, record_lists()) if lines is None else sampled_lines(path, lines(), options)
    if spelling := _find_spelling(sample):
        sample, options = _respell(sample, spelling), replace(options, spelling=spelling)
    return _recognise(sample) if name is None else [Recognised(rag.FORMAT, "")], options


def _find_spelling(sample: Sample) -> dict[str, str]:
    """Return the known names of fields that a sample has in capitals, with spaces or in camel case, by its spelling;
    none if a format has them as they are, or none has them so.
    """
    known = {name: ours for name in sorted(sample.fields) if (ours := plain(name)) in rag.KNOWN}
    times = Counter(known.values())
    spelling = {name: ours for name, ours in known.items() if name != ours and times[ours] == 1}
    return spelling if spelling and not recognise(sample) and recognise(_respell(sample, spelling)) else {}


def _respell(sample: Sample, spelling: Mapping[str, str]) -> Sample:
    """Return a sample with known names of its fields."""
    return replace(sample, records=tuple(map(Options(spelling=spelling).apply, sample.records)))


def _recognise(sample: Sample) -> list[Recognised]:
    taken = recognise(sample)
    if not taken and sample.error is not None:
        raise sample.error
    if not taken and not sample.fields:
        raise BadInput(
            f"no record can be read from this {'folder' if sample.path.is_dir() else 'file'}",
            where=str(sample.path),
            do=f"give JSON, CSV or Parquet (save a workbook as CSV, unpack an archive), or say the format: "
            f"{', '.join(formats())}",
        )
    if not taken:
        what, do = describe_unknown(sample)
        raise BadInput(what, where=", ".join(map(str, _unknown_files(sample.path))), do=do)
    return taken


def _unknown_files(path: Path) -> list[Path]:
    """Return the path of a file, or the files of a folder that no format recognises."""
    if not path.is_dir():
        return [path]
    return [file for file in files_of(path) if not recognise(read_sample(file, lists=record_lists()))]


def read(
    path: Path,
    *,
    name: str | None = None,
    options: Options | None = None,
    arena: Arena | None = None,
    progress: Progress | None = None,
    lines: Callable[[], Iterator[Line]] | None = None,
) -> tuple[Tables, Summary]:
    """Read a file or a folder in a format; one invalid record rejects everything.

    Args:
        path: the file or folder.
        name: the format's name; None to detect it.
        options: names of its fields.
        arena: the target arena, whose data on the same queries is kept.
        progress: called with the number of records read, and None.
        lines: returns the records at each call, if from another source; `path` is then used in errors.

    Returns:
        The tables by name, and the summary.

    Raises:
        Refused: listing every invalid record.
        BadInput: if the file cannot be read, has no known format or no record.
        UnknownName: if there is no such format.
    """
    import pyarrow.compute as pc

    options = options or Options()
    if options == Options() and (name, arena, lines) == (None, None, None) and (table := read_plain(path)) is not None:
        return table[0], _summarise_plain(path, *table)
    candidates, options = _detect(path, name, options, lines)
    readings = (
        _collect(taken, open_records(path, options, taken.format, None if lines is None else lines()), progress)
        for taken in candidates
    )
    reading = _choose(readings)
    taken, collected, n = reading.taken, reading.collected, reading.n
    if not n:
        raise BadInput("this file holds no record", where=str(path), do="use a file with at least one record")
    if path.is_dir() and not taken.format.folder:
        for file in other_files(path):
            collected.left_out(file.name, "its extension is of no file of records")
    if options.spelling:
        names = f"{', '.join(options.spelling)} read as {', '.join(options.spelling.values())}"
        collected.note_guess("fields", names)
    collected.counts |= {"query_id": len(collected.unnamed), "repeated": len(collected.seen - collected.fresh)}
    try:
        tables = finish_tables(collected, arena, n=n, refers=taken.format.refers, apart=_languages_apart(options))
    except Refused:
        records = open_records(path, options, taken.format, None if lines is None else lines())
        raise _explain(collected.errors, path, n, records) from None
    answered = "answers" in tables
    if (day := options.values.get("run_date")) is not None and answered:
        # Most formats have no field for it.
        place, answers = tables["answers"].column_names.index("run_date"), tables["answers"]
        dates = pc.fill_null(answers["run_date"], utc_day(day, where="--set run_date"))
        tables["answers"] = answers.set_column(place, answers.schema.field(place), dates)
    for word, n_times in filter(lambda count: count[1], collected.counts.items()):
        noun, told = _GUESSES[word]
        collected.note_guess(word, f"{text.count_text(n_times, noun)} {told}")
    if answered and (failed := _describe_failed(tables["answers"])):
        collected.note_guess("failed", failed)
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
        silent=sum(not (said or "").strip() for said in tables["answers"]["text"].to_pylist()) if answered else 0,
    )


def _explain(errors: list[BadInput], path: Path, n: int, records: Iterable[Record]) -> BadInput:
    """Return the error for a refused file; records with two answers of one system are read again and compared."""
    if apart := [error for error in errors if isinstance(error, TwoAnswers)]:
        tell_apart(apart, records)
    alone = len(errors) == 1 and not errors[0].where.startswith(str(path))
    return errors[0] if alone else Refused(errors, n)


def _languages_apart(options: Options) -> set[str]:
    """Return the codes that the user translates to themselves, which keeps them apart: `language:pt-BR=pt-BR`."""
    pairs = options.meanings.get("language", {}).items()
    return {code for theirs, ours in pairs if (code := known_code(ours)) and "-" in code and known_code(theirs) == code}


def _summarise_plain(path: Path, tables: Tables, guessed: Mapping[str, str]) -> Summary:
    """Summarise a plain file of battles, as the reading of its records does."""
    (first, *_) = recognise_file(path)
    rows = MappingProxyType({name: len(table) for name, table in tables.items()})
    return Summary(first.format.name, first.reason, rows["judgments"], rows, MappingProxyType(dict(guessed)), (), 0)


def _describe_failed(answers: pa.Table) -> str:
    """Return how many answers of each system failed with a reason, and one reason; empty if none did."""
    columns = (answers[name].to_pylist() for name in ("system", "status", "reason"))
    failed = [
        (system, reason) for system, status, reason in zip(*columns, strict=True) if reason and status not in _ANSWERED
    ]
    if not failed:
        return ""
    each = ", ".join(f"{system} {n:,}" for system, n in sorted(Counter(system for system, _ in failed).items()))
    return f"{text.count_text(len(failed), 'answer')} failed, such as by {shorten(failed[0][1])}: {each}"


@dataclass(frozen=True, slots=True)
class _Reading:
    """A format's result for the records of a file."""

    taken: Recognised
    collected: Builder
    n: int
    """Number of records, or of the parts of records that a format counts."""

    @property
    def takes_any(self) -> bool:
        return count_places(self.collected.errors) < self.n


def _choose(readings: Iterator[_Reading]) -> _Reading:
    """Return the first reading, or if that refuses every record one that takes some and leaves nothing out."""
    first = next(readings)
    if first.takes_any:
        return first
    # A format that leaves fields out would hide what the first refuses, such as a label that cannot be read.
    for other in readings:
        if other.takes_any and not other.collected.omitted:
            why = f"not {first.taken.format.name}, which refuses every record: {first.collected.errors[0].what}"
            other.collected.note_guess("format", why)
            return other
    return first


def _collect(taken: Recognised, records: Iterator[Record], progress: Progress | None) -> _Reading:
    """Read all records with a format, continuing after invalid records."""
    collected = Builder()
    n, before = 0, -1

    def count_records() -> Iterator[Record]:
        nonlocal n
        for record in records:
            n += 1
            if progress is not None and n % _STEP == 0:
                progress(n, None)
            yield record

    # An error that no single record caused (the file ends in the middle) would be raised again and again.
    while n > before:
        before = n
        try:
            for item in read_items(taken.format, count_records(), collected):
                try:
                    collected.take(item, taken.format.further)
                except BadInput as error:
                    collected.refuse(error)
            break
        except BadInput as error:
            collected.refuse(error)
    if places := {str(error.where).rpartition(" and ")[2] for error in collected.errors}:
        n = max(n, len(collected.seen | places))
    return _Reading(taken, collected, n)
