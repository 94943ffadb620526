"""Ordering a list anew by a model that scores each passage with the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mirage.errors import BadInput
from mirage.features.reranker import MODEL
from mirage.features.spec import PairScorer


@dataclass(frozen=True, slots=True)
class ModelOrder:
    """Scores a query with each of its passages (`stage.Reorder`)."""

    model: PairScorer
    """Gives a score a pair."""

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The raw score of each pair of a query and a passage.

        Raises:
            BadInput: if the model gives several scores a pair.
        """
        if len(self.model.labels) != 1:
            raise BadInput("this model gives several scores a pair", do=f"give a reranker, such as {MODEL}")
        return [row[0] for row in self.model.scores(pairs)]
