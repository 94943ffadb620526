"""Reranking of a list by a model that scores query-passage pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mirage.errors import BadInput
from mirage.stages.features.reranker import MODEL
from mirage.stages.features.spec import PairScorer


@dataclass(frozen=True, slots=True)
class ModelOrder:
    """Scores a query with each of its passages (`stage.Reorder`)."""

    model: PairScorer
    """Scores pairs."""

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the raw score of each query-passage pair.

        Raises:
            BadInput: if the model gives several scores per pair.
        """
        if len(self.model.labels) != 1:
            raise BadInput("this model gives several scores per pair", do=f"use a reranker, such as {MODEL}")
        return [row[0] for row in self.model.scores(pairs)]
