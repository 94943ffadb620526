"""Bias-reduced ratings: Jeffreys' prior, as pseudo-points added to every pair.

The maximum of a logistic likelihood is biased away from 0, and does not exist where a system never lost or never won.
The penalty of Firth (Biometrika 80(1), 1993), half the logarithm of the determinant of the information, which is
Jeffreys' prior, removes the first-order bias and makes every rating of a connected comparison graph finite. Its maximum
is that of the same data with h/2 points more for each side of a pair, h the leverage of the pair: the pair's share in
the information on its difference. The leverages of all pairs sum to S - 1, so the prior weighs as much as half a battle
for each parameter, regardless of the number of battles.

Battles on one query are not independent. Where queries vary phi times as much as independent battles would, the bias is
phi times as large (quasi-likelihood; Kosmidis and Firth, Biometrika 96(4), 2009), and so are the pseudo-points. Where
most battles are ties, phi is near 0, but the few wins and losses are no more certain than others: there are at least as
many pseudo-points as for these alone (`least_dispersion`). With fewer, intervals of 50 queries with 90% ties cover 82%.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mirage.ranking.fit import MANY, Likelihood, solver
from mirage.stats.arrays import Array, Places
from mirage.stats.newton import Acceleration, Rows, Solver, StepRule, newton

MOST = 20.0
"""Largest dispersion used to scale the pseudo-points."""

ROUGHLY = 1e-3
"""Tolerance of a preliminary estimate used only for the dispersion."""

LEAST = 1e-4
"""Minimum of the prior's gamma weights in a draw, as a share of their mean; beyond the quantiles any interval uses."""

TOLERANCE = 1e-9
"""The iteration stops when no rating moves by more."""

_LIMIT, STEP = 500, 1.0
"""Maximum number of steps, and maximum step length in logits."""


