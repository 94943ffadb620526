"""Holm's correction for multiple tests."""

from collections.abc import Sequence

import numpy as np

from mirage.stats.arrays import Array


def holm(p: Sequence[float] | Array) -> Array:
    """Adjust p-values by Holm's step-down method, in their order: the family-wise level at which each would be
    rejected.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.minimum(1.0, np.arange(len(values), 0, -1) * values[order])
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(stepped)
    return adjusted
