"""Estimated number of additional queries needed to separate two systems."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mirage.ranking.pair_tests import BoardTests
from mirage.ranking.records import ALPHA

POWER = 0.8
"""Power: probability that the test separates the two with the computed number of queries."""

FAR = 100
"""Multiple of the present queries above which no number is given: the two are practically equal."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The number of additional queries that would separate two systems, from a power analysis, with an interval."""

    first: str
    second: str
    more: int | None
    """Number of queries to add, distributed over strata and languages like the existing queries; 0 if the two are
    already separated; None with a reason.
    """
    low: int | None
    """`more` for the largest difference in its 95% interval; None where `more` is None and there is no lower bound."""
    high: int | None
    """`more` for the smallest difference in its interval; None if the interval contains 0, so that no number is
    enough.
    """
    reason: str | None
    """Reason why there is no number; else None."""
    level: float
    """Level of the single test: Holm's for the pair, the family-wise level over the number of pairs not separated
    yet.
    """
    n_queries: int
    """Present number of queries."""

    @property
    def text(self) -> str:
        """Description in one line."""
        pair = f"{self.first} and {self.second}"
        if self.more == 0:
            return f"{pair} are separated"
        if self.more is not None and self.low is not None:
            high = "unbounded" if self.high is None else f"{_round_up(self.high):,}"
            return (
                f"about {_round_up(self.more):,} more queries to separate {pair} "
                f"(95% interval: {_round_up(self.low):,} to {high})"
            )
        if self.low is not None:
            return f"at least {_round_up(self.low):,} more queries to separate {pair}: {self.reason}"
        return f"{pair}: {self.reason}"


def neighbour_sizes(tests: BoardTests) -> dict[str, SampleSize]:
    """Return the number of additional queries that would separate each system of a row from the next, by the first."""
    pairs = zip(tests.systems, tests.systems[1:], strict=False)
    return {first: sample_sizes(tests, first, second) for first, second in pairs}


def sample_sizes(tests: BoardTests, first: str, second: str) -> SampleSize:
    """Estimate the number of additional queries that would separate two systems.

    The normal score t of the pair's test is the difference in standard errors. If the true difference is d standard
    errors at the present n queries, then with rho n queries, including the present ones, the statistic is sqrt(1 / rho)
    t + sqrt((rho - 1) / rho) (sqrt(rho - 1) d + a standard normal). The result is the smallest number with which it
    exceeds the test's quantile with the given probability, averaged over the distribution of d: the predictive power of
    Spiegelhalter, Freedman and Blackburn (Controlled Clinical Trials 7(1), 1986). That distribution is estimated from
    all pairs of the row, whose statistics vary by more than 1 where systems differ (empirical Bayes, Robbins 1956), so
    that a difference selected for its size is shrunk.

    Where the 95% interval of the difference contains 0, there is no estimate, and `low` is the minimum.

    Args:
        tests: the row.
        first: one system.
        second: the other.

    Raises:
        UnknownName: if a system is not in this row.
    """
    index = tests.index_of(first, second)
    pairs = np.tril_indices(len(tests.systems), -1)
    unseparated = int((tests.adjusted[pairs] > tests.level).sum())
    level = tests.level / max(unseparated, 1)
    n, t = tests.n_queries, abs(float(tests.z[index]))

    def answer(
        more: int | None, low: int | None = None, high: int | None = None, reason: str | None = None
    ) -> SampleSize:
        return SampleSize(first, second, more, low, high, reason, level, n)

    if tests.are_separated(first, second):
        return answer(0, 0, 0)
    if not tests.differing[index]:
        return answer(None, reason="they do not differ on any query")
    # The bound 2^(1 - m) on p requires this many queries on which the two differ.
    least = n / float(tests.differing[index]) * (1 + math.log2(1 / level)) - n
    half = _quantile(ALPHA)

    def more(total: float) -> int | None:
        return math.ceil(max(total - n, least, 1)) if total - n <= FAR * n else None

    low = more(queries_needed(t + half, n, level=level))
    if t <= half:
        equal = "the 95% interval of their difference contains 0, so they may be equal"
        return answer(None, low, None, equal if low is not None else f"{equal}; {_too_close(n)}")
    statistics = tests.z[pairs][tests.differing[pairs] > 0]
    spread = max(float(np.mean(statistics**2)) - 1, 0.0)
    total = n * _growth(t, spread / (1 + spread), level=level)
    if total - n > FAR * n:
        return answer(None, low, None, _too_close(n))
    return answer(more(total), low, more(queries_needed(t - half, n, level=level)))


def _too_close(n: int) -> str:
    return f"too close to call: it may take more than {FAR} times the present {n:,} queries"


def _round_up(n: int) -> int:
    """Round up to two digits."""
    unit = int(10 ** max(0, len(str(n)) - 2))
    return -(-n // unit) * unit


def _growth(t: float, reliability: float, *, level: float) -> float:
    """Return the required multiple of the present queries; infinite where no number is enough.

    Args:
        t: the statistic, above 0.
        reliability: shrinkage factor of t: the posterior mean of the true difference as a share of t, equal to its
            posterior variance in squared standard errors.
        level: level of the test.
    """
    from scipy.special import ndtri

    def short(growth: float) -> float:
        mean = t * (1 + (growth - 1) * reliability) / math.sqrt(growth)
        deviation = math.sqrt(((growth - 1) ** 2 * reliability + growth - 1) / growth)
        return _quantile(level) + float(ndtri(POWER)) * deviation - mean

    low, high = 1.0, 2.0 + FAR
    if short(high) > 0:
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if short(middle) > 0 else (low, middle)
    return high


def _quantile(level: float) -> float:
    """Return the critical value of a two-sided normal test."""
    from scipy.special import ndtri

    return float(ndtri(1 - level / 2))


def queries_needed(t: float, n: int, *, level: float) -> float:
    """Return the number of queries for the power `POWER` of a two-sided test, if n queries give the normal score t.

    Infinite for t = 0.
    """
    from scipy.special import ndtri

    return math.inf if t == 0 else n * float((_quantile(level) + ndtri(POWER)) / t) ** 2
