"""Paired difference of two systems over the queries that both have: interval, detectable difference, required sample
size.

The query is the unit: it gives one difference, and queries are sampled independently within strata. For bounded
differences the interval is that of `mirage.stats.bounded`, which also holds where a few queries decide: with rare
differences to one side, Student's t gives `equivalent` or `better` far too often. Other differences use Student's t.
Both have two safeguards where queries hardly vary:

- No p-value is below 2^(1 - m), with m the queries on which the two differ: the minimum of an exact sign-flip test (as
  in `mirage.ranking.pair_tests`).
- Where all differences are equal, their spread is not 0 but unknown: with 97.5% confidence fewer than 1 - 0.025^(1/n)
  of all queries differ from these, for n queries (Clopper and Pearson, 1934), and each of them by at most the range of
  the measure. So two runs with the same values are `equivalent` if that share of the range is within the margin, else
  `inconclusive`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.fit import Array
from mirage.ranking.records import LEVEL
from mirage.ranking.sample_size import FAR, POWER
from mirage.stats.bounded import StratifiedMean, mean_of_means
from mirage.stats.units import Units, joint_spread, spread

ALPHA = 1 - LEVEL
"""Level of the two-sided test that corresponds to the interval."""

_SAME = 1e-9
"""Differences smaller than this, relative to the range of the measure or 1, are rounding errors."""
_TRIALS = 41
"""Number of true differences, from end to end of the interval, at which the required number of queries is computed."""


@dataclass(frozen=True, slots=True)
class PairedEstimate:
    """A difference of two systems with its uncertainty, in the unit of the measure; above 0 the first is ahead."""

    value: float
    """Mean of the queries' differences, with equal weights of strata."""
    error: float | None
    """Standard error with the query as the unit; null if it cannot be estimated."""
    df: float | None
    """Degrees of freedom of Student's t (Satterthwaite with several strata); null if `error` is."""
    low: float | None
    """Lower end of the 95% interval; null where the data puts no bound on it."""
    high: float | None
    """Upper end."""
    p: float
    """Two-sided p-value of no difference; 1 if nothing can be tested."""
    n_queries: int
    """Number of queries of both."""
    differing: int
    """Number of queries on which the two differ."""
    reason: str | None
    """Reason why an end is null; else null."""
    otherwise: float | None = None
    """If every query has the same difference: upper bound, with 97.5% confidence, on the share of all queries with
    another difference, in (0, 1); else null.
    """

    @property
    def detectable(self) -> float | None:
        """Minimum detectable difference of the two-sided 5% test at 80% power, with these queries; null if
        `error` is.
        """
        if self.error is None or self.df is None:
            return None
        return (quantile(self.df, 1 - ALPHA / 2) + quantile(self.df, POWER)) * self.error


@dataclass(frozen=True, slots=True)
class MoreQueries:
    """Number of additional queries that would give a decision with 80% power."""

    more: int | None
    """Number if the true difference is the estimated one; 0 if decided already, null with a reason."""
    low: int | None
    """Minimum over true differences within the 95% interval; null if unknown."""
    high: int | None
    """Maximum; null if for some difference within the interval no number is enough."""
    reason: str | None
    """Reason why `more` is null; else null."""


def paired_estimate(differences: Array, strata: NDArray[np.intp], *, reach: float | None) -> PairedEstimate:
    """Estimate the mean of paired differences, with equal weights of strata.

    Args:
        differences: N, at least 1: the first system's value minus the second's on each query.
        strata: N: the stratum of each query.
        reach: the largest possible difference; None if unbounded.
    """
    groups = tuple(np.flatnonzero(strata == k) for k in np.unique(strata))
    n, differing = len(differences), int((np.abs(differences) > _SAME * (reach or 1.0)).sum())
    value = float(np.mean([differences[rows].mean() for rows in groups]))
    if min(len(rows) for rows in groups) < 2:
        why = "one query gives no estimate of the spread" if n == 1 else "a stratum has only one query"
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
        why = "they differ on no query" if differing == 0 else "they differ by the same amount on every query"
        return PairedEstimate(value, None, None, None, None, _least(differing), n, differing, why, share)
    return _with_ends(value, error, df, n, differing)


def mean_estimate(parts: Sequence[PairedEstimate], *, reach: float | None) -> PairedEstimate | None:
    """Average independent estimates with equal weights, excluding those without a standard error; None if none has one.

    Args:
        parts: estimates of one measure, one per language.
        reach: the largest possible difference; None if unbounded, which uses Satterthwaite's degrees of freedom.
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
    """Estimate the additional queries that would move the interval off 0, or into the margin, with 80% power.

    Args:
        estimate: an undecided difference.
        margin: largest difference that counts as none; 0 if all count.
    """
    if estimate.error is None or estimate.low is None or estimate.high is None:
        return MoreQueries(None, None, None, estimate.reason)
    far = f"it may take more than {FAR} times the present {estimate.n_queries} queries"
    if estimate.differing == 0 and estimate.otherwise is not None and margin > 0:
        # The share that may differ is 1 - a^(1/n); the margin allows `fewer`.
        fewer = estimate.otherwise * margin / estimate.high
        if fewer < sys.float_info.min:
            return MoreQueries(None, None, None, far)
        times = math.log1p(-estimate.otherwise) / math.log1p(-fewer)
        needed = max(math.ceil((times - 1) * estimate.n_queries), 1)
        return MoreQueries(needed, needed, None, None)
    trials = np.concatenate([[estimate.value], np.linspace(estimate.low, estimate.high, _TRIALS)])
    growth = _growth(np.abs(trials), estimate, margin)
    totals = [math.ceil((g - 1) * estimate.n_queries) if g <= FAR else None for g in growth.tolist()]
    more, among = totals[0], [max(total, 1) for total in totals if total is not None]
    reason = None if more is not None else far
    high = max(among) if len(among) == len(totals) else None
    return MoreQueries(None if more is None else max(more, 1), min(among, default=None), high, reason)


def quantile(df: float, share: float) -> float:
    """Return a quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, share))


