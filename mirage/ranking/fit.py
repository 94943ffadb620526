"""Maximum likelihood for paired comparisons, for many data sets at once; every Bradley-Terry fit uses this module.

Bradley-Terry (1952): P(i beats j) = 1 / (1 + exp(theta_j - theta_i)), thetas centred on 0; a tie counts as half a win
for each. Davidson (1970): a third outcome with P(tie) proportional to nu * sqrt(exp(theta_i) exp(theta_j)). With
covariates, `style . beta` is added to the difference of the thetas.

The likelihood is concave, so Newton's method with step halving (`newton.py`) finds the maximum; linear constraints are
supported, also across several likelihoods. A small ridge keeps the maximum finite where a system never lost or never
won, and so does Jeffreys' prior (`jeffreys.py`).

The resampled data sets of a bootstrap share the Hessian of the full data (a chord iteration: one matrix product per
step). Where a system never lost or never won in a draw, the likelihood is flat towards it and the chord iteration does
not converge: such draws start from that system's own maximum given the others, the root of a scalar equation, and use
Newton's method, all of them in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.blocks import systems_of
from mirage.stats.arrays import Array, Places
from mirage.stats.newton import Maximum, Rows, Solver, StepRule, chord, memoize_last, newton

Counts = NDArray[np.floating[Any]]

RIDGE = 1e-7
"""Weight of the penalty ridge/2 * |theta|^2: changes the ratings of a connected table of 100 queries by less than
1e-7.
"""

_TOLERANCE = 1e-10
"""Newton's method stops when no theta moves by more than this."""
_DRAW_TOLERANCE = 1e-8
"""The same for resampled data sets, far below the precision of a draw."""

_LIMIT, _CHORDS = 200, 40
"""Maximum steps of Newton's method, and of the chord iteration."""

MANY = 64
"""Number of systems from which looping over pairs is faster than a product with the sparse matrix of pairs."""
_CACHED = 400_000
"""Cells per block that fit the processor's cache."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Battle counts of B data sets by pair of systems (i, j), i < j, in the order of `numpy.triu_indices`: all pairs,
    or those in `met`.

    Counts may be fractions: a tie is half a win each, and strata are weighted. With a `CellStyle`, counts are by cell.
    """

    first: Counts
    """B x P: wins of i over j (with half of the ties, unless these are modelled)."""
    second: Counts
    """B x P: wins of j over i."""
    ties: Counts | None
    """B x P: ties, where they are modelled (Davidson); else None."""
    systems: int
    """S."""
    met: Places | None = None
    """P: index of each pair in `numpy.triu_indices`, ascending; None for all pairs."""

    @property
    def ends(self) -> tuple[Places, Places]:
        """The first and the second system of every pair (P each)."""
        return _pairs(self.systems) if self.met is None else systems_of(self.met, self.systems)


@dataclass(frozen=True, slots=True, eq=False)
class CellStyle:
    """Covariates of N cells; a cell holds the battles of one pair and one style."""

    pair: Places
    """N: index of the cell's pair."""
    z: Array
    """K x N: covariates of the pair's first answer minus those of its second."""


def fit(
    pairs: PairCounts, *, ridge: float = RIDGE, start: Array | None = None, tolerance: float = _DRAW_TOLERANCE
) -> Array:
    """Fit the ratings of every data set: B x S in logits, each row centred on 0, with Davidson's model B x (S + 1), the
    logarithm of its tie parameter last.

    Args:
        pairs: the data sets.
        ridge: weight of the penalty (`RIDGE`).
        start: 1 x size: the fit of one data set close to all of these, such as the one they are resampled from; the
            Hessian there is then used for all of them.
        tolerance: with a `start`, iterations stop when no theta moves by more than this.

    Returns:
        The maximum of each penalised likelihood, to 1e-9; with a `start`, to about ten times the tolerance.
    """
    model = Likelihood(pairs, ridge)
    if start is None:
        x = maximise([model], np.zeros((len(pairs.first), model.size))).point
    else:
        x = _by_chords(model, start, tolerance)
    theta = x[:, : pairs.systems]
    theta -= theta.mean(axis=1, keepdims=True)
    return x


