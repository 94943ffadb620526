"""Adaptive design: in every round, more battles for the cells that tell most about the pairs not yet separated.

    state = begin(population, AdaptiveSettings("separated"))
    while not state.done:
        counts = state.choose(n)                     # how far into each cell's random order to judge
        state = state.after(points)                  # verdicts of population.judged(counts)

A share of each round's battles is uniform over unjudged battles. The others go where they reduce the variance of
the differences that matter most, relative to these variances, per unit of cost: those of pairs that matter to the goal
and are not separated yet. A pair counts by P (1 - P), with P the predicted probability that it will be separated at the
end of the planned rounds: pairs that will be separated anyway, and hopeless pairs, need no more. Under the weighted
estimate, the variance of a difference is a sum over cells of `pull^2 noise / counts`, so the best counts are
proportional to the square root of each cell's part (Neyman, Journal of the Royal Statistical Society 97(4), 1934), and
no cell loses battles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput
from mirage.ranking.adaptive.estimate import PairTests, WeightedRatings, estimate
from mirage.ranking.adaptive.population import Array, Places, Population
from mirage.ranking.adaptive.settings import AdaptiveSettings
from mirage.ranking.adaptive.spending import sequential_p
from mirage.ranking.pair_tests import open_ranks
from mirage.ranking.threads import one_thread
from mirage.stats.holm import holm

HOPELESS = 0.05
"""Probability of being separated by every battle below which a pair is no longer open."""

_SURE = 1e-3
"""Minimum weight of a pair that is not separated, however sure its outcome."""

_HALVINGS = 60
_NO_VARIANCE = 1e-30
"""Variances up to this are rounding errors: all battles judged so far agree."""


@dataclass(frozen=True, eq=False)
class AdaptiveState:
    """The state of a design after some rounds."""

    population: Population
    """All battles."""
    settings: AdaptiveSettings
    """The settings."""
    cost: Array
    """P: relative cost of a battle of each pair."""
    number: int = 0
    """Number of finished rounds."""
    rated: WeightedRatings | None = None
    """The estimate; None before the first round."""
    p: Array | None = None
    """P: sequential p-value of each pair: the smallest over the rounds; None before the first round."""

    @cached_property
    def counts(self) -> Places:
        """Number of judged battles of each cell."""
        return np.zeros(len(self.population.sizes), dtype=np.intp) if self.rated is None else self.rated.counts

    @property
    def left(self) -> int:
        """Number of battles not judged."""
        return int((self.population.sizes - self.counts).sum())

    @cached_property
    def holm(self) -> Array:
        """P: sequential p-value of each pair, with Holm's correction over all pairs; 1 before the first round."""
        return np.ones(self.population.pairs) if self.p is None else np.array(holm(self.p))

    @property
    def separated(self) -> NDArray[np.bool_]:
        """P: whether each pair is separated, with the family-wise level over all pairs and rounds."""
        return self.holm <= self.settings.level

    @cached_property
    def hope(self) -> Array:
        """P: predicted probability that judging every battle would separate a pair; 1 if separated or unknown."""
        if self.rated is None:
            return np.ones(self.population.pairs)
        return np.where(self.separated, 1.0, self._chance(self.rated.tests, self.rated.tests.full))

    def _chance(self, tests: PairTests, variance: Array) -> Array:
        """Return the probability that the difference of each pair will be significant when its variance has fallen."""
        from scipy.special import ndtr, ndtri

        critical = -ndtri(self.settings.level / 2 / max(int((~self.separated).sum()), 1))
        beyond = np.abs(tests.difference) - critical * np.sqrt(variance)
        return np.asarray(ndtr(beyond / np.sqrt(np.maximum(tests.variance - variance, 1e-12 * tests.variance))))

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """P: whether the goal depends on each pair: all pairs, or pairs of a best system with another."""
        goal = self.settings.goal
        if goal.kind != "top" or self.rated is None:
            return np.ones(self.population.pairs, dtype=bool)
        top = np.zeros(len(self.population.systems), dtype=bool)
        top[np.argsort(-self.rated.theta, kind="stable")[: goal.top]] = True
        i, j = np.triu_indices(len(top), 1)
        return np.asarray(top[i] != top[j])

    @property
    def open(self) -> NDArray[np.bool_]:
        """P: whether each pair matters to the goal, is not separated, and can still be."""
        return self.relevant & ~self.separated & (self.hope >= HOPELESS)

    @property
    def widest(self) -> float:
        """Width of the widest 95% interval in logits; infinite before the first round."""
        return np.inf if self.rated is None else float(np.ptp(self.rated.interval(), axis=0).max())

    @property
    def rank_ranges(self) -> NDArray[np.int64]:
        """The best and the worst rank of every system that the tests leave open (2 x S)."""
        difference = np.zeros(self.population.pairs) if self.rated is None else self.rated.tests.difference
        return open_ranks(self.separated, difference, len(self.population.systems))

    @property
    def reached(self) -> bool:
        """True if the goal is reached, or for separation cannot be reached by judging more."""
        if self.rated is None:
            return False
        goal = self.settings.goal
        return self.widest <= goal.width if goal.kind == "width" else not self.open.any()

    @property
    def done(self) -> bool:
        """True if the goal is reached, no round is left, or no battle is left."""
        return self.reached or self.number >= self.settings.rounds or not self.left

    def choose(self, n: int) -> Places:
        """Return the total number of battles of each cell to judge after the next round.

        Args:
            n: number of further battles.
        """
        sizes, counts = self.population.sizes, self.counts
        n = min(n, self.left)
        uniform = n if self.rated is None else round(self.settings.random * n)
        target = counts + (sizes - counts) * (uniform / max(self.left, 1))
        if self.rated is not None and uniform < n:
            with one_thread():
                worth = self._worth(self.rated, n)
            target = _fill(target, worth, sizes, counts.sum() + n)
        rng = np.random.default_rng([self.settings.seed, self.number])
        steps = np.floor(np.cumsum(target) + rng.random())
        return np.clip(np.diff(steps, prepend=0).astype(np.intp), counts, sizes)

    def _worth(self, rated: WeightedRatings, n: int) -> Array:
        """Return the number of battles that each cell deserves, up to a common factor (L x P, flat)."""
        tests = rated.tests
        i, j = np.triu_indices(len(rated.systems), 1)
        if self.settings.goal.kind == "width":
            width = np.ptp(rated.interval(), axis=0)
            weight = np.maximum(width / self.settings.goal.width, 1e-3) ** 4 * _invert(np.diag(rated.covariance))
            parts = (rated.pull**2) @ weight
        else:
            # Variances at the end of the planned rounds, if these go on as this one.
            judged, rounds = self.counts.sum(), self.settings.rounds - self.number
            end = min(judged + n * rounds, self.population.n)
            share = (1 / end - 1 / self.population.n) / max(1 / judged - 1 / self.population.n, 1e-12)
            variance = tests.full + (tests.variance - tests.full) * min(share, 1.0)
            chance = self._chance(tests, variance)
            undecided = np.maximum(chance * (1 - chance), _SURE)
            weight = np.where(self.relevant & ~self.separated, undecided, 0) * _invert(tests.variance)
            parts = ((rated.pull[:, :, i] - rated.pull[:, :, j]) ** 2) @ weight
        return np.asarray(np.sqrt(parts * rated.noise / self.cost)).ravel()

    def after(self, points: Array) -> AdaptiveState:
        """Return the state after a round.

        Args:
            points: B: points of the first system of every battle judged so far, NaN elsewhere.
        """
        rated, number = estimate(self.population, points), self.number + 1
        p = sequential_p(rated.tests.p, number, self.settings.rounds)
        return replace(self, number=number, rated=rated, p=p if self.p is None else np.minimum(self.p, p))


