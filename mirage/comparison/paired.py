"""The difference of two systems over the queries that both have: its interval, what it could show, what would decide.

A query is the unit: it gives one difference, and queries are drawn independently within strata. Where differences are
bounded the interval is that of `mirage.bounded`, which also holds where a few queries decide: rare differences to one
side make Student's t say `equivalent` or `better` far too often. Other differences have Student's t. Two things guard
both where queries hardly vary:

- No p-value goes below 2^(1 - m), with m the queries on which the two differ: what an exact test that flips signs could
  give at best (as in `mirage.rank.tiers`).
- Where all differences are the same, their spread is not 0 but unknown: with 97.5% confidence fewer than
  1 - 0.025^(1/n) of all queries are otherwise, for n queries seen (Clopper and Pearson, 1934), and each of them by no
  more than the range of the measure. So two runs with the same values are `equivalent` where that share of the range
  lies within the margin, else `inconclusive`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.bounded import StratifiedMean, mean_of_means
from mirage.rank.fit import Array
from mirage.rank.records import LEVEL
from mirage.rank.sample_size import FAR, POWER
from mirage.units import spread

ALPHA = 1 - LEVEL
"""Level of the two-sided test that belongs to the interval."""

_SAME = 1e-9
"""Differences that are smaller than this, against the range of the measure or 1, are rounding errors."""
_TRIALS = 41
"""True differences, from end to end of the interval, that the number of queries is looked for at."""


@dataclass(frozen=True, slots=True)
class PairedEstimate:
    """A difference of two systems with its uncertainty, in the unit of the measure; above 0 the first is ahead."""

    value: float
    """Mean of the queries' differences, strata weighing the same."""
    error: float | None
    """Standard error with the query as the unit; null where the queries tell none."""
    df: float | None
    """Degrees of freedom of Student's t (Satterthwaite where there are several strata); null where `error` is."""
    low: float | None
    """Lower end of the 95% interval; null where the data puts no bound on it."""
    high: float | None
    """Upper end."""
    p: float
    """Two-sided p-value of no difference; 1 where nothing can be tested."""
    n_queries: int
    """Queries of both."""
    differing: int
    """Queries on which the two differ."""
    reason: str | None
    """Why an end is null; else null."""
    otherwise: float | None = None
    """Where every query has the same difference: with 97.5% confidence fewer than this share of all queries has
    another, in (0, 1); else null."""

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that the two-sided 5% test finds with a chance of 80%, with these queries; null
        where `error` is.
        """
        if self.error is None or self.df is None:
            return None
        return (quantile(self.df, 1 - ALPHA / 2) + quantile(self.df, POWER)) * self.error


@dataclass(frozen=True, slots=True)
class MoreQueries:
    """How many queries more would bring a decision, with a chance of 80%."""

    more: int | None
    """If the true difference is the estimated one; 0 where it is decided, null with a reason."""
    low: int | None
    """The fewest that any true difference within the 95% interval asks for; null where none is known."""
    high: int | None
    """The most; null where no number is enough for some difference within the interval."""
    reason: str | None
    """Why `more` is null; else null."""


def paired_estimate(differences: Array, strata: NDArray[np.intp], *, reach: float | None) -> PairedEstimate:
    """The mean of paired differences, every stratum weighing the same.

    Args:
        differences: N, at least 1: of each query, the first system's value less the second's.
        strata: N: the stratum of each query.
        reach: the largest difference that is possible; None where there is none.
    """
    groups = tuple(np.flatnonzero(strata == k) for k in np.unique(strata))
    n, differing = len(differences), int((np.abs(differences) > _SAME * (reach or 1.0)).sum())
    value = float(np.mean([differences[rows].mean() for rows in groups]))
    if min(len(rows) for rows in groups) < 2:
        why = "one query tells nothing of the spread" if n == 1 else "a stratum has one query, which tells no spread"
        return PairedEstimate(value, None, None, None, None, 1.0, n, differing, why)
    moves = np.empty((n, 1))
    for rows in groups:
        moves[rows, 0] = differences[rows] / (len(rows) * len(groups))
    variance, below = (float(part[0]) for part in spread(moves, groups))
    varied = math.sqrt(variance) > _SAME * (reach or 1.0)
    error, df = (math.sqrt(variance), variance**2 / below) if varied else (None, None)
    share = None if varied else float(np.mean([1 - (ALPHA / 2) ** (1 / len(rows)) for rows in groups]))
    if reach is not None:
        mean = StratifiedMean(differences, strata, -reach, reach)
        low, high = mean.interval(LEVEL)
        if error is None:
            df = float(n - len(groups))
            error = (high - low) / 2 / quantile(df, 1 - ALPHA / 2)
        p = max(mean.p_value(), _least(differing))
        return PairedEstimate(value, error, df, low, high, p, n, differing, None, share)
    if error is None or df is None:
        why = "they differ on no query" if differing == 0 else "they differ by as much on every query"
        return PairedEstimate(value, None, None, None, None, _least(differing), n, differing, why, share)
    return _with_ends(value, error, df, n, differing)


def mean_estimate(parts: Sequence[PairedEstimate], *, reach: float | None) -> PairedEstimate | None:
    """The unweighted mean of independent estimates; None where no part has a standard error. Parts without are left
    out.

    Args:
        parts: estimates of one measure, a language each.
        reach: the largest difference that is possible; None where there is none, which takes Satterthwaite's degrees of
            freedom.
    """
    from scipy.special import ndtr, ndtri

    known = [(part, part.error, part.df) for part in parts if part.error is not None and part.df is not None]
    if not known:
        return None
    variance = sum(error**2 for _, error, _ in known)
    below = sum(error**4 / df for _, error, df in known)
    error, df = math.sqrt(variance) / len(known), variance**2 / below
    n, differing = (sum(getattr(part, name) for part, _, _ in known) for name in ("n_queries", "differing"))
    values, lows, highs = (
        np.array([getattr(part, name) for part, _, _ in known], dtype=float) for name in ("value", "low", "high")
    )
    if reach is None:
        return _with_ends(float(values.mean()), error, df, n, differing)
    value, low, high = mean_of_means(values, lows, highs)
    apart = value - low if value > 0 else high - value
    p = 2 * float(ndtr(ndtri(ALPHA / 2) * abs(value) / apart)) if apart > 0 else 1.0
    return PairedEstimate(value, error, df, low, high, max(p, _least(differing)), n, differing, None)


def more_queries(estimate: PairedEstimate, margin: float) -> MoreQueries:
    """How many more queries would bring the interval off 0, or into the margin, with a chance of 80%.

    Args:
        estimate: a difference that is not decided.
        margin: differences within it are as good as none; 0 where all count.
    """
    if estimate.error is None or estimate.low is None or estimate.high is None:
        return MoreQueries(None, None, None, estimate.reason)
    if estimate.differing == 0 and estimate.otherwise is not None and margin > 0:
        # The share that may be otherwise is 1 - a^(1/n), of which the margin allows `fewer`.
        fewer = estimate.otherwise * margin / estimate.high
        times = math.log1p(-estimate.otherwise) / math.log1p(-fewer)
        needed = max(math.ceil((times - 1) * estimate.n_queries), 1)
        return MoreQueries(needed, needed, None, None)
    trials = np.concatenate([[estimate.value], np.linspace(estimate.low, estimate.high, _TRIALS)])
    growth = _growth(np.abs(trials), estimate, margin)
    totals = [math.ceil((g - 1) * estimate.n_queries) if g <= FAR else None for g in growth.tolist()]
    more, among = totals[0], [max(total, 1) for total in totals if total is not None]
    reason = None if more is not None else f"it may take more than {FAR} times the present {estimate.n_queries} queries"
    high = max(among) if len(among) == len(totals) else None
    return MoreQueries(None if more is None else max(more, 1), min(among, default=None), high, reason)


def quantile(df: float, share: float) -> float:
    """A quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, share))


