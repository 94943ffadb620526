"""The systems of an arena, from any of its tables."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirage.store import Arena

_COLUMNS = {
    "ratings": ("system",),
    "published": ("system",),
    "outcomes": ("system",),
    "answers": ("system",),
    "judgments": ("system_a", "system_b"),
}
"""Tables with system names, smallest first, and their columns."""


@lru_cache(maxsize=64)
def systems_of(arena: Arena) -> tuple[str, ...]:
    """Return all systems of an arena, by name."""
    names: set[str] = set()
    for table, columns in _COLUMNS.items():
        if table in arena.tables:
            for column in columns:
                names.update(arena.sql(f"SELECT DISTINCT {column} AS system FROM {table}")["system"].to_pylist())  # noqa: S608  # constants alone
    return tuple(sorted(name for name in names if name))
