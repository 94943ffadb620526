"""Rows of Arrow tables as Python values, and values grouped by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

K = TypeVar("K")
V = TypeVar("V")


def read_rows(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns of a table, row by row."""
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


def group(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, both in the order of the pairs."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
