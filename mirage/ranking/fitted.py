"""Tests of fitted differences for all pairs, used where there are too many systems to refit each pair."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.fit import Array

_SAME = 1e-9
"""Share of the compared magnitudes below which a difference is a rounding error."""


def fitted_scores(difference: Array, covariances: Iterable[tuple[Array, int]], order: NDArray[np.intp]) -> Array:
    """Return the normal score of each pair (i, j), i < j, of the ordered systems; its variance is that around 0, with
    Satterthwaite's degrees of freedom.

    Args:
        difference: S: the quantity the tests compare: each system's rating plus the sum of the queries' influences on
            it.
        covariances: independent parts of the covariance of the ratings (S x S), each with its number of units.
        order: the S systems, the best first.
    """
    i, j = np.triu_indices(len(order), 1)
    whole = np.zeros((len(order), len(order)))
    below, units = np.zeros_like(whole), 0
    for covariance, n in covariances:
        spread = np.diag(covariance)
        own = np.maximum(spread[:, None] + spread - 2 * covariance, 0)
        whole += own
        below += own**2 / max(n - 1, 1)
        units += max(n - 1, 1)
    a, b = order[i], order[j]
    variance, total = whole[a, b], difference[a] - difference[b]
    size = np.abs(difference[a]) + np.abs(difference[b]) + np.sqrt(whole.max(initial=0))
    df = np.divide(variance**2, below[a, b], out=np.full_like(variance, max(units, 1)), where=below[a, b] > 0)
    z = np.zeros_like(total)
    return np.divide(total, np.sqrt(variance + total**2 / df), out=z, where=np.abs(total) > _SAME * size)
