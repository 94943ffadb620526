"""Prediction-powered inference for Bradley-Terry, on arrays.

A judge decides many battles and may be biased; people vote on a random part of them. The judge's verdicts give a
prediction f of people's points on every battle (`judge_residuals`), and the estimate uses the prediction on all battles
plus its correction on the voted battles:

    g(theta) = mean over votes of d (y - sigma(d . theta) - lambda f) + lambda mean over all of d f = 0

with y a person's points of the first system, d = +1 at the first system and -1 at the second. The mean over votes
weights each battle by its inverse inclusion probability (Hajek), so that it need not be a plain random sample. It is
consistent for any prediction; the prediction's quality only affects the width. It is the residuals of the verdicts from
the judge's own Bradley-Terry ratings, so that a bias towards a system, which these ratings absorb, costs no width.
lambda, from 0 (votes alone) to 1, minimises the variance (PPI++), so that the interval is not wider than that of the
votes alone, up to chance.

Errors are sandwiches over queries and over voters: battles on one query are not independent, nor are the votes of one
person, who favours some systems. The votes alone are lambda = 0: the same estimator and the same intervals.

Sources: Angelopoulos et al., Science 382 (2023), 669-674; for Bradley-Terry: Boyeau et al., arXiv 2403.07008; lambda:
Angelopoulos, Duchi and Zrnic, arXiv 2311.01453; unequal probabilities: Zrnic and Candes, arXiv 2403.03208; two ways of
clustering: Cameron, Gelbach and Miller, Journal of Business and Economic Statistics 29 (2011). Unlike the papers:
errors are clustered by query, and they account for the voted battles being among all battles.
`benchmarks/correction.py` measures coverage and width.
"""

from dataclasses import dataclass

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.fit import Likelihood, PairCounts, maximise
from mirage.ranking.people import add_people
from mirage.stats.arrays import Array, Flags, Places
from mirage.stats.powered_mean import tuned_weight

