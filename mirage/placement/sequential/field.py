"""What an arena knows before a new system fights: the ratings of its own, and how much a battle tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.errors import NotEnoughData
from mirage.rank.fit import Array, PairCounts, fit

SPREAD = 3.0
"""Standard deviation, in logits, of the prior of the arena's own ratings: it bounds an undefeated system, and moves a
table of 19 systems and 100 queries by less than 0.01."""

_BETWEEN = 0.5
"""Variance of a system's strength between queries where the arena has no two battles of one on a query to tell it."""

_MOST = 0.9
"""Highest correlation of two battles of a system on a query: a further battle always tells something."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How far the verdicts on one query are from independent tosses of a coin."""

    dispersion: float
    """Variance of the points of a pair on a query over that of one toss, p (1 - p): under 1 where there are ties, or
    two orders that disagree."""
    between: float
    """Variance of a system's strength between queries, in squared logits: what its battles on one query share."""

    def information(self, n: Array | float, tosses: Array | float) -> Array:
        """What n battles of one system on one query tell about its rating: inverse squared logits.

        The score, the sum of points - p, has the variance dispersion * tosses, and for every two battles
        between * toss * toss, which is at most a correlation of 0.9: several battles on a query tell less than as many
        on different ones, and no more than 1 / between in the long run.

        Args:
            n: how many battles.
            tosses: the sum of their p (1 - p): what as many independent tosses would tell.
        """
        n, tosses = np.asarray(n, dtype=float), np.asarray(tosses, dtype=float)
        shared = np.minimum(self.between * tosses / np.maximum(n, 1), _MOST * self.dispersion)
        return np.asarray(tosses / (self.dispersion + shared * np.maximum(n - 1, 0)))


@dataclass(frozen=True, eq=False)
class Field:
    """What the battles of one language say of the arena's own systems."""

    language: str
    """Code."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    theta: Array
    """S: ratings in logits, centred on 0."""
    covariance: Array
    """S x S: their posterior covariance, the query being the cluster."""
    noise: Noise
    """Estimated on these battles."""
    n_queries: int
    """Queries they rest on."""


def field(language: str, battles: Battles) -> Field:
    """Rate the systems that are there, as the Gaussian that their battles leave of a wide prior.

    A pair's verdicts on one query, in either order, are one observation: the share of the points. The covariance is
    Laplace's, the likelihood weighed for what several battles of a system on one query have in common, which is
    estimated from the residuals (quasi-likelihood: Wedderburn 1974, Biometrika 61(3)).

    Raises:
        NotEnoughData: if there are fewer than two systems or there is no battle.
    """
    points, compared = by_pair(battles)
    q, s, _ = compared.shape
    if s < 2 or not compared.any():
        raise NotEnoughData(
            f"no battle of two systems in {language} to place another by", do="let the judge compare those first"
        )
    i, j = np.triu_indices(s, 1)
    won, fought = (points * compared).sum(axis=0), compared.sum(axis=0)

    def fitted(ridge: float) -> Array:
        return np.asarray(fit(PairCounts(won[i, j][None], won[j, i][None], None, s), ridge=ridge).theta[0])

    theta = fitted(1 / SPREAD**2)
    noise = _noise(points, compared, theta)
    toss = compared * _toss(theta)
    tosses, n = toss.sum(axis=2), compared.sum(axis=2)
    effect = float((tosses**2).sum() / (tosses * noise.information(n, tosses)).sum())
    theta = fitted(effect / SPREAD**2)
    information = -fought * _toss(theta)
    np.fill_diagonal(information, 0)
    np.fill_diagonal(information, -information.sum(axis=1))
    covariance = np.linalg.inv(information / effect + np.eye(s) / SPREAD**2)
    return Field(language, battles.systems, theta, covariance, noise, q)


def by_pair(battles: Battles) -> tuple[Array, NDArray[np.bool_]]:
    """Q x S x S: the share of the points that the row system took from the column system on the query (a tie is half a
    point; 0 where they did not meet), and whether they met.
    """
    wins, ties = battles.wins.astype(float), battles.ties.astype(float)
    n = wins + wins.transpose(0, 2, 1) + ties
    return (wins + ties / 2) / np.maximum(n, 1), n > 0


def _toss(theta: Array) -> Array:
    """S x S: p (1 - p) of every pair."""
    p = 1 / (1 + np.exp(theta[None] - theta[:, None]))
    return np.asarray(p * (1 - p))


def _noise(points: Array, compared: NDArray[np.bool_], theta: Array) -> Noise:
    """Moments of the residuals, of single observations and of two that share a system and a query."""
    p = 1 / (1 + np.exp(theta[None] - theta[:, None]))
    toss = compared * p * (1 - p)
    rest = np.where(compared, points - p, 0.0)
    dispersion = float(np.clip((rest**2).sum() / toss.sum(), 0.25, 2))
    two = float((toss.sum(axis=2) ** 2 - (toss**2).sum(axis=2)).sum())
    if two <= 1e-9:
        return Noise(dispersion, _BETWEEN)
    shared = float((rest.sum(axis=2) ** 2 - (rest**2).sum(axis=2)).sum())
    return Noise(dispersion, float(np.clip(shared / two, 0, 10)))
