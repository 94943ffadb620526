"""Rows of tables while reading, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage import schema

if TYPE_CHECKING:
    import pyarrow as pa


class Columns:
    """Columns of the tables so far.

    Args:
        tables: tables that are returned even without rows.
    """

    def __init__(self, *tables: str) -> None:
        self._columns: dict[str, dict[str, list[Any]]] = {}
        for table in tables:
            self._begin(table)

    def _begin(self, table: str) -> dict[str, list[Any]]:
        return self._columns.setdefault(table, {column.name: [] for column in schema.columns(table)})

    def add(self, table: str, query: tuple[str, str], row: object = None, **more: Any) -> None:
        """Add a row of a query.

        Args:
            table: the table.
            query: language and query_id.
            row: an object whose attributes are values.
            more: further values by name, which take precedence; a column without either is null.
        """
        more["language"], more["query_id"] = query
        columns = self._columns.get(table) or self._begin(table)
        for name, values in columns.items():
            values.append(more[name] if name in more else None if row is None else getattr(row, name, None))

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables, and forget their rows."""
        parts = self._columns
        return {name: schema.from_columns(name, parts.pop(name)) for name in schema.TABLES if name in parts}
