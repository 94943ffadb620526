"""Update of a new system's posterior by its battles: rating, and the probability of each rank and tier."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput
from mirage.ranking.fit import Array
from mirage.ranking.place.sequential.field import Field
from mirage.stats.newton import Rows, StepRule, newton

LEVEL = 0.95
"""Probability of one tier at which a system is settled."""
LEAST = 10
"""Minimum number of battles to be settled, so that the prior alone is never enough."""

_DRAWS = 4000
"""Draws for the probabilities of ranks."""

TierList = Sequence[Sequence[str]]
"""The arena's own systems in tiers, the best tier first; in any order within a tier."""


@dataclass(frozen=True, slots=True)
class Prior:
    """Prior of the new system's rating in each language."""

    mean: Sequence[float]
    """Means in logits; 0 is the mean of the arena's own systems."""
    sd: Sequence[float]
    """Their standard deviations, above 0."""
    correlation: float = 0.5
    """Correlation of the errors in two languages, in [0, 1)."""


@dataclass(frozen=True, slots=True)
class BattleResult:
    """The result of a battle of the new system, with both orders combined."""

    query: Hashable
    """The query: its id, or its index in the language."""
    opponent: int
    """Index of the opponent in the field."""
    points: float
    """Share of the points of the new system: 1 won, 0.5 tied, 0 lost, 0.75 won in one order and tied in the other."""
    language: int = 0
    """Index of the language."""


@dataclass(frozen=True, eq=False)
class State:
    """A Gaussian over all ratings in every language: first those of the field, the new system last."""

    fields: tuple[Field, ...]
    """The L languages, each with the same S systems."""
    mean: Array
    """L x (S + 1)."""
    covariance: Array
    """L (S + 1) x L (S + 1)."""
    n: int = 0
    """Number of the new system's battles."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The S systems of the field."""
        return self.fields[0].systems

    def after(self, fought: Sequence[BattleResult]) -> State:
        """Return the state given the battles; call it on the state before any battle, with all of them.

        Newton's method for the maximum, Laplace's approximation around it. A battle has less weight the more battles
        the new system has on the same query (`Noise.information`).
        """
        if not fought:
            return self
        size = len(self.systems) + 1
        languages = np.array([battle.language for battle in fought])
        points = np.array([battle.points for battle in fought])
        new = languages * size + size - 1
        old = languages * size + np.array([battle.opponent for battle in fought])
        numbers: dict[tuple[int, Hashable], int] = {}
        cluster = np.array([numbers.setdefault((battle.language, battle.query), len(numbers)) for battle in fought])
        precision: Array = np.asarray(np.linalg.inv(self.covariance), dtype=np.float64)
        x0 = self.mean.ravel()
        x = x0.copy()
        curve = precision

        def slopes(point: Array, _: Rows, *, weight: Array) -> tuple[Array, list[Array]]:
            nonlocal curve
            ratings = point[0]
            p = 1 / (1 + np.exp(ratings[old] - ratings[new]))
            slope = -precision @ (ratings - x0)
            np.add.at(slope, new, weight * (points - p))
            np.add.at(slope, old, weight * (p - points))
            curve = precision.copy()
            c = weight * p * (1 - p)
            np.add.at(curve, (new, new), c)
            np.add.at(curve, (old, old), c)
            np.add.at(curve, (new, old), -c)
            np.add.at(curve, (old, new), -c)
            return slope[None], [curve[None]]

        for _ in range(3):
            # The weights depend on the ratings: start from the prior's and refine twice.
            weight = self._weights(languages, cluster, 1 / (1 + np.exp(x[old] - x[new])))
            # From a distant prior, steps longer than a logit could overshoot the maximum.
            fitted = newton(partial(slopes, weight=weight), x[None], StepRule(1e-9, 100, longest=1.0))
            x = fitted.point[0]
        return replace(
            self,
            mean=x.reshape(self.mean.shape),
            covariance=np.asarray(np.linalg.inv(curve), dtype=np.float64),
            n=self.n + len(fought),
        )

    def _weights(self, languages: NDArray[np.intp], cluster: NDArray[np.intp], p: Array) -> Array:
        """Return the weight of each battle: 1 if it is an independent trial, less if others share its query."""
        toss = p * (1 - p)
        n = np.bincount(cluster)
        tosses = np.bincount(cluster, toss)
        language = np.zeros(len(n), dtype=np.intp)
        language[cluster] = languages
        counts = np.empty(len(n))
        for k, field in enumerate(self.fields):
            in_language = language == k
            counts[in_language] = field.noise.information(n[in_language], tosses[in_language]) / tosses[in_language]
        return np.asarray(counts[cluster])

    def joint(self) -> tuple[Array, Array]:
        """Return mean (S + 1) and covariance of the means over languages; 0 is the mean of the arena's own systems."""
        count, size = self.mean.shape
        centre = np.eye(size)
        centre[:, :-1] -= 1 / (size - 1)
        average = np.tile(centre, count) / count
        return average @ self.mean.ravel(), average @ self.covariance @ average.T


