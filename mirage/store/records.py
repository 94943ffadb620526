"""Records of a file: JSON Lines, JSON array or object, CSV or Parquet, compressed or not."""

from __future__ import annotations

import io
import itertools
import json
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.store.files import (
    LONGEST_OF_OWN,
    Line,
    chunks,
    csv_rows,
    decompress,
    jsonl,
    lines,
    need_file,
    need_object,
    too_large,
    too_long,
)
from mirage.store.sheets import BOM

ENDINGS = {".jsonl": ".jsonl", ".ndjson": ".jsonl", ".json": ".json", ".csv": ".csv", ".tsv": ".csv"}
"""Extensions of record files, with their format; each may be followed by `.gz` or `.zst`."""
PARQUET = ".parquet"
_PACKED = (".gz", ".zst", ".lz4")
_INNER = frozenset(
    {
        "contexts",
        "context",
        "passages",
        "documents",
        "docs",
        "retrieved_contexts",
        "retrieved_context",
        "retrieval_context",
        "messages",
        "turns",
    }
)
"""Names of lists of objects that are part of one record."""
_IDS = frozenset(("id", "query_id", "question_id", "qid"))
_NAMES = frozenset(
    ("question", "query", "prompt", "instruction", "input", "user_input", "answer", "response", "output", "prediction")
)
"""Names of fields by which the columns of a table are told from its rows."""
_BETWEEN = re.compile(r"[\s,]*")
_MOST_UNPACKED = 500_000_000
"""Maximum decompressed bytes of a compressed Parquet file, which is held in memory."""
_BEGINNING = 65_536
"""Number of bytes read to detect a format."""


def ending(path: Path) -> str:
    """Return the format of a file's extension, ignoring compression: `.jsonl`, `.json`, `.csv`, `.parquet` or empty."""
    suffix = path.with_suffix("").suffix if path.suffix in _PACKED else path.suffix
    return PARQUET if suffix == PARQUET else ENDINGS.get(suffix, "")


def kind(path: Path) -> str:
    """Detect the format of a file by content, then name: `.jsonl`, `.json`, `.csv`, `.parquet` or empty.

    Raises:
        BadInput: if the file cannot be read.
    """
    need_file(path)
    try:
        with decompress(path) as stream:
            start = stream.read(_BEGINNING)
    except (OSError, EOFError, zlib.error):
        return ending(path)  # reading it reports the error
    if start.startswith(b"PAR1"):
        return PARQUET
    text = start.decode("utf-8", errors="ignore").lstrip(BOM + " \t\r\n")
    if text.startswith("["):
        return ".json"
    if text.startswith("{"):
        return ".json" if _opens_alone(text) or (ending(path) != ".jsonl" and not _is_lines(text)) else ".jsonl"
    return ending(path) if ending(path) != ".json" else ".jsonl"


def is_longer(path: Path, size: int) -> bool:
    """Return whether a file has more than some bytes, decompressed; false if it cannot be read."""
    try:
        with decompress(path) as stream:
            return len(stream.read(size + 1)) > size
    except (OSError, EOFError, zlib.error):
        return False


def _opens_alone(text: str) -> bool:
    """Return whether the first line is only an opening brace: one object over many lines, whatever the file's name."""
    first, newline, _ = text.partition("\n")
    return bool(newline) and first.strip() == "{"


def _is_lines(text: str) -> bool:
    """Return whether a text starts with a line that is a JSON object, followed by another line."""
    first, _, rest = text.partition("\n")
    try:
        return bool(rest.strip()) and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def records(path: Path, *, most: int | None = None) -> Iterator[Line]:
    """Yield the records of a file in order; a row of Parquet has its number, from 1, as its line.

    Args:
        path: the file.
        most: maximum decompressed bytes of the file, which bounds the memory used to a few times as much; None for no
            maximum.

    Raises:
        BadInput: if the format is unknown, the file is missing, damaged or too large, or a line is not a record.
    """
    held = kind(path)
    if held == PARQUET:
        yield from parquet_rows(path, most=most)
    elif held == ".csv":
        yield from csv_rows(path, most=most)
    elif held == ".jsonl":
        yield from jsonl(path, most=most)
    elif held == ".json":
        yield from json_records(path, most=most)
    else:
        raise BadInput(
            f"{path.name} is neither JSON nor Parquet, and its extension is neither .csv nor .tsv",
            do="use the extension of its format, followed by .gz or .zst if compressed",
        )


