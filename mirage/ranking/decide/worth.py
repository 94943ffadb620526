"""Worth of systems in a language by several measures jointly, with draws of the queries.

A draw gives every query a weight of Student's t (the multiplier bootstrap), the same for all measures, so measures that
are correlated over queries are correlated in the draws. Ratings alone use the draws of their ranking.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.compare.measures import QueryMeasure, QueryValues
from mirage.ranking.decide.contest import Contest
from mirage.ranking.fit import Array
from mirage.ranking.graph import Side
from mirage.ranking.joint import mean_over_languages, open_sides
from mirage.ranking.records import JOINT, LEVEL

if TYPE_CHECKING:
    from mirage.ranking.bootstrap import RankingReport


@dataclass(frozen=True, eq=False, slots=True)
class Influence:
    """One measure in one language: S values, and the influence of each of Q queries on them."""

    systems: tuple[str, ...]
    """The systems, sorted by name."""
    values: Array
    """S: higher is better."""
    queries: tuple[str, ...]
    """The queries."""
    moves: Array
    """Q x S: each query's contribution to the deviation; the sum of squares is the variance."""
    unbounded: Mapping[str, Side] = field(default_factory=dict)
    """By system: the side on which the data does not bound its value."""
    differing: NDArray[np.int64] | None = None
    """S x S: number of queries on which two systems differ; None if unknown."""


@dataclass(frozen=True, eq=False, slots=True)
class SharedWeights:
    """Weights in draws of queries that occur in several languages, the same in each of them."""

    weights: Mapping[str, Array]
    """By query id: B normal weights."""
    chance: Array
    """B: quantile of the variance estimate in its distribution."""

    @classmethod
    def of(cls, shared: Collection[str], *, n_draws: int, seed: int) -> SharedWeights | None:
        """Draw the weights of the queries that several languages share; None if there are none."""
        rng = np.random.default_rng([seed, len(shared)])
        weights = {query: rng.standard_normal(n_draws) for query in sorted(shared)}
        return cls(weights, rng.random(n_draws)) if shared else None


def rating_contest(ranking: RankingReport, language: str) -> Contest:
    """Return ratings with the draws of their ranking, widened to Student's t."""
    row = ranking.languages[language]
    n = int(row.queries_by_system.min())
    draws = row.theta + _wider(n) * (row.draws - row.theta)
    return Contest(row.systems, row.theta, draws, row.n_queries, row.unbounded, _differing(ranking, language))


def rating_influence(ranking: RankingReport, language: str) -> Influence:
    """Return ratings with each query's influence on them."""
    layout, row = ranking.by_query[language], ranking.languages[language]
    moves = _centre(layout.moves, layout.strata)
    queries, differing = tuple(ranking.battles[language].queries), _differing(ranking, language)
    return Influence(row.systems, row.theta, queries, moves, row.unbounded, differing)


def _differing(ranking: RankingReport, language: str) -> NDArray[np.int64] | None:
    """Return the number of queries on which every two systems of a row differ, in its order; None without battles."""
    if not ranking.battles:
        return None
    row = ranking.languages[language]
    total = np.zeros((len(row.systems),) * 2, dtype=np.int64)
    for code in ranking.battles if language == JOINT else (language,):
        tiers = ranking.tiers[code]
        place = [tiers.systems.index(system) for system in row.systems]
        total += tiers.differing[np.ix_(place, place)]
    return np.minimum(total, row.n_queries)


def measure_influence(values: Mapping[str, QueryValues], measure: QueryMeasure, language: str) -> Influence | None:
    """Return a per-query measure with each query's influence; None if a system has fewer than two values in some
    stratum.

    Args:
        values: the measure's values, by system.
        measure: the measure.
        language: code.
    """
    own = {
        system: {query: given for (code, query), given in of.items() if code == language}
        for system, of in values.items()
    }
    systems = tuple(sorted(system for system, of in own.items() if of))
    if not systems:
        return None
    queries = tuple(sorted({query for system in systems for query in own[system]}))
    strata_of = {query: given.stratum for system in systems for query, given in own[system].items()}
    names = np.array([strata_of[query] for query in queries])
    strata = tuple(np.flatnonzero(names == name) for name in np.unique(names))
    table = np.array([[own[s][q].value if q in own[s] else np.nan for s in systems] for q in queries])
    known = np.isfinite(table)
    if min(int(known[rows].sum(axis=0).min()) for rows in strata) < 2:
        return None
    means = np.stack([np.nanmean(table[rows], axis=0) for rows in strata])
    moves = np.zeros(table.shape)
    for rows, middle in zip(strata, means, strict=True):
        n = known[rows].sum(axis=0)
        part = np.where(known[rows], table[rows] - middle, 0.0) / (n * len(strata))
        moves[rows] = part * np.sqrt(n / (n - 1)) * measure.sign
    both = known[:, :, None] & known[:, None, :]
    differing = ((table[:, :, None] != table[:, None, :]) & both).sum(axis=0)
    return Influence(systems, measure.sign * means.mean(axis=0), queries, moves, differing=differing)


