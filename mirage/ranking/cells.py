"""Ratings and style coefficients from the cells of one language: the points of two systems against each other on a
query.

**The estimate** maximises the likelihood times Jeffreys' prior over systems and covariates jointly (`jeffreys.py`): h/2
pseudo-points for each side of a cell, h the leverage of the cell, scaled by the overdispersion of the queries.

**The draws** are those of `bootstrap.py`: exponential weights of the queries, gamma weights of the prior's
pseudo-points, and the maximum of the weighted likelihood. Each step of a draw would go through every cell. Where a pair
has more than three cells per covariate, draws therefore use a few nodes of style instead, with weights that preserve
the sums of the covariates and of their squares: exact to first order around the estimate, and to second order in the
variation of style within a pair.
"""

import zlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.ranking.by_query import Layout
from mirage.ranking.fit import RIDGE, CellStyle, Likelihood, PairCounts, logistic, sum_scores
from mirage.ranking.jeffreys import STEP, JeffreysPrior, estimate, least_dispersion, score_covariance
from mirage.ranking.records import widen_draws
from mirage.ranking.resample import query_weights
from mirage.schema import Ties
from mirage.stats.arrays import Array, Places
from mirage.stats.newton import Rows, StepRule, chord, memoize_last, newton

_DEPENDENT = 1e-6
"""Minimum share of a covariate's information that is not explained by the systems and the other covariates."""

_ENDLESS = 10.0
"""Logits per standard deviation above which the likelihood alone does not bound a coefficient."""

_LIMIT = 200
"""Maximum number of iterations."""

_CLOSE = 1e-10
"""Tolerance of a draw's ratings, in logits."""

_SETTLED = 0.05
"""Newton step of a coefficient, per standard deviation, below which it has a maximum."""

_FLAT = 1e-9
"""Share of the largest curvature below which a direction counts as flat."""

_FEW = 1000
"""Number of cells up to which draws use the cells themselves."""

_CELLS = 400_000
"""Draws x nodes per block: these fit the processor's cache."""


@dataclass(frozen=True, eq=False)
class StyledRatings(Layout):
    """Ratings and style coefficients of one language, with their draws; `point` has both."""

    theta_draws: Array
    """B x S, as wide as the ratings vary."""
    value: Array
    """K: coefficients in the unit of the covariates; 0 where not identified."""
    value_draws: Array
    """B x K."""
    reasons: tuple[str | None, ...]
    """K: reason why the battles do not identify a coefficient; None where they do."""


def fit_style(
    battles: Battles,
    values: Array,
    code: str,
    *,
    ties: Ties,
    draws: int,
    seed: int,
    shared: Collection[str] = (),
) -> StyledRatings:
    """Fit ratings and style coefficients of one language jointly.

    Args:
        battles: battles whose covariates are all known.
        values: Q x S x K covariates.
        code: the language.
        ties: `half` or `drop`.
        draws: B.
        seed: seed of the draws.
        shared: ids of the queries that other languages have too.
    """
    cells = Cells(battles, values, ties)
    x, prior = cells.bias_reduced()
    weights = query_weights(code, battles, draws=draws, seed=seed, shared=shared)
    rng = np.random.default_rng([seed, zlib.crc32(code.encode()), 1])
    drawn = cells.draw_maxima(x, prior, weights, rng)
    s, k = cells.model.n_systems, len(cells.spread)
    # Covariates that are not identified have coefficients of 0.
    value, value_draws = np.zeros(k), np.zeros((len(drawn), k))
    value[cells.identified] = x[0, s:] / cells.spread[cells.identified]
    value_draws[:, cells.identified] = drawn[:, s:] / cells.spread[cells.identified]
    theta, met = x[0, :s], battles.queries_by_system()
    return StyledRatings(
        battles.systems,
        met,
        cells.whole(),
        cells.model,
        prior,
        x,
        widen_draws(theta, drawn[:, :s] - drawn[:, :s].mean(axis=1, keepdims=True), met),
        value,
        value_draws,
        cells.reasons(x),
    )


