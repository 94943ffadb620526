"""Ratings and coefficients of style from the cells of one language: what two systems took of each other on a query.

**The estimate** is the maximum of the likelihood times Jeffreys' prior over systems and covariates together
(`jeffreys.py`): h/2 points more for each side of a cell, h the leverage of the cell, scaled by how much more queries
vary than independent battles would.

**The draws** are those of `bootstrap.py`: exponential weights of the queries, gamma weights of the prior's points, and
the maximum of what comes out. A draw would pass through every cell at every step. Where a pair has more cells than
three for a covariate, its draws see a few points of style instead, whose weights keep the sums of the covariates and of
their squares: exact to first order around the estimate, and to second order in how style varies within a pair.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.newton import newton
from mirage.rank.bootstrap import query_weights
from mirage.rank.fit import Array, PairCounts, logistic
from mirage.rank.jeffreys import DISPERSION, ROUGHLY, TOLERANCE
from mirage.schema import Ties

_DEPENDENT = 1e-6
"""Share of a covariate's information that must not follow from the systems and the other covariates."""

_ENDLESS = 10.0
"""Logits per standard deviation above which the likelihood alone does not bound a coefficient."""

_LIMIT, _STEP = 200, 1.0
"""Steps of the iteration at most, and the length in logits of the longest."""

_CLOSE = 1e-3
"""The last step to the ratings of a draw is no longer, in logits: far below what the draws differ by."""

_SETTLED = 0.05
"""A coefficient that moves by less, per standard deviation, in a step of Newton's has a maximum."""

_LEAST = 1e-4
"""Least share of its mean that the prior's part of a draw has."""

_FLAT = 1e-9
"""Share of the largest curvature below which there is none."""

_TRIED, _SLOW = 3, 0.6
"""After so many steps, a draw whose steps do not shrink by this factor is left to Newton with its own curvature."""

_FEW = 1000
"""Draws see up to so many cells as they are."""

_CELLS = 400_000
"""Draws x points gone through at a time: these stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class StyledRatings:
    """Ratings and coefficients of one language, with their draws."""

    theta: Array
    """S: ratings in logits, centred on 0."""
    theta_draws: Array
    """B x S."""
    value: Array
    """K: coefficients in the unit of the covariates; 0 where there is a reason."""
    value_draws: Array
    """B x K."""
    spread: Array
    """K: root of the mean square of a covariate's difference between the two answers of a battle."""
    reasons: tuple[str | None, ...]
    """K: why the battles do not tell a coefficient; None where they do."""
    whole: PairCounts
    """One data set: points by pair."""


def styled(
    battles: Battles, values: Array, code: str, *, ties: Ties, draws: int, seed: int, ridge: float
) -> StyledRatings:
    """Fit ratings and coefficients of one language together.

    Args:
        battles: battles whose covariates are all known.
        values: Q x S x K covariates.
        code: the language.
        ties: `half` or `drop`.
        draws: B.
        seed: seed of the draws.
        ridge: weight of the penalty that holds parts in place which never met.
    """
    cells = Cells(battles, values, ties, ridge)
    x, added, dispersion = cells.bias_reduced()
    weights = query_weights(code, battles, draws=draws, seed=seed)
    rng = np.random.default_rng([seed, zlib.crc32(code.encode()), 1])
    drawn = cells.drawn(x, added, dispersion, weights, rng)
    s, scale = cells.n_systems, np.where(cells.spread > 0, cells.spread, 1)
    return StyledRatings(
        x[:s] - x[:s].mean(),
        drawn[:, :s] - drawn[:, :s].mean(axis=1, keepdims=True),
        x[s:] / scale,
        drawn[:, s:] / scale,
        cells.spread,
        cells.reasons(x),
        cells.whole(),
    )


