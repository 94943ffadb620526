"""Rankings of many queries with few battles each: the estimator of `bootstrap.py` over blocks of queries.

A table of every two systems on every query would not fit in memory there; the counts of the pairs that met do.

The estimate, Jeffreys' prior and its dispersion are those of `rate`, from sums over blocks. There are two kinds of
intervals, named in the ranking's `method`:

- `draws`: the posterior bootstrap, with a separate seed for each block's exponential weights. One pass over the counts
  serves all draws; the cost is battles x draws.
- `sandwich`: normal draws with the covariance clustered by query (`sandwich.py`). One pass, regardless of the number of
  draws. It is used where the bootstrap would take long, and agrees with it where no system nearly always wins.

Tests are of fitted differences with the query as the cluster, as in any ranking of more than 64
systems.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
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

    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    theta: Array
    """S: the estimate, in logits, centred on 0."""
    total: Array
    """S: sum of the queries' influences on the ratings."""
    covariance: Array
    """S x S: covariance of the ratings, the query as the cluster (`sandwich.py`)."""
    queries_by_system: NDArray[np.intp]
    """S: number of queries each system battles on."""
    n_queries: int
    """Number of queries of the language."""


def rate_blocks(
    languages: Mapping[str, BlockedBattles],
    *,
    judge: str,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: Ties = "half",
    penalty: Penalty = "jeffreys",
    ridge: float = RIDGE,
    intervals: Intervals | None = None,
) -> RankingReport:
    """Rate the systems of each language, and over all languages together, from blocks of queries.

    Args:
        languages: battles by language code (`battles.blocks.count_blocks`, with ties dropped where `ties` is `drop`).
        judge: name of the judge that decided the battles.
        draws: bootstrap draws, or normal draws with the sandwich's covariance.
        seed: seed of the draws; the same seed gives the same numbers, regardless of the order of the verdicts.
        ties: `half` or `drop`; Davidson's model is not supported.
        penalty: `jeffreys`, or `none` for maximum likelihood.
        ridge: weight of the ridge penalty, which fixes the ratings of parts of the data that never met.
        intervals: kind of draws; None for the bootstrap unless it would take long (`LONG`).

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
    rows, moments, ways = {}, {}, set()
    with one_thread():
        for code, battles in sorted(languages.items()):
            how = intervals or _kind_of_draws(battles, draws)
            rows[code], moments[code] = _rate(
                code, battles, draws=draws, seed=seed, penalty=penalty, ridge=ridge, intervals=how
            )
            ways.add(how)
        ranking = add_joint_row(
            RankingReport(judge, "both", ties, draws, seed, penalty, ridge, rows, (), intervals=tuple(sorted(ways)))
        )
        tested = {code: _test_row(code, row, moments) for code, row in ranking.languages.items()}
    return replace(ranking, tested=tested)


def _kind_of_draws(battles: BlockedBattles, draws: int) -> Intervals:
    """Choose the bootstrap unless it would take long."""
    return "sandwich" if len(battles.systems) > DRAWN or battles.n_cells * draws > LONG else "draws"


def _need_battles(code: str, battles: BlockedBattles) -> None:
    """Check that there is a point to rate.

    Raises:
        NotEnoughData: if there is none.
    """
    if not any(block.first.any() or block.second.any() for block in battles.blocks()):
        raise NotEnoughData(
            f"no battle to rate in {code} once ties are dropped", do="choose other languages, or count ties"
        )


def _rate(
    code: str,
    battles: BlockedBattles,
    *,
    draws: int,
    seed: int,
    penalty: Penalty,
    ridge: float,
    intervals: Intervals,
) -> tuple[LanguageRanking, QueryMoments]:
    s = len(battles.systems)
    key = zlib.crc32(code.encode())
    n_pairs = s * (s - 1) // 2
    sums = np.zeros((2, n_pairs))
    for block in battles.blocks():
        for total, column in zip(sums, (block.first, block.second), strict=True):
            total += np.bincount(block.pair, column, n_pairs)
    whole = PairCounts(sums[0][None], sums[1][None], None, s)
    _need_battles(code, battles)
    bare = Likelihood(whole, ridge)
    point, prior = _estimate(battles, whole, bare, penalty=penalty, ridge=ridge)
    model = bare if prior is None else bare.plus(prior.added)
    total, products = _score_sums(battles, point[0], with_products=True)
    moments = _moments(battles, model, point, total, products)
    if intervals == "draws":
        drawn = _draw_ratings(battles, point, prior, draws=draws, seed=[seed, key], ridge=ridge)
        drawn = widen_draws(point[0], drawn, battles.queries_by_system)
    else:
        drawn = _normal(moments, draws=draws, seed=[seed, key])
    parted = groups(battles.systems, whole)
    row = LanguageRanking(
        code,
        battles.systems,
        point[0],
        drawn,
        battles.record,
        parted,
        battles.n_queries,
        battles.queries_by_system,
        battles.unparsed,
        unbounded_sides(battles.systems, parted, whole),
    )
    return row, moments


def _estimate(
    battles: BlockedBattles, whole: PairCounts, bare: Likelihood, *, penalty: Penalty, ridge: float
) -> tuple[Array, JeffreysPrior | None]:
    """Return the 1 x S estimate, and Jeffreys' prior at it, with the dispersion of the queries (`by_query.py`)."""
    if penalty == "none":
        return fit(whole, ridge=ridge).theta, None
    point = rough_estimate(bare)
    dispersion = 1.0
    if battles.n_queries > 1:
        total, products = _score_sums(battles, point[0], with_products=True)
        around = _around(total, products, battles.n_queries)
        dispersion = max(
            dispersion_of(bare, point, around),
            least_dispersion(battles.net_squares(), float(battles.record[:, 0].sum())),
        )
    return bias_reduced(bare, dispersion=dispersion, start=point)