_FAR = 15.0
"""Logits beyond which a rating is unbounded."""
_HOLD, _HOLD_JUDGE = 1e-3, 1e-7
"""Penalties that keep intermediate ratings, and a judge's own ratings, finite."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """V votes with an opinion."""

    battle: Places
    """V: the battle."""
    voter: Places
    """V: the voter, from 0."""
    points: Array
    """V: points of the first system."""


@dataclass(frozen=True, eq=False)
class Data:
    """The battles of one language as arrays: N with a prediction, some with votes."""

    first: Places
    """N: the first system."""
    second: Places
    """N: the second."""
    query: Places
    """N: the query, from 0."""
    predicted: Array
    """N: prediction of the residual of people's points (`judge_residuals`)."""
    human: Array
    """N: people's points of the first system; 0 without votes."""
    weight: Array
    """N: inverse inclusion probability of the battle, up to a common factor; 0 without votes."""
    systems: int
    """S."""
    queries: int
    """Q."""
    silent: Flags | None = None
    """N: whether the judge did not decide the battle, so that it is included only for its votes; None for none."""
    ballots: Ballots | None = None
    """The single votes; None if each battle is decided by another person."""

    @property
    def mass(self) -> Array:
        """Return the number of battles each one represents (N).

        Where the judge is silent only battles with votes are included. They represent the others of their kind, so that
        their share of all battles equals their share of the weighted votes.
        """
        mass = np.ones(len(self.first))
        decided = self.weight[~self.silent].sum() if self.silent is not None else 0.0
        if self.silent is not None and decided > 0:
            mass[self.silent] = self.weight[self.silent] * (~self.silent).sum() / decided
        return mass

    @property
    def voted(self) -> Flags:
        """N: whether there are votes."""
        return self.weight > 0

    @property
    def n_queries_voted(self) -> int:
        """Number of queries with votes."""
        return len(np.unique(self.query[self.voted]))

    def means(self, values: Array, weight: Array) -> Array:
        """Return weighted sums by first and second system, over the sum of the weights (S x S)."""
        cells = self.first * self.systems + self.second
        sums = np.bincount(cells, weight * values / weight.sum(), self.systems**2)
        return np.asarray(sums.reshape(self.systems, self.systems), dtype=np.float64)

    def scores(self, residual: Array, weight: Array) -> Array:
        """Return each query's centred contribution to the weighted mean of d * residual (Q x S)."""
        return cluster_scores(self.query, self.first, self.second, weight / weight.sum(), residual, self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Q, S."""
        return self.queries, self.systems


def cluster_scores(
    cluster: Places, first: Places, second: Places, share: Array, residual: Array, shape: tuple[int, int]
) -> Array:
    """Return each cluster's centred contribution to the sum of share * d * residual (G x S).

    Args:
        cluster: N: the cluster of each battle, from 0.
        first: N: the first system.
        second: N: the second.
        share: N: weights; their sum is 1.
        residual: N: the residuals.
        shape: G and S.
    """
    g, s = shape
    sums = np.bincount(cluster * s + first, share * residual, g * s)
    sums -= np.bincount(cluster * s + second, share * residual, g * s)
    sums = sums.reshape(shape)
    return np.asarray(sums - np.bincount(cluster, share, g)[:, None] * sums.sum(axis=0))


@dataclass(frozen=True, eq=False)
class PoweredEstimate:
    """Ratings from votes and a prediction."""

    theta: Array
    """S: ratings in logits, centred on 0."""
    covariance: Array
    """S x S: covariance of `theta`, by the sandwich over queries and voters."""
    df: float
    """Degrees of freedom: the queries or the voters less 1, whichever are fewer."""
    lam: float
    """Weight of the prediction, from 0 to 1."""


def judge_residuals(first: Places, second: Places, systems: int, points: Array) -> Array:
    """Return a judge's points less those that its own ratings expect (N); 0 where it has not decided.

    Args:
        first: N: the first system.
        second: N: the second.
        systems: S.
        points: N: the judge's points of the first system; NaN where it has not decided.
    """
    decided = ~np.isnan(points)
    cells, shape = first[decided] * systems + second[decided], (systems, systems)
    counts = np.bincount(cells, minlength=systems**2).reshape(shape) / max(decided.sum(), 1)
    won = np.bincount(cells, points[decided], systems**2).reshape(shape) / max(decided.sum(), 1)
    theta = solve_points(counts, won, np.zeros(systems), hold=_HOLD_JUDGE)
    return np.where(decided, points - _sigma(theta[first] - theta[second]), 0.0)


def powered_estimate(data: Data, lam: float | None = None) -> PoweredEstimate:
    """Estimate ratings from votes and a prediction of them.

    Args:
        data: the battles.
        lam: the weight of the prediction; None for the one with the least variance.

    Raises:
        NotEnoughData: if a rating has no bound.
    """
    everything = data.mass
    predicted = np.zeros_like(everything) if lam == 0 else data.predicted
    w = data.means(np.ones_like(everything), data.weight)
    human = data.means(data.human, data.weight)
    judge = data.means(predicted, everything) - data.means(predicted, data.weight)
    rest = data.scores(predicted, everything) - data.scores(predicted, data.weight)
    weight = 0.0 if lam is None else lam
    theta = np.zeros(data.systems)
    for _ in range(4 if lam is None else 0):
        theta = solve_points(w, human + weight * judge, theta, hold=_HOLD)
        votes, inverse = _of_votes(data, theta, w)
        best = tuned_weight(votes @ inverse, rest @ inverse)
        converged = abs(best - weight) < 1e-6
        weight = best
        if converged:
            break
    theta = solve_points(w, human + weight * judge, theta)
    votes, inverse = _of_votes(data, theta, w)
    influence = votes + weight * rest
    # Each rating costs a degree of freedom (Stata's CR1); unequal weights reduce the effective size (Kish 1965).
    g, n = data.n_queries_voted, data.weight.sum() ** 2 / (data.weight**2).sum()
    small = g / (g - 1) * (n - 1) / max(n - data.systems + 1, 1)
    covariance, df = inverse @ influence.T @ influence @ inverse * small, g - 1.0
    if data.ballots is not None:
        voters, between = _between_voters(data, data.ballots, theta, weight * predicted)
        covariance = _add(covariance, inverse @ between @ inverse * small)
        df = min(df, max(voters - 1.0, 1.0))  # of one person there is no interval, see `Correction.has_intervals`
    return PoweredEstimate(theta, covariance, df, weight)


def _between_voters(data: Data, ballots: Ballots, theta: Array, predicted: Array) -> tuple[int, Array]:
    """Return the number of voters, and what the dependence of a voter's votes on different queries adds to the
    covariance of the scores (S x S).
    """
    at = ballots.battle
    first, second = data.first[at], data.second[at]
    share = (data.weight / data.weight.sum())[at] / np.bincount(at, minlength=len(data.first))[at]
    residual = ballots.points - _sigma(theta[first] - theta[second]) - predicted[at]

    moves = cluster_scores(np.arange(len(at)), first, second, share, residual, (len(at), data.systems))
    return len(np.unique(ballots.voter)), add_people(moves, ballots.voter, data.query[at])


def _add(covariance: Array, more: Array) -> Array:
    """Return the sum of a covariance and a correction that may be negative, but no less than the covariance in all."""
    values, vectors = np.linalg.eigh(covariance + more)
    total = np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)
    return total if np.trace(total) > np.trace(covariance) else covariance


def solve_points(w: Array, a: Array, theta: Array, *, hold: float = 0.0) -> Array:
    """Solve for the theta whose expected points equal the points won, centred on 0.

    Args:
        w: S x S: weight of the battles of each pair, the first system in the row.
        a: S x S: points of the first system; may lie outside of 0 to `w`.
        theta: where to begin.
        hold: weight of a penalty on |theta|^2 / 2, that keeps the ratings finite.

    Raises:
        NotEnoughData: if the ratings have no bound.
    """
    i, j = np.triu_indices(len(theta), 1)
    lost = w - a
    counts = PairCounts((a[i, j] + lost[j, i])[None], (lost[i, j] + a[j, i])[None], None, len(theta))
    maximum = maximise(
        [Likelihood(counts, hold)], theta[None], tolerance=1e-6 if hold else 1e-9, bound=np.inf if hold else _FAR
    )
    if not maximum.converged[0]:
        raise NotEnoughData(
            "a system never lost, or never won, in the votes: its corrected rating has no bound",
            do="vote on more battles of the queue, including random battles",
        )
    return np.asarray(maximum.point[0] - maximum.point[0].mean())


def _of_votes(data: Data, theta: Array, w: Array) -> tuple[Array, Array]:
    """Return each query's contribution of votes to the scores (Q x S), and the inverse of the curvature (S x S)."""
    residual = data.human - _sigma(theta[data.first] - theta[data.second])
    return data.scores(residual, data.weight), pseudo_inverse(curvature(w, theta))


def curvature(w: Array, theta: Array) -> Array:
    """Return minus the derivative of the expected points (S x S)."""
    p = _sigma(theta[:, None] - theta[None, :])
    c = w * p * (1 - p)
    c = c + c.T
    return np.diag(c.sum(axis=1)) - c


def pseudo_inverse(symmetric: Array) -> Array:
    """Return the pseudo-inverse; directions that are 0 up to rounding, such as (1, ..., 1), stay 0."""
    return np.asarray(np.linalg.pinv(symmetric, rcond=1e-10, hermitian=True))


def _sigma(x: Array) -> Array:
    return 0.5 + np.tanh(x / 2) / 2
