"""Near-duplicates among texts: Jaccard similarity of word 5-grams.

The search is exact: it finds every pair at or above the threshold. Two sets with a Jaccard similarity of t or more
share one of their rarest elements (the prefix filter of Chaudhuri, Ganti and Kaushik 2006), so only pairs that do are
compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage.text.segmentation import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHINGLE = 5
"""Words per n-gram; characters in scripts without spaces between words."""
JACCARD = 0.5
"""Default threshold of the Jaccard similarity."""
_CANDIDATES = 4_000_000
"""Maximum number of candidate pairs in memory."""
# A sentence end mark of any script, but a full stop only before a space, so that 3.5 is not split; in Thai and Lao,
# which have no end marks, a space between two letters.
_END = re.compile(r"[!?。！？।॥؟۔።។။༎\n]+|[.…]+(?=\s|$)|(?<=[\u0e00-\u0eff])\s+(?=[\u0e00-\u0eff])")


@dataclass(frozen=True, slots=True)
class DuplicatePairs:
    """Pairs of near-duplicates, sorted by `first`, then `second`."""

    first: NDArray[np.int64]
    """Index of each pair's text among the texts."""
    second: NDArray[np.int64]
    """Index of the other text, greater than `first`."""
    similarity: NDArray[np.float64]
    """Jaccard or cosine similarity of each pair, from the threshold to 1."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        """Iterate over the pairs as `(first, second, similarity)`."""
        return zip(self.first.tolist(), self.second.tolist(), self.similarity.tolist(), strict=True)


def near_duplicates(texts: Sequence[str], *, threshold: float = JACCARD, shingle: int = SHINGLE) -> DuplicatePairs:
    """Return all pairs of texts whose word n-grams have a Jaccard similarity of at least `threshold`.

    N-grams do not cross sentence ends, so reordering sentences does not change them. A shorter sentence is one n-gram.
    A text without words has no duplicates.

    Args:
        texts: the texts, in any language and script.
        threshold: smallest Jaccard similarity, above 0 and at most 1.
        shingle: words per n-gram; a character is a word in scripts without spaces.

    Raises:
        ValueError: the threshold is not in (0, 1].
    """
    import numpy as np

    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}; a Jaccard similarity is above 0 and at most 1")
    grams = _gram_matrix(texts, shingle)
    sizes = np.diff(grams.indptr)
    prefixes = _prefixes(grams, threshold)
    transposed = prefixes.T.tocsr()
    found = []
    for start, end in _blocks(prefixes, np.diff(transposed.indptr)):
        shared = (prefixes[start:end] @ transposed).tocoo()
        first, second = shared.row.astype(np.int64) + start, shared.col.astype(np.int64)
        small, large = np.minimum(sizes[first], sizes[second]), np.maximum(sizes[first], sizes[second])
        keep = (small >= threshold * large - 1e-9) & (first < second)
        first, second = first[keep], second[keep]
        for part in range(0, len(first), 50_000):
            one, two = first[part : part + 50_000], second[part : part + 50_000]
            common = np.asarray(grams[one].multiply(grams[two]).sum(axis=1)).ravel().astype(np.float64)
            similarity = common / (sizes[one] + sizes[two] - common)
            near = similarity >= threshold - 1e-9
            found.append((one[near], two[near], similarity[near]))
    return _pairs(found)


def _pairs(found: list[tuple[Any, Any, Any]]) -> DuplicatePairs:
    import numpy as np

    empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    first, second, similarity = (np.concatenate(column) for column in zip(*([empty, *found]), strict=True))
    order = np.lexsort((second, first))
    return DuplicatePairs(first[order], second[order], similarity[order])


def _gram_matrix(texts: Sequence[str], shingle: int) -> Any:
    """Return the sparse 0/1 matrix of texts by n-grams, columns ordered from the rarest to the most frequent n-gram."""
    import numpy as np
    from scipy.sparse import csr_array

    rows, hashes = _grams(texts, shingle)
    _, columns, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    del hashes
    rank = np.empty(len(counts), np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts), dtype=np.int32)
    matrix = csr_array(
        (np.ones(len(rows), np.int32), (rows, rank[columns.ravel()])), shape=(len(texts), max(1, len(counts)))
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _grams(texts: Sequence[str], shingle: int) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Return the row and the 64-bit hash of every n-gram of every text."""
    import numpy as np

    numbers: dict[str, int] = {}
    ids: list[int] = []
    lengths: list[int] = []
    rows: list[int] = []
    for row, text in enumerate(texts):
        for sentence in _END.split(text):
            if found := words(sentence):
                ids += [numbers.setdefault(word, len(numbers)) for word in found]
                lengths.append(len(found))
                rows.append(row)
    mixed = _mix(np.array(ids, np.uint64))
    del ids, numbers
    length = np.array(lengths, np.int64)
    starts = np.cumsum(length) - length
    row_of = np.array(rows, np.int32)
    sentence_of = np.repeat(np.arange(len(length)), length)
    whole = length[sentence_of] >= shingle
    left_over = length[sentence_of] - (np.arange(len(mixed)) - starts[sentence_of])
    all_rows, all_hashes = [], []
    for size in range(1, shingle + 1):
        at = np.flatnonzero(whole & (left_over >= size)) if size == shingle else starts[length == size]
        value = np.full(len(at), size, np.uint64)
        for step in range(size):
            value = _mix(value * np.uint64(0x9E3779B97F4A7C15) + mixed[at + step])
        all_rows.append(row_of[sentence_of[at]])
        all_hashes.append(value)
    return np.concatenate(all_rows), np.concatenate(all_hashes)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit integers (the finaliser of SplitMix64)."""
    import numpy as np

    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _prefixes(grams: Any, threshold: float) -> Any:
    """Return the matrix with only each row's prefix: rarest n-grams, of which similar texts share one."""
    import numpy as np
    from scipy.sparse import csr_array

    sizes = np.diff(grams.indptr)
    grams.sort_indices()
    place = np.arange(grams.nnz) - np.repeat(grams.indptr[:-1], sizes)
    limit = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
    keep = place < np.repeat(limit, sizes)
    ends = np.concatenate([[0], np.cumsum(keep)])[grams.indptr]
    return csr_array((grams.data[keep], grams.indices[keep], ends), shape=grams.shape)


def _blocks(left: Any, frequencies: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut the rows into blocks with at most `_CANDIDATES` candidate pairs each, or of one row."""
    import numpy as np

    cost = np.concatenate([[0], np.cumsum(frequencies[left.indices])])[left.indptr]
    start = 0
    while start < left.shape[0]:
        end = max(start + 1, int(np.searchsorted(cost, cost[start] + _CANDIDATES, side="right")) - 1)
        yield start, min(end, left.shape[0])
        start = end
