"""Search by vectors: those of a model of embeddings at a service, compared exactly, block by block.

A service is asked for the vector of every passage and query once; they are kept by model and text. The score is the
cosine of two vectors. All passages are compared: nothing is approximated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage import llm, store
from mirage.errors import NotEnoughData
from mirage.retrieval.bm25 import Hit, best_rows
from mirage.store.buckets import buckets

if TYPE_CHECKING:
    from mirage.retrieval.corpus import Corpus

VECTORS = "vectors.sqlite"
"""File in an arena's folder that keeps vectors, so that a stopped run goes on."""
BLOCK, _QUERIES = 16_384, 512
"""Passages, and queries, that are compared at once."""
_FEWEST = 1_024
"""Passages of the first block."""
_WAITING = 2
"""How many times the rows wanted wait before they are sifted."""
_PART = 4_096
"""Vectors that are in memory at once while they are put on disk."""

Matrix = NDArray[np.float32]


@dataclass
class DenseSearch:
    """Searches a corpus by the vectors of a model (`stage.Search`)."""

    folder: Path
    """The arena's folder, where vectors are kept."""
    endpoint: llm.Endpoint
    """Service and key."""
    model: str
    """The model's name there."""
    limits: llm.Limits
    """Concurrency, rates, retries, prices, budget."""
    query_prefix: str = ""
    """What the model wants before a query: `query: `."""
    passage_prefix: str = ""
    """What it wants before a passage."""
    progress: Callable[[int, int], None] | None = None
    """Called with how many requests are done, and of how many."""
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    """Source of the jitter of pauses."""
    costs: list[llm.Cost] = field(default_factory=list)
    """What each language has cost."""

    def __call__(self, corpus: Corpus, queries: Sequence[str], depth: int) -> list[list[Hit]]:
        """The passages nearest to each query.

        Raises:
            Unreachable: if some text got no vector; what has come is kept.
            BadInput: if the budget is reached.
        """
        self.fetch(corpus, queries)
        return self.stored()(corpus, queries, depth)

    def fetch(self, corpus: Corpus, queries: Sequence[str]) -> None:
        """Get the vectors of passages and queries that are not kept yet. Raises what a search raises."""
        kept = self.stored()
        with store.Ledger(self.folder / VECTORS) as ledger:
            self.costs.append(
                llm.embed(
                    [*kept.passages(corpus), *kept.queries(queries)],
                    endpoint=self.endpoint,
                    model=self.model,
                    ledger=ledger,
                    limits=self.limits,
                    rng=self.rng,
                    progress=self.progress,
                )
            )

    def stored(self) -> VectorSearch:
        """Searches by what has been fetched alone."""
        return VectorSearch(
            self.folder, self.model, self.query_prefix, self.passage_prefix, service=self.endpoint.service
        )

    def plan(self, texts: Sequence[str]) -> llm.Cost:
        """What the vectors of texts would cost at most; nothing is sent."""
        path = self.folder / VECTORS
        if not path.exists():
            return llm.plan_embedding(texts, model=self.model, limits=self.limits, ledger=None)
        service = self.endpoint.service
        with store.Ledger(path, read_only=True) as ledger:
            return llm.plan_embedding(texts, model=self.model, limits=self.limits, ledger=ledger, service=service)


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """Searches a corpus by the vectors that are kept in a folder (`stage.Search`); so can processes of this machine."""

    folder: Path
    """The arena's folder, where vectors are kept."""
    model: str
    """The model's name at the service they came from."""
    query_prefix: str = ""
    """What stood before a query."""
    passage_prefix: str = ""
    """What stood before a passage."""
    service: str | None = None
    """The service they came from, as the ledger names it."""

    def passages(self, corpus: Corpus) -> list[str]:
        """What the model is given of each passage."""
        return [self.passage_prefix + text for text in corpus.texts()]

    def queries(self, queries: Sequence[str]) -> list[str]:
        """What the model is given of each query."""
        return [self.query_prefix + query for query in queries]

    def __call__(self, corpus: Corpus, queries: Sequence[str], depth: int) -> list[list[Hit]]:
        """The passages nearest to each query.

        Raises:
            NotEnoughData: if a text has no vector.
        """
        if not queries:
            return []
        texts = self.passages(corpus)
        with store.Ledger(self.folder / VECTORS, read_only=True) as ledger, buckets(1, folder=self.folder) as files:
            of_queries = self._matrix(self.queries(queries), ledger)
            for start in range(0, len(texts), _PART):
                files.append(0, self._matrix(texts[start : start + _PART], ledger))
            return nearest(of_queries, files.mapped(0, np.dtype("<f4"), of_queries.shape[1]), depth)

    def _matrix(self, texts: Sequence[str], ledger: store.Ledger) -> Matrix:
        """The vectors of texts at length 1, a row a text; one without a direction stays 0."""
        vectors = [llm.vector_of(ledger, self.model, text, self.service) for text in texts]
        if absent := sum(vector is None for vector in vectors):
            raise NotEnoughData(
                f"{absent:,} of {len(texts):,} texts have no vector of {self.model}",
                where=str(self.folder / VECTORS),
                do="run the same command again",
            )
        matrix: Matrix = np.array(vectors, np.float32)
        length = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit: Matrix = np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0)
        return unit


