"""Ratings of thousands of systems, few pairs of which ever meet.

Nothing here has a cell for every two systems. Only the pairs that met are counted, and Newton steps are solved by
conjugate gradients, or by a sparse factorisation where these converge slowly, as on a ladder. Neither needs an inverse;
two quantities that depend on one are estimated from random signs of a fixed seed:

- the leverages of Jeffreys' prior (Spielman and Srivastava, SIAM J. Comput. 40(6), 2011), each with relative error
  sqrt(2 / K) for K probes; a rating depends on many leverages and its error is far smaller. With as many probes as
  systems they are exact.
- the dispersion, a trace (Hutchinson, Commun. Stat. Simul. Comput. 19(2), 1990).

Intervals are normal draws with the covariance clustered by query: each draw weights the queries' scores with normal
numbers and solves for the ratings, so the covariance itself is never formed. There are no tests of all pairs.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.blocks import BlockedBattles, QueryBlock, systems_of
from mirage.ranking.fit import Array, Counts, Likelihood, PairCounts, logistic, maximise
from mirage.ranking.graph import groups, unbounded_sides
from mirage.ranking.jeffreys import JeffreysPrior, bias_reduced, least_dispersion, rough_estimate
from mirage.ranking.records import LanguageRanking
from mirage.schema import Penalty
from mirage.stats.newton import Curvature, Solver

DENSE = 4_000
"""Number of systems above which no table of all pairs is formed."""

PROBES = 128
"""Random vectors used to estimate leverages and dispersion."""

_CLOSE = 1e-11
"""Relative residual of a solution."""
_SLOW = 400
"""Steps of conjugate gradients after which the matrix is factorised."""
_AT_ONCE = 250
"""Draws per block."""


class SparseLikelihood(Likelihood):
    """The likelihood of one data set of pairs that met, with Newton steps that need no table of all pairs.

    Args:
        counts: one data set with `met` set; ties are half a win each.
        ridge: weight of the ridge penalty, which fixes the ratings of parts of the data that never met.
        probes: random vectors used to estimate the leverages.
    """

    def __init__(self, counts: PairCounts, ridge: float, *, probes: int = PROBES) -> None:
        super().__init__(counts, ridge)
        self.counts, self.probes = counts, probes

    def plus(self, added: Array) -> SparseLikelihood:
        """Return the model with pseudo-points added to both sides of every pair."""
        counts = PairCounts(self.first + added, self.second + added, None, self.n_systems, self.counts.met)
        return SparseLikelihood(counts, self.ridge, probes=self.probes)

    def ascent(self, x: Array) -> tuple[Array, Curvature]:
        """Return the gradient (1 x S) and a solver for the curvature."""
        win, lose = logistic(self.differences(x))
        first, second = self._by_system(self.first * lose - self.second * win)
        return np.asarray(first - second - self.ridge * x), self.inverse(x)

    def of_pairs_met(self) -> SparseLikelihood:
        """Return the model itself: it has no other pairs."""
        return self

    def inverse(self, x: Array) -> Solver:
        """Return a function that multiplies with the inverse of the curvature at a point, up to a constant in each
        column.
        """
        return _solver(self.information(x)[0], self.i, self.j, self.n_systems, self.ridge)

    def leverage(self, x: Array) -> Array:
        """Return the leverage of each pair, its share in the information on its difference (P); estimated if there are
        fewer probes than systems.

        The leverages sum to S - 1 for a connected graph.
        """
        s, i, j = self.n_systems, self.i, self.j
        solve, information = self.inverse(x), self.information(x)[0]
        if self.probes >= s:
            # Columns of the inverse, each up to an additive constant.
            V = solve(np.eye(s)[None] - 1 / s)[0]
            return np.asarray(information * (V[i, i] - V[j, i] + V[j, j] - V[i, j]))
        rng, root = np.random.default_rng(0), np.sqrt(information)
        signs = (rng.choice((-1.0, 1.0), (1, len(i))) * root for _ in range(self.probes))
        moved = solve(np.stack([np.subtract(*self._by_system(cells)) for cells in signs], axis=2))[0]
        variance = np.zeros(len(i))
        for column in moved.T:
            variance += (column[i] - column[j]) ** 2 / self.probes
        return np.asarray(information * variance)


def _solver(weights: Array, i: NDArray[np.intp], j: NDArray[np.intp], s: int, ridge: float) -> Solver:
    """Return a solver for the Laplacian of weighted pairs, scaled to a diagonal of 1; solutions are centred on 0."""
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.linalg import cg, splu

    scale = 1 / np.sqrt(np.bincount(i, weights, s) + np.bincount(j, weights, s) + ridge)
    cells = -weights * scale[i] * scale[j]
    both = (np.concatenate([cells, cells]), (np.concatenate([i, j]), np.concatenate([j, i])))
    matrix = csr_array(both, shape=(s, s)) + eye_array(s, format="csr")
    factors: list[Any] = []

    def column(right: Array) -> Array:
        if not factors:
            solution, failed = cg(matrix, right, rtol=_CLOSE, atol=0.0, maxiter=_SLOW)
            if not failed:
                return np.asarray(solution)
            factors.append(splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}))
        return np.asarray(factors[0].solve(right))

    def solve(right: Array) -> Array:
        columns = [column(part * scale) * scale for part in right[0].T]
        return np.asarray(np.stack([part - part.mean() for part in columns], axis=1)[None])

    return solve


def count_met(battles: BlockedBattles) -> PairCounts:
    """Sum the points of all queries, by pair of systems that met."""
    from scipy.sparse import csr_array, triu

    s = len(battles.systems)
    taken = csr_array((s, s))
    for block in battles.blocks():
        i, j = systems_of(block.pair, s)
        points, places = (block.first, block.second), (np.concatenate([i, j]), np.concatenate([j, i]))
        taken = taken + csr_array((np.concatenate(points, dtype=np.float64), places), shape=(s, s))
    i, j = (part.astype(np.intp) for part in triu(taken + taken.T, 1).tocsr().sorted_indices().nonzero())
    met = i * (2 * s - i - 1) // 2 + j - i - 1
    return PairCounts(np.asarray(taken[i, j])[None], np.asarray(taken[j, i])[None], None, s, met)


def rate_sparse(
    code: str, battles: BlockedBattles, *, draws: int, seed: int, penalty: Penalty, ridge: float
) -> LanguageRanking:
    """Rate the systems of one language from battles of which at least one can be rated.

    Args:
        code: the language.
        battles: its battles.
        draws: normal draws with the covariance clustered by query.
        seed: seed of the draws.
        penalty: `jeffreys`, or `none` for maximum likelihood.
        ridge: weight of the ridge penalty, which fixes the ratings of parts of the data that never met.
    """
    counted = count_met(battles)
    bare, key = SparseLikelihood(counted, ridge), [seed, zlib.crc32(code.encode())]
    point, prior = _estimate(battles, bare, penalty=penalty, seed=key)
    model = bare if prior is None else bare.plus(prior.added)
    sums = _weighted_scores(
        battles,
        point[0],
        draws,
        lambda block, n: np.random.default_rng([*key, 2, block]).standard_normal(n, np.float32),
    )
    moved = model.inverse(point)(sums.T[None])[0].T
    parted = groups(battles.systems, counted)
    return LanguageRanking(
        code,
        battles.systems,
        point[0],
        np.asarray(point + moved),
        battles.record,
        parted,
        battles.n_queries,
        battles.queries_by_system,
        battles.unparsed,
        unbounded_sides(battles.systems, parted, counted),
    )


def _estimate(
    battles: BlockedBattles, bare: SparseLikelihood, *, penalty: Penalty, seed: list[int]
) -> tuple[Array, JeffreysPrior | None]:
    """Return the 1 x S estimate, and Jeffreys' prior at it, with the dispersion of the queries."""
    if penalty == "none":
        point = maximise([bare], np.zeros((1, bare.size))).point
        return point - point.mean(), None
    point = rough_estimate(bare)
    sums = _weighted_scores(
        battles, point[0], PROBES, lambda block, n: np.random.default_rng([*seed, 3, block]).choice((-1.0, 1.0), n)
    )
    solved = bare.inverse(point)(sums.T[None])[0].T
    dispersion = float((sums * solved).sum() / len(sums) / max(bare.size - 1, 1)) if battles.n_queries > 1 else 1.0
    least = least_dispersion(battles.net_squares(), float(battles.record[:, 0].sum()))
    return bias_reduced(bare, dispersion=max(dispersion, least), start=point)