def _growth(distance: Array, estimate: PairedEstimate, margin: float) -> Array:
    """How many times the present queries decide with the chance `POWER`, for each true distance from 0; more than `FAR`
    where that many are not enough.

    With the half-width h the estimate decides beyond h, where the interval is off 0, and within margin - h, where it is
    in the margin.
    """
    from scipy.special import stdtr, stdtrit

    error, df = estimate.error or 0.0, estimate.df or 1.0

    def chance(growth: Array) -> Array:
        df_of = df * growth
        unit = error / np.sqrt(growth)
        half = stdtrit(df_of, 1 - ALPHA / 2) * unit
        inside = np.clip(margin - half, 0.0, half)

        def below(end: Array) -> Array:
            return np.asarray(stdtr(df_of, (end - distance) / unit))

        return np.asarray(1 - below(half) + below(-half) + below(inside) - below(-inside))

    low, high = np.ones(len(distance)), np.full(len(distance), FAR + 1.0)
    for _ in range(50):
        middle = (low + high) / 2
        enough = chance(middle) >= POWER
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray(high)


def _with_ends(value: float, error: float, df: float, n: int, differing: int) -> PairedEstimate:
    """Return a difference without bounds with the interval and the test of Student's t."""
    from scipy.special import stdtr

    half = quantile(df, 1 - ALPHA / 2) * error
    p = max(2 * float(stdtr(df, -abs(value) / error)), _least(differing))
    return PairedEstimate(value, error, df, value - half, value + half, p, n, differing, None)


def _least(differing: int) -> float:
    """The least p-value that an exact test can give where the two differ on so many queries."""
    return min(1.0, 2.0 ** (1 - differing))
