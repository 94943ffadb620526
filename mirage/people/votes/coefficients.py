"""Coefficients of agreement as functions of sums over queries, for the agreement on battles (`agreement.py`) and the
exam of judges (`mirage.people.exam`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND

Array = NDArray[np.float64]
ENOUGH = 30
"""Number of queries from which the figures are reliable; with fewer a badge is grey."""


def ratio(a: Array, b: Array) -> Array:
    """Return the quotient, NaN for a denominator of 0."""
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=np.abs(b) > 1e-9))


def contingency(people: Array, label: NDArray[np.intp]) -> Array:
    """Return the contingency table of people and a judge on each battle (B x 3 x 3).

    Args:
        people: B x 3: number of people of each opinion.
        label: B: the judge's decision.
    """
    return np.asarray(people[:, :, None] * np.eye(3)[label][:, None, :])


def kappas(n: Array, agreeing: Array, first: Array, second: Array, *, pooled: bool = False) -> Array:
    """Return Cohen's kappa of B data sets.

    Args:
        n: B: number of pairs.
        agreeing: B: number of pairs that agree.
        first: B x C: marginal counts of one observer.
        second: B x C: those of the other.
        pooled: whether the first two values are two sides of one, with a common chance.

    Source: Cohen, Educational and Psychological Measurement 20 (1960).
    """
    chance = (_pool(first, pooled) * _pool(second, pooled)).sum(axis=1)
    return ratio(n * agreeing - chance, n**2 - chance)


def coincidences(counts: Array) -> Array:
    """Return each unit's observed disagreement and its counts (U x (1 + C)); zeros if nothing can be compared."""
    m = counts.sum(axis=1)
    two = m > 1
    disagreement = np.where(two, (m**2 - (counts**2).sum(axis=1)) / np.where(two, m - 1, 1), 0)
    return np.column_stack([disagreement, counts * two[:, None]])


def alphas(sums: Array, *, pooled: bool) -> Array:
    """Return Krippendorff's alpha for nominal values of B data sets; NaN if no two values differ or can be compared.

    Args:
        sums: B x (1 + C) sums of `coincidences`.
        pooled: as in `kappas`.

    Source: Krippendorff, Content Analysis, 4th ed. (2018), ch. 12: 1 - observed / expected disagreement.
    """
    counts = _pool(sums[:, 1:], pooled)
    n = counts.sum(axis=1)
    expected = n**2 - (counts**2).sum(axis=1)
    return np.asarray(1 - ratio((n - 1) * sums[:, 0], expected))


def _pool(counts: Array, pooled: bool) -> Array:
    if not pooled:
        return counts
    averaged = counts.copy()
    averaged[:, [FIRST, SECOND]] = counts[:, [FIRST, SECOND]].mean(axis=1, keepdims=True)
    return averaged
