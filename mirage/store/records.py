"""Records of a file by its name: JSON Lines, CSV or Parquet, compressed or not."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.store.files import Line, csv_rows, jsonl, need_file, too_large


def ending(path: Path) -> str:
    """The one of `READERS` that a file is named with, or the empty text; `.gz` does not count."""
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    return suffix if suffix in READERS else ""


def records(path: Path, *, most: int | None = None) -> Iterator[Line]:
    """Yield the records of a file in order; a row of Parquet has its number, from 1, for a line.

    Args:
        path: the file.
        most: most bytes that the file may hold, unpacked; no more than a few times as many are ever in memory. None for
            any number.

    Raises:
        BadInput: if the file is named for none of the formats, absent, damaged or too large, or a line is no record.
    """
    if not (kind := ending(path)):
        raise BadInput(
            f"{path.name} is named neither {' nor '.join(READERS)}",
            do="name it for what it holds, .gz after that if compressed",
        )
    yield from READERS[kind](path, most=most)


def parquet_rows(path: Path, *, most: int | None = None) -> Iterator[Line]:
    """Yield the rows of a Parquet file by the names of its columns. `most`: as for `records`.

    Raises:
        BadInput: if the file is absent, too large or not a whole Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = size = 0
    need_file(path)
    try:
        file = io.BytesIO(_unpacked(path, most)) if path.suffix == ".gz" else path
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(
                batch_size=1000 if most is None else _batch(parquet.metadata, path, most)
            ):
                for row in batch.to_pylist():
                    # A value that repeats is stored once, and may unpack to many times the size of the file.
                    size += sum(len(value) for value in row.values() if isinstance(value, str | bytes | list | dict))
                    if most is not None and size > most:
                        raise too_large(path, most)
                    number += 1
                    yield Line(f"{path}:{number}", row)
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", do="check the path") from None
    except (pa.ArrowException, EOFError, zlib.error, OSError, ValueError) as error:
        raise BadInput(
            f"this is no whole Parquet file: {error}", where=str(path), do="write or copy the file again"
        ) from None


def _unpacked(path: Path, most: int | None) -> bytes:
    with gzip.open(path, "rb") as stream:
        data = stream.read(-1 if most is None else most + 1)
    if most is not None and len(data) > most:
        raise too_large(path, most)
    return data


def _batch(metadata: Any, path: Path, most: int) -> int:
    """How many rows to unpack at a time: no value is larger than the part of the file that its column is in."""
    parts = [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]
    if sum(parts) > most:
        raise too_large(path, most)
    return max(1, min(1000, most // max(parts, default=1)))


READERS: dict[str, Callable[..., Iterator[Line]]] = {".jsonl": jsonl, ".csv": csv_rows, ".parquet": parquet_rows}
"""What reads a file of records, by the end of its name; each may be followed by `.gz`."""
