"""Ratings from the judged part of a population of battles, each battle weighted by its inverse inclusion probability.

    rated = estimate(population, points)
    rated.theta, rated.interval(), rated.tests()

The weighted Bradley-Terry likelihood (Hajek: weights are normalised) estimates what all battles would give, however
unevenly pairs were judged: Bradley-Terry need not hold, and pairs judged often do not count more. The covariance is the
sandwich over queries of the weighted scores; a query with few judged battles contributes large, variable scores, so
the variance of the choice of battles is included. Queries with one id in several languages are one unit. The points of
Jeffreys' prior count as drawn (`jeffreys`), as far as that varies more than battles would: without them a system that
hardly ever loses would have too short an interval. `benchmarks/coverage.py` simulates 10 to 40 queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.adaptive.population import Array, Places, Population
from mirage.ranking.fit import PairCounts, fit, logistic
from mirage.ranking.records import LEVEL
from mirage.ranking.threads import one_thread

_LEAST = 0.05
"""Minimum of a predicted variance, as a share of the present one."""


@dataclass(frozen=True, eq=False)
class PairTests:
    """Tests of every two systems, in the order of `numpy.triu_indices` (P each)."""

    difference: Array
    """Difference of the ratings, first minus second."""
    variance: Array
    """Its variance."""
    full: Array
    """Its variance if every battle was judged, predicted."""
    p: Array
    """Two-sided p-value for equal ratings: Student's t."""


@dataclass(frozen=True, eq=False)
class WeightedRatings:
    """Ratings over all languages of S systems, with their covariance and what further battles would change."""

    systems: tuple[str, ...]
    """The systems."""
    theta: Array
    """S: mean of the languages' ratings, in logits, centred on 0."""
    covariance: Array
    """S x S."""
    of_queries: Array
    """S x S: the part of `covariance` that is estimated over queries."""
    full: Array
    """S x S: covariance if every battle was judged, predicted."""
    df: int
    """Degrees of freedom of `of_queries`: the queries less 1, of each language."""
    counts: Places
    """Number of judged battles of each cell (L x P, flat)."""
    pull: Array
    """L x P x S: change of the ratings if the mean points of a cell's first system rise by 1."""
    noise: Array
    """L x P: variance of the points of one battle."""

    def interval(self) -> Array:
        """Return the 95% interval of each rating, lower and upper ends (2 x S)."""
        from scipy.special import stdtrit

        variance = np.diag(self.covariance)
        half = stdtrit(self._freedom(variance, np.diag(self.of_queries)), (1 + LEVEL) / 2) * np.sqrt(variance)
        return np.stack([self.theta - half, self.theta + half])

    @cached_property
    def tests(self) -> PairTests:
        """The tests of every two systems."""
        from scipy.special import stdtr

        i, j = np.triu_indices(len(self.systems), 1)
        difference = self.theta[i] - self.theta[j]
        variance, of_queries, full = (
            np.maximum(V[i, i] + V[j, j] - 2 * V[i, j], 1e-300) for V in (self.covariance, self.of_queries, self.full)
        )
        p = 2 * stdtr(self._freedom(variance, of_queries), -np.abs(difference) / np.sqrt(variance))
        return PairTests(difference, variance, np.clip(full, _LEAST * variance, variance), p)

    def _freedom(self, variance: Array, of_queries: Array) -> Array:
        """Return the degrees of freedom of variances of which a part is estimated over queries (Satterthwaite)."""
        known = of_queries > 1e-300
        return self.df * np.divide(variance, of_queries, out=np.ones_like(variance), where=known) ** 2


def estimate(population: Population, points: Array) -> WeightedRatings:
    """Estimate the ratings from the judged battles.

    Args:
        population: all battles.
        points: B: points of each battle's first system, in [0, 1]; NaN where the battle has no verdict.

    Raises:
        NotEnoughData: if no battle has a verdict.
    """
    judged = np.flatnonzero(~np.isnan(points))
    if not len(judged):
        raise NotEnoughData("no battle has a verdict", do="check the judge's replies")
    with one_thread():
        return _estimate(population, judged, points[judged])


