"""About how many more queries it takes to tell two systems apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mirage.rank.tiers import Tiers

POWER = 0.8
"""Chance that the test separates the two, with the queries asked for."""

FAR = 100
"""More than this many times the present queries are not worth naming: the two are as good as equal."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How many more queries would separate two systems, by a power analysis, with an interval."""

    first: str
    second: str
    more: int | None
    """Queries to add to those there are, spread over strata and languages as these are; 0 if the two are separated
    already; None with a reason."""
    low: int | None
    """The same if the two differ as much as the 95% interval of their difference allows; None where `more` is None and
    nothing can be said."""
    high: int | None
    """The same if they differ as little as it allows; None where it holds 0, so that no number is enough."""
    reason: str | None
    """Why there is no number; else None."""
    level: float
    """Level of the single test: Holm's for the pair, the family-wise level over the number of pairs that are not
    separated yet."""
    power: float
    """Chance of separation that `more` is chosen for."""
    n_queries: int
    """Queries there are."""

    @property
    def text(self) -> str:
        """One line for a reader."""
        pair = f"{self.first} and {self.second}"
        if self.more == 0:
            return f"{pair} are separated"
        if self.more is not None and self.low is not None:
            high = "more than can be told" if self.high is None else f"{_rounded(self.high):,}"
            return (
                f"about {_rounded(self.more):,} more queries to separate {pair} "
                f"(95% interval: {_rounded(self.low):,} to {high})"
            )
        if self.low is not None:
            return f"at least {_rounded(self.low):,} more queries to separate {pair}: {self.reason}"
        return f"{pair}: {self.reason}"


def sample_sizes(tiers: Tiers, first: str, second: str, *, power: float = POWER) -> SampleSize:
    """How many more queries would tell two systems apart.

    The statistic t of the pair's test is the difference in standard errors. If the true difference is d standard errors
    at the present n queries, then with rho n queries, those there are among them, the statistic is
    sqrt(1 / rho) t + sqrt((rho - 1) / rho) (sqrt(rho - 1) d + a standard normal). The number is the least with which it
    passes the test's quantile with the given chance, averaged over what d may be: the predictive power of
    Spiegelhalter, Freedman and Blackburn (Controlled Clinical Trials 7(1), 1986). What d may be is read off all pairs
    of the row, whose statistics vary by more than 1 where systems differ (empirical Bayes, Robbins 1956), so that a
    difference that was picked because it is large is not taken at its face value.

    Where the 95% interval of the difference holds 0, no number is promised: `low` is then the least that it may take.

    Args:
        tiers: the row.
        first: one system.
        second: the other.
        power: chance that the test then separates them.

    Raises:
        UnknownName: if a system is not in this row.
    """
    index = tiers.index_of(first, second)
    pairs = np.tril_indices(len(tiers.systems), -1)
    unseparated = int((tiers.holm[pairs] > tiers.level).sum())
    level = tiers.level / max(unseparated, 1)
    n, t, df = tiers.n_queries, abs(float(tiers.t[index])), float(tiers.df[index])

    def answer(
        more: int | None, low: int | None = None, high: int | None = None, reason: str | None = None
    ) -> SampleSize:
        return SampleSize(first, second, more, low, high, reason, level, power, n)

    if tiers.separated(first, second):
        return answer(0, 0, 0)
    if not tiers.differing[index]:
        return answer(None, reason="they do not differ on any query")
    # The bound 2^(1 - m) on p asks for so many queries on which the two differ.
    least = n / float(tiers.differing[index]) * (1 + math.log2(1 / level)) - n
    half = _quantile(0.05, df)

    def more(total: float) -> int | None:
        return math.ceil(max(total - n, least, 1)) if total - n <= FAR * n else None

    low = more(queries_needed(t + half, n, level=level, power=power))
    if t <= half:
        equal = "the 95% interval of their difference holds 0, so they may be equal"
        return answer(None, low, None, equal if low is not None else f"{equal}; {_too_close(n)}")
    statistics = tiers.t[pairs][tiers.differing[pairs] > 0]
    spread = max(float(np.mean(statistics**2)) - 1, 0.0)
    total = n * _growth(t, spread / (1 + spread), level=level, power=power, n=n)
    if total - n > FAR * n:
        return answer(None, low, None, _too_close(n))
    return answer(more(total), low, more(queries_needed(t - half, n, level=level, power=power)))


def _too_close(n: int) -> str:
    return f"too close to call: it may take more than {FAR} times the present {n:,} queries"


def _rounded(n: int) -> int:
    """Two digits, rounded up."""
    unit = int(10 ** max(0, len(str(n)) - 2))
    return -(-n // unit) * unit


def _growth(t: float, reliability: float, *, level: float, power: float, n: int) -> float:
    """How many times the present queries it takes; infinite where no number is enough.

    Args:
        t: the statistic, above 0.
        reliability: the part of t that the mean of the true difference is, and its variance, in squared standard
            errors.
        level: level of the test.
        power: its power.
        n: queries there are.
    """
    from scipy.special import ndtri

    def short(growth: float) -> float:
        mean = t * (1 + (growth - 1) * reliability) / math.sqrt(growth)
        deviation = math.sqrt(((growth - 1) ** 2 * reliability + growth - 1) / growth)
        return _quantile(level, max(n * growth - 1, 1)) + float(ndtri(power)) * deviation - mean

    low, high = 1.0, 2.0 + FAR
    if short(high) > 0:
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if short(middle) > 0 else (low, middle)
    return high


def _quantile(level: float, df: float) -> float:
    """What a two-sided t test of a level asks of its statistic."""
    from scipy.special import stdtrit

    return float(stdtrit(max(df, 1), 1 - level / 2))


def queries_needed(t: float, n: int, *, level: float, power: float = POWER) -> float:
    """Queries with which a two-sided paired t test of a level has a power, if n queries give the statistic t.

    Infinite for t = 0.
    """
    from scipy.special import ndtri, stdtrit

    if t == 0:
        return math.inf
    total = n * ((ndtri(1 - level / 2) + ndtri(power)) / t) ** 2
    for _ in range(20):
        df = max(total - 1, 1)
        total = n * ((stdtrit(df, 1 - level / 2) + stdtrit(df, power)) / t) ** 2
        if not math.isfinite(total):
            return math.inf
    return float(total)
