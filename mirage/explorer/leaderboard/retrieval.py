"""Quality of an arena's retrievers, for the Leaderboard; cached by arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from mirage.errors import NotEnoughData
from mirage.stages.across.preference import LanguagePreference
from mirage.stages.across.summary import PairMean, is_cross_lingual, recall_by_pair, retriever_preference
from mirage.stages.retrieve import summary
from mirage.stages.retrieve.measures import MEASURES, RetrievalMean, means
from mirage.stages.shown import GIVEN

if TYPE_CHECKING:
    from mirage.store import Arena

CURVE = (1, 2, 3, 5, 10, 20, 50, 100)
"""Cutoffs of the recall curve."""


@dataclass(frozen=True, eq=False)
class Retrieval:
    """The retrievers of an arena, measured over some languages."""

    retrievers: tuple[str, ...]
    """Retrievers by nDCG@10, best first; `given` last, since its passages were not retrieved."""
    means: tuple[RetrievalMean, ...]
    """Means of every retriever and measure, by language and over languages (`all`)."""
    systems: dict[str, tuple[str, ...]]
    """Systems that were shown each retriever's passages."""
    reason: str = ""
    """Reason why nothing was measured; empty otherwise."""

    def of(self, retriever: str, measure: str, language: str = "all") -> RetrievalMean | None:
        """Return one mean, or None if it is missing."""
        return self._by_key.get((retriever, measure, language))

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str], RetrievalMean]:
        return {(row.retriever, row.measure, row.language): row for row in self.means}

    def rows_in(self, language: str) -> list[dict[str, Any]]:
        """Return the means of a language, or of `all`, as rows."""
        return [asdict(row) for row in self.means if row.language == language]


@lru_cache(maxsize=16)
def retrieval(arena: Arena, languages: tuple[str, ...]) -> Retrieval | None:
    """Measure the retrievers of an arena; None if it has only passages given with the queries.

    Args:
        arena: the arena.
        languages: codes.
    """
    if "retrieved" not in arena.tables:
        return None
    names = [*MEASURES, *(f"R@{cutoff}" for cutoff in CURVE if f"R@{cutoff}" not in MEASURES)]
    systems = _systems(arena)
    try:
        rows = means(summary.measure_retrievers(arena, measures=names, languages=languages))
    except NotEnoughData as error:
        return Retrieval((), (), systems, error.what)
    gain = {row.retriever: row.mean or 0.0 for row in rows if (row.language, row.measure) == ("all", "nDCG@10")}
    order = sorted(gain, key=lambda name: (name == GIVEN, -gain[name], name))
    return Retrieval(tuple(order), tuple(rows), systems)


@lru_cache(maxsize=16)
def by_pair(arena: Arena, languages: tuple[str, ...]) -> tuple[PairMean, ...]:
    """Measure the retrievers by languages of query and passage; empty if passages are in one language."""
    if not is_cross_lingual(arena):
        return ()
    try:
        return tuple(recall_by_pair(arena, languages=languages))
    except NotEnoughData:
        return ()


@lru_cache(maxsize=16)
def preference(arena: Arena, languages: tuple[str, ...]) -> tuple[LanguagePreference, ...]:
    """Return the language preferences of the retrievers that `by_pair` measures."""
    return tuple(retriever_preference(arena, languages=languages)) if by_pair(arena, languages) else ()


def _systems(arena: Arena) -> dict[str, tuple[str, ...]]:
    """Return the systems of each retriever."""
    if "answers" not in arena.tables:
        return {}
    rows: Sequence[dict[str, str]] = arena.sql(
        "SELECT DISTINCT coalesce(retriever, 'given') AS retriever, system FROM answers ORDER BY ALL"
    ).to_pylist()
    by_retriever: dict[str, list[str]] = {}
    for row in rows:
        by_retriever.setdefault(row["retriever"], []).append(row["system"])
    return {name: tuple(systems) for name, systems in by_retriever.items()}
