"""Records of a file: JSON Lines, JSON array or object, CSV or Parquet, compressed or not."""

import io
import itertools
import json
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.store.files import Line, csv_rows, decompress, jsonl, lines, need_file, need_object, too_large
from mirage.store.json_members import json_values
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
"""Names of fields that tell the columns of a table from its rows."""
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
    except (OSError, EOFError, UnicodeError, zlib.error):
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
            while size >= 0 and (piece := stream.read(1 << 20)):
                size -= len(piece)
            return size < 0
    except (OSError, EOFError, UnicodeError, zlib.error):
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


def records(path: Path) -> Iterator[Line]:
    """Yield the records of a file in order; a row of Parquet has its number, from 1, as its line.

    Raises:
        BadInput: if the format is unknown, the file is missing or damaged, or a line is not a record.
    """
    read = {PARQUET: parquet_rows, ".csv": csv_rows, ".jsonl": jsonl, ".json": json_records}.get(kind(path))
    if read is None:
        raise BadInput(
            f"{path.name} is neither JSON nor Parquet, and its extension is neither .csv nor .tsv",
            do="use the extension of its format, followed by .gz or .zst if compressed",
        )
    yield from read(path)


def beginning(path: Path, n: int) -> list[str]:
    """Return the first lines of a file; empty for Parquet or binary files."""
    if kind(path) == PARQUET:
        return []
    try:
        with closing(lines(path)) as source:
            return [text.removeprefix(BOM) for _, text in itertools.islice(source, n)]
    except BadInput:
        return []


def json_records(path: Path) -> Iterator[Line]:
    """Yield the objects of a JSON array, streamed, or the records of a JSON object.

    The records of an object are those of its only list of objects (`{"data": [..]}`), its rows if it is a table
    (`{"question": [..], "answer": [..]}`, and all that pandas' `to_json` writes), else the object itself.

    Raises:
        BadInput: naming file and line, if it is not JSON or has other values.
    """
    with closing(json_values(path)) as values:
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
                what = f"data[{wrong[0]}] is not a row of the {len(names)} columns"
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
        return [_add_id(name, part) for name, part in whole.items()] if by_row else None
    if not _NAMES.isdisjoint(whole) or (all(map(str.isdigit, names)) and _NAMES.isdisjoint(names)):
        return [{name: part[row] for name, part in whole.items()} for row in names]
    by_row = all(map(str.isdigit, whole)) or not _NAMES.isdisjoint(names)
    return [_add_id(name, part) for name, part in whole.items()] if by_row else None


def _add_id(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its name in the table as its id, unless it has an id or the name is a number."""
    return row if name.isdigit() or not _IDS.isdisjoint(row) else {"id": name, **row}


def parquet_rows(path: Path) -> Iterator[Line]:
    """Yield the rows of a Parquet file by column name.

    Raises:
        BadInput: if the file is missing, too large or not a complete Parquet file.
    """
    number = 0
    with open_parquet(path) as parquet:
        for batch in parquet.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                number += 1
                yield Line(f"{path}:{number}", row)


def refuse_larger(path: Path, most: int) -> None:
    """Refuse an untrusted file of records with more than some bytes, decompressed.

    Raises:
        BadInput: if it has more, or cannot be read.
    """
    if is_longer(path, most):
        raise too_large(path, most)
    if kind(path) == PARQUET:
        with open_parquet(path) as parquet:
            groups = [parquet.metadata.row_group(k).total_byte_size for k in range(parquet.num_row_groups)]
            # A repeated value is stored once, and may expand to many times its group; a single one does not.
            size = sum(groups)
            rows = max(1, min(1000, most // max(groups, default=1)))
            for batch in parquet.iter_batches(batch_size=rows) if size <= most else ():
                size += sum(len(str(value)) for row in batch.to_pylist() for value in row.values())
                if size > most:
                    break
            if size > most:
                raise too_large(path, most)


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file, decompressed if needed; errors while it is read become BadInput."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    need_file(path)
    try:
        file: Any = path
        if path.suffix in _PACKED:
            if is_longer(path, _MOST_UNPACKED):
                raise too_large(path, _MOST_UNPACKED)
            with decompress(path) as stream:
                file = io.BytesIO(stream.read())
        with pq.ParquetFile(file) as parquet:
            yield parquet
    except (pa.ArrowException, EOFError, zlib.error, OSError, ValueError) as error:
        raise BadInput(
            f"this is not a complete Parquet file: {error}", where=str(path), do="write or copy the file again"
        ) from None
