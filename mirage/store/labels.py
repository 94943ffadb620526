"""The labels of an arena's queries, and who made them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, get_args

from mirage.schema import Maker

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


_PHRASES: dict[Maker, str] = {
    "people": "human labels",
    "model": "labels made by a program",
    "written": "labels written with the data",
    "unknown": "relevance labels",
}


def label_maker(arena: Arena) -> Maker:
    """Return who made the labels of an arena: a program that its queries name, else what its manifest says."""
    if has_automatic_labels(arena):
        return "model"
    said = arena.manifest.get("labels")
    return next((maker for maker in get_args(Maker) if maker == said), "unknown")


def label_phrase(arena: Arena) -> str:
    """Return the labels of an arena in a sentence; they are human only where people made them."""
    return _PHRASES[label_maker(arena)]


@lru_cache(maxsize=16)
def query_labels(arena: Arena) -> Mapping[tuple[str, str], Subset]:
    """Return the labels of an arena's queries, by language and query; empty without the table queries."""
    if "queries" not in arena.tables:
        return {}
    table = arena.read("queries", columns=["language", "query_id", "subset"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    return {(language, query): subset for language, query, subset in rows if subset is not None}