def maximise(
    models: Sequence[Likelihood],
    x: Array,
    *,
    constraint: Array | None = None,
    tolerance: float = _TOLERANCE,
    rounding: float = _DRAW_TOLERANCE,
    bound: float = np.inf,
    wait: bool = False,
) -> Maximum:
    """Maximise the sum of likelihoods with separate parameters, optionally under joint linear constraints.

    Args:
        models: the likelihoods, each of B data sets, or of one that is shared by all.
        x: B x n: starting points; n is the size of all models together, their parameters concatenated.
        constraint: B x m x n: A, for a maximum among the points with A x = 0; `x` must satisfy it.
        tolerance: as in `newton`.
        rounding: as in `newton`: the ridge alone determines a gap of 20 logits to no more than the default.
        bound: as in `newton`.
        wait: as in `newton`.
    """
    ends = np.cumsum([model.size for model in models])
    spans = [slice(end - model.size, end) for model, end in zip(models, ends, strict=True)]

    def take(rows: Rows) -> list[Likelihood]:
        return [model.take(rows) for model in models]

    def slopes(x: Array, rows: Rows) -> tuple[Array, list[Array]]:
        parts = zip(taken(rows), spans, strict=True)
        gradients, curvatures = zip(*(model.slopes(x[:, span]) for model, span in parts), strict=True)
        return np.concatenate(gradients, axis=1), list(curvatures)

    def value(x: Array, rows: Rows) -> Array:
        return np.asarray(sum(model.value(x[:, span]) for model, span in zip(take(rows), spans, strict=True)))

    taken = memoize_last(take)
    return newton(
        slopes,
        x,
        StepRule(tolerance, _LIMIT, rounding=rounding, bound=bound),
        value=value,
        constraint=constraint,
        wait=wait,
    )


