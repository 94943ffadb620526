"""All rows of one query, read only from the row groups that can contain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.store.arena import Arena

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_FEW = 10_000
"""Row count up to which Arrow is faster; above it, DuckDB decodes only the rows needed."""


def of_query(arena: Arena, table: str, key: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the rows of a table that belong to a query, sorted by key; empty if the arena lacks the table.

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
    arena.refuse_foreign_values(table, [file])
    path = str(arena.files([file])[0])
    try:
        with pq.ParquetFile(path) as parquet:
            groups = _row_groups_with(parquet, query_id)
            if sum(parquet.metadata.row_group(group).num_rows for group in groups) <= _FEW:
                rows = parquet.read_row_groups(groups, use_threads=False)
                return _conform(table, rows.filter(pc.equal(rows["query_id"], query_id)).to_pylist())
    except (OSError, ValueError, pa.ArrowException):
        pass  # DuckDB fails likewise, and its error is handled.
    return _conform(table, arena.sql("SELECT * FROM read_parquet(?) WHERE query_id = ?", [path, query_id]).to_pylist())


def _conform(table: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the columns of the contract: files omit columns of nulls alone, and may have others."""
    names = schema.arrow_schema(table).names
    return [{name: row.get(name) for name in names} for row in rows]


def _row_groups_with(parquet: pq.ParquetFile, query_id: str) -> list[int]:
    """Return the row groups whose range of ids includes an id, or is unknown."""
    column = parquet.schema_arrow.get_field_index("query_id")
    groups = []
    for group in range(parquet.metadata.num_row_groups):
        statistics = parquet.metadata.row_group(group).column(column).statistics
        if statistics is None or not statistics.has_min_max or statistics.min <= query_id <= statistics.max:
            groups.append(group)
    return groups
