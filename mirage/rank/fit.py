"""Maximum likelihood for paired comparisons, many data sets at once.

Bradley-Terry (1952): P(i beats j) = 1 / (1 + exp(theta_j - theta_i)), thetas centred on 0; a tie counts as half a win
for each. Davidson (1970): a third outcome with P(tie) proportional to nu * sqrt(exp(theta_i) exp(theta_j)).

The likelihood is concave, so Newton's method with step halving finds the one maximum. A small ridge keeps it finite
where a system never lost or never won. For the resampled data sets of a bootstrap the Hessian of the full data serves
all (a chord iteration: one matrix product a step). Where a system never lost or never won in a draw, the likelihood is
flat towards it and the chord does not converge: such draws start from that system's own maximum given the others, which
a scalar equation gives, and are left to Newton, all at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.floating[Any]]

Penalty = Literal["jeffreys", "none"]
"""What the likelihood is multiplied by: Jeffreys' prior, which removes the bias of first order, or nothing."""

RIDGE = 1e-7
"""Weight of the penalty ridge/2 * |theta|^2: moves a connected table of 100 queries by less than 1e-7."""

_TOLERANCE = 1e-10
"""Newton's iterations end when no theta moves by more than this."""
_DRAW_TOLERANCE = 1e-8
"""The same for resampled data sets, far below what a draw can tell."""

_SINGLE = 1e-6
"""With this tolerance or a larger one, single precision is enough for the chord iteration."""

_MANY = 64
"""From so many systems on, a product with the sparse matrix of pairs costs more than going through its rows."""
_CACHED = 400_000
"""Cells of a step that stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Bradley-Terry ratings of S systems, fitted to B data sets at once."""

    theta: Array
    """B x S, each row centred on 0, in logits."""
    log_nu: Array | None
    """B: logarithm of Davidson's tie parameter; None where ties are not modelled."""
    iterations: int
    """Newton and chord steps taken."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Battle counts of B data sets by pair of systems, the pairs (i, j), i < j, in the order of `numpy.triu_indices`.

    Counts may be fractions: a tie is half a win each, and strata carry weights.
    """

    first: Counts
    """B x P: wins of i over j (with half of the ties, unless these are modelled)."""
    second: Counts
    """B x P: wins of j over i."""
    ties: Counts | None
    """B x P: ties, where they are modelled (Davidson); else None."""
    systems: int
    """S."""


def fit(
    pairs: PairCounts, *, ridge: float = RIDGE, start: Fit | None = None, tolerance: float = _DRAW_TOLERANCE
) -> Fit:
    """Find the strengths of every data set.

    Args:
        pairs: the data sets.
        ridge: weight of the penalty (`RIDGE`).
        start: a fit of one data set close to all of these, such as the one they are resampled from; its Hessian then
            serves all of them.
        tolerance: with a `start`, iterations end when no theta moves by more than this.

    Returns:
        The maximum of each penalised likelihood, to 1e-9; with a `start`, to some ten times the tolerance.
    """
    model = Likelihood(pairs, ridge)
    if start is None:
        x, steps = _newton(model, np.zeros((len(pairs.first), model.size)))
    else:
        x0 = start.theta if start.log_nu is None else np.column_stack([start.theta, start.log_nu])
        x, steps = _chord(model, x0, tolerance)
    theta = x[:, : pairs.systems]
    return Fit(
        theta=theta - theta.mean(axis=1, keepdims=True),
        log_nu=None if pairs.ties is None else x[:, -1].copy(),
        iterations=steps,
    )


