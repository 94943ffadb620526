"""Exact tests and intervals for the mean of bounded differences, with one unseen unit at the worst value.

Gaffke's bound (2005; Learned-Miller and Thomas, arXiv 1905.06208) is a quantile of the weighted mean of the values and
one more value at the end of the range, over Dirichlet weights: standard exponential ones, divided by their sum. The
p-value of "the mean is at most t" is the probability that this mean is at most t. At 0 it is the sign test's where
values are -1, 0 and 1, and the interval is that of Clopper and Pearson where only two values can occur. A unit that
counts more, such as a query of the smaller of two kinds that weigh equally, has its weight in the mean, and the unseen
unit has the largest weight.

The probability is that of a sum of scaled exponential variables below 0. It is integrated along a vertical line through
the saddlepoint (Rice, SIAM Journal on Scientific and Statistical Computing 1, 1980), which is exact to rounding also
far in the tail.
"""

import math

import numpy as np

from mirage.stats.arrays import Array

SAME = 1e-9
"""Values that differ by less, relative to the range, are equal."""
_STEP, _AT_ONCE = 0.2, 16
"""Step of the trapezoidal rule, whose error is below exp(-49), and number of nodes evaluated at once."""
_NEGLIGIBLE = 1e-17
"""Share of the sum below which further nodes do not count."""


class BoundedMean:
    """The weighted mean of independent values within a range around 0, with its test and interval."""

    def __init__(self, values: Array, weights: Array, reach: float) -> None:
        """Initialise from the units.

        Args:
            values: N values from -reach to reach.
            weights: N: their weights, above 0.
            reach: the largest possible value.
        """
        whole = np.where(np.abs(values) <= SAME * reach, 0.0, values) / reach
        cells, self._count = np.unique(np.column_stack([whole, weights / weights.max()]), axis=0, return_counts=True)
        self._values, self._weights = cells.T
        self._reach = reach
        self.value = float(weights @ values / weights.sum())

    def p_value(self, point: float = 0.0) -> float:
        """Return the two-sided p-value of a true mean at a point."""
        at = point / self._reach
        return min(1.0, 2 * min(self._p_at_most(at, 1), self._p_at_most(-at, -1)))

    def interval(self, level: float) -> tuple[float, float]:
        """Return both ends of the interval: the means whose two-sided p-value is at least a level."""
        return self._low(level / 2, 1) * self._reach, -self._low(level / 2, -1) * self._reach

    def detectable(self, level: float, power: float) -> float | None:
        """Return the least true mean above 0 that the test finds at a two-sided level with a power; None if the units
        find none.

        The values at such a mean have the sizes that are there: first the signs lean to one side, then more of the
        units differ from 0, at last all of them are larger by the same amount.
        """
        from scipy.optimize import brentq
        from scipy.special import ndtri

        sizes, weight = np.abs(self._values), self._weights * self._count
        there = sizes > 0
        if not there.any():
            return None
        share = float(weight[there].sum() / weight.sum())
        mean, square = (float(weight @ sizes**k / weight.sum()) for k in (1, 2))
        sizes, scale, shapes, whole = sizes[there], self._weights[there], self._count[there], mean / share
        units = weight.sum() ** 2 / float(self._weights @ weight)

        def excess(at: float) -> float:
            lean, more = min(at / mean, 1.0), min(max(at / mean, 1.0), 1 / share)
            up, ahead, behind = scale * (sizes + max(at - whole, 0.0)), more * (1 + lean) / 2, more * (1 - lean) / 2
            cells = np.concatenate([up, -up, [-1.0]]), np.concatenate([shapes * ahead, shapes * behind, [1.0]])
            kept = cells[1] > 0
            return chance_below(cells[0][kept], cells[1][kept]) - level / 2

        def short(at: float) -> float:
            spread = max(square * min(max(at / mean, 1.0), 1 / share) - min(at, whole) ** 2, 0.0)
            return float(at - ndtri(power) * math.sqrt(spread / units) - critical)

        if excess(1.0) > 0:
            return None
        critical = brentq(excess, 0.0, 1.0, xtol=1e-6)
        return float(brentq(short, critical, 1.0, xtol=1e-6)) * self._reach if short(1.0) >= 0 else None

    def _low(self, tail: float, sign: int) -> float:
        """Return the lower end at a probability of the tail, of the values or, by the sign, of their mirror image."""
        from scipy.optimize import brentq

        mean = sign * self.value / self._reach
        if mean <= -1 + SAME:
            return -1.0
        return float(brentq(lambda point: self._p_at_most(point, sign) - tail, -1.0, mean, xtol=1e-10))

    def _p_at_most(self, point: float, sign: int) -> float:
        """Return the p-value of "the true mean is at most a point", of the values or of their mirror image."""
        scales = np.append(self._weights * (sign * self._values - point), -1.0 - point)
        return chance_below(scales, np.append(self._count, 1.0))


def chance_below(scales: Array, shapes: Array) -> float:
    """Return the probability that a sum of independent gamma variables, times these scales, is at most 0.

    Args:
        scales: K: the scales; below 0 they are subtracted.
        shapes: K: the shapes, above 0.
    """
    if scales.max() <= 0:
        return 1.0
    if scales.min() >= 0:
        return 0.0
    scales = scales / np.abs(scales).max()
    return 1 - _upper_tail(scales, shapes) if shapes @ scales < 0 else _upper_tail(-scales, shapes)


def _upper_tail(scales: Array, shapes: Array) -> float:
    """Return the probability that the sum is above 0, best where that is small."""
    from scipy.optimize import brentq

    largest = scales.max()

    def slope(tilt: float) -> float:
        return float(shapes @ (scales / (1 - tilt * scales))) - 1 / tilt

    tilt = brentq(slope, 1e-12 / largest, (1 - 1e-12) / largest, rtol=1e-3)
    tilted = scales / (1 - tilt * scales)
    width = 1 / np.sqrt(shapes @ tilted**2 + 1 / tilt**2)
    # With s = tilt + iy: exp(K(s)) / s over its value at the tilt, for the cumulant generating function K.
    powers, total, node = np.append(shapes, 1.0), 0.5, 1
    while True:
        x = _STEP * np.arange(node, node + _AT_ONCE)
        turns = np.outer(np.append(tilted, -1 / tilt), width * np.sinh(x))
        size = np.cosh(x) * np.exp(-powers @ np.log1p(turns**2) / 2)
        total += float(size @ np.cos(powers @ np.arctan(turns)))
        node += _AT_ONCE
        if size[-1] < _NEGLIGIBLE * abs(total):
            break
    log_peak = -float(shapes @ np.log1p(-tilt * scales)) - np.log(tilt)
    return float(min(1.0, np.exp(log_peak) * width * _STEP * total / np.pi))