@dataclass(frozen=True, eq=False)
class Standing:
    """Posterior standing of the new system."""

    rating: float
    """Mean of its rating over languages, in logits; 0 is the mean of the arena's own systems."""
    low: float
    """Lower end of the 95% credible interval of `rating`."""
    high: float
    """Upper end."""
    rank_probabilities: Array
    """S + 1: probability of each rank, from 1."""
    tier_probabilities: Array
    """Probability of each tier, the best first."""
    above: Array
    """S: probability that it is better than each of the arena's own systems."""
    others: Array
    """3 x S: rating of each of these, with the ends of its 95% interval."""
    n: int
    """Number of battles."""

    @property
    def tier(self) -> int:
        """Its most probable tier, from 1."""
        return int(np.argmax(self.tier_probabilities)) + 1

    @property
    def settled(self) -> bool:
        """True if one tier has a probability of at least `LEVEL`, after at least `LEAST` battles."""
        return self.n >= LEAST and float(self.tier_probabilities.max()) >= LEVEL

    def rank_interval(self, level: float = 0.95) -> tuple[int, int]:
        """Return the best and worst end of the interval of its rank."""
        return _ends(self.rank_probabilities, level)

    def tier_interval(self, level: float = 0.95) -> tuple[int, int]:
        """Return the best and worst end of the interval of its tier."""
        return _ends(self.tier_probabilities, level)


def _ends(probabilities: Array, level: float) -> tuple[int, int]:
    """Return the central interval of a distribution over 1, 2, ...: at most half of the rest is on either side."""
    below = np.cumsum(probabilities)
    tail = (1 - level) / 2
    return int(np.argmax(below > tail + 1e-12)) + 1, int(np.argmax(below >= 1 - tail - 1e-12)) + 1


def start(fields: Sequence[Field], prior: Prior) -> State:
    """Return the state before any battle of the new system.

    Raises:
        BadInput: if the languages have different systems, or the prior does not match them.
    """
    if len({field.systems for field in fields}) != 1:
        raise BadInput("the languages have different systems", do="use the systems that all languages have")
    if not len(fields) == len(prior.mean) == len(prior.sd) or min(prior.sd) <= 0 or not 0 <= prior.correlation < 1:
        raise BadInput(
            f"a prior with means {list(prior.mean)}, deviations {list(prior.sd)} and correlation {prior.correlation} "
            f"for {len(fields)} languages",
            do="give one mean and one deviation above 0 for each language, and a correlation in [0, 1)",
        )
    size = len(fields[0].systems) + 1
    mean = np.array([[*field.theta, rating] for field, rating in zip(fields, prior.mean, strict=True)])
    covariance = np.zeros((mean.size, mean.size))
    for k, field in enumerate(fields):
        covariance[k * size : (k + 1) * size - 1, k * size : (k + 1) * size - 1] = field.covariance
    sd = np.asarray(prior.sd, dtype=float)
    shared = np.outer(sd, sd) * (prior.correlation + (1 - prior.correlation) * np.eye(len(sd)))
    new = np.arange(len(sd)) * size + size - 1
    covariance[np.ix_(new, new)] = shared
    return State(tuple(fields), mean, covariance)


