"""Intervals of proportions, and the percentiles of bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

from mirage.errors import BadInput, NotEnoughData

if TYPE_CHECKING:
    from mirage.stats.arrays import Array


MOST_DRAWS = 100_000
"""Maximum number of bootstrap draws; more do not change the intervals noticeably but cost time and memory."""
CONFIDENCE = 0.95
REACH = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Normal quantile of a two-sided interval."""
_LEAST_SCORE = 0.5
"""Normal score of a test below which the distance of 0 in standard errors is too imprecise to divide by."""


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% score interval of a proportion.

    Args:
        k: successes, 0 to n.
        n: trials, at least 1.

    Returns:
        Lower and upper end, in [0, 1].

    Raises:
        NotEnoughData: if there are no trials.
        BadInput: if k is not between 0 and n.

    Source: Wilson, JASA 22 (1927); method 3 of Newcombe, Statistics in Medicine 17 (1998).
    """
    _check(k, n)
    return wilson_at(k / n, n)


def mean_interval(cells: Sequence[tuple[int, int]], *, factor: float = 1.0) -> tuple[float, float, float]:
    """Return the unweighted mean of proportions with a 95% interval; they are independent by default.

    Wilson's interval of the mean at its effective number of trials: the number at which a single proportion has the
    same variance as the mean. That variance is the sum of the proportions' own, over the squared number of them, with
    shares (k + 1/2) / (n + 1), so that a cell of 0 or n successes still varies. For one cell it is Wilson's interval
    itself. Its coverage is tested by simulation: it also holds if every cell is near 0 or 1.

    Args:
        cells: (successes, trials) of each proportion, trials at least 1.
        factor: variance relative to that of independent proportions (`units.sharing_factor`).

    Returns:
        The mean, and its lower and upper end, in [0, 1].

    Raises:
        NotEnoughData: if there are no cells, or one has no trials.
        BadInput: if a count is impossible.

    Source: effective sample sizes in score intervals: Dean and Pagano, Journal of Survey Statistics and Methodology 3
    (2015), 484-503.
    """
    if not cells:
        raise NotEnoughData("a mean of no proportions has no value")
    for k, n in cells:
        _check(k, n)
    mean = sum(k / n for k, n in cells) / len(cells)
    smoothed = [(k + 0.5) / (n + 1) for k, n in cells]
    centre = sum(smoothed) / len(cells)
    variance = factor * sum(p * (1 - p) / n for p, (_, n) in zip(smoothed, cells, strict=True)) / len(cells) ** 2
    return mean, *wilson_at(mean, centre * (1 - centre) / variance)


def of_variance(share: float, variance: float, *, clusters: float, trials: float) -> tuple[float, float]:
    """Return the 95% interval of a share of clustered trials with known variance: Wilson's, at the number of trials
    that would vary as much if they were independent, for a t quantile of the number of clusters.

    Args:
        share: in [0, 1].
        variance: variance of the share as an estimate; 0 if the clusters do not vary.
        clusters: degrees of freedom of the variance plus 1.
        trials: total number of trials, which bounds the effective number.

    Returns:
        Lower and upper end, in [0, 1].
    """
    # Korn and Graubard, Survey Methodology 24 (1998), with Wilson's interval in place of theirs (Dean and Pagano).
    effective = share * (1 - share) / variance if variance > 0 else clusters
    return wilson_at(share, min(float(trials), effective) * (REACH / student_reach(clusters - 1)) ** 2)


def student_reach(freedom: float) -> float:
    """Return the quantile of Student's t of a two-sided interval, given its degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def wilson_at(share: float, trials: float) -> tuple[float, float]:
    """Return Wilson's interval of a mean in [0, 1] at an effective number of trials, more than 0."""
    z = REACH
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * (share * (1 - share) / trials + z * z / (4 * trials * trials)) ** 0.5
    return (middle - half if share > 0 else 0.0), (middle + half if share < 1 else 1.0)


def bootstrap_tails(level: float, n: int) -> tuple[float, float]:
    """Return the two percentiles of an interval of a nominal level from a bootstrap of n units.

    Expanded as Hesterberg (2015, The American Statistician 69(4)) proposes: a bootstrap of n units is too narrow by
    sqrt((n - 1) / n) and by the step from a normal to a t quantile.
    """
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return 0.0, 1.0
    tail = float(ndtr((n / (n - 1)) ** 0.5 * stdtrit(n - 1, (1 - level) / 2)))
    return tail, 1 - tail


def student_tails(level: float, n: int) -> tuple[float, float]:
    """Return the two percentiles of an interval of a nominal level from draws with the variance of the estimate of n
    units.

    The normal tail probabilities of the quantiles of Student's t with n - 1 degrees of freedom (Hesterberg, as for
    `bootstrap_tails`).
    """
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return 0.0, 1.0
    tail = float(ndtr(stdtrit(n - 1, (1 - level) / 2)))
    return tail, 1 - tail


def _check(k: int, n: int) -> None:
    if n < 1:
        raise NotEnoughData("a proportion of no trials has no interval")
    if not 0 <= k <= n:
        raise BadInput(f"{k} successes in {n} trials", do="give a count between 0 and the number of trials")


def need_draws(draws: int) -> None:
    """Check the number of draws.

    Raises:
        BadInput: if there are none, or more than `MOST_DRAWS`.
    """
    if not 1 <= draws <= MOST_DRAWS:
        raise BadInput(f"the number of draws cannot be {draws}", do=f"use 1 to {MOST_DRAWS:,}; 1,000 is the default")


def agree_with_test(value: Array, low: Array, high: Array, z: Array) -> tuple[Array, Array]:
    """Return the interval of a difference that makes the same statement about 0 as its test.

    An interval is the set of differences that no test rejects. At 0 the test is known: where the interval and the test
    disagree, the end on the side of 0 is the test's own, its distance that of 0 in proportion to the normal scores (the
    test-based interval of Miettinen, American Journal of Epidemiology 103, 1976).

    Args:
        value: differences.
        low: lower ends of their intervals at `CONFIDENCE`, possibly infinite.
        high: upper ends.
        z: normal scores of the tests that they are 0; the sign does not matter.
    """
    import numpy as np

    disagree = (np.abs(z) >= REACH) != ((low > 0) | (high < 0))
    end = value * (1 - REACH / np.maximum(np.abs(z), _LEAST_SCORE))
    return np.where(disagree & (value > 0), end, low), np.where(disagree & (value < 0), end, high)