class Likelihood:
    """Gradient, curvature and value of the penalised log-likelihood, for B data sets at B points.

    A point has S thetas, K coefficients of the covariates, and log nu with Davidson's model.
    """

    def __init__(self, counts: PairCounts, ridge: float, style: CellStyle | None = None) -> None:
        s = counts.systems
        self.i, self.j = counts.ends
        self.met = counts.met
        self.n_systems = s
        self.ridge = ridge
        self.style = style
        self.ties = counts.ties
        self.size = s + (0 if style is None else len(style.z)) + (counts.ties is not None)
        self.first, self.second = counts.first, counts.second
        tied: Any = 0 if counts.ties is None else counts.ties
        self.total: Counts = counts.first + counts.second + tied
        self.half: Counts = (counts.first - counts.second) / 2

    def plus(self, added: Array) -> Likelihood:
        """Return the model with pseudo-points added to both sides of every cell."""
        counts = PairCounts(self.first + added, self.second + added, self.ties, self.n_systems, self.met)
        return Likelihood(counts, self.ridge, self.style)

    def of_pairs_met(self) -> Likelihood:
        """Return the model without pairs that never met, if it has many systems."""
        met = np.flatnonzero(self.total.any(axis=0))
        if self.n_systems < MANY or self.style is not None or self.ties is not None or len(met) == len(self.i):
            return self
        counts = PairCounts(self.first[:, met], self.second[:, met], None, self.n_systems, met)
        return Likelihood(counts, self.ridge)

    def take(self, rows: Rows) -> Likelihood:
        """Return the model of some of the data sets; itself if one data set is shared by all."""
        if len(self.total) == 1 or isinstance(rows, slice):
            return self
        part = object.__new__(Likelihood)
        part.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_square"})
        part.first, part.second, part.total, part.half = (
            counts[rows] for counts in (self.first, self.second, self.total, self.half)
        )
        part.ties = None if self.ties is None else self.ties[rows]
        return part

    @property
    def D(self) -> NDArray[Any]:  # noqa: N802  # the design matrix
        """Design matrix, P x S: +1 at the first system of a pair and -1 at the second. Differences are theta @ D.T,
        gradients are products with D.
        """
        return _design(self.n_systems)

    def mean(self) -> Likelihood:
        """Return the model of the mean data set."""
        pairs = PairCounts(
            self.first.mean(axis=0, keepdims=True),
            self.second.mean(axis=0, keepdims=True),
            None if self.ties is None else self.ties.mean(axis=0, keepdims=True),
            self.n_systems,
        )
        return Likelihood(pairs, self.ridge)

    def gradient(self, x: Array) -> Array:
        """Return the gradient of the penalised log-likelihood (B x size)."""
        if self.ties is not None:
            win, lose, tie = davidson(self.differences(x), x[:, -1:])
            up = self.half - self.total * (win - lose) / 2
            return np.column_stack([self._design_sums(up), (self.ties - self.total * tie).sum(axis=1)]) - self.ridge * x
        # (first - second)/2 - n (sigma(d) - 1/2), where sigma(d) - 1/2 = tanh(d/2)/2; in place, as the hot loop.
        g = -self.ridge * x
        if self.n_systems >= MANY and self.style is None:
            total, half = self._square
            d = np.empty(total.shape[1:], dtype=x.dtype)
            for k, thetas in enumerate(x / 2):
                row = k if len(total) > 1 else 0
                np.subtract(thetas[:, None], thetas, out=d)
                np.tanh(d, out=d)
                d *= total[row]
                g[k] += half[row] - d.sum(axis=1) / 2
            return g
        at_once = max(1, _CACHED // max(len(self.i), 1))
        for k in range(0, len(x), at_once):
            rows = slice(k, k + at_once)
            d = self.differences(x[rows])
            d /= 2
            np.tanh(d, out=d)
            d *= self.total[rows] if len(self.total) > 1 else self.total
            d /= -2
            d += self.half[rows] if len(self.half) > 1 else self.half
            g[rows] += self._design_sums(d)
        return g

    @cached_property
    def _square(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """B x S x S: symmetric battle counts; B x S: half of (points won - points lost)."""
        total = np.zeros((len(self.total), self.n_systems, self.n_systems))
        total[:, self.i, self.j] = total[:, self.j, self.i] = self.total
        return total, self._design_sums(np.asarray(self.half, dtype=np.float64))

    def by_pair(self, cells: Counts) -> Array:
        """Return sums over the cells of each pair (B x P)."""
        if self.style is None:
            return np.asarray(cells)
        b, p = len(cells), len(self.i)
        place = (np.arange(b)[:, None] * p + self.style.pair).ravel()
        return np.bincount(place, cells.ravel(), b * p).astype(float, copy=False).reshape(b, p)

    def _design_sums(self, cells: Array) -> Array:
        """Return sums over cells times their design rows (B x (S + K))."""
        if self.style is not None:
            return np.hstack([self.by_pair(cells) @ self.D, cells @ self.style.z.T])
        if self.n_systems < MANY:
            return np.asarray(cells @ self.D)
        first, second = self._by_system(cells)
        return first - second

    def differences(self, x: Array) -> Array:
        """Return the lead in logits of the first system of every pair or cell (B x P or B x N)."""
        s = self.n_systems
        if self.style is not None:
            return np.asarray(
                (x[:, :s] @ self.D.T)[:, self.style.pair] + x[:, s : s + len(self.style.z)] @ self.style.z
            )
        if self.met is not None or s >= MANY:
            return x[:, self.i] - x[:, self.j]
        return np.asarray(x[:, :s] @ self.D.T)

    def _by_system(self, cells: Counts) -> tuple[Array, Array]:
        """Return sums of B x P cells over the pairs in which a system comes first, and second (B x S each)."""
        if self.met is None and self.n_systems < MANY:
            return np.asarray(cells @ (self.D > 0), dtype=float), np.asarray(cells @ (self.D < 0), dtype=float)
        first, second = (
            np.array([np.bincount(ends, row, self.n_systems) for row in cells]).reshape(-1, self.n_systems)
            for ends in (self.i, self.j)
        )
        return first, second

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient (B x size) and minus the Hessian (B x size x size), made definite along the direction (1,
        ..., 1) that centring removes.
        """
        d = self.differences(x)
        if self.ties is None:
            win, lose = logistic(d)
            H = self._curvature(self.total * win * lose)
            # Not (first - second)/2 - n (win - lose)/2: it cancels where a difference is large.
            g = self._design_sums(self.first * lose - self.second * win)
        else:
            win, lose, tie = davidson(d, x[:, -1:])
            ahead = win - lose
            H = self._curvature(self.total * (win + lose - ahead**2) / 4)
            up = self.first * (lose + tie / 2) - self.second * (win + tie / 2) - self.ties * ahead / 2
            g = np.column_stack([self._design_sums(up), (self.ties - self.total * tie).sum(axis=1)])
            H[:, :-1, -1] = H[:, -1, :-1] = -self._design_sums(self.total * tie * ahead / 2)
            H[:, -1, -1] += (self.total * tie * (1 - tie)).sum(axis=1)
        return g - self.ridge * x, H

    def _curvature(self, c: Array) -> Array:
        """Return minus the Hessian from the information of the cells (B x size x size); 0 for log nu."""
        s = self.n_systems
        H = np.zeros((len(c), self.size, self.size))
        pairs = self.by_pair(c)
        H[:, self.i, self.j] = H[:, self.j, self.i] = -pairs
        diagonal = pairs @ np.abs(self.D) if s < MANY else np.add(*self._by_system(pairs))
        H[:, range(s), range(s)] = diagonal
        if self.style is not None:
            z, end = self.style.z, s + len(self.style.z)
            for k, row in enumerate(z, start=s):
                H[:, :s, k] = H[:, k, :s] = self.by_pair(c * row) @ self.D
            H[:, s:end, s:end] = (c[:, None] * z) @ z.T
        H[:, range(self.size), range(self.size)] += self.ridge
        H[:, :s, :s] += np.maximum(diagonal.max(axis=1), self.ridge)[:, None, None] / s
        return H

    def information(self, x: Array) -> Array:
        """Return the information of each cell on its difference, the negative second derivative of its log-likelihood
        (B x P).
        """
        d = self.differences(x)
        if self.ties is None:
            win, lose = logistic(d)
            return self.total * win * lose
        win, lose, _ = davidson(d, x[:, -1:])
        return self.total * (win + lose - (win - lose) ** 2) / 4

    def leverage(self, x: Array) -> Array:
        """Return the leverage of each pair or cell of one data set: its share in the information on its difference (P
        or N).

        The leverages sum to the number of parameters without log nu, minus 1.
        """
        s, i, j = self.n_systems, self.i, self.j
        H = self.slopes(x)[1][0]
        V = _inverse(H) if self.style is None else np.linalg.inv(H)
        variance = V[i, i] + V[j, j] - 2 * V[i, j]
        if self.style is not None:
            z, pair = self.style.z, self.style.pair
            of_style = V[s : s + len(z), s : s + len(z)]
            variance = variance[pair] + (z * (of_style @ z)).sum(axis=0)
            for k, row in enumerate(z, start=s):
                variance += row * (2 * (V[i, k] - V[j, k]))[pair]
        return np.asarray(self.information(x)[0] * variance)

    def value(self, x: Array) -> Array:
        """Return the penalised log-likelihood (B)."""
        d = self.differences(x)
        if self.ties is None:
            log_z = np.logaddexp(d / 2, -d / 2)
            extra = 0.0
        else:
            log_z = np.logaddexp(np.logaddexp(d / 2, -d / 2), x[:, -1:])
            extra = self.ties.sum(axis=1) * x[:, -1]
        likelihood = (self.half * d - self.total * log_z).sum(axis=1) + extra
        return np.asarray(likelihood - self.ridge / 2 * (x * x).sum(axis=1))

    def points(self) -> tuple[Array, Array]:
        """Return the points won (a win is 1, a tie half) and the points lost (B x S each)."""
        tied = 0 if self.ties is None else self.ties / 2
        (a, b), (c, d) = self._by_system(self.first + tied), self._by_system(self.second + tied)
        return a + d, b + c


def _inverse(H: Array) -> Array:
    """Return the upper triangle of the inverse of a positive definite matrix, by Cholesky if it is large: in half the
    time. The lower triangle is undefined.
    """
    if len(H) >= MANY:
        from scipy.linalg.lapack import dpotrf, dpotri

        factor, failed = dpotrf(H)
        if not failed:
            return np.asarray(dpotri(factor)[0])
    return np.asarray(np.linalg.inv(H))


def solver(H: Array) -> Solver:
    """Return a function that solves systems with one positive definite matrix (1 x n x n), as `newton` expects."""
    from scipy.linalg.lapack import dposv

    def solve(right: Array) -> Array:
        _, solved, failed = dposv(H[0], right[0])
        return np.asarray(np.linalg.solve(H, right) if failed else solved[None])

    return solve


@cache
def _pairs(s: int) -> tuple[Places, Places]:
    """Return the pairs (i, j), i < j, of s systems."""
    i, j = np.triu_indices(s, 1)
    for array in (i, j):
        array.setflags(write=False)
    return i, j


@lru_cache(maxsize=64)
def _design(s: int) -> NDArray[Any]:
    """Return `Likelihood.D`, cached."""
    i, j = _pairs(s)
    design = np.zeros((len(i), s))
    design[np.arange(len(i)), i] = 1
    design[np.arange(len(i)), j] = -1
    design.setflags(write=False)
    return design


def sum_scores(query: NDArray[np.integer], ends: tuple[Places, Places], pull: Array, shape: tuple[int, int]) -> Array:
    """Return each query's score for the ratings (Q x S).

    Args:
        query: N: the query of each cell.
        ends: N each: the first and the second system of each cell.
        pull: N: derivative of the cell's log-likelihood by the rating of its first system.
        shape: Q, S.
    """
    place, size = query.astype(np.int64) * shape[1], shape[0] * shape[1]
    first, second = (np.bincount(place + end, pull, size) for end in ends)
    return np.asarray((first - second).reshape(shape), dtype=float)


def logistic(d: Array) -> tuple[Array, Array]:
    """Return P(first wins), P(second wins) of pairs whose strengths differ by d, both to full precision."""
    far = np.exp(-np.abs(d))
    near = 1 / (1 + far)
    far *= near
    return np.where(d > 0, near, far), np.where(d > 0, far, near)


def expected_points(d: Array, log_nu: Array | None) -> tuple[Array, Array]:
    """Return the points that the first and the second of pairs are to win, a tie being half a point for each; ties are
    modelled if `log_nu` is given (`davidson`).
    """
    if log_nu is None:
        return logistic(d)
    win, lose, tie = davidson(d, log_nu)
    return win + tie / 2, lose + tie / 2


def davidson(d: Array, log_nu: Array) -> tuple[Array, Array, Array]:
    """Return P(first wins), P(second wins), P(tie) of pairs whose strengths differ by d."""
    win, lose, tie = d / 2, -d / 2, np.broadcast_to(log_nu, d.shape)
    top = np.maximum(np.maximum(win, lose), tie)
    win, lose, tie = np.exp(win - top), np.exp(lose - top), np.exp(tie - top)
    z = win + lose + tie
    return win / z, lose / z, tie / z


def _move_separated(model: Likelihood, x: Array) -> Array:
    """Move every system with all points or none in a data set to the maximum of its own likelihood, the others fixed.

    With u the others' strengths around their mean and t its own, an undefeated system concedes the expected points
    sum_j n_j P(j scores at t - u_j), which at the maximum equal the ridge's pull: ridge t (S - 1) / S. Both sides are
    exponential in t, so Newton on the difference of their logarithms takes a few steps from any start.
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


def _by_chords(model: Likelihood, x0: Array, tolerance: float) -> Array:
    """Return the maxima by the chord iteration from `x0` with the mean data set's curvature, the rest by Newton's
    method.
    """
    inverse = np.linalg.inv(model.mean().slopes(x0)[1][0])
    points_won, points_lost = model.points()
    bounded = np.asarray((np.minimum(points_won, points_lost) > 0).all(axis=1))
    easy = np.flatnonzero(bounded)
    part, start = model.take(slice(None) if bounded.all() else easy), np.repeat(x0, len(easy), axis=0)
    taken = memoize_last(part.take)
    near = chord(lambda x, rows: taken(rows).gradient(x), inverse, start, tolerance=tolerance, limit=_CHORDS, wait=True)
    x = np.repeat(x0, len(bounded), axis=0)
    x[easy] = near.point
    bounded[easy] = near.converged
    hard = np.flatnonzero(~bounded)
    part = model.take(hard)
    x[hard] = maximise([part], _move_separated(part, x0.repeat(len(hard), axis=0))).point
    return x
