"""Numbers of the samples of an arena: repeated answers to the same query."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirage.store import Arena


@lru_cache(maxsize=16)
def sample_numbers(arena: Arena) -> tuple[str, ...]:
    """Return the numbers of the samples of an arena, 0 for the answers first; only 0 if no query was asked twice."""
    if "samples" not in arena.tables:
        return ("0",)
    numbers = arena.sql("SELECT DISTINCT sample FROM samples ORDER BY sample")["sample"].to_pylist()
    return ("0", *map(str, numbers))
