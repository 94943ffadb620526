"""The labels of an arena's queries, and whether a program made them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirage.schema import Subset
    from mirage.store.arena import Arena

DRAFTS = "drafts"
"""Table present only in arenas made by `mirage testset`."""


@lru_cache(maxsize=16)
def has_automatic_labels(arena: Arena) -> bool:
    """Return whether a program decided which queries of the arena are answerable."""
    if "queries" not in arena.tables:
        return False
    makers = arena.read("queries", columns=["labelled_by"])["labelled_by"]
    return DRAFTS in arena.tables or makers.null_count < len(makers)


@lru_cache(maxsize=16)
def query_labels(arena: Arena) -> Mapping[tuple[str, str], Subset]:
    """Return the labels of an arena's queries, by language and query; empty without the table queries."""
    if "queries" not in arena.tables:
        return {}
    table = arena.read("queries", columns=["language", "query_id", "subset"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    return {(language, query): subset for language, query, subset in rows if subset is not None}
