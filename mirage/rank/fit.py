"""Maximum likelihood for paired comparisons, many data sets at once.

Bradley-Terry (1952): P(i beats j) = 1 / (1 + exp(theta_j - theta_i)), thetas centred on 0; a tie counts as half a win
for each. Davidson (1970): a third outcome with P(tie) proportional to nu * sqrt(exp(theta_i) exp(theta_j)).

The likelihood is concave, so Newton's method with step halving finds the one maximum. A small ridge keeps it finite
where a system never lost or never won. For the resampled data sets of a bootstrap the Hessian of the full data serves
all (a chord iteration: one matrix product a step); those few where it does not converge are left to Newton.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIDGE = 1e-7
"""Weight of the penalty ridge/2 * |theta|^2: moves a connected table of 100 queries by less than 1e-7."""

_TOLERANCE = 1e-10
"""Newton's iterations end when no theta moves by more than this."""

_DRAW_TOLERANCE = 1e-8
"""The same for resampled data sets, far below what a draw can tell."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Strengths fitted to B data sets of S systems."""

    theta: Array
    """B x S, each row centred on 0, in logits."""
    log_nu: Array | None
    """B: logarithm of Davidson's tie parameter; None where ties are not modelled."""
    iterations: int
    """Newton and chord steps taken."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Battle counts of B data sets by pair of systems, the pairs (i, j), i < j, in the order of `numpy.triu_indices`.

    Counts may be fractions: a tie is half a win each, and strata carry weights.
    """

    first: Array
    """B x P: wins of i over j (with half of the ties, unless these are modelled)."""
    second: Array
    """B x P: wins of j over i."""
    ties: Array | None
    """B x P: ties, where they are modelled (Davidson); else None."""
    systems: int
    """S."""


def fit(pairs: Pairs, *, ridge: float = RIDGE, start: Fit | None = None) -> Fit:
    """Find the strengths of every data set.

    Args:
        pairs: the data sets.
        ridge: weight of the penalty (`RIDGE`).
        start: a fit of one data set close to all of these, such as the one they are resampled from; its Hessian then
            serves all of them.

    Returns:
        The maximum of each penalised likelihood, to 1e-9; with a `start`, to 1e-7.
    """
    model = _Model(pairs, ridge)
    if start is None:
        x, steps = _newton(model, np.zeros((len(pairs.first), model.size)))
    else:
        x0 = start.theta if start.log_nu is None else np.column_stack([start.theta, start.log_nu])
        x, steps = _chord(model, x0)
    theta = x[:, : pairs.systems]
    return Fit(
        theta=theta - theta.mean(axis=1, keepdims=True),
        log_nu=None if pairs.ties is None else x[:, -1].copy(),
        iterations=steps,
    )


