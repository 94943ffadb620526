"""About how many more questions it takes to tell two systems apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mirage.rank.tiers import Tiers

POWER = 0.8
"""Chance that the test separates the two, with the questions asked for."""

FAR = 100
"""More than this many times the present questions are not worth naming: the two are as good as equal."""


@dataclass(frozen=True, slots=True)
class Needed:
    """How many more questions would separate two systems, if their difference is what it was measured to be."""

    first: str
    second: str
    more: int | None
    """Questions to add to those there are, spread over strata and languages as these are; 0 if the two are separated
    already; None with a reason."""
    reason: str | None
    """Why there is no number; else None."""
    level: float
    """Level of the single test: Holm's for the pair, the family-wise level over the number of pairs that are not
    separated yet."""
    power: float
    """Chance of separation that `more` is chosen for."""
    n_queries: int
    """Questions there are."""

    @property
    def text(self) -> str:
        """One line for a reader."""
        pair = f"{self.first} and {self.second}"
        if self.more is None:
            return f"{pair}: {self.reason}"
        if not self.more:
            return f"{pair} are separated"
        digits = max(0, len(str(self.more)) - 2)
        about = round(math.ceil(self.more / 10**digits) * 10**digits)
        return f"about {about:,} more questions to separate {pair}"


def more_queries(tiers: Tiers, first: str, second: str, *, power: float = POWER) -> Needed:
    """How many more questions would tell two systems apart.

    The statistic of the pair's test grows with the square root of the number of questions n, so that n must grow until
    it is as large as the level's and the power's quantiles of Student's t together (the usual size of a paired test).
    A difference measured by chance as too large makes this too small, and the other way round: it is a plan, not a
    promise.

    Args:
        tiers: the row.
        first: one system.
        second: the other.
        power: chance that the test then separates them.

    Raises:
        UnknownName: if a system is not in this row.
    """
    at = tiers.at(first, second)
    together = int((np.tril(tiers.holm, -1) > tiers.level).sum())
    level = tiers.level / max(together, 1)
    n = tiers.n_queries

    def answer(more: int | None, reason: str | None = None) -> Needed:
        return Needed(first, second, more, reason, level, power, n)

    if tiers.separated(first, second):
        return answer(0)
    if not tiers.differing[at]:
        return answer(None, "they do not differ on any question")
    total = queries(float(tiers.t[at]), n, level=level, power=power)
    # The bound 2^(1 - m) on p asks for so many questions on which the two differ.
    total = max(total, n / float(tiers.differing[at]) * (1 + math.log2(1 / level)))
    more = math.ceil(total - n) if total < math.inf else math.inf
    if more > FAR * n:
        return answer(None, f"too close to call: more than {FAR} times the present {n:,} questions")
    return answer(int(more))


def queries(t: float, n: int, *, level: float, power: float = POWER) -> float:
    """Questions with which a two-sided paired t test of a level has a power, if n questions give the statistic t.

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
