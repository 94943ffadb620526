"""Whether a system lies where the surrogate has seen systems, or beyond."""

from __future__ import annotations

import numpy as np

from mirage.surrogate.data import Training, parts

BEYOND = 0.1
"""Share of the range of the other systems by which a mean must lie beyond it. Of n systems drawn alike the next is the
lowest or highest in a given feature with probability 2 / (n + 1): that alone is no warning."""


def outside(training: Training, system: str) -> dict[str, tuple[str, ...]]:
    """By language: the features whose mean lies clearly (`BEYOND`) outside the range of the other systems' means; the
    prediction then extrapolates.
    """
    found = {}
    for part in parts(training, [system]):
        one = part.language
        if system not in one.systems:
            continue
        mine, others = one.means[one.systems.index(system)], one.means[part.train]
        low, high = others.min(axis=0), others.max(axis=0)
        slack = BEYOND * (high - low) + 1e-9 * np.maximum(np.abs(low), np.abs(high))
        beyond = part.use & ((mine < low - slack) | (mine > high + slack))
        found[one.code] = tuple(np.array(training.features)[beyond].tolist())
    return found
