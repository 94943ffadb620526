"""View of retrieval: which retriever finds the relevant passages? Means of measures by language and over all."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from mirage import schema
from mirage.stages.retrieve.measures import MEASURES, RELEVANT_FROM, RetrievalMean, means, measure_retrievers
from mirage.stages.shown import GIVEN
from mirage.store.arena import Arena
from mirage.views.cache import cached_view

BEST = "nDCG@10"
"""The measure that orders retrievers."""
SHOWN = {
    BEST: "Normalized discounted cumulative gain at rank 10.",
    "judged@10": "Share of the top 10 with a label; unlabelled passages count as not relevant.",
    "R@100": "Share of the relevant passages in the top 100.",
    "RR@10": "Reciprocal rank of the first relevant passage in the top 10; 0 if none.",
}
"""Measures of the page's table with their meaning, in its order."""


@dataclass(frozen=True, slots=True)
class RetrievalChoice:
    """Choices of the view of retrieval."""

    languages: tuple[str, ...] = ()
    """Codes; empty for all."""
    measures: tuple[str, ...] = MEASURES
    """Names of measures, as in ir_measures."""
    relevant_from: int = RELEVANT_FROM
    """Lowest grade that counts as relevant."""


ALL = RetrievalChoice()
"""All languages, the default measures."""


@dataclass(frozen=True, eq=False)
class RetrievalView:
    """Measures of every retriever, in some languages."""

    means: pa.Table
    """Rows of `RetrievalMean`: by language, then over all."""

    @cached_property
    def by_retriever(self) -> pa.Table:
        """The measures of `SHOWN` over all languages, a row per retriever: best nDCG@10 first; given passages, which
        were not retrieved, last.

        Its columns are `retriever, n`, and for each measure its mean and the ends of its interval, `_low` and `_high`.
        """
        rows: dict[str, dict[str, Any]] = {}
        for mean in self.means.to_pylist():
            if mean["language"] == "all" and mean["measure"] in SHOWN:
                name, measure = mean["retriever"], mean["measure"]
                row = rows.setdefault(name, {"retriever": name})
                row |= {measure: mean["mean"], f"{measure}_low": mean["low"], f"{measure}_high": mean["high"]}
                if measure == BEST:
                    row["n"] = mean["n"]
        order = sorted(rows.values(), key=lambda row: (row["retriever"] == GIVEN, -(row[BEST] or 0), row["retriever"]))
        return pa.Table.from_pylist(order)


@cached_view
def retrieval_view(arena: Arena, choice: RetrievalChoice = ALL) -> RetrievalView:
    """Evaluate each retriever of an arena on the queries with relevance labels.

    Raises:
        NotEnoughData: if no passage has a label, or no retriever has results.
        UnknownName: if there is no such measure or language.
    """
    codes = choice.languages or None
    measured = measure_retrievers(arena, measures=choice.measures, languages=codes, relevant_from=choice.relevant_from)
    return RetrievalView(schema.from_rows(RetrievalMean, means(measured)))