class _Model:
    """Gradient, curvature and value of the penalised log-likelihood, for B data sets at B points."""

    def __init__(self, pairs: Pairs, ridge: float) -> None:
        s = pairs.systems
        self.i, self.j = np.triu_indices(s, 1)
        self.n_systems = s
        self.ridge = ridge
        self.ties = pairs.ties
        self.size = s + (pairs.ties is not None)
        self.total = pairs.first + pairs.second + (0 if pairs.ties is None else pairs.ties)
        self.half = (pairs.first - pairs.second) / 2
        # +1 at the first system of a pair, -1 at the second: differences are theta @ D.T, gradients come back by D.
        self.D = np.zeros((len(self.i), s))
        self.D[np.arange(len(self.i)), self.i] = 1
        self.D[np.arange(len(self.i)), self.j] = -1

    def take(self, rows: NDArray[np.intp]) -> _Model:
        """The model of some of the data sets."""
        part = object.__new__(_Model)
        part.__dict__.update(self.__dict__)
        part.total, part.half = self.total[rows], self.half[rows]
        part.ties = None if self.ties is None else self.ties[rows]
        return part

    def gradient(self, x: Array) -> Array:
        d = x[:, : self.n_systems] @ self.D.T
        if self.ties is None:
            # (first - second)/2 - n (sigma(d) - 1/2), where sigma(d) - 1/2 = tanh(d/2)/2; in place, the hot loop.
            d /= 2
            np.tanh(d, out=d)
            d *= self.total
            d /= -2
            d += self.half
            g = d @ self.D
        else:
            win, lose, tie = self._davidson(d, x[:, -1])
            g = np.column_stack(
                [
                    (self.half - self.total * (win - lose) / 2) @ self.D,
                    (self.ties - self.total * tie).sum(axis=1),
                ]
            )
        return g - self.ridge * x

    def curvature(self, x: Array) -> Array:
        """Minus the Hessian, B x size x size, made definite along the direction (1, ..., 1) that centring removes."""
        s = self.n_systems
        d = x[:, :s] @ self.D.T
        H = np.zeros((len(x), self.size, self.size))
        if self.ties is None:
            c = self.total * (1 - np.tanh(d / 2) ** 2) / 4
        else:
            win, lose, tie = self._davidson(d, x[:, -1])
            c = self.total * (win + lose - (win - lose) ** 2) / 4
            cross = -(self.total * tie * (win - lose) / 2) @ self.D
            H[:, :s, s] = H[:, s, :s] = cross
            H[:, s, s] = (self.total * tie * (1 - tie)).sum(axis=1)
        H[:, self.i, self.j] = H[:, self.j, self.i] = -c
        diagonal = np.zeros((len(x), s))
        for k, at in ((c, self.i), (c, self.j)):
            np.add.at(diagonal.T, at, k.T)
        H[:, range(s), range(s)] = diagonal
        H[:, range(self.size), range(self.size)] += self.ridge
        H[:, :s, :s] += np.maximum(diagonal.max(axis=1), self.ridge)[:, None, None] / s
        return H

    def value(self, x: Array) -> Array:
        """B: the penalised log-likelihood."""
        d = x[:, : self.n_systems] @ self.D.T
        if self.ties is None:
            log_z = np.logaddexp(d / 2, -d / 2)
            extra = 0.0
        else:
            log_z = np.logaddexp(np.logaddexp(d / 2, -d / 2), x[:, -1:])
            extra = self.ties.sum(axis=1) * x[:, -1]
        likelihood = (self.half * d - self.total * log_z).sum(axis=1) + extra
        return np.asarray(likelihood - self.ridge / 2 * (x * x).sum(axis=1))

    def _davidson(self, d: Array, log_nu: Array) -> tuple[Array, Array, Array]:
        """P(first wins), P(second wins), P(tie) of every pair."""
        win, lose, tie = d / 2, -d / 2, np.broadcast_to(log_nu[:, None], d.shape)
        top = np.maximum(np.maximum(win, lose), tie)
        win, lose, tie = np.exp(win - top), np.exp(lose - top), np.exp(tie - top)
        z = win + lose + tie
        return win / z, lose / z, tie / z


def _newton(model: _Model, x: Array, *, limit: int = 200) -> tuple[Array, int]:
    """Newton with step halving, all data sets at once; each leaves the batch when it has converged."""
    x = x.copy()
    left = np.arange(len(x))
    steps = 0
    while len(left) and steps < limit:
        steps += 1
        part = model.take(left)
        here = x[left]
        step = np.linalg.solve(part.curvature(here), part.gradient(here)[:, :, None])[:, :, 0]
        scale = np.ones(len(left))
        # Differences of thetas move by at most 0.2, the curvature of a logistic by less than a quarter: a full step
        # goes up.
        halvings = 30 if np.abs(step).max() > 0.1 else 0
        value = part.value(here) if halvings else scale
        for _ in range(halvings):
            worse = part.value(here + scale[:, None] * step) < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            scale[worse] /= 2
        x[left] = here + scale[:, None] * step
        left = left[np.abs(step).max(axis=1) > _TOLERANCE]
    return x, steps


def _chord(model: _Model, x0: Array, *, limit: int = 40) -> tuple[Array, int]:
    """Newton with the mean data set's curvature at `x0` for all; what has not converged is left to `_newton`."""
    b = len(model.total)
    mean = model.take(np.arange(1))
    mean.total = model.total.mean(axis=0, keepdims=True)
    mean.ties = None if model.ties is None else model.ties.mean(axis=0, keepdims=True)
    inverse = np.linalg.inv(mean.curvature(x0)[0])
    x = np.repeat(x0, b, axis=0)
    moved = np.full(b, np.inf)
    steps = 0
    with np.errstate(over="ignore", invalid="ignore"):
        while steps < limit and moved.max() > _DRAW_TOLERANCE and np.isfinite(x).all():
            steps += 1
            step = model.gradient(x) @ inverse
            x += step
            moved = np.abs(step).max(axis=1)
    bad = np.flatnonzero(~(moved <= _DRAW_TOLERANCE))
    if len(bad):
        x[bad], more = _newton(model.take(bad), np.repeat(x0, len(bad), axis=0))
        steps += more
    return x, steps