class Cells:
    """The cells of one language with points, and their likelihood."""

    def __init__(self, battles: Battles, values: Array, ties: Ties) -> None:
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
        # One row per covariate: sums over cells then read contiguous memory.
        z = np.ascontiguousarray((differences / np.where(self.spread > 0, self.spread, 1)).T)
        self.identified = _find_identified(Likelihood(counts, RIDGE, CellStyle(pair, z)))
        self.style = CellStyle(pair, z[self.identified])
        self.model = Likelihood(counts, RIDGE, self.style)

    def whole(self) -> PairCounts:
        """Return the points by pair as one data set."""
        model = self.model
        return PairCounts(model.by_pair(model.first), model.by_pair(model.second), None, model.n_systems)

    def bias_reduced(self) -> tuple[Array, JeffreysPrior]:
        """Return the estimate (1 x size), with coefficients of the identified covariates, and the prior."""
        every = [np.arange(self.n_queries)]
        return estimate(self.model, lambda x: score_covariance(self._scores(x), every), least=self.least_dispersion)

    def reasons(self, x: Array) -> tuple[str | None, ...]:
        """Return why the battles do not identify a coefficient, by covariate; None where they do. `x` is the
        estimate.
        """
        s = self.model.n_systems
        beyond = np.zeros(len(self.identified), dtype=bool)

        def slopes(x: Array, _: Rows) -> tuple[Array, list[Array]]:
            gradient, curvature = self.model.slopes(x)
            return gradient, [curvature]

        # Where the covariate separates wins from losses, the likelihood has no maximum: steps do not get shorter.
        for _ in range(_LIMIT):
            before, x = x, newton(slopes, x, StepRule(0.0, 1, longest=STEP)).point
            beyond = np.abs(x[0, s:]) > _ENDLESS
            if beyond.any() or np.abs(x - before)[0, s:].max(initial=0) < _SETTLED:
                break
        follows = "it does not vary, or is determined by the systems and the other covariates"
        endless = "it predicts every battle in which it differs, so the coefficient is unbounded"
        reasons: list[str | None] = [follows] * len(self.spread)
        for k, far in zip(self.identified, beyond, strict=True):
            reasons[k] = endless if far else None
        return tuple(reasons)

    def draw_maxima(self, x: Array, prior: JeffreysPrior, weights: Array, rng: np.random.Generator) -> Array:
        """Return the maximum for each draw of query weights and prior pseudo-points (B x size).

        Args:
            x: 1 x size: the estimate.
            prior: the prior at the estimate.
            weights: B x Q.
            rng: generator of the prior's weights.
        """
        model, (up, down) = self.model, self._chances(x)
        s, pairs = model.n_systems, np.arange(len(model.i))
        of_first, of_second = np.zeros((2, s, len(pairs)))
        of_first[model.i, pairs], of_second[model.j, pairs] = prior.share, 1 - prior.share
        every = np.hstack([weights, *prior.draw_weights(rng, len(weights))])

        gained, conceded = self._by_system(prior.added * down), self._by_system(prior.added * up)
        scores = np.vstack(
            [
                self._scores(x),
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

    def _seen(self) -> tuple[CellStyle, list[tuple[Places, Array]]]:
        """Return the N nodes that draws use, and, for each of a few nodes per cell, the node's index and the share of
        the cell it represents. The shares of a cell sum to 1.
        """
        z, pair, by_pair = self.style.z, self.style.pair, self.model.by_pair
        k, n_pairs, n = len(z), len(self.model.i), self.model.total
        if n.size <= max((2 * k + 1) * n_pairs, _FEW):
            return self.style, [(np.arange(n.size), np.ones(n.size))]
        total = np.maximum(by_pair(n), 1e-300)
        mean = by_pair(n * z) / total
        around = z - mean[:, pair]
        # Along these axes the covariates are uncorrelated within pairs: no cross product is lost.
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
        """Return sums over the cells of each pair, times the cells' design rows (P x size)."""
        along = self.model.by_pair(of_cells * np.vstack([np.ones_like(of_cells), self.style.z]))
        return np.column_stack([along[0][:, None] * self.model.D, *along[1:]])

    def _scores(self, x: Array) -> Array:
        """Return the gradient of each query's log-likelihood at a point (Q x size)."""
        model, (up, down), pair = self.model, self._chances(x), self.style.pair
        pull = model.first[0] * down - model.second[0] * up
        along = [np.bincount(self.q, pull * row, self.n_queries) for row in self.style.z]
        ends = model.i[pair], model.j[pair]
        return np.column_stack([sum_scores(self.q, ends, pull, (self.n_queries, model.n_systems)), *along])

    def _chances(self, x: Array) -> tuple[Array, Array]:
        """Return P(first wins) and P(second wins) by cell."""
        up, down = logistic(self.model.differences(x)[0])
        return up, down


def _find_identified(model: Likelihood) -> Places:
    """Return the covariates that add information to the systems and the preceding covariates."""
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
    """Return the point where each draw's gradient is 0 (B x size).

    Args:
        x: 1 x size: the estimate.
        totals: B x N: points at each node of `seen`.
        scores: B x size: the gradient of each draw at the estimate.
        seen: the nodes.
        model: the likelihood of the cells.
    """
    design = np.vstack([model.D[seen.pair].T, seen.z]).T
    ahead = design @ x[0]
    expected = logistic(ahead)[0]
    H = design.T @ ((totals.mean(axis=0) * expected * (1 - expected))[:, None] * design)
    ridge = _FLAT * float(H.max())
    H[: model.n_systems, : model.n_systems] += H.max() / model.n_systems
    # Parts of the data that never met stay at the estimate.
    inverse = np.linalg.pinv(H, rcond=_FLAT, hermitian=True)
    half = ahead / 2
    base, across, back = np.tanh(half), np.ascontiguousarray(design.T / 2), design / 2
    part = memoize_last(lambda rows: (totals[rows], scores[rows]))

    def gradient(shift: NDArray[Any], rows: Rows) -> NDArray[Any]:
        n, won = part(rows)
        left = shift @ across
        left += half
        np.tanh(left, out=left)
        left -= base
        left *= n
        return won - left @ back

    near = chord(gradient, inverse, np.zeros_like(scores), tolerance=_CLOSE, limit=_LIMIT, wait=False)
    maxima = np.asarray(x + near.point)
    hard = np.flatnonzero(~near.converged)
    n = totals[hard]
    # Counts are set to their expectation at the estimate; a draw's deviation from it is in its scores.
    own = Likelihood(PairCounts(n * expected, n * (1 - expected), None, model.n_systems), ridge, seen)
    hard_scores, taken = scores[hard], memoize_last(own.take)

    def slopes(point: Array, rows: Rows) -> tuple[Array, list[Array]]:
        # The ridge makes the curvature definite without shrinking the point.
        g, curvature = taken(rows).slopes(point)
        return hard_scores[rows] + g + ridge * point, [curvature]

    begin = x.repeat(len(hard), axis=0)
    maxima[hard] = newton(slopes, begin, StepRule(_CLOSE, _LIMIT, longest=STEP)).point
    return maxima