def beginning(path: Path, n: int) -> list[str]:
    """Return the first lines of a file; empty for Parquet or binary files."""
    if kind(path) == PARQUET:
        return []
    try:
        with closing(lines(path, most=None)) as source:
            return [text.removeprefix(BOM) for _, text in itertools.islice(source, n)]
    except BadInput:
        return []


def json_records(path: Path, *, most: int | None = None) -> Iterator[Line]:
    """Yield the objects of a JSON array, streamed, or the records of a JSON object; `most` as for `records`.

    The records of an object are those of its only list of objects (`{"data": [..]}`), its rows if it is a table
    (`{"question": [..], "answer": [..]}`, and all that pandas' `to_json` writes), else the object itself.

    Raises:
        BadInput: naming file and line, if it is not JSON or has other values.
    """
    with closing(_values(path, most)) as values:
        first = list(itertools.islice(values, 2))
        if len(first) == 1 and first[0][2]:
            yield from _inside(*first[0][:2])
            return
        for where, value, _ in itertools.chain(first, values):
            yield Line(where, need_object(value, where))


def _inside(where: str, value: Any) -> Iterator[Line]:
    """Yield the records of a file that is one JSON object."""
    whole = need_object(value, where)
    lists = {name: part for name, part in whole.items() if isinstance(part, list)}
    of_objects = [name for name, part in lists.items() if part and all(isinstance(entry, dict) for entry in part)]
    if len(of_objects) == 1:
        (name,) = of_objects
        if name not in _INNER:
            for number, entry in enumerate(lists[name]):
                yield Line(f"{where} {name}[{number}]", entry)
            return
    rows = _table(whole, where)
    for number, row in enumerate(rows or ()):
        yield Line(f"{where} row {number}", row)
    if rows is None:
        yield Line(where, whole)


def _table(whole: dict[str, Any], where: str) -> list[dict[str, Any]] | None:
    """Return the rows of an object that is a table by columns, by rows or split, as data frames write it; else None.

    Raises:
        BadInput: if a row of a split table does not have one value per column.
    """
    if len(whole) > 1 and all(isinstance(part, list) for part in whole.values()):
        if whole.keys() <= {"columns", "index", "data"} and {"columns", "data"} <= whole.keys():
            names = list(map(str, whole["columns"]))
            rows = enumerate(whole["data"])
            if wrong := [k for k, row in rows if not isinstance(row, list) or len(row) != len(names)]:
                what = f"data[{wrong[0]}] is no row of the {len(names)} columns"
                raise BadInput(what, where=where, do="write a list of one value per column for each row")
            return [dict(zip(names, row, strict=True)) for row in whole["data"]]
        if len({len(part) for part in whole.values()}) == 1:
            return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]
    inner = list(whole.values())
    if not inner or not all(isinstance(part, dict) and part for part in inner):
        return None
    names = list(inner[0])
    if not all(part.keys() == inner[0].keys() for part in inner[1:]):
        by_row = not any(map(_NAMES.isdisjoint, inner))
        return [_named(name, part) for name, part in whole.items()] if by_row else None
    if not _NAMES.isdisjoint(whole) or (all(map(str.isdigit, names)) and _NAMES.isdisjoint(names)):
        return [{name: part[row] for name, part in whole.items()} for row in names]
    by_row = all(map(str.isdigit, whole)) or not _NAMES.isdisjoint(names)
    return [_named(name, part) for name, part in whole.items()] if by_row else None


