"""BM25 over a corpus: weights by bm25s, and a search that skips terms and passages that cannot matter.

The weight of a term that occurs f times in a passage is ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + K1 * (1 - B + B *
length / mean length)) (Robertson and Zaragoza 2009, in Lucene's form). K1 and B are those of MIRACL's baseline. Terms
are `mirage.text.segmentation.search_terms`: whole words without accents and vowel signs, and character bigrams in
unspaced scripts and in Hangul. A query of one such character matches every bigram that contains it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.store.extras import extra
from mirage.text.segmentation import is_character, pair_of, search_terms

if TYPE_CHECKING:
    from mirage.stages.retrieve.corpus import Corpus

K1, B = 0.9, 0.4
"""Saturation and length normalisation of MIRACL's BM25 (Pyserini's defaults)."""
_SLACK = 1 + 1e-5
"""Factor on bounds, because of rounding of 32-bit sums."""

Analyse = Callable[[str], Sequence[str]]
"""Splits a text into terms."""
Hit = tuple[int, float]
"""Row of a passage in its corpus, and its score."""


class Bm25:
    """An index of texts.

    Args:
        texts: texts to search.
        analyse: splits texts and queries into terms.

    Raises:
        BadInput: if the extra `retrieval` is not installed.
    """

    def __init__(self, texts: Iterable[str], analyse: Analyse = search_terms) -> None:
        with extra("retrieval", "BM25"):
            import bm25s
        self._analyse = analyse
        self._vocabulary: dict[str, int] = {}
        number = self._vocabulary.setdefault
        ids = [[number(term, len(self._vocabulary)) for term in analyse(text)] for text in texts]
        self.n = len(ids)
        """Number of texts."""
        self._starts = np.zeros(1, np.int64)
        if not self._vocabulary:
            return
        index = bm25s.BM25(method="lucene", k1=K1, b=B, csc_backend="scipy")
        index.index((ids, self._vocabulary), create_empty_token=False, show_progress=False)
        self._weights: NDArray[np.float32] = index.scores["data"]
        self._rows: NDArray[np.int32] = index.scores["indices"]
        self._starts = np.asarray(index.scores["indptr"], np.int64)
        self._most = np.maximum.reduceat(self._weights, self._starts[:-1])
        self._sums = np.zeros(self.n, np.float32)
        self._kept: dict[tuple[int, int], float] = {}

    def search(self, query: str, depth: int) -> list[Hit]:
        """Return the texts with the highest scores, ties in order; texts without a common term are excluded.

        Terms with the highest possible weight are processed first. Once the remaining terms cannot lift another text
        into the results, they are looked up only for texts that are still candidates (the idea of MaxScore: Turtle and
        Flood 1995).

        Args:
            query: the query; repeated terms count repeatedly.
            depth: maximum number of texts.
        """
        counts = Counter(number for term in self._analyse(query) for number in self._numbers(term))
        if not counts:
            return []
        bound = {term: count * float(self._most[term]) for term, count in counts.items()}
        order = sorted(counts, key=lambda term: (-bound[term], term))
        left = np.r_[np.cumsum([bound[term] for term in order[::-1]])[::-1], 0.0] * _SLACK
        sums, parts, place = self._sums, list[NDArray[np.int32]](), 0
        least = -np.inf
        for term in order:
            # Terms with low weights have long posting lists; avoid scanning them.
            if bound[term] > least:
                # In single precision, as the scores are added: a larger bound would exclude its own text.
                least = max(least, float(np.float32(self._at_depth(term, depth)) * np.float32(counts[term])))
        for place, term in enumerate(order):
            if left[place] < least:
                break
            rows, weights = self._list(term, counts[term])
            before = sums[rows]
            parts.append(rows[before == 0] if parts else rows)
            before += weights
            sums[rows] = before
            if 0 < left[place + 1] < before.max():
                least = max(least, _at_depth([sums[rows_of_part] for rows_of_part in parts], depth, least))
            place += 1
        touched = np.concatenate(parts)
        candidates = touched[sums[touched] >= least - left[place]]
        for k in range(place, len(order)):
            rows, weights = self._list(order[k], counts[order[k]])
            at_row = np.minimum(np.searchsorted(rows, candidates), len(rows) - 1)
            hit = rows[at_row] == candidates
            sums[candidates[hit]] += weights[at_row[hit]]
            candidates = candidates[sums[candidates] >= least - left[k + 1]]
        best = best_rows(sums[candidates], candidates, depth)
        hits = [(int(row), float(sums[row])) for row in best]
        sums[touched] = 0
        return hits

    def _numbers(self, term: str) -> Sequence[int]:
        """Return the index terms of a query term; a single character matches every bigram that contains it."""
        if self._analyse is search_terms and is_character(term):
            return self._by_character.get(term, ())
        return [self._vocabulary[term]] if term in self._vocabulary else ()

    @cached_property
    def _by_character(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for term, number in self._vocabulary.items():
            for character in pair_of(term):
                numbers.setdefault(character, []).append(number)
        return numbers

    def _list(self, term: int, count: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the rows with a term, ascending, and its weight in each."""
        part = slice(self._starts[term], self._starts[term + 1])
        weights = self._weights[part]
        return self._rows[part], weights if count == 1 else weights * np.float32(count)

    def _at_depth(self, term: int, depth: int) -> float:
        """Return the weight of a term in the text at the given depth among those with it; minus infinity if there are
        fewer.
        """
        if (term, depth) not in self._kept:
            weights, most = self._list(term, 1)[1], self._most[term]
            # Most weights can be excluded by a bound near the maximum, so that few are sorted.
            kept = -np.inf
            for share in (0.9, 0.6, 0.0):
                if kept == -np.inf:
                    kept = _at_depth([weights], depth, float(most) * share)
            self._kept[term, depth] = kept
        return self._kept[term, depth]


def _at_depth(parts: Iterable[NDArray[np.float32]], depth: int, least: float) -> float:
    """Return the score at the given depth among those above `least`; minus infinity if there are fewer."""
    scores = np.concatenate([part[part > np.float32(least)] for part in parts])
    if len(scores) < depth:
        return -np.inf
    return float(np.partition(scores, len(scores) - depth)[len(scores) - depth])


def best_rows(scores: NDArray[np.float32], rows: NDArray[np.integer], depth: int) -> NDArray[np.integer]:
    """Return the rows with the highest scores, best first, ties by row.

    Args:
        scores: n scores.
        rows: their n rows.
        depth: maximum number of rows.
    """
    if len(scores) > depth:
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        kept = scores >= least
        scores, rows = scores[kept], rows[kept]
    return rows[np.lexsort((rows, -scores))][:depth]


def search_bm25(corpus: Corpus, queries: Sequence[str], depth: int, analyse: Analyse = search_terms) -> list[list[Hit]]:
    """Return the passages of a corpus that match each query best."""
    index = Bm25(corpus.texts(), analyse)
    return [index.search(query, depth) for query in queries]