def queries_of(parts: Mapping[str, Influence]) -> list[str]:
    """Return the queries of the measures of one language, sorted."""
    return sorted({query for part in parts.values() for query in part.queries})


def draw_contests(
    parts: Mapping[str, Influence], *, n_draws: int, seed: int, shared: SharedWeights | None = None
) -> dict[str, Contest]:
    """Draw the measures of one language, with the same query weights for all of them.

    Args:
        parts: influences by measure.
        n_draws: number of draws.
        seed: seed of the draws.
        shared: weights of the queries that occur in several languages.
    """
    from scipy.special import chdtri

    numbers = {query: k for k, query in enumerate(queries_of(parts))}
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((n_draws, len(numbers)))
    # The variance is estimated too, so the draws of all measures follow Student's t.
    df = max(min(len(part.queries) for part in parts.values()) - 1, 1)
    estimated = rng.chisquare(df, n_draws)
    if shared is not None:
        estimated = chdtri(df, shared.chance)
        for query in numbers.keys() & shared.weights.keys():
            weights[:, numbers[query]] = shared.weights[query]
    weights *= np.sqrt(df / estimated)[:, None]
    contests = {}
    for name, part in parts.items():
        moves = weights[:, [numbers[query] for query in part.queries]] @ part.moves
        draws = part.values + moves
        n = len(part.queries)
        contests[name] = Contest(part.systems, part.values, draws, n, part.unbounded, part.differing)
    return contests


def weighted_contest(parts: Mapping[str, Contest], shares: Mapping[str, float]) -> Contest | None:
    """Return the weighted sum of the measures of one language, for systems that have all; None if there are none.

    Args:
        parts: contests by measure.
        shares: weight per unit of difference, by measure.
    """
    systems = tuple(sorted(set.intersection(*(set(part.systems) for part in parts.values()))))
    if not systems:
        return None
    kept = {name: part.of(systems) for name, part in parts.items()}
    worth = np.sum([shares[name] * part.worth for name, part in kept.items()], axis=0)
    draws = np.sum([shares[name] * part.draws for name, part in kept.items()], axis=0)
    sides = open_sides([part.unbounded for name, part in kept.items() if shares[name] > 0])
    # Queries differ in the sum if they do in one of the measures.
    differing = _together([part.differing for part in kept.values()], np.maximum)
    return Contest(systems, worth, draws, max(part.n_queries for part in parts.values()), sides, differing)


def mean_contest(contests: Sequence[Contest], n_queries: int) -> Contest | None:
    """Average over languages with equal weights, for systems that all have; None if there are none.

    Args:
        contests: contests of the languages.
        n_queries: number of their queries, shared ones counted once.
    """
    systems = tuple(sorted(set.intersection(*(set(contest.systems) for contest in contests))))
    if not systems:
        return None
    parts = [contest.of(systems) for contest in contests]
    worth, draws = mean_over_languages([part.worth for part in parts], [part.draws for part in parts])
    differing = _together([part.differing for part in parts], np.add)
    if differing is not None:
        differing = np.minimum(differing, n_queries)  # shared ones are counted once
    return Contest(systems, worth, draws, n_queries, open_sides([part.unbounded for part in parts]), differing)


def _together(parts: Sequence[NDArray[np.int64] | None], join: np.ufunc) -> NDArray[np.int64] | None:
    """Join the numbers of differing queries of several contests; None if one is unknown."""
    known = [part for part in parts if part is not None]
    return join.reduce(known) if len(known) == len(parts) else None


def _wider(n: int) -> float:
    """Return the factor that scales normal deviations of n queries to Student's t."""
    from scipy.special import ndtri, stdtrit

    upper = (1 + LEVEL) / 2
    return float(stdtrit(max(n - 1, 1), upper) / ndtri(upper))


def _centre(moves: Array, strata: Sequence[NDArray[np.intp]]) -> Array:
    """Centre the moves on their stratum's mean, corrected for degrees of freedom."""
    out = np.zeros(moves.shape)
    for rows in strata:
        n = len(rows)
        if n > 1:
            out[rows] = (moves[rows] - moves[rows].mean(axis=0)) * np.sqrt(n / (n - 1))
    return out
