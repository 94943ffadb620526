"""Rankings of many queries with few battles each: the estimator of `bootstrap.py` over blocks of queries.

A table of every two systems on every query would not fit in memory there; the counts of the pairs that met do.

The estimate, Jeffreys' prior and its dispersion are those of `rate`, from sums over blocks. There are two kinds of
intervals, named in the ranking's `method`:

- `draws`: the posterior bootstrap, with a separate seed for each block's exponential weights. One pass over the counts
  serves all draws; the cost is battles x draws.
- `sandwich`: normal draws with the covariance clustered by query (`ByQuery.moves`). One pass, regardless of the
  number of draws. It is used where the bootstrap would take long, and agrees with it where no system nearly always
  wins.

Tests are of fitted differences with the query as the cluster, as in any ranking of more than 64
systems.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.battles.blocks import BlockedBattles, QueryBlock
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.bootstrap import CLOSE, DRAWN, RankingReport, add_joint_row
from mirage.ranking.fit import RIDGE, Array, Fit, Likelihood, PairCounts, fit, logistic
from mirage.ranking.graph import groups, unbounded_sides
from mirage.ranking.jeffreys import JeffreysPrior, bias_reduced, dispersion_of, least_dispersion, rough_estimate
from mirage.ranking.pair_tests import BoardTests, separate_fitted
from mirage.ranking.records import JOINT, LanguageRanking, widen_draws
from mirage.ranking.settings import DRAWS, SEED
from mirage.ranking.threads import one_thread
from mirage.schema import Penalty, Ties
from mirage.stats.intervals import need_draws
from mirage.text.languages import refuse_name_of_all

Intervals = Literal["draws", "sandwich"]

LONG = 2e11
"""Battles x draws above which the sandwich is the default: some minutes on two cores."""

_CELLS = 4_000_000
"""Draws x pairs fitted per block."""


@dataclass(frozen=True, slots=True)
class QueryMoments:
    """Moments of one language's query influences: sufficient for every test between two systems."""

    row: LanguageRanking
    """The row of the language, with S systems."""
    total: Array
    """S: sum of the queries' influences on the ratings."""
    covariance: Array
    """S x S: covariance of the ratings, the query as the cluster."""


def rate_blocks(
    languages: Mapping[str, BlockedBattles],
    *,
    judge: str,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: Ties = "half",
    penalty: Penalty = "jeffreys",
    ridge: float = RIDGE,
) -> RankingReport:
    """Rate the systems of each language, and over all languages together, from blocks of queries.

    Draws are of the bootstrap unless it would take long (`LONG`).

    Args:
        languages: battles by language code (`battles.blocks.count_blocks`, with ties dropped where `ties` is `drop`).
        judge: name of the judge that decided the battles.
        draws: bootstrap draws, or normal draws with the sandwich's covariance.
        seed: seed of the draws; the same seed gives the same numbers, regardless of the order of the verdicts.
        ties: `half` or `drop`; Davidson's model is not supported.
        penalty: `jeffreys`, or `none` for maximum likelihood.
        ridge: weight of the ridge penalty, which fixes the ratings of parts of the data that never met.

    Raises:
        NotEnoughData: if a language has no battle to rate.
        BadInput: if an option is out of range.
    """
    if ties not in ("half", "drop"):
        raise BadInput(f"ties cannot be {ties!r} with this many queries and systems", do="use half or drop")
    need_draws(draws)
    if not languages:
        raise BadInput("there are no battles to rate", do="give at least one language")
    refuse_name_of_all(languages)
    with one_thread():
        moments = {
            code: _rate(code, battles, draws=draws, seed=seed, penalty=penalty, ridge=ridge)
            for code, battles in sorted(languages.items())
        }
        rows = {code: of.row for code, of in moments.items()}
        ways = tuple(sorted({_kind_of_draws(battles, draws) for battles in languages.values()}))
        ranking = add_joint_row(
            RankingReport(judge, "both", ties, draws, seed, penalty, ridge, rows, (), intervals=ways)
        )
        tested = {
            code: _test_row(row, list(moments.values()) if code == JOINT else [moments[code]])
            for code, row in ranking.languages.items()
        }
    return replace(ranking, tested=tested)


def _kind_of_draws(battles: BlockedBattles, draws: int) -> Intervals:
    """Choose the bootstrap unless it would take long."""
    return "sandwich" if len(battles.systems) > DRAWN or battles.n_cells * draws > LONG else "draws"


