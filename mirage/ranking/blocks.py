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

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.battles.blocks import BlockedBattles, QueryBlock
from mirage.errors import BadInput
from mirage.ranking.bootstrap import DRAWN, RankingReport, rate_layouts
from mirage.ranking.by_query import Layout, fit_layout
from mirage.ranking.fit import RIDGE, PairCounts, logistic, sum_scores
from mirage.ranking.jeffreys import least_dispersion
from mirage.ranking.pair_tests import BoardTests, separate_fitted
from mirage.ranking.records import JOINT, LanguageRanking
from mirage.ranking.settings import DRAWS, SEED
from mirage.ranking.threads import one_thread
from mirage.schema import Penalty, Ties
from mirage.stats.arrays import Array
from mirage.stats.encoding import place_names
from mirage.stats.intervals import need_draws
from mirage.text.languages import refuse_name_of_all

Intervals = Literal["draws", "sandwich"]

LONG = 2e11
"""Battles x draws above which the sandwich is the default: some minutes on two cores."""


@dataclass(frozen=True, eq=False)
class ByBlock(Layout):
    """The battles of one language in blocks of queries, with what every test between two systems needs of them."""

    total: Array
    """S: sum of the queries' influences on the ratings."""
    covariance: Array
    """S x S: covariance of the ratings, the query as the cluster."""
    n_queries: int
    """Number of queries."""


def rate_blocks(
    languages: Mapping[str, BlockedBattles],
    *,
    judge: str,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: Ties = "half",
    penalty: Penalty = "jeffreys",
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
        layouts = {code: _by_block(battles, penalty) for code, battles in sorted(languages.items())}

    def draw(code: str, layout: ByBlock) -> Array:
        return _draw_ratings(languages[code], layout, draws, [seed, zlib.crc32(code.encode())])

    ways = tuple(sorted({_kind_of_draws(battles, draws) for battles in languages.values()}))
    ranking = RankingReport(judge, "both", ties, draws, seed, penalty, RIDGE, {}, (), intervals=ways)
    ranking = rate_layouts(ranking, layouts, languages, draw)
    tested = {
        code: _test_row(row, [*layouts.values()] if code == JOINT else [layouts[code]])
        for code, row in ranking.languages.items()
    }
    return replace(ranking, tested=tested)


def _kind_of_draws(battles: BlockedBattles, draws: int) -> Intervals:
    """Choose the bootstrap unless it would take long."""
    return "sandwich" if len(battles.systems) > DRAWN or battles.n_cells * draws > LONG else "draws"


def _by_block(battles: BlockedBattles, penalty: Penalty) -> ByBlock:
    s = len(battles.systems)
    sums = np.zeros((2, s * (s - 1) // 2))
    for block in battles.blocks():
        for total, column in zip(sums, (block.first, block.second), strict=True):
            total += np.bincount(block.pair, column, len(total))
    counted = PairCounts(sums[:1], sums[1:], None, s)

    def covariance(point: Array) -> Array:
        return _score_moments(battles, point[0])[1] if battles.n_queries > 1 else np.zeros((s, s))

    least = least_dispersion(battles.net_squares(), float(battles.results[:, 0].sum()))
    whole, prior, point = fit_layout(counted, covariance, least=least, penalty=penalty, ridge=RIDGE)
    total, around = _score_moments(battles, point[0])
    inverse = np.linalg.inv(whole.slopes(point)[1][0])
    inverse -= inverse.mean(axis=0)
    moments = inverse @ total, inverse @ around @ inverse.T
    met = battles.queries_by_system
    return ByBlock(battles.systems, met, counted, whole, prior, point, *moments, battles.n_queries)


def _score_moments(battles: BlockedBattles, theta: Array) -> tuple[Array, Array]:
    """Return the sum over queries of the scores (S), and the covariance of that sum (S x S)."""
    s, n = len(theta), battles.n_queries
    i, j = np.triu_indices(s, 1)
    total, products = np.zeros(s), np.zeros((s, s))
    win, lose = logistic(theta[i] - theta[j])
    for block in battles.blocks():
        pulls = block.first * lose[block.pair] - block.second * win[block.pair]
        scores = sum_scores(block.query, (i[block.pair], j[block.pair]), pulls, (block.n_queries, s))
        total += scores.sum(axis=0)
        products += scores.T @ scores
    return total, (products - np.outer(total, total) / n) * n / (n - 1) if n > 1 else products


def _draw_ratings(battles: BlockedBattles, layout: ByBlock, draws: int, seeds: list[int]) -> Array:
    """Return the ratings of each draw of the posterior bootstrap, or normal draws if it would take long (B x S)."""
    s = len(battles.systems)
    if _kind_of_draws(battles, draws) == "sandwich":
        values, vectors = np.linalg.eigh(layout.covariance)
        z = np.random.default_rng([*seeds, 2]).standard_normal((draws, s))
        return np.asarray(layout.theta + z @ (vectors * np.sqrt(np.maximum(values, 0))).T)
    sums = [np.zeros((s * (s - 1) // 2, draws), dtype=np.float32) for _ in range(2)]
    weight = np.zeros(draws)
    for number, block in enumerate(battles.blocks()):
        weights = np.random.default_rng([*seeds, 0, number]).standard_exponential(
            (block.n_queries, draws), dtype=np.float32
        )
        weight += weights.sum(axis=0, dtype=np.float64)
        for total, column in zip(sums, (block.first, block.second), strict=True):
            _add_products(total, block, column, weights)
    scale = battles.n_queries / weight
    return layout.fit_draws(
        lambda part: [np.ascontiguousarray((total[:, part] * scale[part]).T) for total in sums],
        np.random.default_rng([*seeds, 1]),
        draws,
    )


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


def _test_row(row: LanguageRanking, parts: list[ByBlock]) -> BoardTests:
    """Test the fitted differences of a row with the query as the cluster."""
    difference, covariances = np.zeros(len(row.systems)), []
    for part in parts:
        place = place_names(row.systems, part.systems)
        difference += (part.total[place] + part.theta[place]) / len(parts)
        covariances.append((part.covariance[np.ix_(place, place)] / len(parts) ** 2, part.n_queries))
    return separate_fitted(row, difference, covariances, row.queries_by_system)