def _weighted_scores(
    battles: BlockedBattles, theta: Array, n: int, weights: Callable[[int, tuple[int, int]], Counts]
) -> Array:
    """Return sums of the queries' centred scores under random weights of mean 0 and variance 1 (n x S); their
    covariance is that of a sum over the queries.

    Args:
        battles: the battles.
        theta: S: point at which scores are computed.
        n: number of sums.
        weights: returns the weights of a block's queries (n x Q), given the block's number and a shape.
    """
    total, of_weights = np.zeros(len(theta)), np.zeros(n)
    sums = np.zeros((n, len(theta)))
    for number, block in enumerate(battles.blocks()):
        scores = _scores(block, theta)
        total += scores.sum(axis=0)
        drawn = weights(number, (n, block.n_queries)).astype(np.float32)
        of_weights += drawn.sum(axis=1, dtype=np.float64)
        for k in range(0, n, _AT_ONCE):
            sums[k : k + _AT_ONCE] += (scores.T @ drawn[k : k + _AT_ONCE].T).T
    queries = battles.n_queries
    if queries < 2:
        return sums
    sums -= of_weights[:, None] * total / queries
    sums *= np.sqrt(queries / (queries - 1))
    return sums


def _scores(block: QueryBlock, theta: Array) -> Any:
    """Return the gradient of each query's log-likelihood (Q x S, sparse)."""
    from scipy.sparse import csr_array

    i, j = systems_of(block.pair, len(theta))
    win, lose = logistic(theta[i] - theta[j])
    pulls = block.first * lose - block.second * win
    cells = (np.concatenate([block.query, block.query]), np.concatenate([i, j]))
    return csr_array((np.concatenate([pulls, -pulls]), cells), shape=(block.n_queries, len(theta)))
