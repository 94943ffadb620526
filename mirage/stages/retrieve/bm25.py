"""BM25 over a corpus, by bm25s.

The weight of a term that occurs f times in a passage is ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + K1 * (1 - B + B *
length / mean length)) (Robertson and Zaragoza 2009, in Lucene's form). K1 and B are those of MIRACL's baseline. Terms
are `mirage.text.segmentation.search_terms`: whole words without accents and vowel signs, and character bigrams in
unspaced scripts and in Hangul. A query of one such character matches every bigram that contains it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from mirage.stages.retrieve.corpus import Corpus
from mirage.store.extras import extra
from mirage.text.segmentation import is_character, pair_of, search_terms

K1, B = 0.9, 0.4
"""Saturation and length normalisation of MIRACL's BM25 (Pyserini's defaults)."""

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

    def __init__(self, texts: Iterable[str], analyse: Callable[[str], Sequence[str]] = search_terms) -> None:
        with extra("retrieval", "BM25"):
            import bm25s
        self._analyse = analyse
        self._vocabulary: dict[str, int] = {}
        number = self._vocabulary.setdefault
        ids = [[number(term, len(self._vocabulary)) for term in analyse(text)] for text in texts]
        self._index = bm25s.BM25(method="lucene", k1=K1, b=B, csc_backend="scipy")
        if self._vocabulary:
            self._index.index((ids, self._vocabulary), create_empty_token=False, show_progress=False)

    def search(self, query: str, depth: int) -> list[Hit]:
        """Return the texts with the highest scores, ties in order; texts without a common term are excluded.

        Args:
            query: the query; repeated terms count repeatedly.
            depth: maximum number of texts.
        """
        numbers = [number for term in self._analyse(query) for number in self._numbers(term)]
        if not numbers:
            return []
        scores = self._index.get_scores_from_ids(numbers)
        rows = np.flatnonzero(scores)
        if len(rows) > depth:
            # Only the rows from the score at this depth are sorted.
            rows = rows[scores[rows] >= np.partition(scores, len(scores) - depth)[len(scores) - depth]]
        best = rows[np.argsort(-scores[rows], kind="stable")][:depth]
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))

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


def search_bm25(corpus: Corpus, queries: Sequence[str], depth: int) -> list[list[Hit]]:
    """Return the passages of a corpus that match each query best."""
    index = Bm25(corpus.texts())
    return [index.search(query, depth) for query in queries]
