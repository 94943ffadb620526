"""Estimates that are functions of sums over queries, with jackknife intervals over queries.

Leaving out a query leaves out all its battles, which share its difficulty. The variance is that of the values without
each query (Tukey 1958; for kappa of clustered pairs: Yang and Zhou, Statistics in Medicine 33, 2014); the interval of a
share is Wilson's at the effective number of trials (`mirage.stats.intervals.of_variance`), others use a t quantile.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mirage.stats.arrays import Array
from mirage.stats.intervals import of_variance, student_reach

Statistic = Callable[[Array], Array]
"""Maps B x K sums to B values; NaN where undefined."""
Scale = Literal["share", "difference", "logits"]
"""`share`: in [0, 1]. `difference`: in [-1, 1]. `logits`: any number."""
LEAST = 10
"""Minimum number of queries for an interval."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One measured value with its 95% interval, or the reason why there is none."""

    value: float | None
    """The value; null if undefined."""
    low: float | None
    """Lower end of the interval, with the query as the cluster; null where there is none."""
    high: float | None
    """Upper end."""
    n: int
    """Sample size: votes, verdicts, battles or systems, as the measure defines."""
    queries: int | None
    """Number of queries; null if unknown."""
    reason: str | None
    """Reason why the value or the interval is null; null if both exist."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A value in one language, and its variance."""

    value: float
    """The value; NaN if undefined."""
    variance: float
    """Variance of the value as an estimate; NaN if unknown."""
    n: int
    """Sample size of the value."""
    queries: int
    """Number of queries."""


def jackknife(sums: Array, statistic: Statistic, trials: Statistic) -> Spread:
    """Compute a statistic over all queries, and its variance.

    Args:
        sums: Q x K: contribution of each query.
        statistic: the statistic.
        trials: its sample size; queries that contribute nothing to it are excluded.
    """
    used = sums[trials(sums) > 0]
    if not len(used):
        return Spread(np.nan, np.nan, 0, 0)
    total = used.sum(axis=0, keepdims=True)
    n, count = len(used), round(float(trials(total)[0]))
    value = float(statistic(total)[0])
    if n < LEAST or np.isnan(value):
        return Spread(value, np.nan, count, n)
    without = statistic(total - used)
    return Spread(value, float((n - 1) / n * ((without - without.mean()) ** 2).sum()), count, n)


def estimate(spreads: Sequence[Spread], *, none: str, scale: Scale = "share") -> Estimate:
    """Average over languages with equal weights, with a 95% interval; with one language, its own.

    Args:
        spreads: one per language. If some have a variance, only these count.
        none: reason to give if there is no value.
        scale: range of the value.
    """
    known = [spread for spread in spreads if not np.isnan(spread.value)]
    n, queries = sum(spread.n for spread in spreads), sum(spread.queries for spread in spreads)
    if not known:
        return Estimate(None, None, None, n, queries, none)
    used = [spread for spread in known if not np.isnan(spread.variance)] or known
    value = float(np.mean([spread.value for spread in used]))
    if np.isnan(used[0].variance):
        few = max(spread.queries for spread in used)
        reason = "the value is undefined without one of the queries" if few >= LEAST else f"under {LEAST} queries"
        return Estimate(value, None, None, n, queries, reason)
    # Satterthwaite's degrees of freedom of the mean over languages with equal weights.
    variance = sum(spread.variance for spread in used) / len(used) ** 2
    below = sum((spread.variance / len(used) ** 2) ** 2 / (spread.queries - 1) for spread in used)
    clusters = 1 + (variance**2 / below if below > 0 else sum(spread.queries for spread in used) - len(used))
    if scale == "share":
        value = min(max(value, 0.0), 1.0)
        ends = of_variance(
            value,
            variance if 0 < value < 1 else 0.0,
            clusters=clusters,
            trials=sum(spread.n for spread in used),
        )
        return Estimate(value, *ends, n, queries, None)
    if variance <= 1e-18:
        return Estimate(value, None, None, n, queries, "no interval: all queries say the same")
    reach = student_reach(clusters - 1) * variance**0.5
    return Estimate(value, max(value - reach, -1.0), min(value + reach, 1.0), n, queries, None)