def _growth(distance: Array, estimate: PairedEstimate, margin: float) -> Array:
    """Return the multiple of the present queries that decides with power `POWER`, for each true distance from 0; above
    `FAR` if that multiple is not enough.

    With half-width h, the estimate decides beyond h, where the interval excludes 0, and within margin - h, where it is
    inside the margin.
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
    """Return an unbounded difference with the interval and the test of Student's t."""
    from scipy.special import stdtr

    half = quantile(df, 1 - ALPHA / 2) * error
    p = max(2 * float(stdtr(df, -abs(value) / error)), _least(differing))
    return PairedEstimate(value, error, df, value - half, value + half, p, n, differing, None)


def _least(differing: int) -> float:
    """Return the minimum p-value of an exact sign-flip test with this number of differing queries."""
    return min(1.0, 2.0 ** (1 - differing))


# --- over languages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class LanguageDifferences:
    """Differences of two systems in one language."""

    queries: tuple[str, ...]
    """The Q queries with values of both."""
    values: Array
    """Q: the first system's value minus the second's."""
    strata: NDArray[np.intp]
    """Q: the stratum of each; strata have equal weights."""
    estimate: PairedEstimate
    """Their mean."""


def joint_estimate(languages: Mapping[str, LanguageDifferences], *, reach: float | None) -> PairedEstimate | None:
    """Average over the languages that have a standard error; None if there are none. The reason lists the excluded
    languages.

    Args:
        languages: the differences by code.
        reach: the largest possible difference; None if unbounded.
    """
    known = {code: part for code, part in languages.items() if part.estimate.error is not None}
    units = Units({code: part.queries for code, part in known.items()})
    joint = mean_estimate([part.estimate for part in known.values()], reach=reach)
    if joint is None:
        return None
    if units.shared:
        joint = _parallel(known, units, reach) or _widen_for_shared(known, units, joint, reach)
    without = [f"{code} ({languages[code].estimate.reason})" for code in languages.keys() - known.keys()]
    return replace(joint, reason="the mean is without " + ", ".join(sorted(without))) if without else joint


def _parallel(known: Mapping[str, LanguageDifferences], units: Units, reach: float | None) -> PairedEstimate | None:
    """Return the estimate if all languages have the same queries in the same strata, one value each; otherwise None."""
    total, strata = np.zeros(units.n), []
    for code, part in known.items():
        if len(part.queries) < units.n:
            return None
        of_language = np.empty(units.n, dtype=np.intp)
        of_language[units.numbers[code]] = part.strata
        total[units.numbers[code]] += part.values
        strata.append(of_language)
    cells = np.unique(np.stack(strata), axis=1, return_inverse=True)
    if any(len(np.unique(part.strata)) != cells[0].shape[1] for part in known.values()):
        return None
    return paired_estimate(total / len(known), cells[1].ravel(), reach=reach)


def _widen_for_shared(
    known: Mapping[str, LanguageDifferences], units: Units, joint: PairedEstimate, reach: float | None
) -> PairedEstimate:
    """Widen an estimate that assumes independent languages for the queries they share."""
    moves, strata = {}, {}
    for code, part in known.items():
        groups = tuple(np.flatnonzero(part.strata == k) for k in np.unique(part.strata))
        moves[code], strata[code] = np.empty((len(part.values), 1)), groups
        for rows in groups:
            moves[code][rows, 0] = part.values[rows] / (len(rows) * len(groups) * len(known))
    apart = sum(float(spread(moves[code], strata[code])[0][0]) for code in known)
    variance, below = (float(column[0]) for column in joint_spread(moves, strata, units))
    differing = np.zeros(units.n, dtype=bool)
    for code, part in known.items():
        differing[units.numbers[code]] |= part.values != 0
    if joint.error is None or joint.df is None or joint.low is None or joint.high is None:
        return joint
    # Without any spread, shared queries count once.
    factor = (variance / apart) ** 0.5 if apart > 0 else len(known) ** 0.5
    df = variance**2 / below if below > 0 else joint.df
    wider = factor * quantile(df, 1 - ALPHA / 2) / quantile(joint.df, 1 - ALPHA / 2)
    bound = np.inf if reach is None else reach
    return replace(
        joint,
        error=joint.error * factor,
        df=df,
        low=max(joint.value - wider * (joint.value - joint.low), -bound),
        high=min(joint.value + wider * (joint.high - joint.value), bound),
        p=max(_wider_p(joint.p, wider), min(1.0, 2.0 ** (1 - int(differing.sum())))),
        n_queries=units.n,
        differing=int(differing.sum()),
    )


def _wider_p(p: float, wider: float) -> float:
    """Return the p-value for an interval widened by a factor."""
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(ndtri(p / 2) / wider)) if wider > 0 else p
