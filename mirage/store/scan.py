"""Batched reading of large Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1_000_000
"""Maximum rows per batch."""


def parquet_rows(path: Path) -> int | None:
    """Return the number of rows of a Parquet file; None if it is not one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return None


def columns_of(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return the columns of Parquet files with a common schema."""
    import pyarrow.dataset as ds

    return tuple(ds.dataset([str(path) for path in paths], format="parquet").schema.names)


def scan(paths: Sequence[Path], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield some columns of Parquet files with a common schema, in batches.

    Args:
        paths: the files.
        columns: names.

    Raises:
        BadInput: if a file cannot be read, or lacks a column.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        rows = ds.dataset([str(path) for path in paths], format="parquet")
        # Limit the readahead: each batch of each column is held in memory.
        batches = rows.scanner(
            columns=list(columns), batch_size=ROWS, batch_readahead=2, fragment_readahead=1
        ).to_batches()
        yield from batches
    except (OSError, KeyError, pa.ArrowException) as error:
        names = ", ".join(str(path) for path in paths[:3])
        raise BadInput(f"this Parquet file cannot be read: {error}", where=names, do="write it again") from None
