"""All rows of one query, read from the few row groups that can hold them: what a page needs to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.store.arena import Arena

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_FEW = 10_000
"""Rows that Arrow decodes whole faster than DuckDB begins; of more, DuckDB decodes what it needs."""


def of_query(arena: Arena, table: str, key: tuple[str, str]) -> list[dict[str, Any]]:
    """The rows of a table that belong to a query, sorted by key; none where the arena lacks the table.

    Args:
        arena: the arena.
        table: a table with the columns `language` and `query_id`.
        key: language and id of the query.

    Raises:
        ArenaError: if the file cannot be read, or the arena was changed since it was opened.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    code, query_id = key
    file = next((entry for entry in arena.manifest["tables"].get(table, []) if entry["language"] == code), None)
    if file is None:
        return []
    path = str(arena.fetch([file])[0])
    try:
        with pq.ParquetFile(path) as parquet:
            groups = _holding(parquet, query_id)
            if sum(parquet.metadata.row_group(group).num_rows for group in groups) <= _FEW:
                rows = parquet.read_row_groups(groups, use_threads=False)
                return _whole(table, rows.filter(pc.equal(rows["query_id"], query_id)).to_pylist())
    except (OSError, ValueError, pa.ArrowException):
        pass  # DuckDB meets the same fault, and says what it is.
    return _whole(table, arena.sql("SELECT * FROM read_parquet(?) WHERE query_id = ?", [path, query_id]).to_pylist())


def _whole(table: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with every column: a file may be without some that are null throughout."""
    columns = dict.fromkeys(schema.arrow_schema(table).names)
    return [columns | row for row in rows]


def _holding(parquet: pq.ParquetFile, query_id: str) -> list[int]:
    """The row groups whose range of ids takes in an id, or is not known."""
    column = parquet.schema_arrow.get_field_index("query_id")
    groups = []
    for group in range(parquet.metadata.num_row_groups):
        statistics = parquet.metadata.row_group(group).column(column).statistics
        if statistics is None or not statistics.has_min_max or statistics.min <= query_id <= statistics.max:
            groups.append(group)
    return groups