def _score_sums(battles: BlockedBattles, theta: Array, *, with_products: bool) -> tuple[Array, Array]:
    """Return the sums over queries of the scores (S), and of their products (S x S)."""
    s = len(theta)
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
        if with_products:
            products += scores.T @ scores
    return total, products


def _around(total: Array, products: Array, n: int) -> Array:
    """Return the covariance of a sum over n queries, from the sum and the products."""
    return np.asarray((products - np.outer(total, total) / n) * n / max(n - 1, 1)) if n > 1 else products


def _moments(battles: BlockedBattles, model: Likelihood, point: Array, total: Array, products: Array) -> QueryMoments:
    inverse = np.linalg.inv(model.slopes(point)[1][0])
    inverse -= inverse.mean(axis=0)
    covariance = inverse @ _around(total, products, battles.n_queries) @ inverse.T
    return QueryMoments(
        battles.systems, point[0], inverse @ total, covariance, battles.queries_by_system, battles.n_queries
    )


def _draw_ratings(
    battles: BlockedBattles, point: Array, prior: JeffreysPrior | None, *, draws: int, seed: list[int], ridge: float
) -> Array:
    """Return the ratings of each draw of the posterior bootstrap (B x S)."""
    s = len(battles.systems)
    first, second, weight = _weighted_sums(battles, draws=draws, seed=seed)
    scale = battles.n_queries / weight
    rng = np.random.default_rng([*seed, 1])
    start = Fit(point, None, 0)
    at_once = max(1, _CELLS // max(1, first.shape[0]))
    parts = []
    for k in range(0, draws, at_once):
        columns = slice(k, k + at_once)
        of_first, of_second = ((sums[:, columns] * scale[columns]).T for sums in (first, second))
        if prior is not None:
            more_first, more_second = prior.draw_points(rng, len(of_first))
            of_first, of_second = of_first + more_first, of_second + more_second
        pairs = PairCounts(np.ascontiguousarray(of_first), np.ascontiguousarray(of_second), None, s)
        parts.append(fit(pairs, ridge=ridge, start=start, tolerance=CLOSE).theta)
    return np.concatenate(parts)


def _weighted_sums(
    battles: BlockedBattles, *, draws: int, seed: list[int]
) -> tuple[NDArray[np.float32], NDArray[np.float32], Array]:
    """Return the points of the first and the second system of each pair under each draw's query weights (P x B each),
    and the sums of the weights (B).
    """
    n_pairs = len(battles.systems) * (len(battles.systems) - 1) // 2
    first = np.zeros((n_pairs, draws), dtype=np.float32)
    second = np.zeros_like(first)
    weight = np.zeros(draws)
    for number, block in enumerate(battles.blocks()):
        rng = np.random.default_rng([*seed, 0, number])
        weights = rng.standard_exponential((block.n_queries, draws), dtype=np.float32)
        weight += weights.sum(axis=0, dtype=np.float64)
        for sums, column in ((first, block.first), (second, block.second)):
            _add_products(sums, block, column, weights)
    return first, second, weight


def _add_products(
    sums: NDArray[np.float32], block: QueryBlock, column: NDArray[np.float32], weights: NDArray[np.float32]
) -> None:
    """Add to each pair's row the points of its cells times the weights of their queries."""
    from scipy.sparse import csr_array

    present = np.flatnonzero(column)
    cells = csr_array(
        (column[present], (block.pair[present], block.query[present])), shape=(len(sums), block.n_queries)
    )
    met = np.flatnonzero(np.diff(cells.indptr))
    for rows in _slices(met, max(1, 50_000_000 // weights.shape[1])):
        sums[rows] += cells[rows] @ weights


def _slices(rows: NDArray[np.intp], size: int) -> Iterator[NDArray[np.intp]]:
    for k in range(0, len(rows), size):
        yield rows[k : k + size]


def _normal(moments: QueryMoments, *, draws: int, seed: list[int]) -> Array:
    """Return normal draws with the sandwich's covariance (B x S)."""
    values, vectors = np.linalg.eigh(moments.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    z = np.random.default_rng([*seed, 2]).standard_normal((draws, len(values)))
    return np.asarray(moments.theta + z @ root.T)


def _test_row(language: str, row: LanguageRanking, moments: Mapping[str, QueryMoments]) -> BoardTests:
    """Test the fitted differences of a row with the query as the cluster."""
    parts = list(moments.values()) if language == JOINT else [moments[language]]
    difference, covariances = np.zeros(len(row.systems)), []
    met = np.zeros(len(row.systems), dtype=np.int64)
    for part in parts:
        place_of = {name: k for k, name in enumerate(part.systems)}
        place = np.array([place_of[name] for name in row.systems])
        difference += (part.total[place] + part.theta[place]) / len(parts)
        covariances.append((part.covariance[np.ix_(place, place)] / len(parts) ** 2, part.n_queries))
        met += part.queries_by_system[place]
    return separate_fitted(row, difference, covariances, met)