@dataclass(frozen=True, eq=False)
class JeffreysPrior:
    """Jeffreys' prior at an estimate, as pseudo-points."""

    added: Array
    """P: points added to each side of every pair, the pairs in the order of `numpy.triu_indices`; with covariates N,
    for every cell.
    """
    dispersion: float
    """phi."""
    share: Array
    """P: share of a pair's pseudo-points attributed to its first system; the rest belongs to its second. The system
    with less information gets the larger share.
    """
    shape: Array
    """S: number of half battles attributed to a system, at dispersion 1."""

    def draw_weights(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw the gamma weights of a system's points won and lost (n x S each), 1 on average."""
        shape = np.maximum(self.shape, 1e-9)
        won, lost = (np.maximum(rng.standard_gamma(shape, (n, len(shape))) / shape, LEAST) for _ in range(2))
        return won, lost

    def draw_points(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw the prior's pseudo-points for n draws of the posterior bootstrap (n x P for the first and the second of
        a pair).

        A system's points are gamma variables with the prior's points as their mean. With independent battles and
        exponential weights of these, the draws of a rating are then those of the posterior under Jeffreys' prior.
        """
        i, j = np.triu_indices(len(self.shape), 1)
        up, down = self.draw_weights(rng, n)
        of_first, of_second = self.added * self.share, self.added * (1 - self.share)
        if len(self.shape) >= MANY:
            return (
                up[:, i] * of_first + down[:, j] * of_second,
                down[:, i] * of_first + up[:, j] * of_second,
            )
        # The same as one matrix product, which is faster for few systems.
        pairs = np.arange(len(self.added))
        first, second = np.zeros((2, len(self.shape), len(pairs)))
        first[i, pairs], second[j, pairs] = of_first, of_second
        both = np.hstack([up, down])
        return both @ np.vstack([first, second]), both @ np.vstack([second, first])


def bias_reduced(
    model: Likelihood, *, dispersion: float = 1.0, start: Array | None = None
) -> tuple[Array, JeffreysPrior]:
    """Maximise the likelihood times Jeffreys' prior to the power of the dispersion.

    Args:
        model: the likelihood of one data set; its ridge fixes the ratings of parts of the data that never met.
        dispersion: phi, above 0; capped at `MOST`.
        start: 1 x size: starting point.

    Returns:
        1 x size: the ratings, centred on 0, the coefficients of covariates, and with Davidson's model the logarithm of
        its tie parameter, which the prior does not affect; and the prior at this point.
    """
    phi = min(float(dispersion), MOST)
    x = _maximise(model, phi, np.zeros((1, model.size)) if start is None else start, TOLERANCE)
    return x, _prior(model, x, phi)


def _maximise(model: Likelihood, phi: float, start: Array, tolerance: float) -> Array:
    s, accelerated = model.n_systems, Acceleration()
    # A pair that never met has no leverage.
    met = model.of_pairs_met()

    def slopes(x: Array, _: Rows) -> tuple[Array, list[Array] | Solver]:
        gradient, curvature = met.plus(met.leverage(x) / 2 * phi).slopes(x)
        if s < MANY:
            return gradient, [curvature]
        solve = solver(curvature)
        # A rough estimate keeps its plain steps: the dispersion depends on where they stop.
        return gradient, solve if tolerance > TOLERANCE else lambda right: accelerated(x, solve(right))

    x = newton(slopes, start, StepRule(tolerance, _LIMIT, longest=STEP)).point
    x[:, :s] -= x[:, :s].mean(axis=1, keepdims=True)
    return x


def least_dispersion(net_squares: float, decisive: float) -> float:
    """Return the dispersion of wins and losses alone: 1 where each pair battles once on a query, m where it battles m
    times with the same result. Never less than 1.

    Args:
        net_squares: sum over queries and pairs of (points of one system - points of the other)^2.
        decisive: number of battles without a tie.
    """
    return max(1.0, net_squares / decisive) if decisive > 0 else 1.0


def score_covariance(scores: Array, strata: Sequence[Places]) -> Array:
    """Return the covariance of the sum of the queries' scores (size x size); 0 with fewer than two queries.

    Args:
        scores: Q x size: each query's contribution to the gradient.
        strata: query indices of each stratum.
    """
    J = np.zeros((scores.shape[1],) * 2)
    for rows in strata if len(scores) > 1 else ():
        around = scores[rows] - (scores[rows].mean(axis=0) if len(rows) > 1 else 0)
        J += len(rows) / max(len(rows) - 1, 1) * around.T @ around
    return J


def estimate(model: Likelihood, covariance: Callable[[Array], Array], *, least: float) -> tuple[Array, JeffreysPrior]:
    """Return `bias_reduced` with the overdispersion of queries relative to independent battles: tr(H^-1 J) over the
    number of parameters, with H the information of the battles and J the covariance of the queries' scores.

    Args:
        model: the likelihood of one data set.
        covariance: maps a point (1 x size) to J there (size x size).
        least: minimum dispersion (`least_dispersion`).
    """
    point = _maximise(model, 1.0, np.zeros((1, model.size)), ROUGHLY)
    n = model.size - (model.ties is not None)
    H, J = model.slopes(point)[1], covariance(point)
    solved = solver(H)(J[None]) if n >= MANY else np.linalg.solve(H, J[None])
    phi = float(np.trace(solved[0, :n, :n]) / max(n - 1, 1))
    return bias_reduced(model, dispersion=max(phi, least), start=point)


def _prior(model: Likelihood, x: Array, phi: float) -> JeffreysPrior:
    s, i, j = model.n_systems, model.i, model.j
    half = model.leverage(x) / 2
    information, of_pair = model.by_pair(model.information(x))[0], model.by_pair(half[None])[0]
    known = np.bincount(i, information, s) + np.bincount(j, information, s)
    both = known[i] + known[j]
    share: Array = np.divide(known[j], both, out=np.full(len(i), 0.5), where=both > 0)
    parts = np.bincount(i, of_pair * share, s), np.bincount(j, of_pair * (1 - share), s)
    shape = np.add(*parts, dtype=np.float64)
    return JeffreysPrior(half * phi, phi, share, shape)
