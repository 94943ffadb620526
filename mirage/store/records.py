"""Records of a file by its name: JSON Lines, CSV or Parquet, compressed or not."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from mirage.errors import BadInput
from mirage.store.files import Line, csv_rows, jsonl

ENDINGS = (".jsonl", ".csv", ".parquet")
"""How the files are named that hold records; each may be followed by `.gz`."""


def ending(path: Path) -> str:
    """The one of `ENDINGS` that a file is named with, or the empty text; `.gz` does not count."""
    named = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    return named if named in ENDINGS else ""


def records(path: Path) -> Iterator[Line]:
    """Yield the records of a file in order; a row of Parquet has its number, from 1, for a line.

    Raises:
        BadInput: if the file is named for none of the formats, absent or damaged, or a line is no record.
    """
    readers = {".jsonl": jsonl, ".csv": csv_rows, ".parquet": parquet_rows}
    if not (kind := ending(path)):
        raise BadInput(
            f"{path.name} is named neither .jsonl nor .csv nor .parquet",
            do="name it for what it holds, .gz after that if compressed",
        )
    yield from readers[kind](path)


def parquet_rows(path: Path) -> Iterator[Line]:
    """Yield the rows of a Parquet file by the names of its columns.

    Raises:
        BadInput: if the file is absent or is not a whole Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        file = io.BytesIO(gzip.decompress(path.read_bytes())) if path.suffix == ".gz" else path
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(batch_size=1000):
                for row in batch.to_pylist():
                    number += 1
                    yield Line(f"{path}:{number}", row)
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}", do="check the path") from None
    except (pa.ArrowException, EOFError, zlib.error, OSError, ValueError) as error:
        raise BadInput(
            f"this is no whole Parquet file: {error}", where=str(path), do="write or copy the file again"
        ) from None
