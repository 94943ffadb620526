"""The labels of an arena's queries, and who made them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, get_args

from mirage.schema import LabelSource, Maker

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
    """Return the maker of an arena's labels: a program if its queries name one, else by its manifest."""
    if has_automatic_labels(arena):
        return "model"
    said = arena.manifest.get("labels")
    return next((maker for maker in get_args(Maker) if maker == said), "unknown")


_SOURCES: dict[LabelSource | None, str] = {"field": "the file's own labels", "reference": "the file's references"}


@lru_cache(maxsize=16)
def label_sources(arena: Arena) -> frozenset[LabelSource | None]:
    """Return the sources of the labels of an arena's queries; None for labels of relevance."""
    if "queries" not in arena.tables or not arena.stores_column("queries", "labelled_from"):
        return frozenset((None,))
    sql = "SELECT DISTINCT labelled_from AS source FROM queries WHERE subset IS NOT NULL"
    return frozenset(arena.sql(sql)["source"].to_pylist())


def label_phrase(arena: Arena) -> str:
    """Return the labels of an arena in a sentence; they are human only where people made them."""
    sources = label_sources(arena)
    parts = [_PHRASES[label_maker(arena)]] if None in sources or not sources else []
    return " and ".join([*parts, *(phrase for source, phrase in _SOURCES.items() if source in sources)])


def source_phrase(arena: Arena) -> str:
    """Return the labels in a sentence that rests on them, with a space before it: ` by the file's references`; empty
    if none was read from a field or a reference.
    """
    return f" by {label_phrase(arena)}" if label_sources(arena) - {None} else ""


@lru_cache(maxsize=16)
def query_labels(arena: Arena) -> Mapping[tuple[str, str], Subset]:
    """Return the labels of an arena's queries, by language and query; empty without the table queries."""
    if "queries" not in arena.tables:
        return {}
    table = arena.read("queries", columns=["language", "query_id", "subset"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    return {(language, query): subset for language, query, subset in rows if subset is not None}