def boundaries(state: State, tiers: TierList) -> Array:
    """Return for each boundary between two tiers the contrast that gives the new system's distance above it (K x L (S +
    1)).

    A boundary is midway between the lowest rating of one tier and the highest of the next (the mean over languages, by
    the arena's own battles). With one tier there is none: K is 0.

    Raises:
        BadInput: if the tiers do not contain every system of the field once.
    """
    names = [name for tier in tiers for name in tier]
    if sorted(names) != list(state.systems) or not all(tiers):
        raise BadInput(
            "the tiers do not contain every system of the arena once", do="compute them from the same battles"
        )
    count, size = state.mean.shape
    theta = np.mean([field.theta for field in state.fields], axis=0)
    place = {name: k for k, name in enumerate(state.systems)}
    rows = np.zeros((len(tiers) - 1, size))
    rows[:, -1] = 1
    for row, upper, lower in zip(rows, tiers[:-1], tiers[1:], strict=True):
        row[min((place[name] for name in upper), key=lambda k: (theta[k], k))] -= 0.5
        row[max((place[name] for name in lower), key=lambda k: (theta[k], -k))] -= 0.5
    return np.asarray(np.tile(rows, count) / count)


def posterior_standing(state: State, tiers: TierList, *, seed: int = 0) -> Standing:
    """Compute the posterior standing of the new system.

    The probability of a tier is that of being between its two boundaries, in closed form; those of ranks come from
    draws of all ratings jointly.

    Args:
        state: the posterior.
        tiers: tiers of the arena's own systems, by their own battles.
        seed: seed of the draws.
    """
    from scipy.special import ndtr, ndtri

    contrasts = boundaries(state, tiers)
    mean, covariance = state.joint()
    sd = np.sqrt(np.diag(covariance))
    z = float(ndtri(0.975))
    apart = np.sqrt(covariance[-1, -1] + np.diag(covariance)[:-1] - 2 * covariance[-1, :-1])
    return Standing(
        rating=float(mean[-1]),
        low=float(mean[-1] - z * sd[-1]),
        high=float(mean[-1] + z * sd[-1]),
        rank_probabilities=_ranks(mean, covariance, seed),
        tier_probabilities=_shares(ndtr(_far(contrasts @ state.mean.ravel(), contrasts, state.covariance))),
        above=np.asarray(ndtr((mean[-1] - mean[:-1]) / apart)),
        others=np.stack([mean[:-1], mean[:-1] - z * sd[:-1], mean[:-1] + z * sd[:-1]]),
        n=state.n,
    )


def _far(mean: Array, contrasts: Array, covariance: Array) -> Array:
    return np.asarray(mean / np.sqrt(np.einsum("ki,ij,kj->k", contrasts, covariance, contrasts)))


def _shares(above: Array) -> Array:
    """Return the probability of each tier (... x (K + 1)), from the probabilities (... x K) of being above each
    boundary.
    """
    rising = np.maximum.accumulate(above, axis=-1)
    ends = np.zeros((*above.shape[:-1], 1)), np.ones((*above.shape[:-1], 1))
    return np.asarray(np.diff(np.concatenate([ends[0], rising, ends[1]], axis=-1), axis=-1))


def _ranks(mean: Array, covariance: Array, seed: int) -> Array:
    rng = np.random.default_rng([seed, 0x706C6163])
    # Centring makes the covariance singular: a small diagonal term keeps the Cholesky factor.
    root = np.linalg.cholesky(covariance + 1e-10 * np.eye(len(mean)))
    drawn = mean + rng.standard_normal((_DRAWS, len(mean))) @ root.T
    rank: NDArray[np.intp] = (drawn[:, :-1] > drawn[:, -1:]).sum(axis=1)
    return np.asarray(np.bincount(rank, minlength=len(mean)) / _DRAWS)
