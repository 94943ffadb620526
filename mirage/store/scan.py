"""Large Parquet files read a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1_000_000
"""Rows of a batch at most."""


def parquet_rows(path: Path) -> int | None:
    """How many rows a Parquet file has; None where it is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return None


def columns_of(paths: Sequence[Path]) -> tuple[str, ...]:
    """The columns of Parquet files of one kind."""
    import pyarrow.dataset as ds

    return tuple(ds.dataset([str(path) for path in paths], format="parquet").schema.names)


def distinct(paths: Sequence[Path], column: str) -> list[str]:
    """The values of a column of texts, sorted; nulls are left out.

    Raises:
        BadInput: if a file cannot be read.
    """
    values: set[str] = set()
    for batch in scan(paths, [column]):
        values.update(value for value in batch.column(0).unique().to_pylist() if value is not None)
    return sorted(values)


def scan(
    paths: Sequence[Path], columns: Sequence[str], *, equal: Mapping[str, str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Some columns of Parquet files of one kind, a batch at a time.

    Args:
        paths: the files.
        columns: names.
        equal: by column, the text that a row must have there.

    Raises:
        BadInput: if a file cannot be read, or lacks a column.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        rows = ds.dataset([str(path) for path in paths], format="parquet")
        condition = None
        for name, value in (equal or {}).items():
            term = ds.field(name) == value
            condition = term if condition is None else condition & term
        # Read ahead no further than needed: a batch of each column is held at a time.
        batches = rows.scanner(
            columns=list(columns), filter=condition, batch_size=ROWS, batch_readahead=2, fragment_readahead=1
        ).to_batches()
        yield from batches
    except (OSError, KeyError, pa.ArrowException) as error:
        names = ", ".join(str(path) for path in paths[:3])
        raise BadInput(f"this Parquet file cannot be read: {error}", where=names, do="write it again") from None
