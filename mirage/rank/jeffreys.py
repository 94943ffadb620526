"""Bias-reduced ratings: Jeffreys' prior, as points that are added to every pair.

The maximum of a logistic likelihood lies too far out, and where a system never lost or never won there is none. The
penalty of Firth (Biometrika 80(1), 1993), half the logarithm of the determinant of the information, that is Jeffreys'
prior, removes the bias of first order and keeps every rating of a connected comparison graph finite. Its maximum is
that of the same data with h/2 points more for each side of a pair, h the leverage of the pair: the share of the pair in
what is known of its difference. The leverages of all pairs sum to S - 1, so that the prior weighs as much as half a
battle for each parameter, however many battles there are.

Battles on one query are not independent. Where queries vary phi times as much as independent battles would, the bias is
phi times as large (quasi-likelihood; Kosmidis and Firth, Biometrika 96(4), 2009), and so are the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.newton import newton
from mirage.rank.fit import Array, Likelihood, PairCounts

DISPERSION = (0.25, 20.0)
"""Least and largest dispersion that the points are scaled by."""

ROUGHLY = 1e-3
"""Tolerance of an estimate that only the dispersion is taken at."""

_LEAST = 1e-4
"""Least share of its mean that the prior's part of a draw has: far out in the tail that no interval reaches."""

TOLERANCE = 1e-9
"""The iteration ends when no rating moves by more."""

_LIMIT, _STEP = 500, 1.0
"""Steps of the iteration at most, and the length in logits of the longest."""


@dataclass(frozen=True, eq=False)
class JeffreysPrior:
    """Jeffreys' prior at an estimate, as points."""

    added: Array
    """P: points added to each side of every pair, the pairs in the order of `numpy.triu_indices`."""
    dispersion: float
    """phi."""
    share: Array
    """P: the part of a pair's points that is there for its first system; the rest is for its second. The system of
    which less is known has the larger part."""
    shape: Array
    """S: how many half battles' worth of points are there for a system, at dispersion 1."""

    def added_to(self, pairs: PairCounts) -> PairCounts:
        """Data sets with the points added to each."""
        return PairCounts(pairs.first + self.added, pairs.second + self.added, pairs.ties, pairs.systems)

    def drawn(self, rng: np.random.Generator, n: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The points of the prior in n draws of the posterior bootstrap, n x P for the first and the second of a pair.

        A system's points are gamma variables with the prior's points as their mean. With independent battles and
        exponential weights of these, the draws of a rating are then those of the posterior under Jeffreys' prior.
        """
        i, j = np.triu_indices(len(self.shape), 1)
        shape, pairs = np.maximum(self.shape, 1e-9), np.arange(len(self.added))
        up, down = (np.maximum(rng.standard_gamma(shape, (n, len(shape))) / shape, _LEAST) for _ in range(2))
        of_first, of_second = np.zeros((2, len(shape), len(pairs)))
        of_first[i, pairs], of_second[j, pairs] = self.added * self.share, self.added * (1 - self.share)
        both = np.hstack([up, down]).astype(np.float32)
        return (
            both @ np.vstack([of_first, of_second]).astype(np.float32),
            both @ np.vstack([of_second, of_first]).astype(np.float32),
        )


def bias_reduced(
    whole: PairCounts,
    *,
    ridge: float,
    dispersion: float = 1.0,
    start: Array | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[Array, JeffreysPrior]:
    """The maximum of the likelihood times Jeffreys' prior to the power of the dispersion.

    Args:
        whole: one data set.
        ridge: weight of the penalty that holds parts in place which never met.
        dispersion: phi, held within `DISPERSION`.
        start: 1 x size: where to begin.
        tolerance: as `TOLERANCE`.

    Returns:
        1 x size: the ratings, centred on 0, and with Davidson's model the logarithm of its tie parameter, which the
        prior leaves alone; and the prior there.
    """
    phi = float(np.clip(dispersion, *DISPERSION))
    model = Likelihood(whole, ridge)
    s = whole.systems
    x = np.zeros((1, model.size)) if start is None else start.copy()

    def slopes(parameters: Array) -> tuple[Array, Array]:
        prior = _prior(model, parameters[None], phi)
        gradient, curvature = Likelihood(prior.added_to(whole), ridge).slopes(parameters[None])
        return gradient[0], curvature[0]

    x = newton(slopes, x[0], longest=_STEP, tolerance=tolerance, limit=_LIMIT)[None]
    x[:, :s] -= x[:, :s].mean(axis=1, keepdims=True)
    return x, _prior(model, x, phi)


def _prior(model: Likelihood, x: Array, phi: float) -> JeffreysPrior:
    s, i, j = model.n_systems, model.i, model.j
    information = model.information(x)[0]
    V = np.linalg.inv(model.slopes(x)[1][0])[:s, :s]
    leverage = information * (V[i, i] + V[j, j] - 2 * V[i, j])
    known = np.bincount(i, information, s) + np.bincount(j, information, s)
    both = known[i] + known[j]
    share: Array = np.divide(known[j], both, out=np.full(len(i), 0.5), where=both > 0)
    half = leverage / 2
    parts = np.bincount(i, half * share, s), np.bincount(j, half * (1 - share), s)
    shape = np.add(*parts, dtype=np.float64)
    return JeffreysPrior(half * phi, phi, share, shape)
