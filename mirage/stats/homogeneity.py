"""Test whether prediction errors have the same mean in several groups, such as languages, with its power.

For each group there are two statistics, each in standard errors: the difference of its mean from the mean of the other
groups; and its differences from them among answers with similar predictions, weighted by precision, which detects a
judge that misses in one language what it finds in others. The test statistic is the maximum. Standard errors come from
the other groups, as under the hypothesis, so that a deviating group's own spread cannot hide it. The null distribution
permutes groups over units, and within units that occur in several groups; it is exact for any number of labels if the
errors have one distribution. `benchmarks/levels.py` simulates size and power.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.intp]

LEVEL = 0.05
"""Significance level."""
PERMUTATIONS = 999
"""Number of permutations."""
BINS = 5
"""Number of equal-width classes of predictions; the error variance is estimated in each."""


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """The test of equal means."""

    p: float
    """p-value of the hypothesis of equal means."""
    power: float
    """Power to detect a difference of the margin in one group, averaged over the groups, in [0, 1]; 0 if the errors do
    not vary, since their spread is then unknown.
    """
    margin: float
    """Difference for which the power is computed."""
    groups: int
    """Number of groups."""
    units: int
    """Number of units over all groups; a unit in several groups counts in each."""


def homogeneity(
    errors: Array, predictions: Array, unit: Places, group: Places, *, margin: float, seed: int = 0
) -> Homogeneity:
    """Test whether errors have the same mean in every group.

    Args:
        errors: N labels less their predictions.
        predictions: N: the predictions, in [0, 1].
        unit: N: their units. Errors of one unit in one group are averaged first.
        group: N: their groups; each group has at least two units.
        margin: the difference for which to compute the power.
        seed: seed of the permutations.
    """
    cells, place = np.unique(np.stack([unit, group]), axis=1, return_inverse=True)
    count = np.bincount(place.ravel())
    values, predicted = (np.bincount(place.ravel(), of) / count for of in (errors, predictions))
    own, part = cells
    groups, part = np.unique(part, return_inverse=True)
    k, n = len(groups), len(values)
    if k < 2 or float(values.var()) < 1e-12:
        return Homogeneity(1.0, 0.0, margin, k, n)
    bins = np.minimum((np.clip(predicted, 0.0, 1.0) * BINS).astype(np.intp), BINS - 1)
    several = np.bincount(own)[own] > 1
    block = np.where(several, own + 1, 0)
    rng = np.random.default_rng([seed, n, k])
    permuted = np.empty((PERMUTATIONS, n), dtype=np.intp)
    # Sorting by block, then at random, permutes within the blocks.
    permuted[:, np.argsort(block, kind="stable")] = part[np.argsort(block + rng.random(permuted.shape), axis=1)]
    statistics = _statistic(values, bins, permuted, k)[0]
    (seen,), (errors_of,) = _statistic(values, bins, part[None], k)
    p = (1 + int((statistics >= seen - 1e-12).sum())) / (PERMUTATIONS + 1)
    critical = float(np.quantile(statistics, 1 - LEVEL, method="higher"))
    # A difference of the margin also adds to the spread of the errors.
    more = np.sqrt(errors_of**2 + margin * max(1 - margin, 0.0) / np.bincount(part))
    chances = [0.5 * math.erfc(z / math.sqrt(2)) for z in ((critical * errors_of - margin) / more).tolist()]
    return Homogeneity(p, sum(chances) / k, margin, k, n)


def _statistic(values: Array, bins: Places, part: Places, k: int) -> tuple[Array, Array]:
    """Return the largest standardised difference (B), and the standard error of each group's difference from the others
    (B x k), for B assignments of the values to groups.
    """
    draws, classes = len(part), int(bins.max()) + 1
    cells = ((np.arange(draws)[:, None] * k + part) * classes + bins).ravel()
    n, sums, squares = (
        np.bincount(cells, np.tile(of, draws), draws * k * classes).reshape(draws, k, classes)
        for of in (np.ones_like(values), values, values**2)
    )
    others, other_sums, other_squares = (of.sum(axis=1, keepdims=True) - of for of in (n, sums, squares))
    both, spread = (n > 0) & (others > 0), float(values.var())
    n_or_1, others_or_1 = np.maximum(n, 1), np.maximum(others, 1)
    variance = np.maximum(other_squares - other_sums**2 / others_or_1, 0.0) + spread
    variance = np.maximum(variance / (others + 1), spread / 10)
    # Means of groups; their variance comes from the others' errors in the same classes.
    own, rest = n.sum(axis=2), others.sum(axis=2)
    error = np.sqrt((variance * n).sum(axis=2) / own**2 + (variance * others).sum(axis=2) / rest**2)
    plain = (sums.sum(axis=2) / own - other_sums.sum(axis=2) / rest) / error
    # Differences within classes, weighted by their precision.
    precision = np.where(both, 1 / (variance * (1 / n_or_1 + 1 / others_or_1)), 0.0)
    within = (precision * (sums / n_or_1 - other_sums / others_or_1)).sum(axis=2)
    within /= np.sqrt(np.maximum(precision.sum(axis=2), 1e-12))
    return np.maximum(np.abs(plain), np.abs(within)).max(axis=1), error
