"""The arena's state before a new system's battles: ratings of its own systems, and the information of a battle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.errors import NotEnoughData
from mirage.ranking.fit import Array, PairCounts, fit

SPREAD = 3.0
"""Standard deviation, in logits, of the prior of the arena's own ratings: it bounds an undefeated system, and changes a
table of 19 systems and 100 queries by less than 0.01.
"""

_BETWEEN = 0.5
"""Default variance of a system's strength between queries, if the arena never has two battles of a system on a
query.
"""

_MOST = 0.9
"""Maximum correlation of two battles of a system on a query, so that a further battle always adds information."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Deviation of the verdicts on one query from independent Bernoulli trials."""

    dispersion: float
    """Variance of the points of a pair on a query over that of one trial, p (1 - p): below 1 with ties, or with two
    orders that disagree.
    """
    between: float
    """Variance of a system's strength between queries, in squared logits, shared by its battles on one query."""

    def information(self, n: Array | float, tosses: Array | float) -> Array:
        """Return the information of n battles of one system on one query on its rating, in inverse squared logits.

        The score, the sum of points - p, has the variance dispersion * tosses, plus between * toss * toss for every two
        battles, capped at a correlation of 0.9: several battles on a query are less informative than the same number on
        different queries, and at most 1 / between in total.

        Args:
            n: number of battles.
            tosses: the sum of their p (1 - p), the information of as many independent trials.
        """
        n, tosses = np.asarray(n, dtype=float), np.asarray(tosses, dtype=float)
        shared = np.minimum(self.between * tosses / np.maximum(n, 1), _MOST * self.dispersion)
        return np.asarray(tosses / (self.dispersion + shared * np.maximum(n - 1, 0)))


@dataclass(frozen=True, eq=False)
class Field:
    """The posterior of the arena's own systems in one language."""

    language: str
    """Code."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    theta: Array
    """S: ratings in logits, centred on 0."""
    covariance: Array
    """S x S: their posterior covariance, the query as the cluster."""
    noise: Noise
    """Noise estimated from these battles."""
    n_queries: int
    """Number of queries."""


def field(language: str, battles: Battles) -> Field:
    """Fit the arena's own systems as a Gaussian posterior under a wide prior.

    A pair's verdicts on one query, in either order, are one observation: the share of the points. The covariance is
    Laplace's, with the likelihood weighted for the correlation of a system's battles on one query, estimated from the
    residuals (quasi-likelihood: Wedderburn 1974, Biometrika 61(3)).

    Raises:
        NotEnoughData: if there are fewer than two systems or no battle.
    """
    points, compared = by_pair(battles)
    q, s, _ = compared.shape
    if s < 2 or not compared.any():
        raise NotEnoughData(f"no battle of two judged systems in {language}", do="judge battles of other systems first")
    i, j = np.triu_indices(s, 1)
    won, n_battles = (points * compared).sum(axis=0), compared.sum(axis=0)

    def fit_theta(ridge: float) -> Array:
        return np.asarray(fit(PairCounts(won[i, j][None], won[j, i][None], None, s), ridge=ridge).theta[0])

    theta = fit_theta(1 / SPREAD**2)
    noise = _noise(points, compared, theta)
    toss = compared * _toss(theta)
    tosses, n = toss.sum(axis=2), compared.sum(axis=2)
    effect = float((tosses**2).sum() / (tosses * noise.information(n, tosses)).sum())
    theta = fit_theta(effect / SPREAD**2)
    information = -n_battles * _toss(theta)
    np.fill_diagonal(information, 0)
    np.fill_diagonal(information, -information.sum(axis=1))
    covariance = np.linalg.inv(information / effect + np.eye(s) / SPREAD**2)
    return Field(language, battles.systems, theta, covariance, noise, q)


def by_pair(battles: Battles) -> tuple[Array, NDArray[np.bool_]]:
    """Return the row system's share of the points against the column system on each query (Q x S x S; a tie is half a
    point, 0 if they did not meet), and whether they met.
    """
    wins, ties = battles.wins.astype(float), battles.ties.astype(float)
    n = wins + wins.transpose(0, 2, 1) + ties
    return (wins + ties / 2) / np.maximum(n, 1), n > 0


def _toss(theta: Array) -> Array:
    """Return p (1 - p) of every pair (S x S)."""
    p = 1 / (1 + np.exp(theta[None] - theta[:, None]))
    return np.asarray(p * (1 - p))


def _noise(points: Array, compared: NDArray[np.bool_], theta: Array) -> Noise:
    """Estimate the noise by moments of the residuals: of single observations, and of two that share a system and a
    query.
    """
    p = 1 / (1 + np.exp(theta[None] - theta[:, None]))
    toss = compared * p * (1 - p)
    rest = np.where(compared, points - p, 0.0)
    dispersion = float(np.clip((rest**2).sum() / toss.sum(), 0.25, 2))
    two = float((toss.sum(axis=2) ** 2 - (toss**2).sum(axis=2)).sum())
    if two <= 1e-9:
        return Noise(dispersion, _BETWEEN)
    shared = float((rest.sum(axis=2) ** 2 - (rest**2).sum(axis=2)).sum())
    return Noise(dispersion, float(np.clip(shared / two, 0, 10)))
