"""Passages that cover a corpus: clusters of tf-idf vectors, sampled in turn."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mirage.text.segmentation import search_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLUSTERS = 256
"""Maximum number of clusters."""
_TERMS, _DIMENSIONS = 50_000, 64
"""Maximum vocabulary of the tf-idf vectors, and their reduced dimension."""


def cluster(texts: Sequence[str], n: int, *, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the cluster of each text, from 0.

    The vectors are tf-idf weights of `search_terms`, reduced by a truncated singular value decomposition (latent
    semantic analysis); the clusters are those of k-means on their directions.

    Args:
        texts: the texts.
        n: maximum number of clusters.
        rng: draws the starting points.
    """
    import numpy as np
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import normalize

    n = min(n, len(texts))
    if n < 2:
        return np.zeros(len(texts), np.intp)
    seed = int(rng.integers(2**31))
    points = normalize(_reduce(texts, seed))
    means = MiniBatchKMeans(n, random_state=seed, batch_size=4096, n_init=1, max_iter=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct texts than clusters
        return np.asarray(means.fit_predict(points), np.intp)


def _reduce(texts: Sequence[str], seed: int) -> Any:
    """Return low-dimensional tf-idf vectors; zero for texts without terms."""
    import numpy as np
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        analyzer=search_terms, max_features=_TERMS, sublinear_tf=True, dtype=np.float32, token_pattern=None
    )
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:  # no text has a term
        return np.zeros((len(texts), 1), np.float32)
    if weights.shape[1] <= _DIMENSIONS:
        return weights
    return TruncatedSVD(_DIMENSIONS, n_iter=2, random_state=seed).fit_transform(weights)


def go_round(clusters: NDArray[np.intp], *, rng: np.random.Generator) -> list[int]:
    """Return every row once, from each cluster in turn: the largest cluster first, random within a cluster."""
    order = rng.permutation(len(clusters))
    sizes = Counter(clusters.tolist())
    turns: Counter[int] = Counter()
    keyed = []
    for row in order.tolist():
        name = int(clusters[row])
        keyed.append((turns[name], -sizes[name], name, row))
        turns[name] += 1
    return [row for *_, row in sorted(keyed)]
