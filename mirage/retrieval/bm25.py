"""BM25 over a corpus: bm25s weighs the words, and a search that skips what cannot matter finds the best passages.

The weight of a term that occurs f times in a passage is ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + K1 * (1 - B + B *
length / mean length)) (Robertson and Zaragoza 2009, in Lucene's form). K1 and B are those of MIRACL's baseline. Terms
are `mirage.text.search_terms`: whole words without accents and vowel signs, and pairs of characters in scripts without
spaces and in Hangul. A query of one such character finds every pair that it is in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.extras import extra
from mirage.text import is_character, pair_of, search_terms

if TYPE_CHECKING:
    from mirage.retrieval.corpus import Corpus

K1, B = 0.9, 0.4
"""Saturation and length normalisation of MIRACL's BM25 (Pyserini's defaults)."""
_SLACK = 1 + 1e-5
"""What bounds are multiplied with, since sums of 32-bit numbers are rounded."""

Analyse = Callable[[str], Sequence[str]]
"""Cuts a text into terms."""
Hit = tuple[int, float]
"""Row of a passage in its corpus, and its score."""


class Bm25:
    """An index of texts.

    Args:
        texts: what is searched.
        analyse: cuts texts and queries into terms.

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
        """The texts with the highest scores, of equals the first; those that share no term with the query are none.

        The terms that can weigh most come first. Once the terms left over could not lift any further text among the
        best, they are looked up for the texts alone that still can be (the idea of MaxScore: Turtle and Flood 1995).

        Args:
            query: what is searched for; a term that it repeats counts as often.
            depth: how many, at most.
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
            # The lists of terms that can weigh little are the long ones: they are not looked through in vain.
            if bound[term] > least:
                least = max(least, counts[term] * self._at_depth(term, depth))
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
        """The terms of the index that a term of a query means: a single character means every pair that it is in."""
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
        """The rows with a term, ascending, and its weight in each."""
        part = slice(self._starts[term], self._starts[term + 1])
        weights = self._weights[part]
        return self._rows[part], weights if count == 1 else weights * np.float32(count)

    def _at_depth(self, term: int, depth: int) -> float:
        """The weight of a term in the text at the depth wanted of those that have it; minus infinity where fewer do."""
        if (term, depth) not in self._kept:
            weights, most = self._list(term, 1)[1], self._most[term]
            # The highest weights are near the highest of all: mostly few are left to be put in order.
            kept = -np.inf
            for share in (0.9, 0.6, 0.0):
                if kept == -np.inf:
                    kept = _at_depth([weights], depth, float(most) * share)
            self._kept[term, depth] = kept
        return self._kept[term, depth]


def _at_depth(parts: Iterable[NDArray[np.float32]], depth: int, least: float) -> float:
    """The score at the depth wanted, of those above `least`; minus infinity where fewer are."""
    scores = np.concatenate([part[part > np.float32(least)] for part in parts])
    if len(scores) < depth:
        return -np.inf
    return float(np.partition(scores, len(scores) - depth)[len(scores) - depth])


def best_rows(scores: NDArray[np.float32], rows: NDArray[np.integer], depth: int) -> NDArray[np.integer]:
    """The rows with the highest scores, best first, of equals the lowest row.

    Args:
        scores: n scores.
        rows: the n rows that they belong to.
        depth: how many, at most.
    """
    if len(scores) > depth:
        least = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        kept = scores >= least
        scores, rows = scores[kept], rows[kept]
    return rows[np.lexsort((rows, -scores))][:depth]


def search_bm25(corpus: Corpus, queries: Sequence[str], depth: int, analyse: Analyse = search_terms) -> list[list[Hit]]:
    """The passages of a corpus that match each query best."""
    index = Bm25(corpus.texts(), analyse)
    return [index.search(query, depth) for query in queries]
