"""Dense retrieval: embeddings from a service, compared exactly in blocks.

The vector of every passage and query is requested once, and cached by model and text. The score is the cosine
similarity. All passages are compared, without approximation.
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
from mirage.stages.retrieve.bm25 import Hit, best_rows
from mirage.store.buckets import buckets

if TYPE_CHECKING:
    from mirage.stages.retrieve.corpus import Corpus

VECTORS = "vectors.sqlite"
"""File in an arena's folder that caches vectors, so that an interrupted run can resume."""
BLOCK, _QUERIES = 16_384, 512
"""Passages, and queries, per block of comparisons."""
_FEWEST = 1_024
"""Passages in the first block."""
_WAITING = 2
"""Candidates kept before sifting, as a multiple of the depth."""
_PART = 4_096
"""Vectors in memory at once while writing to disk."""

Matrix = NDArray[np.float32]


@dataclass
class DenseSearch:
    """Searches a corpus by a model's embeddings (`stage.Search`)."""

    folder: Path
    """The arena's folder, with the cache of vectors."""
    endpoint: llm.Endpoint
    """Service and key."""
    model: str
    """Model name at the service."""
    limits: llm.Limits
    """Concurrency, rates, retries, prices, budget."""
    query_prefix: str = ""
    """Prefix that the model expects before a query: `query: `."""
    passage_prefix: str = ""
    """Prefix that it expects before a passage."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of finished requests and the total."""
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    """Source of the backoff's jitter."""
    costs: list[llm.Cost] = field(default_factory=list)
    """Cost per language."""

    def __call__(self, corpus: Corpus, queries: Sequence[str], depth: int) -> list[list[Hit]]:
        """Return the nearest passages of each query.

        Raises:
            Unreachable: if a text got no vector; vectors received are cached.
            BadInput: if the budget is reached.
        """
        self.fetch(corpus, queries)
        return self.cached_search()(corpus, queries, depth)

    def fetch(self, corpus: Corpus, queries: Sequence[str]) -> None:
        """Request missing vectors of passages and queries; raises as a search does."""
        kept = self.cached_search()
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

    def cached_search(self) -> VectorSearch:
        """Return a search by cached vectors only."""
        return VectorSearch(
            self.folder, self.model, self.query_prefix, self.passage_prefix, service=self.endpoint.service
        )

    def plan(self, texts: Sequence[str]) -> llm.Cost:
        """Return the maximum cost of the vectors of texts; nothing is sent."""
        path = self.folder / VECTORS
        if not path.exists():
            return llm.plan_embedding(texts, model=self.model, limits=self.limits, ledger=None)
        service = self.endpoint.service
        with store.Ledger(path, read_only=True) as ledger:
            return llm.plan_embedding(texts, model=self.model, limits=self.limits, ledger=ledger, service=service)


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """Searches a corpus by cached vectors (`stage.Search`); picklable for process pools."""

    folder: Path
    """The arena's folder, with the cache of vectors."""
    model: str
    """Model name at the service."""
    query_prefix: str = ""
    """Prefix of queries."""
    passage_prefix: str = ""
    """Prefix of passages."""
    service: str | None = None
    """The service, as named in the ledger."""

    def passages(self, corpus: Corpus) -> list[str]:
        """Return the model input for each passage."""
        return [self.passage_prefix + text for text in corpus.texts()]

    def queries(self, queries: Sequence[str]) -> list[str]:
        """Return the model input for each query."""
        return [self.query_prefix + query for query in queries]

    def __call__(self, corpus: Corpus, queries: Sequence[str], depth: int) -> list[list[Hit]]:
        """Return the nearest passages of each query.

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
            return nearest(of_queries, files.memory_map(0, np.dtype("<f4"), of_queries.shape[1]), depth)

    def _matrix(self, texts: Sequence[str], ledger: store.Ledger) -> Matrix:
        """Return the unit vectors of texts, one per row; zero vectors stay 0."""
        vectors = [llm.vector_of(ledger, self.model, text, self.service) for text in texts]
        if absent := sum(vector is None for vector in vectors):
            raise NotEnoughData(
                f"{absent:,} of {len(texts):,} texts have no vector of {self.model}",
                where=str(self.folder / VECTORS),
                do="rerun the command",
            )
        matrix: Matrix = np.array(vectors, np.float32)
        length = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit: Matrix = np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0)
        return unit


def nearest(queries: Matrix, vectors: Matrix, depth: int, *, block: int = BLOCK) -> list[list[Hit]]:
    """Return the rows of vectors with the highest inner products with each query, best first, ties in order.

    Args:
        queries: q x d.
        vectors: n x d; may be on disk, as it is read in blocks.
        depth: maximum rows per query.
        block: rows per block.

    Returns:
        Row and inner product of each, per query.
    """
    groups = [queries[first : first + _QUERIES] for first in range(0, len(queries), _QUERIES)]
    best = [_Best(len(group), depth) for group in groups]
    held = np.empty((min(len(queries), _QUERIES), min(len(vectors), block)), np.float32)
    start = 0
    while start < len(vectors):
        # Start with small blocks: at first nearly all rows of a block are among the best.
        stop = start + min(block, max(_FEWEST, 3 * start))
        part = np.asarray(vectors[start:stop]).T
        for group, best_of_group in zip(groups, best, strict=True):
            shape = len(group), part.shape[1]
            # Reuse the output buffer, as allocation is costly.
            best_of_group.compare(np.matmul(group, part, out=held if held.shape == shape else None), start)
        start = stop
    return [hits for best_of_group in best for hits in best_of_group.hits()]


class _Best:
    """The best rows so far of several queries, with candidates buffered between siftings.

    Args:
        n: number of queries.
        depth: maximum rows per query.
    """

    def __init__(self, n: int, depth: int) -> None:
        self._depth = depth
        self._least = np.full(n, -np.inf, np.float32)  # threshold of a further row
        self._rows: list[list[NDArray[np.int64]]] = [[] for _ in range(n)]
        self._scores: list[list[Matrix]] = [[] for _ in range(n)]
        self._waiting = np.zeros(n, np.int64)

    def compare(self, products: Matrix, start: int) -> None:
        """Add the inner products of each query with the rows from `start` on, which follow all rows so far."""
        # Flatten: numpy's nonzero is ten times slower in two dimensions.
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
        """Return row and inner product of the best rows of each query, best first, ties in order."""
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
        """Keep only the best rows of a query, with all ties of the last."""
        rows, scores = np.concatenate(self._rows[k]), np.concatenate(self._scores[k])
        place = len(scores) - self._depth
        self._least[k] = np.partition(scores, place)[place]
        kept = scores >= self._least[k]
        self._rows[k], self._scores[k] = [rows[kept]], [scores[kept]]
        self._waiting[k] = len(self._rows[k][0])
