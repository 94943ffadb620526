"""Kendall's tau of ratings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SAME = 1e-9
"""Ratings closer than this are equal, as in ranks."""


def kendall(first: Array, second: Array) -> Array:
    """Return Kendall's tau-b of ratings along the last axis; NaN where one side has all ratings equal.

    Args:
        first: ... x S ratings; differences under 1e-9 are ties.
        second: ratings of the same systems, of a shape that broadcasts.

    Source: Kendall, Biometrika 33 (1945).
    """
    i, j = np.triu_indices(first.shape[-1], 1)

    def order(x: Array) -> Array:
        d = x[..., i] - x[..., j]
        return np.where(np.abs(d) <= _SAME, 0.0, np.sign(d))

    a, b = order(np.asarray(first, dtype=float)), order(np.asarray(second, dtype=float))
    norm = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=-1) / norm)