def begin(
    population: Population,
    settings: AdaptiveSettings,
    *,
    cost: Sequence[float] | Array | None = None,
) -> AdaptiveState:
    """Return the state before the first round.

    Args:
        population: all battles.
        settings: the settings.
        cost: P: relative cost of a battle of each pair of systems; None for equal costs.

    Raises:
        BadInput: if the goal does not suit the number of systems, or costs are not positive.
    """
    settings.goal.check(len(population.systems))
    costs = np.ones(population.pairs) if cost is None else np.asarray(cost, dtype=np.float64)
    if costs.shape != (population.pairs,) or not (costs > 0).all():
        raise BadInput("a pair of systems has no cost above 0", do="give one cost above 0 for each pair")
    return AdaptiveState(population, settings, costs)


def _invert(variance: Array) -> Array:
    """Return 1 / variance; 0 without variance, where only the random share of battles goes."""
    return np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > _NO_VARIANCE)


def _fill(target: Array, worth: Array, sizes: Places, total: float) -> Array:
    """Raise the targets in proportion to worth, each to at most its size, until they add up to the total."""
    if not worth.any():
        room = sizes - target
        return np.asarray(target + room * min(1.0, (total - target.sum()) / max(room.sum(), 1e-12)))
    scale = np.log(sizes.max() / worth[worth > 0].min()) + 1.0
    low, high = scale - 60.0, scale
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        raised = np.clip(np.exp(middle) * worth, target, sizes)
        low, high = (middle, high) if raised.sum() < total else (low, middle)
    return np.asarray(np.clip(np.exp(high) * worth, target, sizes))
