"""Views: causes of errors in an arena's answers, retrievers and passage languages.

Cached by arena and parser; the source tables are read once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage import schema
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
from mirage.stages.retrieve.measures import RELEVANT_FROM, means, measure_retrievers
from mirage.stages.shown import GIVEN
from mirage.store import query_rows
from mirage.views.cache import cached_view

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena

UNDECIDED = "unclassified"
"""Placeholder for answers without a cause, in filters and links."""
TITLES: dict[str, str] = {
    "right": "correct decision: answers",
    "ignored": "ignores a relevant passage",
    "not_retrieved": "not retrieved",
    "unsupported": "answers without evidence",
    "right_refusal": "correct decision: abstains",
}
"""Display names of the causes."""
BEST = "nDCG@10"
"""The measure that orders retrievers."""
MEASURES = {
    BEST: "Normalized discounted cumulative gain at rank 10.",
    "judged@10": "Share of the top 10 with a label; unlabelled passages count as not relevant.",
    "R@100": "Share of the relevant passages in the top 100.",
    "RR@10": "Reciprocal rank of the first relevant passage in the top 10; 0 if none.",
}
"""Measures of the table with their meaning, in its order."""


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
    import pyarrow as pa

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
    entries = [entry.attribution for entry in arena_causes(arena, choice.parser, choice.relevant_from)]
    shares = cause_shares(e for e in entries if not choice.languages or e.language in choice.languages)
    right: defaultdict[str, float] = defaultdict(float)
    for share in shares:
        if share.language == "all" and share.cause in ("right", "right_refusal"):
            right[share.system] += share.share
    systems = tuple(sorted(right, key=lambda system: (-right[system], system)))
    return CausesView(systems, schema.from_rows(CauseShare, shares))


@cached_view
def retrievers(arena: Arena, languages: tuple[str, ...]) -> pa.Table:
    """Measure the retrievers of an arena over languages, best nDCG@10 first; given passages, not retrieved, last.

    Args:
        arena: an arena with retrieved passages.
        languages: codes.

    Returns:
        `retriever, n`, and for each measure its mean and the ends of its 95% interval, `_low` and `_high`.

    Raises:
        NotEnoughData: if no passage is labelled.
    """
    import pyarrow as pa

    rows: dict[str, dict[str, Any]] = {}
    for mean in means(measure_retrievers(arena, measures=list(MEASURES), languages=languages)):
        if mean.language == "all" and mean.measure in MEASURES:
            name, measure = mean.retriever, mean.measure
            row = rows.setdefault(name, {"retriever": name})
            row |= {measure: mean.mean, f"{measure}_low": mean.low, f"{measure}_high": mean.high}
            if measure == BEST:
                row["n"] = mean.n
    order = sorted(rows.values(), key=lambda row: (row["retriever"] == GIVEN, -(row[BEST] or 0), row["retriever"]))
    return pa.Table.from_pylist(order)


@cached_view
def decisions(arena: Arena, parser: Parser, languages: tuple[str, ...]) -> tuple[DecisionShare, ...]:
    """Return every system's shares of correct decisions by languages of query and passage."""
    return tuple(decisions_by_pair(arena, languages=languages, parser=parser))