def _rate(code: str, battles: BlockedBattles, *, draws: int, seed: int, penalty: Penalty, ridge: float) -> QueryMoments:
    s, n = len(battles.systems), battles.n_queries
    seeds = [seed, zlib.crc32(code.encode())]
    sums = np.zeros((2, s * (s - 1) // 2))
    for block in battles.blocks():
        for total, column in zip(sums, (block.first, block.second), strict=True):
            total += np.bincount(block.pair, column, len(total))
    if not sums.any():
        raise NotEnoughData(
            f"no battle to rate in {code}" + (" once ties are dropped" if battles.record.any() else ""),
            do="choose other languages, or count ties",
        )
    whole = PairCounts(sums[0][None], sums[1][None], None, s)
    model = Likelihood(whole, ridge)
    point, prior = _estimate(battles, whole, model, penalty=penalty, ridge=ridge)
    total, around = _score_moments(battles, point[0])
    inverse = np.linalg.inv((model if prior is None else model.plus(prior.added)).slopes(point)[1][0])
    inverse -= inverse.mean(axis=0)
    covariance = inverse @ around @ inverse.T
    if _kind_of_draws(battles, draws) == "draws":
        drawn = _draw_ratings(battles, point, prior, draws=draws, seed=seeds, ridge=ridge)
        drawn = widen_draws(point[0], drawn, battles.queries_by_system)
    else:
        values, vectors = np.linalg.eigh(covariance)
        z = np.random.default_rng([*seeds, 2]).standard_normal((draws, s))
        drawn = point[0] + z @ (vectors * np.sqrt(np.maximum(values, 0))).T
    parted = groups(battles.systems, whole)
    unbounded = unbounded_sides(battles.systems, parted, whole)
    queries, record = battles.queries_by_system, battles.record
    row = LanguageRanking(
        code, battles.systems, point[0], drawn, record, parted, n, queries, battles.unparsed, unbounded
    )
    return QueryMoments(row, inverse @ total, covariance)


def _estimate(
    battles: BlockedBattles, whole: PairCounts, bare: Likelihood, *, penalty: Penalty, ridge: float
) -> tuple[Array, JeffreysPrior | None]:
    """Return the 1 x S estimate, and Jeffreys' prior at it, with the dispersion of the queries (`by_query.py`)."""
    if penalty == "none":
        return fit(whole, ridge=ridge).theta, None
    point, dispersion = rough_estimate(bare), 1.0
    if battles.n_queries > 1:
        dispersion = max(
            dispersion_of(bare, point, _score_moments(battles, point[0])[1]),
            least_dispersion(battles.net_squares(), float(battles.record[:, 0].sum())),
        )
    return bias_reduced(bare, dispersion=dispersion, start=point)


def _score_moments(battles: BlockedBattles, theta: Array) -> tuple[Array, Array]:
    """Return the sum over queries of the scores (S), and the covariance of that sum (S x S)."""
    s, n = len(theta), battles.n_queries
    i, j = np.triu_indices(s, 1)
    total, products = np.zeros(s), np.zeros((s, s))
    win, lose = logistic(theta[i] - theta[j])
    for block in battles.blocks():
        pulls = block.first * lose[block.pair] - block.second * win[block.pair]
        cells = block.query.astype(np.int64) * s
        scores = np.bincount(cells + i[block.pair], pulls, block.n_queries * s)
        scores -= np.bincount(cells + j[block.pair], pulls, block.n_queries * s)
        scores = scores.reshape(block.n_queries, s)
        total += scores.sum(axis=0)
        products += scores.T @ scores
    return total, (products - np.outer(total, total) / n) * n / (n - 1) if n > 1 else products


def _draw_ratings(
    battles: BlockedBattles, point: Array, prior: JeffreysPrior | None, *, draws: int, seed: list[int], ridge: float
) -> Array:
    """Return the ratings of each draw of the posterior bootstrap (B x S)."""
    s = len(battles.systems)
    sums = [np.zeros((s * (s - 1) // 2, draws), dtype=np.float32) for _ in range(2)]
    weight = np.zeros(draws)
    for number, block in enumerate(battles.blocks()):
        weights = np.random.default_rng([*seed, 0, number]).standard_exponential(
            (block.n_queries, draws), dtype=np.float32
        )
        weight += weights.sum(axis=0, dtype=np.float64)
        for total, column in zip(sums, (block.first, block.second), strict=True):
            _add_products(total, block, column, weights)
    scale, rng = battles.n_queries / weight, np.random.default_rng([*seed, 1])
    start, at_once, parts = Fit(point, None, 0), max(1, _CELLS // max(1, len(sums[0]))), []
    for k in range(0, draws, at_once):
        columns = slice(k, k + at_once)
        of_first, of_second = ((total[:, columns] * scale[columns]).T for total in sums)
        if prior is not None:
            more_first, more_second = prior.draw_points(rng, len(of_first))
            of_first, of_second = of_first + more_first, of_second + more_second
        pairs = PairCounts(np.ascontiguousarray(of_first), np.ascontiguousarray(of_second), None, s)
        parts.append(fit(pairs, ridge=ridge, start=start, tolerance=CLOSE).theta)
    return np.concatenate(parts)


def _add_products(
    sums: NDArray[np.float32], block: QueryBlock, column: NDArray[np.float32], weights: NDArray[np.float32]
) -> None:
    """Add to each pair's row the points of its cells times the weights of their queries."""
    from scipy.sparse import csr_array

    present = np.flatnonzero(column)
    cells = csr_array(
        (column[present], (block.pair[present], block.query[present])), shape=(len(sums), block.n_queries)
    )
    met, at_once = np.flatnonzero(np.diff(cells.indptr)), max(1, 50_000_000 // weights.shape[1])
    for k in range(0, len(met), at_once):
        rows = met[k : k + at_once]
        sums[rows] += cells[rows] @ weights


def _test_row(row: LanguageRanking, parts: list[QueryMoments]) -> BoardTests:
    """Test the fitted differences of a row with the query as the cluster."""
    difference, covariances = np.zeros(len(row.systems)), []
    met = np.zeros(len(row.systems), dtype=np.int64)
    for part in parts:
        place_of = {name: k for k, name in enumerate(part.row.systems)}
        place = np.array([place_of[name] for name in row.systems])
        difference += (part.total[place] + part.row.theta[place]) / len(parts)
        covariances.append((part.covariance[np.ix_(place, place)] / len(parts) ** 2, part.row.n_queries))
        met += part.row.queries_by_system[place]
    return separate_fitted(row, difference, covariances, met)
