"""Means over queries asked in several languages, with intervals clustered by query across languages.

Wilson's interval of a mean of bounded values, rescaled to [0, 1], at the number of trials at which a proportion has the
variance of the mean, with a t quantile (`mirage.stats.intervals.of_variance`). The variance is computed over units. If
all values are equal, the ends are those of Clopper and Pearson for values unseen in n units. Unlike Student's interval
it stays in the range and always has a width; `mirage.stats.bounded` is twice as wide for the small spread of shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.stats.intervals import CONFIDENCE, of_variance
from mirage.stats.units import Units, centre_moves, spread

_NONE = 1e-15
"""Variances up to this are rounding errors."""


@dataclass(frozen=True, slots=True)
class UnitMean:
    """An equally weighted mean over languages of means over queries."""

    mean: float
    """The mean."""
    low: float | None
    """Lower end of its 95% interval; null with fewer than two units."""
    high: float | None
    """Upper end."""
    n: int
    """Number of values: queries in each language."""
    units: int
    """Number of units; a query asked in several languages is one unit."""


def unit_mean(values: Mapping[str, Mapping[str, float]], *, low: float, high: float) -> UnitMean:
    """Average values over the queries of each language, and over languages.

    Args:
        values: by language and query id, at least one for each language.
        low: the lowest possible value.
        high: the highest possible value.
    """
    units = Units({code: list(of_query) for code, of_query in values.items()})
    arrays = {code: np.array(list(of_query.values())) for code, of_query in values.items()}
    mean = float(np.mean([array.mean() for array in arrays.values()]))
    n = sum(map(len, arrays.values()))
    if units.n < 2:
        return UnitMean(mean, None, None, n, units.n)
    variance, freedom = _spread(arrays, units)
    span = high - low
    share, variance = min(max((mean - low) / span, 0.0), 1.0), variance / span**2
    if variance <= _NONE or not 0 < share < 1:
        # Upper limit for an unseen value: the probability at which all n units miss it in 2.5% of samples.
        missed = ((1 - CONFIDENCE) / 2) ** (1 / units.n)
        ends = share * missed, 1 - (1 - share) * missed
    else:
        ends = of_variance(share, variance, clusters=freedom + 1, trials=np.inf)
    return UnitMean(mean, low + span * ends[0], low + span * ends[1], n, units.n)


def _spread(arrays: Mapping[str, NDArray[np.float64]], units: Units) -> tuple[float, float]:
    """Return the variance of the mean, and its degrees of freedom.

    Unlike `mirage.stats.units.joint_spread`, units with different sets of languages are not separate strata, which
    would leave too few degrees of freedom if parallel queries lack some languages.
    """
    moves = {code: array[:, None] / len(array) / len(arrays) for code, array in arrays.items()}
    if not units.shared:
        parts = [spread(of_language, [np.arange(len(of_language))]) for of_language in moves.values()]
        variance, below = (float(sum(part[k][0] for part in parts)) for k in (0, 1))
        return variance, variance**2 / below if below > 0 else units.n - 1.0
    sums = np.zeros(units.n)
    for code, of_language in moves.items():
        np.add.at(sums, units.numbers[code], centre_moves(of_language)[:, 0])
    return float((sums**2).sum()), units.n - 1.0
