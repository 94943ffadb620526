"""Causes of errors in an arena's answers, for the pages.

Cached by arena and parser; the source tables are read once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import schema
from mirage.explorer.kit.query_keys import Key
from mirage.stages.retrieve.attribution import (
    CAUSED_BY,
    OF_LANGUAGES,
    AnswerCause,
    Attribution,
    CauseShare,
    GivenRetrieval,
    attributions,
    cause_shares,
    causes,
    given_retrieval,
)
from mirage.store import query_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

UNDECIDED = "undecided"
"""Placeholder for answers without a cause, in filters and links."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Causes of error by system, in some languages."""

    systems: tuple[str, ...]
    """Systems with causes, by share of correct decisions, highest first."""
    shares: tuple[CauseShare, ...]
    """Shares by system, language (`all`: their mean) and cause."""
    undecided: Mapping[tuple[str, str], int]
    """Number of answers without a cause, by system and language or `all`."""
    given: pa.Table
    """Rows of `GivenRetrieval`; empty if every system was shown every relevant passage."""

    def of(self, system: str, language: str) -> tuple[CauseShare, ...]:
        """Return the shares of one system in one language."""
        return tuple(share for share in self.shares if (share.system, share.language) == (system, language))


@lru_cache(maxsize=8)
def arena_causes(arena: Arena, parser: str) -> tuple[AnswerCause, ...]:
    """Return the cause of every answer of an arena, by one parser.

    Raises:
        TableMissing: if it has no outcomes.
    """
    return tuple(attributions(arena, parser=parser))


@lru_cache(maxsize=8)
def by_answer(arena: Arena, parser: str) -> Mapping[tuple[str, str, str], Attribution]:
    """Return the causes by language, query id and system."""
    entries = (entry.attribution for entry in arena_causes(arena, parser))
    return {(entry.language, entry.query_id, entry.system): entry for entry in entries}


def of_query(arena: Arena, key: Key, parser: str) -> dict[str, Attribution]:
    """Return the causes of the answers to one query, by system, reading only that query."""
    import pyarrow as pa

    tables = {
        name: pa.Table.from_pylist(list(query_rows.of_query(arena, name, key)), schema.arrow_schema(name))
        for name in CAUSED_BY
        if name in arena.tables
    }
    own = [entry.attribution for entry in causes(tables, parser=parser)]
    if not {entry.cause for entry in own}.isdisjoint(OF_LANGUAGES):
        # Whether a system uses a language follows from its other answers.
        own = [by_answer(arena, parser).get((*key, entry.system), entry) for entry in own]
    return {entry.system: entry for entry in own}


@lru_cache(maxsize=32)
def losses(arena: Arena, parser: str, languages: tuple[str, ...]) -> Losses:
    """Count the causes in some languages.

    Raises:
        TableMissing: if the arena has no outcomes.
    """
    entries = [entry for entry in arena_causes(arena, parser) if entry.attribution.language in languages]
    shares = cause_shares(entry.attribution for entry in entries)
    undecided: dict[tuple[str, str], int] = {}
    for entry in entries:
        if entry.attribution.cause is None:
            for language in (entry.attribution.language, "all"):
                key = entry.attribution.system, language
                undecided[key] = undecided.get(key, 0) + 1
    right: dict[str, float] = {}
    for share in shares:
        if share.language == "all" and share.cause in ("right", "right_refusal"):
            right[share.system] = right.get(share.system, 0.0) + share.share
    given = [row for row in given_retrieval(entries) if row.n_given < row.n]
    return Losses(
        tuple(sorted(right, key=lambda system: (-right[system], system))),
        tuple(shares),
        undecided,
        schema.from_rows(GivenRetrieval, given),
    )
