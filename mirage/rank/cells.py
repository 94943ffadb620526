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
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.newton import Rows, chord, newton, remembered
from mirage.rank.bootstrap import query_weights
from mirage.rank.fit import Array, CellStyle, Likelihood, PairCounts, logistic
from mirage.rank.jeffreys import LEAST, ROUGHLY, STEP, JeffreysPrior, bias_reduced, least_dispersion, query_dispersion
from mirage.schema import Ties

_DEPENDENT = 1e-6
"""Share of a covariate's information that must not follow from the systems and the other covariates."""

_ENDLESS = 10.0
"""Logits per standard deviation above which the likelihood alone does not bound a coefficient."""

_LIMIT = 200
"""Steps of an iteration at most."""

_CLOSE = 1e-10
"""The last step to the ratings of a draw is no longer, in logits."""

_SETTLED = 0.05
"""A coefficient that moves by less, per standard deviation, in a step of Newton's has a maximum."""

_FLAT = 1e-9
"""Share of the largest curvature below which there is none."""

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
    battles: Battles,
    values: Array,
    code: str,
    *,
    ties: Ties,
    draws: int,
    seed: int,
    ridge: float,
    shared: Collection[str] = (),
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
        shared: ids of the queries that other languages have too.
    """
    cells = Cells(battles, values, ties, ridge)
    x, prior = cells.bias_reduced()
    weights = query_weights(code, battles, draws=draws, seed=seed, shared=shared)
    rng = np.random.default_rng([seed, zlib.crc32(code.encode()), 1])
    drawn = cells.drawn(x, prior, weights, rng)
    s, k = cells.model.n_systems, len(cells.spread)
    # Covariates that the battles do not tell have coefficients of 0.
    value, value_draws = np.zeros(k), np.zeros((len(drawn), k))
    value[cells.told] = x[0, s:] / cells.spread[cells.told]
    value_draws[:, cells.told] = drawn[:, s:] / cells.spread[cells.told]
    return StyledRatings(
        x[0, :s],
        drawn[:, :s] - drawn[:, :s].mean(axis=1, keepdims=True),
        value,
        value_draws,
        cells.spread,
        cells.reasons(x),
        cells.whole(),
    )


class Cells:
    """The cells of one language in which points were taken, with their likelihood."""

    def __init__(self, battles: Battles, values: Array, ties: Ties, ridge: float) -> None:
        self.n_queries = len(battles.queries)
        i, j = np.triu_indices(len(battles.systems), 1)
        points = battles.shared(ties)
        first, second = points[:, i, j], points[:, j, i]
        self.q, pair = np.nonzero(first + second)
        won, lost = (side[None, self.q, pair].astype(float) for side in (first, second))
        decisive = float(battles.wins.sum(dtype=np.int64))
        self.least_dispersion = least_dispersion(float(((won - lost) ** 2).sum()), decisive)
        counts = PairCounts(won, lost, None, len(battles.systems))
        differences = values[self.q, i[pair]] - values[self.q, j[pair]]
        self.spread = np.sqrt(np.average(differences**2, axis=0, weights=(won + lost)[0]))
        # One row a covariate: sums over cells are then over memory that lies together.
        z = np.ascontiguousarray((differences / np.where(self.spread > 0, self.spread, 1)).T)
        self.told = _told(Likelihood(counts, ridge, CellStyle(pair, z)))
        self.style = CellStyle(pair, z[self.told])
        self.model = Likelihood(counts, ridge, self.style)

    def whole(self) -> PairCounts:
        """One data set: the points by pair."""
        model = self.model
        return PairCounts(model.by_pair(model.first), model.by_pair(model.second), None, model.n_systems)

    def bias_reduced(self) -> tuple[Array, JeffreysPrior]:
        """The estimate (1 x size), its coefficients those of the covariates that the battles tell, and the prior."""
        x, _ = bias_reduced(self.model, tolerance=ROUGHLY)
        up, down = self._chances(x)
        scores = self._by_query(self.model.first[0] * down - self.model.second[0] * up)
        phi = query_dispersion(self.model, x, scores, [np.arange(self.n_queries)])
        return bias_reduced(self.model, dispersion=max(phi, self.least_dispersion), start=x)

    def reasons(self, x: Array) -> tuple[str | None, ...]:
        """Why the battles do not tell a coefficient, by covariate; None where they do. `x` is the estimate."""
        s = self.model.n_systems
        beyond = np.zeros(len(self.told), dtype=bool)

        def slopes(x: Array, _: Rows) -> tuple[Array, list[Array]]:
            gradient, curvature = self.model.slopes(x)
            return gradient, [curvature]

        # Where the covariate parts the won from the lost, the likelihood rises for ever: its steps do not get shorter.
        for _ in range(_LIMIT):
            before, x = x, newton(slopes, x, longest=STEP, tolerance=0.0, limit=1).point
            beyond = np.abs(x[0, s:]) > _ENDLESS
            if beyond.any() or np.abs(x - before)[0, s:].max(initial=0) < _SETTLED:
                break
        follows = "it does not vary, or follows from the systems and what else is controlled for"
        endless = "it decides every battle in which it differs, so that the battles do not bound the coefficient"
        reasons: list[str | None] = [follows] * len(self.spread)
        for k, far in zip(self.told, beyond, strict=True):
            reasons[k] = endless if far else None
        return tuple(reasons)

    def drawn(self, x: Array, prior: JeffreysPrior, weights: Array, rng: np.random.Generator) -> Array:
        """B x size: the maxima of the likelihood with weighted queries and the prior's points drawn.

        Args:
            x: 1 x size: the estimate.
            prior: what it adds to every cell there.
            weights: B x Q.
            rng: for the points of the prior.
        """
        model, (up, down) = self.model, self._chances(x)
        s, pairs = model.n_systems, np.arange(len(model.i))
        of_first, of_second = np.zeros((2, s, len(pairs)))
        of_first[model.i, pairs], of_second[model.j, pairs] = prior.share, 1 - prior.share
        shape = np.maximum(prior.shape, 1e-9)
        points = [np.maximum(rng.standard_gamma(shape, (len(weights), s)) / shape, LEAST) for _ in range(2)]
        every = np.hstack([weights, *points])

        gained, conceded = self._by_system(prior.added * down), self._by_system(prior.added * up)
        scores = np.vstack(
            [
                self._by_query(model.first[0] * down - model.second[0] * up),
                of_first @ gained - of_second @ conceded,
                of_second @ gained - of_first @ conceded,
            ]
        )
        seen, share_of = self._seen()
        counts = np.zeros((self.n_queries, len(seen.pair)))
        of_cells = np.zeros(len(seen.pair))
        for node, part in share_of:
            counts[self.q, node] += model.total[0] * part
            of_cells += np.bincount(node, prior.added * part, len(of_cells))
        of_prior = (of_first + of_second)[:, seen.pair] * of_cells
        totals = np.vstack([counts, of_prior, of_prior])
        at_once = max(1, _CELLS // max(1, len(seen.pair)))
        blocks = (every[k : k + at_once] for k in range(0, len(every), at_once))
        return np.concatenate([_maxima(x, rows @ totals, rows @ scores, seen, model) for rows in blocks])

    def _seen(self) -> tuple[CellStyle, list[tuple[NDArray[np.intp], Array]]]:
        """The N points that draws see; and, for each of a few points by cell, which one it is and what part of the cell
        it stands for. The parts of a cell sum to 1.
        """
        z, pair, by_pair = self.style.z, self.style.pair, self.model.by_pair
        k, n_pairs, n = len(z), len(self.model.i), self.model.total
        if n.size <= max((2 * k + 1) * n_pairs, _FEW):
            return self.style, [(np.arange(n.size), np.ones(n.size))]
        total = np.maximum(by_pair(n), 1e-300)
        mean = by_pair(n * z) / total
        around = z - mean[:, pair]
        # Along these axes, covariates do not vary together within pairs: no sum of products is lost.
        axes = np.linalg.eigh((around * n) @ around.T)[1] if k else np.empty((0, 0))
        along = axes.T @ around
        sd = np.sqrt(by_pair(n * along**2) / total)
        t = along / np.where(sd > 0, sd, 1)[:, pair]
        far = np.sqrt(k + 2)
        style, share = [mean], [1 - (t**2).sum(axis=0) / far**2]
        for axis in range(k):
            for side in (far, -far):
                style.append(mean + side * axes[:, axis : axis + 1] * sd[axis])
                share.append(t[axis] * (t[axis] + side) / (2 * far**2))
        every = CellStyle(np.tile(np.arange(n_pairs), len(style)), np.hstack(style))
        return every, [(pair + m * n_pairs, part) for m, part in enumerate(share)]

    def _by_system(self, of_cells: Array) -> Array:
        """P x size: sums over the cells of each pair, times what the cells differ by."""
        along = self.model.by_pair(of_cells * np.vstack([np.ones_like(of_cells), self.style.z]))
        return np.column_stack([along[0][:, None] * self.model.D, *along[1:]])

    def _by_query(self, of_cells: Array) -> Array:
        """Q x size: sums over the cells of each query, times what the cells differ by."""
        laid = np.zeros((self.n_queries, len(self.model.i)))
        laid[self.q, self.style.pair] = of_cells
        along = [np.bincount(self.q, of_cells * row, self.n_queries) for row in self.style.z]
        return np.column_stack([laid @ self.model.D, *along])

    def _chances(self, x: Array) -> tuple[Array, Array]:
        """By cell: P(first wins), P(second wins)."""
        up, down = logistic(self.model.differences(x)[0])
        return up, down


def _told(model: Likelihood) -> NDArray[np.intp]:
    """The covariates that add information to the systems and to those before them."""
    s, informative = model.n_systems, list[int]()
    information = model.slopes(np.zeros((1, model.size)))[1][0]
    for k in range(s, model.size):
        before = np.array([*range(s), *(s + covariate for covariate in informative)])
        own, shared = information[k, k], information[before, k]
        explained = shared @ np.linalg.solve(information[np.ix_(before, before)], shared)
        if own - explained > _DEPENDENT * own and own > _DEPENDENT:
            informative.append(k - s)
    return np.array(informative, dtype=np.intp)


def _maxima(x: Array, totals: Array, scores: Array, seen: CellStyle, model: Likelihood) -> Array:
    """B x size: where the gradient of each draw is 0.

    Args:
        x: 1 x size: the estimate.
        totals: B x N: points there are at each point of `seen`.
        scores: B x size: the gradient of each draw at the estimate.
        seen: the points that draws see.
        model: the likelihood of the cells.
    """
    design = np.vstack([model.D[seen.pair].T, seen.z]).T
    ahead = design @ x[0]
    expected = logistic(ahead)[0]
    H = design.T @ ((totals.mean(axis=0) * expected * (1 - expected))[:, None] * design)
    ridge = _FLAT * float(H.max())
    H[: model.n_systems, : model.n_systems] += H.max() / model.n_systems
    # Parts of the data that never met stay where the estimate has them.
    inverse = np.linalg.pinv(H, rcond=_FLAT, hermitian=True)
    half = ahead / 2
    base, across, back = np.tanh(half), np.ascontiguousarray(design.T / 2), design / 2
    part = remembered(lambda rows: (totals[rows], scores[rows]))

    def gradient(shift: NDArray[Any], rows: Rows) -> NDArray[Any]:
        n, won = part(rows)
        left = shift @ across
        left += half
        np.tanh(left, out=left)
        left -= base
        left *= n
        return np.asarray(won - left @ back)

    near = chord(gradient, inverse, np.zeros_like(scores), tolerance=_CLOSE, limit=_LIMIT, wait=False)
    maxima = np.asarray(x + near.point)
    hard = np.flatnonzero(~near.converged)
    n = totals[hard]
    # Either side has taken what the estimate expects of it: what else a draw has won is in its scores.
    own = Likelihood(PairCounts(n * expected, n * (1 - expected), None, model.n_systems), ridge, seen)
    hard_scores, taken = scores[hard], remembered(own.take)

    def slopes(point: Array, rows: Rows) -> tuple[Array, list[Array]]:
        # The ridge keeps the curvature definite and pulls nowhere.
        g, curvature = taken(rows).slopes(point)
        return hard_scores[rows] + g + ridge * point, [curvature]

    begin = x.repeat(len(hard), axis=0)
    maxima[hard] = newton(slopes, begin, longest=STEP, tolerance=_CLOSE, limit=_LIMIT).point
    return maxima
