"""Views: causes of errors in an arena's answers, and correct decisions by languages of the passages.

Cached by arena and parser; the source tables are read once.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.schema import Parser
from mirage.stages.across import DecisionShare, decisions_by_pair
from mirage.stages.retrieve.attribution import (
    CAUSED_BY,
    AnswerCause,
    Attribution,
    CauseShare,
    attributions,
    cause_shares,
    causes,
)
from mirage.stages.retrieve.measures import RELEVANT_FROM
from mirage.store import query_rows
from mirage.store.arena import Arena
from mirage.views.cache import cached_view

UNDECIDED = "unclassified"
"""Placeholder for answers without a cause, in filters and links."""
TITLES: dict[str, str] = {
    "right": "answered, as it should",
    "ignored": "ignores a relevant passage",
    "not_retrieved": "not retrieved",
    "unsupported": "made up",
    "right_refusal": "abstained, as it should",
}
"""Display names of the causes."""


@dataclass(frozen=True, slots=True)
class CauseChoice:
    """Choices of the view of causes."""

    languages: tuple[str, ...] = ()
    """Codes; empty for all."""
    parser: Parser = "strict"
    """Parser whose outcomes count."""
    relevant_from: int = RELEVANT_FROM
    """Lowest grade that counts as relevant."""


@dataclass(frozen=True, eq=False)
class CausesView:
    """Causes of error by system, in some languages."""

    systems: tuple[str, ...]
    """Systems with causes, by share of correct decisions, highest first."""
    shares: pa.Table
    """Rows of `attribution.CauseShare`: by system, language (`all`: their mean) and cause."""


@lru_cache(maxsize=8)
def arena_causes(arena: Arena, parser: str, relevant_from: int = RELEVANT_FROM) -> tuple[AnswerCause, ...]:
    """Return the cause of every answer of an arena, by one parser.

    Raises:
        TableMissing: if it has no outcomes.
    """
    return tuple(attributions(arena, parser=parser, relevant_from=relevant_from))


@lru_cache(maxsize=8)
def by_answer(arena: Arena, parser: str) -> Mapping[tuple[str, str, str], Attribution]:
    """Return the causes by language, query id and system."""
    entries = (entry.attribution for entry in arena_causes(arena, parser))
    return {(entry.language, entry.query_id, entry.system): entry for entry in entries}


def of_query(arena: Arena, key: tuple[str, str], parser: str) -> dict[str, Attribution]:
    """Return the causes of the answers to one query, by system, reading only that query."""
    tables = {
        name: pa.Table.from_pylist(list(query_rows.of_query(arena, name, key)), schema.arrow_schema(name))
        for name in CAUSED_BY
        if name in arena.tables
    }
    return {entry.attribution.system: entry.attribution for entry in causes(tables, parser=parser)}


ALL = CauseChoice()
"""All languages, by the default parser."""


@cached_view
def causes_view(arena: Arena, choice: CauseChoice = ALL) -> CausesView:
    """Attribute the errors in some languages to the retriever or the model.

    Raises:
        TableMissing: if the arena has no outcomes.
    """
    shares = cause_shares(answer_causes(arena, choice))
    right: defaultdict[str, float] = defaultdict(float)
    for share in shares:
        if share.language == "all" and share.cause in ("right", "right_refusal"):
            right[share.system] += share.share
    systems = tuple(sorted(right, key=lambda system: (-right[system], system)))
    return CausesView(systems, schema.from_rows(CauseShare, shares))


def answer_causes(arena: Arena, choice: CauseChoice = ALL) -> tuple[Attribution, ...]:
    """Return the cause of every answer to the queries of some languages, with its evidence.

    Raises:
        TableMissing: if the arena has no outcomes.
    """
    return tuple(entry.attribution for entry in _chosen_causes(arena, choice))


@cached_view
def decisions_view(arena: Arena, choice: CauseChoice = ALL) -> tuple[DecisionShare, ...]:
    """Return every system's shares of correct decisions by languages of query and passage.

    Raises:
        TableMissing: if the arena has no outcomes.
        NotEnoughData: if no relevant passage of a known language was shown.
    """
    shares = tuple(decisions_by_pair(_chosen_causes(arena, choice)))
    if not shares:
        what = "no system was shown a relevant passage whose language is known"
        raise NotEnoughData(what, do=f"run: {arena.fill('mirage report languages DIR --detect')}")
    return shares


def _chosen_causes(arena: Arena, choice: CauseChoice) -> Iterator[AnswerCause]:
    """Yield the causes of the answers in the chosen languages."""
    for entry in arena_causes(arena, choice.parser, choice.relevant_from):
        if not choice.languages or entry.attribution.language in choice.languages:
            yield entry