def _estimate(population: Population, judged: Places, points: Array) -> WeightedRatings:
    s, n_pairs, n_languages = len(population.systems), population.pairs, len(population.languages)
    shape = n_languages, n_pairs
    i, j = np.triu_indices(s, 1)
    cell, pair, row = population.cell[judged], population.pair[judged], population.row[judged]
    sizes = population.sizes
    counts = np.bincount(cell, minlength=len(sizes))
    weight = np.divide(sizes, counts, out=np.zeros(len(sizes)), where=counts > 0)
    weight *= len(judged) / (weight * counts).sum()
    # Jeffreys' prior adds half a point per parameter to each side: 1 / S for a pair on average.
    first, second = (
        (np.bincount(cell, weight[cell] * part, len(sizes)) + (sizes > 0) / s).reshape(shape)
        for part in (points, 1 - points)
    )
    theta = fit(PairCounts(first, second, None, s)).theta
    win, lose = logistic(theta[:, i] - theta[:, j])
    inverse = _inverses((first + second) * win * lose, s)
    residual = points - win.ravel()[cell]
    score = weight[cell] * residual
    n_rows = len(population.language_of_row)
    ups, downs = (np.bincount(row * s + side[pair], score, n_rows * s).astype(float) for side in (i, j))
    of_queries, df = _cluster(population, (ups - downs).reshape(n_rows, s), inverse / n_languages)
    doubt = (sizes > 0).reshape(shape) / s * (win - lose) ** 2
    apart = (inverse[:, i] - inverse[:, j]) / n_languages
    of_prior = np.einsum("lp,lpa,lpb->ab", doubt, apart, apart)
    covariance = of_queries + of_prior
    dispersion = (residual**2).sum() / (win * lose).ravel()[cell].sum()
    noise = dispersion * win * lose
    # A cell's mean moves the ratings by its whole weight; so far it has the noise of `counts` battles, at last of all.
    pull = apart * (weight * counts).reshape(shape)[:, :, None]
    one = 1 / np.maximum(counts, 1) - 1 / np.maximum(sizes, 1)
    drop = np.where(counts > 0, one, 0).reshape(shape) * noise
    flat = pull.reshape(-1, s)
    # The prior's points move the ratings less, the more battles are judged.
    left = 1 - (len(judged) / sizes.sum()) ** 2
    full = covariance - flat.T @ (flat * drop.reshape(-1, 1)) - left * of_prior
    theta = theta.mean(axis=0)
    return WeightedRatings(population.systems, theta, covariance, of_queries, full, df, counts, pull, noise)


def _inverses(information: Array, s: int) -> Array:
    """Return the inverse curvature of each language, centred (L x S x S), from the information of its pairs (L x P)."""
    i, j = np.triu_indices(s, 1)
    H = np.zeros((len(information), s, s))
    H[:, i, j] = H[:, j, i] = -information
    diagonal = -H.sum(axis=2)
    H[:, np.arange(s), np.arange(s)] = diagonal
    # Ratings are determined up to a constant: a curvature along it makes the matrix invertible.
    inverse = np.linalg.inv(H + diagonal.max(axis=1)[:, None, None] / s)
    centred = inverse - inverse.mean(axis=1, keepdims=True)
    return np.asarray(centred - centred.mean(axis=2, keepdims=True))


def _cluster(population: Population, scores: Array, inverse: Array) -> tuple[Array, int]:
    """Return the covariance of the ratings clustered by unit, and its degrees of freedom.

    Args:
        population: the battles.
        scores: R x S: weighted score of each query.
        inverse: L x S x S: effect of a score on the ratings.
    """
    moves = np.empty_like(scores)
    start = 0
    for language, of_language in enumerate(population.queries.values()):
        n = len(of_language)
        part = scores[start : start + n] @ inverse[language]
        moves[start : start + n] = (part - part.mean(axis=0)) * np.sqrt(n / max(n - 1, 1))
        start += n
    units = population.units
    if not units.shared:
        return moves.T @ moves, max(len(moves) - len(inverse), 1)
    together = np.zeros((units.n, scores.shape[1]))
    np.add.at(together, population.unit_of_row, moves)
    return together.T @ together, max(units.n - 1, 1)