def nearest(queries: Matrix, vectors: Matrix, depth: int, *, block: int = BLOCK) -> list[list[Hit]]:
    """The rows of vectors with the highest inner products with each query, best first, of equals the first.

    Args:
        queries: q x d.
        vectors: n x d; may be on disk: a block is read at a time.
        depth: rows a query, at most.
        block: rows of a block.

    Returns:
        Row and inner product of each, for each query.
    """
    groups = [queries[first : first + _QUERIES] for first in range(0, len(queries), _QUERIES)]
    best = [_Best(len(group), depth) for group in groups]
    held = np.empty((min(len(queries), _QUERIES), min(len(vectors), block)), np.float32)
    start = 0
    while start < len(vectors):
        # The first blocks are small: as long as little has been compared, nearly all of a block is among the best.
        stop = start + min(block, max(_FEWEST, 3 * start))
        part = np.asarray(vectors[start:stop]).T
        for group, best_of_group in zip(groups, best, strict=True):
            shape = len(group), part.shape[1]
            # New memory for every product costs as much as a tenth of it.
            best_of_group.compare(np.matmul(group, part, out=held if held.shape == shape else None), start)
        start = stop
    return [hits for best_of_group in best for hits in best_of_group.hits()]


class _Best:
    """The best rows so far of each of some queries; what may be among them waits for the next sifting.

    Args:
        n: number of queries.
        depth: rows a query, at most.
    """

    def __init__(self, n: int, depth: int) -> None:
        self._depth = depth
        self._least = np.full(n, -np.inf, np.float32)  # what a further row must exceed
        self._rows: list[list[NDArray[np.int64]]] = [[] for _ in range(n)]
        self._scores: list[list[Matrix]] = [[] for _ in range(n)]
        self._waiting = np.zeros(n, np.int64)

    def compare(self, products: Matrix, start: int) -> None:
        """Take the inner products of each query with the rows from a start on, which all come after those so far."""
        # In one dimension: in two, numpy takes ten times as long to find the few that there are.
        higher = np.flatnonzero(products > self._least[:, None])
        query, column = np.divmod(higher, products.shape[1])
        counts = np.bincount(query, minlength=len(self._rows))
        rows, scores = start + column, products.ravel()[higher]
        ends = np.cumsum(counts)
        for k in np.flatnonzero(counts).tolist():
            part = slice(ends[k] - counts[k], ends[k])
            self._rows[k].append(rows[part])
            self._scores[k].append(scores[part])
        self._waiting += counts
        for k in np.flatnonzero(self._waiting > _WAITING * self._depth).tolist():
            self._sift(k)

    def hits(self) -> list[list[Hit]]:
        """Row and inner product of the best of each query, best first, of equals the first."""
        hits = []
        for own_rows, own_scores in zip(self._rows, self._scores, strict=True):
            if not own_rows:
                hits.append(list[Hit]())
                continue
            rows, scores = np.concatenate(own_rows), np.concatenate(own_scores)
            order = best_rows(scores, np.arange(len(scores)), self._depth)
            hits.append(list(zip(rows[order].tolist(), scores[order].tolist(), strict=True)))
        return hits

    def _sift(self, k: int) -> None:
        """Keep the best alone of a query, with all that equal the last of them."""
        rows, scores = np.concatenate(self._rows[k]), np.concatenate(self._scores[k])
        place = len(scores) - self._depth
        self._least[k] = np.partition(scores, place)[place]
        kept = scores >= self._least[k]
        self._rows[k], self._scores[k] = [rows[kept]], [scores[kept]]
        self._waiting[k] = len(self._rows[k][0])