class Cells:
    """The cells of one language in which points were taken, with their likelihood."""

    def __init__(self, battles: Battles, values: Array, ties: Ties, ridge: float) -> None:
        self.n_systems, self.n_queries, self.ridge = len(battles.systems), len(battles.queries), ridge
        self.i, self.j = np.triu_indices(self.n_systems, 1)
        points = battles.shared(ties)
        first, second = points[:, self.i, self.j], points[:, self.j, self.i]
        self.q, self.p = np.nonzero(first + second)
        self.won, self.lost = (side[self.q, self.p].astype(float) for side in (first, second))
        differences = values[self.q, self.i[self.p]] - values[self.q, self.j[self.p]]
        self.spread = np.sqrt(np.average(differences**2, axis=0, weights=self.won + self.lost))
        # One row a covariate: sums over cells are then over memory that lies together.
        self.z = np.ascontiguousarray((differences / np.where(self.spread > 0, self.spread, 1)).T)
        self.size = self.n_systems + len(self.z)
        self.design = np.zeros((len(self.i), self.n_systems))
        self.design[np.arange(len(self.i)), self.i] = 1
        self.design[np.arange(len(self.i)), self.j] = -1
        informative = self._told()
        self.used = np.array([*range(self.n_systems), *(self.n_systems + k for k in informative)])

    def whole(self) -> PairCounts:
        """One data set: the points by pair."""
        return PairCounts(self._by_pair(self.won)[None], self._by_pair(self.lost)[None], None, self.n_systems)

    def bias_reduced(self) -> tuple[Array, Array, float]:
        """The estimate (size), with 0 for covariates that the battles do not tell; the points added to each side of
        every cell; and the dispersion.
        """
        x, _ = self._iterate(np.zeros(self.size), 1.0, ROUGHLY)
        dispersion = self._dispersion(x)
        return *self._iterate(x, dispersion, TOLERANCE), dispersion

    def reasons(self, x: Array) -> tuple[str | None, ...]:
        """Why the battles do not tell a coefficient, by covariate; None where they do. `x` is the estimate."""
        s = self.n_systems
        beyond = np.zeros(len(self.z), dtype=bool)
        # Where the covariate parts the won from the lost, the likelihood rises for ever: its steps do not get shorter.
        for _ in range(_LIMIT):
            up, down, c = self._chances(x)
            step = self._step(self.won * down - self.lost * up, c, x)
            x = x + step
            beyond = np.abs(x[s:]) > _ENDLESS
            if beyond.any() or np.abs(step[s:]).max(initial=0) < _SETTLED:
                break
        follows = "it does not vary, or follows from the systems and what else is controlled for"
        endless = "it decides every battle in which it differs, so that the battles do not bound the coefficient"
        return tuple(follows if s + k not in self.used else endless if beyond[k] else None for k in range(len(self.z)))

    def drawn(
        self, x: Array, added: Array, dispersion: float, weights: NDArray[np.float32], rng: np.random.Generator
    ) -> Array:
        """B x size: the maxima of the likelihood with weighted queries and the prior's points drawn.

        Args:
            x: the estimate.
            added: the points that the prior adds to each side of every cell there.
            dispersion: what these are scaled by.
            weights: B x Q.
            rng: for the points of the prior.
        """
        s, (up, down, c) = self.n_systems, self._chances(x)
        # As in `jeffreys.Prior`: of a pair's points, the system of which less is known has the larger part.
        by_pair = self._by_pair(c)
        known = np.bincount(self.i, by_pair, s) + np.bincount(self.j, by_pair, s)
        both = known[self.i] + known[self.j]
        share = np.divide(known[self.j], both, out=np.full(len(both), 0.5), where=both > 0)
        of_first, of_second = np.zeros((2, s, len(share)))
        of_first[self.i, np.arange(len(share))] = share
        of_second[self.j, np.arange(len(share))] = 1 - share
        shape = np.maximum((of_first + of_second) @ self._by_pair(added) / dispersion, 1e-9)
        points = [np.maximum(rng.standard_gamma(shape, (len(weights), s)) / shape, _LEAST) for _ in range(2)]
        every = np.hstack([weights, *(side.astype(np.float32) for side in points)])

        gained, conceded = self._by_system(added * down), self._by_system(added * up)
        scores = np.vstack(
            [
                self._by_query(self.won * down - self.lost * up),
                of_first @ gained - of_second @ conceded,
                of_second @ gained - of_first @ conceded,
            ]
        )
        pair, style, share_of = self._seen()
        counts = np.zeros((self.n_queries, len(pair)), dtype=np.float32)
        prior = np.zeros(len(pair))
        for node, part in share_of:
            counts[self.q, node] += (self.won + self.lost) * part
            prior += np.bincount(node, added * part, len(pair))
        of_prior = ((of_first + of_second)[:, pair] * prior).astype(np.float32)
        totals = np.vstack([counts, of_prior, of_prior])
        design = np.hstack([self.design[pair], style.T])[:, self.used]
        maxima = np.repeat(x[None], len(every), axis=0)
        at_once = max(1, _CELLS // max(1, len(pair)))
        for k in range(0, len(every), at_once):
            rows = every[k : k + at_once]
            maxima[k : k + at_once, self.used] = _maxima(
                x[self.used], rows @ totals, rows @ scores[:, self.used], design, s
            )
        return maxima

    def _seen(self) -> tuple[NDArray[np.intp], Array, list[tuple[NDArray[np.intp], Array]]]:
        """The points that draws see.

        Returns:
            The pair of each of N points; K x N covariates; and, for each of a few points by cell, which one it is and
            what part of the cell it stands for. The parts of a cell sum to 1.
        """
        k, n_pairs = len(self.z), len(self.i)
        n = self.won + self.lost
        if len(n) <= max((2 * k + 1) * n_pairs, _FEW):
            return self.p, self.z, [(np.arange(len(n)), np.ones(len(n)))]
        total = np.maximum(self._by_pair(n), 1e-300)
        mean = np.stack([self._by_pair(n * row) / total for row in self.z]) if k else np.empty((0, n_pairs))
        around = self.z - mean[:, self.p]
        # Along these axes, covariates do not vary together within pairs: no sum of products is lost.
        axes = np.linalg.eigh((around * n) @ around.T)[1] if k else np.empty((0, 0))
        along = axes.T @ around
        sd = np.sqrt(np.stack([self._by_pair(n * row**2) / total for row in along])) if k else mean
        t = along / np.where(sd > 0, sd, 1)[:, self.p]
        far = np.sqrt(k + 2)
        style, share = [mean], [1 - (t**2).sum(axis=0) / far**2]
        for axis in range(k):
            for side in (far, -far):
                style.append(mean + side * axes[:, axis : axis + 1] * sd[axis])
                share.append(t[axis] * (t[axis] + side) / (2 * far**2))
        pair = np.tile(np.arange(n_pairs), len(style))
        return pair, np.hstack(style), [(self.p + m * n_pairs, part) for m, part in enumerate(share)]

    def _by_pair(self, of_cells: Array) -> Array:
        """P: sums over the cells of each pair."""
        return np.bincount(self.p, of_cells, len(self.i)).astype(float, copy=False)

    def _by_system(self, of_cells: Array) -> Array:
        """P x size: sums over the cells of each pair, times what the cells differ by."""
        along = [self._by_pair(of_cells * row) for row in self.z]
        return np.column_stack([self._by_pair(of_cells)[:, None] * self.design, *along])

    def _by_query(self, of_cells: Array) -> Array:
        """Q x size: sums over the cells of each query, times what the cells differ by."""
        laid = np.zeros((self.n_queries, len(self.i)))
        laid[self.q, self.p] = of_cells
        along = [np.bincount(self.q, of_cells * row, self.n_queries) for row in self.z]
        return np.column_stack([laid @ self.design, *along])

    def _chances(self, x: Array) -> tuple[Array, Array, Array]:
        """By cell: P(first wins), P(second wins), and what the cell tells of its difference."""
        s = self.n_systems
        up, down = logistic((self.design @ x[:s])[self.p] + x[s:] @ self.z)
        return up, down, (self.won + self.lost) * up * down

    def _hessian(self, c: Array) -> Array:
        """Square, of `size`: minus the Hessian, definite along the direction (1, ..., 1) that centring removes."""
        s = self.n_systems
        H = np.empty((self.size, self.size))
        H[:s, :s] = self.design.T @ (self._by_pair(c)[:, None] * self.design)
        weighed = self.z * c
        for k, row in enumerate(weighed):
            H[:s, s + k] = H[s + k, :s] = self._by_pair(row) @ self.design
        H[s:, s:] = weighed @ self.z.T
        H[:s, :s] += max(H[:s, :s].max(), self.ridge) / s
        H[np.arange(self.size), np.arange(self.size)] += self.ridge
        return H

    def _slopes(self, left: Array, c: Array, x: Array) -> tuple[Array, Array]:
        """The gradient and minus the Hessian of the parameters in use: of the points left unexplained, and the
        information, by cell.
        """
        g = np.concatenate([self._by_pair(left) @ self.design, self.z @ left]) - self.ridge * x
        return g[self.used], self._hessian(c)[np.ix_(self.used, self.used)]

    def _step(self, left: Array, c: Array, x: Array) -> Array:
        """A step of Newton's, no longer than `_STEP`."""
        step = np.zeros(self.size)
        gradient, curvature = self._slopes(left, c, x)
        step[self.used] = np.linalg.solve(curvature, gradient)
        return step * min(1.0, _STEP / max(float(np.abs(step).max()), 1e-300))

    def _iterate(self, x: Array, dispersion: float, tolerance: float) -> tuple[Array, Array]:
        """The maximum with the prior's points, which are taken at the last estimate, and the points there."""
        x = x.copy()

        def slopes(parameters: Array) -> tuple[Array, Array]:
            x[self.used] = parameters
            up, down, c = self._chances(x)
            added = self._added(c, dispersion)
            won, lost = self.won + added, self.lost + added
            return self._slopes(won * down - lost * up, (won + lost) * up * down, x)

        x[self.used] = newton(slopes, x[self.used], longest=_STEP, tolerance=tolerance, limit=_LIMIT)
        return x, self._added(self._chances(x)[2], dispersion)

    def _added(self, c: Array, dispersion: float) -> Array:
        """By cell: half its leverage, times the dispersion."""
        s, block = self.n_systems, np.ix_(self.used, self.used)
        V = np.zeros((self.size, self.size))
        V[block] = np.linalg.inv(self._hessian(c)[block])
        i, j = self.i, self.j
        across = (V[i, i] + V[j, j] - 2 * V[i, j])[self.p]
        for k, row in enumerate(self.z):
            across += row * (2 * (V[i, s + k] - V[j, s + k]))[self.p]
        across += (self.z * (V[s:, s:] @ self.z)).sum(axis=0)
        return np.asarray(dispersion / 2 * c * across)

    def _dispersion(self, x: Array) -> float:
        """How much more queries vary than independent battles would (as in `by_query.py`)."""
        if self.n_queries < 2:
            return 1.0
        up, down, c = self._chances(x)
        scores = self._by_query(self.won * down - self.lost * up)[:, self.used]
        around = scores - scores.mean(axis=0)
        J = self.n_queries / (self.n_queries - 1) * around.T @ around
        H = self._hessian(c)[np.ix_(self.used, self.used)]
        ratio = np.trace(np.linalg.solve(H, J)) / max(len(self.used) - 1, 1)
        return float(np.clip(ratio, *DISPERSION))

    def _told(self) -> list[int]:
        """The covariates that add information to the systems and to those before them."""
        s, informative = self.n_systems, list[int]()
        information = self._hessian((self.won + self.lost) / 4)
        for k in range(s, self.size):
            before = np.array([*range(s), *(s + covariate for covariate in informative)])
            own, shared = information[k, k], information[before, k]
            explained = shared @ np.linalg.solve(information[np.ix_(before, before)], shared)
            if own - explained > _DEPENDENT * own and own > _DEPENDENT:
                informative.append(k - s)
        return informative


def _maxima(x: Array, totals: NDArray[np.float32], scores: Array, design: Array, n_systems: int) -> Array:
    """B x size: where the gradient of each draw is 0.

    Args:
        x: size: the estimate.
        totals: B x N: points there are at each point.
        scores: B x size: the gradient of each draw at the estimate.
        design: N x size: what a point differs by.
        n_systems: S.
    """
    expected = logistic(design @ x)[0]
    H = design.T @ ((totals.mean(axis=0) * expected * (1 - expected))[:, None] * design)
    fixed = np.zeros_like(H)
    fixed[:n_systems, :n_systems] = H.max() / n_systems
    # Parts of the data that never met stay where the estimate has them.
    inverse = np.linalg.pinv(H + fixed, rcond=_FLAT, hermitian=True).astype(np.float32)
    narrow, narrow_scores = design.astype(np.float32), scores.astype(np.float32)
    half = (design @ x / 2).astype(np.float32)
    base, across = np.tanh(half), np.ascontiguousarray(narrow.T / 2)
    moved, easy, hard = np.zeros_like(narrow_scores), np.arange(len(totals)), list[NDArray[np.intp]]()
    part, pull, shift, length = totals, narrow_scores, moved, np.full(len(totals), np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(_LIMIT):
            left = shift @ across
            left += half
            np.tanh(left, out=left)
            left -= base
            left *= part
            step = np.asarray((pull - left @ (narrow / 2)) @ inverse, dtype=np.float32)
            shift = shift + step
            before, length = length, np.abs(step).max(axis=1)
            converged = length <= _CLOSE
            slow = ~converged & ~(length < before * (1 if k < _TRIED else _SLOW))
            moved[easy] = shift
            hard.append(easy[slow])
            stay = ~converged & ~slow
            if not stay.any():
                break
            if not stay.all():
                easy, shift, part, pull, length = easy[stay], shift[stay], part[stay], pull[stay], length[stay]
    maxima = np.add(x, moved, dtype=float)
    bad = np.concatenate(hard)
    fixed[np.arange(len(x)), np.arange(len(x))] += _FLAT * H.max()
    at_once = max(1, _CELLS // design.size)
    for k in range(0, len(bad), at_once):
        rows = bad[k : k + at_once]
        maxima[rows] = _newton(x, totals[rows].astype(float), scores[rows], design, fixed)
    return maxima


def _newton(x: Array, totals: Array, scores: Array, design: Array, fixed: Array) -> Array:
    """The same with each draw's own curvature."""
    expected = logistic(design @ x)[0]
    parameters, left = np.repeat(x[None], len(totals), axis=0), np.arange(len(totals))
    for _ in range(_LIMIT):
        up, down = logistic(parameters[left] @ design.T)
        g = scores[left] - (totals[left] * (up - expected)) @ design
        H = (design.T[None] * (totals[left] * up * down)[:, None]) @ design + fixed
        step = np.linalg.solve(H, g[:, :, None])[:, :, 0]
        length = np.abs(step).max(axis=1)
        parameters[left] += step * np.minimum(1, _STEP / np.maximum(length, 1e-300))[:, None]
        left = left[length > _CLOSE]
        if not len(left):
            break
    return parameters