class Likelihood:
    """Gradient, curvature and value of the penalised log-likelihood, for B data sets at B points."""

    def __init__(self, pairs: PairCounts, ridge: float) -> None:
        s = pairs.systems
        self.i, self.j, self.D = _design(s)
        self.n_systems = s
        self.ridge = ridge
        self.ties = pairs.ties
        self.size = s + (pairs.ties is not None)
        self.first, self.second = pairs.first, pairs.second
        tied: Any = 0 if pairs.ties is None else pairs.ties
        self.total: Counts = pairs.first + pairs.second + tied
        self.half: Counts = (pairs.first - pairs.second) / 2

    def take(self, rows: NDArray[np.intp]) -> Likelihood:
        """The model of some of the data sets."""
        part = object.__new__(Likelihood)
        part.__dict__.update(self.__dict__)
        part.first, part.second, part.total, part.half = (
            counts[rows] for counts in (self.first, self.second, self.total, self.half)
        )
        part.ties = None if self.ties is None else self.ties[rows]
        return part

    def single(self) -> Likelihood:
        """The model in single precision."""
        part = object.__new__(Likelihood)
        part.__dict__.update(self.__dict__)
        for name in ("D", "first", "second", "total", "half", "ties"):
            value = getattr(self, name)
            setattr(part, name, None if value is None else value.astype(np.float32))
        return part

    def mean(self) -> Likelihood:
        """The model of the mean data set."""
        pairs = PairCounts(
            self.first.mean(axis=0, keepdims=True),
            self.second.mean(axis=0, keepdims=True),
            None if self.ties is None else self.ties.mean(axis=0, keepdims=True),
            self.n_systems,
        )
        return Likelihood(pairs, self.ridge)

    def gradient(self, x: Array) -> Array:
        """B x size: the gradient of the penalised log-likelihood."""
        if self.ties is not None:
            win, lose, tie = davidson(x[:, : self.n_systems] @ self.D.T, x[:, -1:])
            up = self.half - self.total * (win - lose) / 2
            return np.asarray(
                np.column_stack([up @ self.D, (self.ties - self.total * tie).sum(axis=1)]) - self.ridge * x
            )
        # (first - second)/2 - n (sigma(d) - 1/2), where sigma(d) - 1/2 = tanh(d/2)/2; in place, the hot loop.
        g = -self.ridge * x
        at_once = max(1, _CACHED // max(len(self.i), 1))
        for k in range(0, len(x), at_once):
            rows = slice(k, k + at_once)
            d = self._differences(x[rows])
            d /= 2
            np.tanh(d, out=d)
            d *= self.total[rows] if len(self.total) > 1 else self.total
            d /= -2
            d += self.half[rows] if len(self.half) > 1 else self.half
            if self.n_systems < _MANY:
                g[rows] += d @ self.D
            else:
                first, second = self._by_system(d)
                g[rows] += first - second
        return np.asarray(g)

    def _differences(self, x: Array) -> Array:
        """B x P: theta_i - theta_j of every pair."""
        if self.n_systems < _MANY:
            return np.asarray(x @ self.D.T)
        d = np.empty((len(x), len(self.i)))
        offset = 0
        for k in range(self.n_systems - 1):
            n = self.n_systems - 1 - k
            np.subtract(x[:, k : k + 1], x[:, k + 1 :], out=d[:, offset : offset + n])
            offset += n
        return d

    def _by_system(self, cells: Counts) -> tuple[Array, Array]:
        """B x S each: sums of B x P cells over the pairs in which a system comes first, and second."""
        if self.n_systems < _MANY:
            return np.asarray(cells @ (self.D > 0), dtype=float), np.asarray(cells @ (self.D < 0), dtype=float)
        first, second = np.zeros((len(cells), self.n_systems)), np.zeros((len(cells), self.n_systems))
        offset = 0
        for k in range(self.n_systems - 1):
            n = self.n_systems - 1 - k
            block = cells[:, offset : offset + n]
            first[:, k] = block.sum(axis=1)
            second[:, k + 1 :] += block
            offset += n
        return first, second

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """The gradient (B x size) and minus the Hessian (B x size x size), the latter made definite along the direction
        (1, ..., 1) that centring removes.
        """
        s = self.n_systems
        d = x[:, :s] @ self.D.T
        H = np.zeros((len(x), self.size, self.size))
        if self.ties is None:
            win, lose = logistic(d)
            c = self.total * win * lose
            # Not (first - second)/2 - n (win - lose)/2: where a difference is large, its digits would cancel.
            g = (self.first * lose - self.second * win) @ self.D
        else:
            win, lose, tie = davidson(d, x[:, -1:])
            ahead = win - lose
            c = self.total * (win + lose - ahead**2) / 4
            up = self.first * (lose + tie / 2) - self.second * (win + tie / 2) - self.ties * ahead / 2
            g = np.column_stack([up @ self.D, (self.ties - self.total * tie).sum(axis=1)])
            H[:, :s, s] = H[:, s, :s] = -(self.total * tie * ahead / 2) @ self.D
            H[:, s, s] = (self.total * tie * (1 - tie)).sum(axis=1)
        H[:, self.i, self.j] = H[:, self.j, self.i] = -c
        diagonal = c @ np.abs(self.D)
        H[:, range(s), range(s)] = diagonal
        H[:, range(self.size), range(self.size)] += self.ridge
        H[:, :s, :s] += np.maximum(diagonal.max(axis=1), self.ridge)[:, None, None] / s
        return g - self.ridge * x, H

    def information(self, x: Array) -> Array:
        """B x P: what each pair tells of its difference, the negative second derivative of its log-likelihood."""
        d = x[:, : self.n_systems] @ self.D.T
        if self.ties is None:
            win, lose = logistic(d)
            return np.asarray(self.total * win * lose)
        win, lose, _ = davidson(d, x[:, -1:])
        return np.asarray(self.total * (win + lose - (win - lose) ** 2) / 4)

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

    def points(self) -> tuple[Array, Array]:
        """B x S each: points taken (a win is 1, a tie half) and points given."""
        tied = 0 if self.ties is None else self.ties / 2
        (a, b), (c, d) = self._by_system(self.first + tied), self._by_system(self.second + tied)
        return a + d, b + c


@cache
def _design(s: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """The pairs (i, j), i < j, of s systems, and the P x s matrix with +1 at the first system of a pair and -1 at the
    second: differences are theta @ D.T, gradients come back by D.
    """
    i, j = np.triu_indices(s, 1)
    design = np.zeros((len(i), s))
    design[np.arange(len(i)), i] = 1
    design[np.arange(len(i)), j] = -1
    for array in (i, j, design):
        array.setflags(write=False)
    return i, j, design


def logistic(d: Array) -> tuple[Array, Array]:
    """P(first wins), P(second wins) of pairs whose strengths differ by d, each with all its digits."""
    far = np.exp(-np.abs(d))
    near = 1 / (1 + far)
    far *= near
    return np.where(d > 0, near, far), np.where(d > 0, far, near)


def davidson(d: Array, log_nu: Array) -> tuple[Array, Array, Array]:
    """P(first wins), P(second wins), P(tie) of pairs whose strengths differ by d."""
    win, lose, tie = d / 2, -d / 2, np.broadcast_to(log_nu, d.shape)
    top = np.maximum(np.maximum(win, lose), tie)
    win, lose, tie = np.exp(win - top), np.exp(lose - top), np.exp(tie - top)
    z = win + lose + tie
    return win / z, lose / z, tie / z


def _apart(model: Likelihood, x: Array) -> Array:
    """`x`, but every system that took all points or none in a data set stands where its own likelihood, the others
    staying, has its maximum.

    With u the others' strengths around their mean and t its own, an undefeated system gives the expected points
    sum_j n_j P(j scores at t - u_j), which at the maximum the ridge balances: ridge t (S - 1) / S. Both sides fall or
    rise exponentially, so Newton on the difference of their logarithms takes a few steps from anywhere.
    """
    s = model.n_systems
    points_won, points_lost = model.points()
    battled = points_won + points_lost > 0
    for side, none in ((1.0, points_lost <= 0), (-1.0, points_won <= 0)):
        rows, systems = np.nonzero(none & battled)
        if not len(rows):
            continue
        n = np.zeros((len(rows), s))
        for own, opponent in ((model.i, model.j), (model.j, model.i)):
            r, p = np.nonzero(own[None, :] == systems[:, None])
            n[r, opponent[p]] = model.total[rows[r], p]
        theta = x[rows, :s]
        mean = (theta.sum(axis=1) - theta[np.arange(len(rows)), systems]) / (s - 1)
        u = side * (theta - mean[:, None])
        log_nu = None if model.ties is None else x[rows, -1:]
        t = np.full(len(rows), 5.0)
        for _ in range(12):
            d = t[:, None] - u
            if log_nu is None:
                ahead, scores = logistic(d)
                falls = scores * ahead
            else:
                win, lose, tie = davidson(d, log_nu)
                scores, falls = lose + tie / 2, (win + lose - (win - lose) ** 2) / 4
            left = (n * scores).sum(axis=1)
            slope = (n * falls).sum(axis=1) / left + 1 / t
            move = (np.log(left) - np.log(model.ridge * (s - 1) / s * t)) / slope
            t = np.maximum(t + move, t / 4)
            if np.abs(move).max() < 1e-6:
                break
        x[rows, systems] = mean + side * t
    return x


def _newton(model: Likelihood, x: Array, *, limit: int = 200) -> tuple[Array, int]:
    """Newton with step halving, all data sets at once; each leaves the batch when it has converged."""
    x = x.copy()
    left, before = np.arange(len(x)), np.full(len(x), np.inf)
    part, steps = model, 0
    while len(left) and steps < limit:
        steps += 1
        parameters = x[left]
        g, H = part.slopes(parameters)
        step = np.linalg.solve(H, g[:, :, None])[:, :, 0]
        length = np.abs(step).max(axis=1)
        # Where a step is long, it may overshoot. Differences of thetas that move by at most 0.2 change the curvature of
        # a logistic by less than a quarter: a full step goes up.
        long = np.flatnonzero(length > 0.1)
        if len(long):
            step[long] *= _uphill(part.take(long), parameters[long], step[long])[:, None]
        x[left] = parameters + step
        # What is this small and no longer shrinks is rounding: the ridge alone fixes a gap of 20 logits to no more.
        more = (length > _TOLERANCE) & ((length > _DRAW_TOLERANCE) | (length < before / 2))
        if not more.all():
            left, length = left[more], length[more]
            part = model.take(left)
        before = length
    return x, steps


def _uphill(model: Likelihood, parameters: Array, step: NDArray[Any]) -> Array:
    """The part of each step, 1 or a power of 1/2, that does not go down."""
    scale = np.ones(len(parameters))
    # A concave function that still rises at the end of a step has risen all along.
    rows = np.flatnonzero((model.gradient(parameters + step) * step).sum(axis=1) < 0)
    if len(rows):
        part = model.take(rows)
        value = part.value(parameters[rows])
        for _ in range(30):
            worse = part.value(parameters[rows] + scale[rows, None] * step[rows]) < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            scale[rows[worse]] /= 2
    return scale


def _chord(model: Likelihood, x0: Array, tolerance: float, *, limit: int = 40) -> tuple[Array, int]:
    """Newton with the mean data set's curvature at `x0` for all; what does not converge is left to `_newton`."""
    b = len(model.total)
    inverse = np.linalg.inv(model.mean().slopes(x0)[1][0])
    points_won, points_lost = model.points()
    easy = np.flatnonzero((np.minimum(points_won, points_lost) > 0).all(axis=1))
    part, parameters = (model if len(easy) == b else model.take(easy)), np.repeat(x0, len(easy), axis=0)
    if tolerance >= _SINGLE:
        part, parameters, inverse = part.single(), parameters.astype(np.float32), inverse.astype(np.float32)
    moved = np.full(len(easy), np.inf)
    hard = np.ones(b, dtype=bool)
    hard[easy] = False
    steps = 0
    with np.errstate(over="ignore", invalid="ignore"):
        while len(easy) and steps < limit and moved.max() > tolerance:
            steps += 1
            step = part.gradient(parameters) @ inverse
            parameters += step
            before, moved = moved, np.abs(step).max(axis=1)
            # Converging at a factor of 1/2 takes as many steps as there are; what is slower is better left to Newton.
            slow = ~((moved <= tolerance) | (moved < before * (1 if steps < 4 else 0.6)))
            if slow.any():
                hard[easy[slow]] = True
                easy, parameters, moved = easy[~slow], parameters[~slow], moved[~slow]
                part = part.take(np.flatnonzero(~slow))
    x = np.repeat(x0, b, axis=0)
    x[easy] = parameters
    hard[easy[moved > tolerance]] = True
    bad = np.flatnonzero(hard)
    if len(bad):
        part = model.take(bad)
        x[bad], more = _newton(part, _apart(part, np.repeat(x0, len(bad), axis=0)))
        steps += more
    return x, steps
