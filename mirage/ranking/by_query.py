"""The battles of one language arranged by query: the input of draws, tests and analytic intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.ranking.fit import MANY, Array, Likelihood, PairCounts, davidson, fit, logistic, solver
from mirage.ranking.jeffreys import JeffreysPrior, bias_reduced, least_dispersion, query_dispersion, rough_estimate
from mirage.schema import Penalty, Ties

_ROWS = 2_000
"""Queries per block of a sum, which bounds its memory."""
_SPARSE = 8
"""Fewer than one pair in this many battles on a query: their cells are picked out."""


@dataclass(frozen=True, eq=False)
class ByQuery:
    """The battles of one language as one data set per query, with the fit to all of them."""

    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    each: PairCounts
    """Q data sets, one per query."""
    counted: PairCounts
    """One data set: the weighted sum over all queries."""
    whole: Likelihood
    """Its likelihood with the prior's pseudo-points."""
    prior: JeffreysPrior | None
    """Jeffreys' prior; None for maximum likelihood."""
    point: Array
    """1 x S, or 1 x (S + 1) with Davidson's tie parameter last: the estimate."""
    weights: Array
    """Q: weight of each query, so that every stratum has the same share; 1 on average."""
    strata: tuple[NDArray[np.intp], ...]
    """Query indices of each stratum."""

    @cached_property
    def likelihood(self) -> Likelihood:
        """Likelihood of all queries without the prior's pseudo-points, for tests of equal ratings."""
        return Likelihood(self.counted, self.whole.ridge)

    @cached_property
    def moves(self) -> Array:
        """Q x S: influence of each query on the ratings (empirical influence function); each row sums to 0."""
        scores = scores_of(self.each, self.point) * self.weights[:, None]
        H = self.whole.slopes(self.point)[1]
        solve = solver(H) if len(self.systems) >= MANY else partial(np.linalg.solve, H)
        moved = solve(scores.T[None])[0].T[:, : len(self.systems)]
        return np.asarray(moved - moved.mean(axis=1, keepdims=True))


def by_query(battles: Battles, *, ties: Ties, penalty: Penalty, ridge: float) -> ByQuery:
    """Arrange the battles by query, and fit all of them together.

    Args:
        battles: the battles of one language.
        ties: treatment of ties. With `half`, soft verdicts count by their points; otherwise by the verdict.
        penalty: `jeffreys`, or `none` for maximum likelihood.
        ridge: weight of the ridge penalty, which fixes the ratings of parts of the data that never met.
    """
    n = len(battles.queries)
    i, j = np.triu_indices(len(battles.systems), 1)
    points = battles.shared(ties)
    first, second = points[:, i, j].astype(float), points[:, j, i].astype(float)
    tied = battles.ties[:, i, j].astype(float) if ties == "davidson" else None
    strata = tuple(np.flatnonzero(battles.strata == k) for k in np.unique(battles.strata))
    weights = np.empty(n)
    for rows in strata:
        weights[rows] = n / (len(strata) * len(rows))
    per_query = PairCounts(first, second, tied, len(battles.systems))
    whole = PairCounts(
        weights[None] @ first,
        weights[None] @ second,
        None if tied is None else weights[None] @ tied,
        per_query.systems,
    )
    model = Likelihood(whole, ridge)
    if penalty == "none":
        fitted = fit(whole, ridge=ridge)
        point = fitted.theta if fitted.log_nu is None else np.column_stack([fitted.theta, fitted.log_nu])
        return ByQuery(battles.systems, per_query, whole, model, None, point, weights, strata)
    point = rough_estimate(model)
    phi = query_dispersion(model, point, scores_of(per_query, point) * weights[:, None], strata)
    phi = max(phi, least_dispersion(_net_squares(first, second), float(battles.wins.sum(dtype=np.int64))))
    point, prior = bias_reduced(model, dispersion=phi, start=point)
    return ByQuery(battles.systems, per_query, whole, model.plus(prior.added), prior, point, weights, strata)


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
    scores = np.bincount(q * s + i[p], pull, n * s) - np.bincount(q * s + j[p], pull, n * s)
    return np.column_stack([scores.reshape(n, s), *of_ties])
