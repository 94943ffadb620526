"""Kendall's tau of ratings."""

import numpy as np

from mirage.stats.arrays import Array

_SAME = 1e-9
"""Ratings closer than this are equal, as in ranks."""


def pair_signs(ratings: Array) -> Array:
    """Return the sign of every pair of ratings along the last axis: 1 if the first is higher, -1 the second, 0 neither.

    Args:
        ratings: ... x S; differences under 1e-9 are ties.

    Returns:
        ... x S (S - 1) / 2, in the order of `numpy.triu_indices`.
    """
    i, j = np.triu_indices(ratings.shape[-1], 1)
    difference = ratings[..., i] - ratings[..., j]
    return np.where(np.abs(difference) <= _SAME, 0.0, np.sign(difference))


def kendall(first: Array, second: Array) -> Array:
    """Return Kendall's tau-b of ratings along the last axis; NaN where one side has all ratings equal.

    Args:
        first: ... x S ratings; differences under 1e-9 are ties.
        second: ratings of the same systems, of a shape that broadcasts.

    Source: Kendall, Biometrika 33 (1945).
    """
    a, b = (pair_signs(np.asarray(ratings, dtype=float)) for ratings in (first, second))
    norm = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=-1) / norm)
