"""Tests of the fitted differences of all pairs of systems: those of more systems than each pair is refitted for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mirage.rank.fit import Array

_SAME = 1e-9
"""A difference below this share of what it is made of is a rounding error."""


def fitted_tests(
    difference: Array, covariances: Iterable[tuple[Array, int]], order: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Statistic and degrees of freedom (Satterthwaite) of each pair (i, j), i < j, of systems in an order.

    Args:
        difference: S: of each system, what the tests compare: its rating with what the queries pull it by.
        covariances: independent parts of the covariance of the ratings (S x S), each with the units it rests on.
        order: the S systems, the best first.
    """
    i, j = np.triu_indices(len(order), 1)
    whole = np.zeros((len(order), len(order)))
    below = np.zeros_like(whole)
    for covariance, n in covariances:
        spread = np.diag(covariance)
        own = np.maximum(spread[:, None] + spread - 2 * covariance, 0)
        whole += own
        below += own**2 / max(n - 1, 1)
    a, b = order[i], order[j]
    variance, total = whole[a, b], difference[a] - difference[b]
    size = np.abs(difference[a]) + np.abs(difference[b]) + np.sqrt(whole.max(initial=0))
    deviation = np.maximum(np.sqrt(variance), 1e-12 * size + 1e-300)
    t = np.where(np.abs(total) <= _SAME * size, 0.0, total / deviation)
    return t, np.divide(variance**2, below[a, b], out=np.ones_like(variance), where=below[a, b] > 0)
