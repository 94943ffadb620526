"""The battles of one language arranged by query: the input of draws, tests and analytic intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from mirage.battles.counts import Battles
from mirage.ranking.fit import (
    MANY,
    RIDGE,
    Counts,
    Likelihood,
    PairCounts,
    davidson,
    expected_points,
    fit,
    logistic,
    solver,
    sum_scores,
)
from mirage.ranking.jeffreys import JeffreysPrior, estimate, least_dispersion, score_covariance
from mirage.ranking.records import UnseenQuery, widen_draws
from mirage.schema import Penalty, Ties
from mirage.stats.arrays import Array, Places

CLOSE = 1e-10
"""Tolerance of a draw's ratings in logits, met to about ten times this: interval ends agree to 1e-9 across
processors.
"""
_CELLS = 4_000_000
"""Maximum draws x pairs in memory."""
_ROWS = 2_000
"""Queries per block of a sum, which bounds its memory."""
_PLACES = 6
"""Decimal places of points that single precision holds."""
_LEVEL = 1e-6
"""Points that differ by less are equal."""
_SPARSE = 8
"""Fewer than one pair in this many battles on a query: their cells are picked out."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The battles of one language as one data set, with the fit to it: what every draw and test starts from."""

    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    queries_by_system: Places
    """S: number of queries with battles of each system."""
    counted: PairCounts
    """One data set: the weighted sum over all queries."""
    whole: Likelihood
    """Its likelihood with the prior's pseudo-points."""
    prior: JeffreysPrior | None
    """Jeffreys' prior; None for maximum likelihood."""
    point: Array
    """1 x S, or 1 x (S + 1) with Davidson's tie parameter last: the estimate."""

    @property
    def theta(self) -> Array:
        """S: the ratings."""
        return self.point[0, : len(self.systems)]

    @property
    def log_nu(self) -> Array | None:
        """Logarithm of Davidson's tie parameter (1); None where ties are not modelled."""
        return None if self.counted.ties is None else self.point[:, -1]

    @property
    def unseen(self) -> UnseenQuery | None:
        """The unseen query of the intervals; None where battles are not counted by query."""
        return None

    def fit_draws(self, sums: Callable[[slice], Sequence[Counts]], rng: np.random.Generator, draws: int) -> Array:
        """Fit every draw of the posterior bootstrap, and return the ratings as wide as they vary (B x S).

        Args:
            sums: maps a range of draws to the points of the first and the second of every pair under the draws' query
                weights, and the ties where they are modelled (each R x P).
            rng: generator of the prior's weights.
            draws: B.
        """
        at_once, parts = max(1, _CELLS // max(1, self.counted.first.shape[1])), []
        for k in range(0, draws, at_once):
            first, second, *tied = sums(slice(k, k + at_once))
            if self.prior is not None:
                of_first, of_second = self.prior.draw_points(rng, len(first))
                first, second = first + of_first, second + of_second
            pairs = PairCounts(first, second, tied[0] if tied else None, len(self.systems))
            fitted = fit(pairs, ridge=self.whole.ridge, start=self.point, tolerance=CLOSE)
            parts.append(fitted[:, : len(self.systems)])
        return widen_draws(self.theta, np.concatenate(parts), self.queries_by_system)


@dataclass(frozen=True, eq=False)
class ByQuery(Layout):
    """The battles of one language as one data set per query."""

    each: PairCounts
    """Q data sets, one per query."""
    weights: Array
    """Q: weight of each query, so that every stratum has the same share; 1 on average."""
    strata: tuple[Places, ...]
    """Query indices of each stratum."""

    @cached_property
    def likelihood(self) -> Likelihood:
        """Likelihood of all queries without the prior's pseudo-points, for tests of equal ratings."""
        return Likelihood(self.counted, self.whole.ridge)

    @property
    def unseen(self) -> UnseenQuery | None:
        """The unseen query of the intervals, with as many battles of a system as it has on a query, and the weight of
        a query of the smallest stratum, times the share of queries without a difference; None with `MANY` systems,
        whose draws are normal.
        """
        s = len(self.systems)
        if s >= MANY:
            return None
        i, j = self.each.ends
        net = (self.each.first - self.each.second) @ self.likelihood.D
        met = (self.each.first + self.each.second + (0 if self.each.ties is None else self.each.ties)).sum(axis=0)
        battles, expected = np.zeros((s, s)), np.zeros((s, s))
        battles[i, j] = battles[j, i] = met
        battles *= self.weights.max() / np.maximum(self.queries_by_system, 1)[:, None]
        expected[i, j], expected[j, i] = expected_points(self.theta[i] - self.theta[j], self.log_nu)
        lost, won = battles * expected, battles * expected.T
        inverse = np.linalg.inv(self.whole.slopes(self.point)[1][0])[:s, :s]
        inverse = inverse - inverse.mean(axis=0)
        # Changes of all ratings, in a column for each system that loses, or wins, all of its battles.
        losing, winning = inverse @ (lost.T - np.diag(lost.sum(axis=1))), inverse @ (np.diag(won.sum(axis=1)) - won.T)
        apart = np.diag(inverse)[:, None] + np.diag(inverse) - inverse - inverse.T
        pairs = np.diag(losing)[:, None] - losing.T + winning - np.diag(winning)
        # The battle of the two is lost once.
        pairs += np.minimum(battles, battles.T) * expected * apart
        # Queries that are all alike hide a rare one: it weighs as much as the share of queries without a difference.
        n, decided = np.maximum(self.queries_by_system, 1), (np.abs(net) > _LEVEL).sum(axis=0)
        differing = np.array([(np.abs(net - net[:, [k]]) > _LEVEL).sum(axis=0) for k in range(s)])
        alike, alike_pairs = np.maximum(1 - decided / n, 0), np.maximum(1 - differing / np.minimum.outer(n, n), 0)
        return UnseenQuery(alike * np.diag(losing), alike * np.diag(winning), alike_pairs * pairs, decided, differing)

    @cached_property
    def moves(self) -> Array:
        """Q x S: influence of each query on the ratings (empirical influence function); each row sums to 0."""
        scores = scores_of(self.each, self.point) * self.weights[:, None]
        H = self.whole.slopes(self.point)[1]
        solve = solver(H) if len(self.systems) >= MANY else partial(np.linalg.solve, H)
        moved = solve(scores.T[None])[0].T[:, : len(self.systems)]
        return np.asarray(moved - moved.mean(axis=1, keepdims=True))

    def removal_moves(self, first: str, second: str) -> Array:
        """Return by how many logits the rating of one system less that of another changes without the battle of a pair
        on a query (Q x P; ties count half).

        One Newton step from the estimate, the prior's points unchanged: the score of the battle through the inverse of
        the information without it (Pregibon, Annals of Statistics 9(4), 1981; for Bradley-Terry arenas Huang et al.
        2025, arXiv 2508.11847).
        """
        i, j = self.each.ends
        lead = [self.systems.index(name) for name in (first, second)]
        inverse = np.linalg.inv(self.whole.slopes(self.point)[1][0])
        toward, variance = inverse[lead[0]] - inverse[lead[1]], np.diag(inverse)
        win, lose = logistic(self.theta[i] - self.theta[j])
        won, lost = self.each.first * self.weights[:, None], self.each.second * self.weights[:, None]
        leverage = (won + lost) * (win * lose * (variance[i] + variance[j] - 2 * inverse[i, j]))
        return np.asarray((toward[j] - toward[i]) * (won * lose - lost * win) / (1 - leverage))


def fit_layout(
    counted: PairCounts, covariance: Callable[[Array], Array], *, least: float, penalty: Penalty, ridge: float
) -> tuple[Likelihood, JeffreysPrior | None, Array]:
    """Return `Layout.whole`, `prior` and `point` of one data set.

    Args:
        counted: the data set.
        covariance: maps a point (1 x size) to the covariance of the sum of the queries' scores there (size x size).
        least: minimum dispersion of the prior (`jeffreys.least_dispersion`).
        penalty: `jeffreys`, or `none` for maximum likelihood.
        ridge: weight of the ridge penalty, which determines the ratings of groups of systems that never met.
    """
    model = Likelihood(counted, ridge)
    if penalty == "none":
        return model, None, fit(counted, ridge=ridge)
    point, prior = estimate(model, covariance, least=least)
    return model.plus(prior.added), prior, point


def by_query(battles: Battles, ties: Ties = "half", penalty: Penalty = "jeffreys", ridge: float = RIDGE) -> ByQuery:
    """Arrange the battles by query, and fit all of them together.

    Args:
        battles: the battles of one language.
        ties: treatment of ties. With `half`, soft verdicts count by their points; otherwise by the verdict.
        penalty: as for `fit_layout`.
        ridge: as for `fit_layout`.
    """
    n = len(battles.queries)
    i, j = np.triu_indices(len(battles.systems), 1)
    points = battles.shared(ties)
    first, second = points[:, i, j].astype(float), points[:, j, i].astype(float)
    if battles.points is not None:
        # Stored in single precision, 0.4 and 0.6 are not 1 together, and two equal systems would differ by the rest.
        first, second = first.round(_PLACES), second.round(_PLACES)
    tied = battles.ties[:, i, j].astype(float) if ties == "davidson" else None
    strata = tuple(np.flatnonzero(battles.strata == k) for k in np.unique(battles.strata))
    weights = np.empty(n)
    for rows in strata:
        weights[rows] = n / (len(strata) * len(rows))
    each = PairCounts(first, second, tied, len(battles.systems))
    ties_sum = None if tied is None else weights[None] @ tied
    counted = PairCounts(weights[None] @ first, weights[None] @ second, ties_sum, each.systems)

    def covariance(point: Array) -> Array:
        return score_covariance(scores_of(each, point) * weights[:, None], strata)

    least = least_dispersion(_net_squares(first, second), float(battles.wins.sum(dtype=np.int64)))
    fitted = fit_layout(counted, covariance, least=least, penalty=penalty, ridge=ridge)
    return ByQuery(battles.systems, battles.queries_by_system(), counted, *fitted, each, weights, strata)


def _net_squares(first: Array, second: Array) -> float:
    """Return the sum over queries and pairs of (points of one system - points of the other)^2."""
    sums: list[float] = []
    for start in range(0, len(first), _ROWS):
        block = slice(start, start + _ROWS)
        sums += np.square(np.ascontiguousarray(first[block] - second[block])).sum(axis=1).tolist()
    return float(sum(sums))


def scores_of(per_query: PairCounts, point: Array) -> Array:
    """Return the gradient of each query's log-likelihood at a point (Q x size)."""
    n, s = len(per_query.first), per_query.systems
    # With many systems or one battle a query, few pairs battle on a query: use the nonzero cells only.
    battled = (per_query.first != 0) | (per_query.second != 0)
    if per_query.ties is not None:
        battled |= per_query.ties != 0
    if s < MANY and np.count_nonzero(battled) * _SPARSE > battled.size:
        return Likelihood(per_query, 0.0).gradient(np.repeat(point, n, axis=0))
    q, p = np.nonzero(battled)
    i, j = per_query.ends
    first, second, d = per_query.first[q, p], per_query.second[q, p], (point[0, i] - point[0, j])[p]
    if per_query.ties is None:
        win, lose = logistic(d)
        pull, of_ties = first * lose - second * win, []
    else:
        win, lose, tie = davidson(d, point[:, -1])
        tied = per_query.ties[q, p]
        total = first + second + tied
        pull = (first - second) / 2 - total * (win - lose) / 2
        of_ties = [np.bincount(q, tied - total * tie, n)]
    return np.column_stack([sum_scores(q, (i[p], j[p]), pull, (n, s)), *of_ties])
