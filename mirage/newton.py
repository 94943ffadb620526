"""Newton's method for a concave function, with steps of bounded length: the one loop that every fit of ours uses alone.

`rank.fit` has its own, for thousands of data sets at once and with step halving.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def newton(
    slopes: Callable[[Array], tuple[Array, Array]], x: Array, *, longest: float, tolerance: float, limit: int
) -> Array:
    """The point where a concave function has its maximum.

    Args:
        slopes: given a point (n), the gradient there (n) and minus the Hessian (n x n), which is positive definite.
        x: n: where to begin.
        longest: no coordinate moves by more than this in a step, so that a step does not leave the region where the
            curvature tells anything.
        tolerance: the iterations end when no coordinate moves by more than this.
        limit: the largest number of steps.
    """
    for _ in range(limit):
        gradient, curvature = slopes(x)
        step = np.linalg.solve(curvature, gradient)
        length = float(np.abs(step).max())
        x = x + step * min(1.0, longest / max(length, 1e-300))
        if length < tolerance:
            break
    return x