def _named(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the name that it has in its table as its id, unless it has one or that is its number."""
    return row if name.isdigit() or not _IDS.isdisjoint(row) else {"id": name, **row}


def _values(path: Path, most: int | None) -> Generator[tuple[str, Any, bool]]:
    """Yield the JSON values of an array or of concatenated values, each with its location and whether it is outside an
    array.
    """
    decoder = json.JSONDecoder()
    with closing(chunks(path, most=most)) as pieces:
        text = next(pieces, "").removeprefix(BOM)
        start, line, array = 0, 1, False
        while True:
            end = _BETWEEN.match(text, start).end()  # type: ignore[union-attr]  # the pattern matches the empty string
            line += text.count("\n", start, end)
            start = end
            if start == len(text):
                if not (piece := next(pieces, "")):
                    return
                text, start = piece, 0
            elif text[start] == "[" and not array:
                array, start = True, start + 1
            elif text[start] == "]" and array:
                array, start = False, start + 1
            else:
                try:
                    value, end = decoder.raw_decode(text, start)
                except (ValueError, RecursionError) as error:
                    if len(text) - start > LONGEST_OF_OWN:
                        raise too_long(path, line, LONGEST_OF_OWN) from None
                    if not (more := _more(pieces, text, error)):
                        raise _no_json(path, line, text, start, error) from None
                    text, start = text[start:] + more, 0
                    continue
                yield f"{path}:{line}", value, not array
                line += text.count("\n", start, end)
                start = end


def _more(pieces: Iterator[str], text: str, error: Exception) -> str:
    """Return more of a text that may be truncated; empty if the error is not at its end, or nothing is left."""
    cut = isinstance(error, json.JSONDecodeError) and (error.pos > len(text) - 16 or "Unterminated" in error.msg)
    # Double the buffer, so that a long value is not parsed repeatedly from its start.
    return "".join(itertools.islice(pieces, 1 + (len(text) >> 20))) if cut else ""


def _no_json(path: Path, line: int, text: str, start: int, error: Exception) -> BadInput:
    place, reason = line, str(error)
    if isinstance(error, json.JSONDecodeError):
        place, reason = line + text.count("\n", start, error.pos), error.msg
    return BadInput(f"this is not JSON: {reason}", where=f"{path}:{place}", do="write an array of JSON objects")


def parquet_rows(path: Path, *, most: int | None = None) -> Iterator[Line]:
    """Yield the rows of a Parquet file by column name; `most` as for `records`.

    Raises:
        BadInput: if the file is missing, too large or not a complete Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = size = 0
    need_file(path)
    try:
        file = io.BytesIO(_decompress(path, most)) if path.suffix in _PACKED else path
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(
                batch_size=1000 if most is None else _batch(parquet.metadata, path, most)
            ):
                for row in batch.to_pylist():
                    if most is not None:
                        # A repeated value is stored once, and may expand to many times the file's size.
                        values = (value for value in row.values() if isinstance(value, str | bytes | list | dict))
                        size += sum(map(len, values))
                        if size > most:
                            raise too_large(path, most)
                    number += 1
                    yield Line(f"{path}:{number}", row)
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", do="check the path") from None
    except (pa.ArrowException, EOFError, zlib.error, OSError, ValueError) as error:
        raise BadInput(
            f"this is not a complete Parquet file: {error}", where=str(path), do="write or copy the file again"
        ) from None


def _decompress(path: Path, most: int | None) -> bytes:
    with decompress(path) as stream:
        data = stream.read((limit := _MOST_UNPACKED if most is None else most) + 1)
    if len(data) > limit:
        raise too_large(path, limit)
    return data


def _batch(metadata: Any, path: Path, most: int) -> int:
    """Return the number of rows to decode at once: no value is larger than its row group."""
    parts = [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]
    if sum(parts) > most:
        raise too_large(path, most)
    return max(1, min(1000, most // max(parts, default=1)))
