"""What systems are worth in a language by several measures at once, with draws that keep the queries together.

A draw gives every query a weight of Student's t (the multiplier bootstrap), the same for all measures, so that measures
that go together on the queries do so in the draws. Ratings alone have the draws of their ranking.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.comparison.measures import QueryMeasure, QueryValues
from mirage.deciding.contest import Contest
from mirage.rank.fit import Array
from mirage.rank.graph import Side
from mirage.rank.joint import mean_over_languages, open_sides
from mirage.rank.records import LEVEL

if TYPE_CHECKING:
    from mirage.rank import Ranking


@dataclass(frozen=True, eq=False, slots=True)
class Influence:
    """One measure in one language: S values, and by how much each of Q queries moves them."""

    systems: tuple[str, ...]
    """The systems, sorted by name."""
    values: Array
    """S: higher is better."""
    queries: tuple[str, ...]
    """The queries."""
    moves: Array
    """Q x S: a query's part of the deviation; the sum of its squares is the variance."""
    unbounded: Mapping[str, Side] = field(default_factory=dict)
    """By system: on which side the data puts no bound on its value."""


@dataclass(frozen=True, eq=False, slots=True)
class SharedWeights:
    """What queries of several languages weigh in draws: the same in each of them."""

    weights: Mapping[str, Array]
    """By query id: B normal weights."""
    chance: Array
    """B: where in its distribution the estimate of the variance lies."""

    @classmethod
    def of(cls, shared: Collection[str], *, n_draws: int, seed: int) -> SharedWeights | None:
        """The weights of the queries that several languages share; None where there are none."""
        rng = np.random.default_rng([seed, len(shared)])
        weights = {query: rng.standard_normal(n_draws) for query in sorted(shared)}
        return cls(weights, rng.random(n_draws)) if shared else None


def rated(ranking: Ranking, language: str) -> Contest:
    """Ratings with the draws of their ranking, as wide as Student's t asks for."""
    row = ranking.languages[language]
    n = int(row.queries_by_system.min())
    draws = row.theta + _wider(n) * (row.draws - row.theta)
    return Contest(row.systems, row.theta, draws, row.n_queries, row.unbounded)


def rated_by_query(ranking: Ranking, language: str) -> Influence:
    """Ratings with what each query moves them by."""
    layout, row = ranking.by_query[language], ranking.languages[language]
    moves = _centred(layout.moves, layout.strata)
    return Influence(row.systems, row.theta, tuple(ranking.battles[language].queries), moves, row.unbounded)


def valued(values: Mapping[str, QueryValues], measure: QueryMeasure, language: str) -> Influence | None:
    """A measure with a value a query; None where no two queries of a stratum have one of every system that has any.

    Args:
        values: what the measure gives, by system.
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
    return Influence(systems, measure.sign * means.mean(axis=0), queries, moves)


def queries_of(parts: Mapping[str, Influence]) -> list[str]:
    """The queries of the measures of one language, sorted."""
    return sorted({query for part in parts.values() for query in part.queries})


def drawn(
    parts: Mapping[str, Influence], *, n_draws: int, seed: int, shared: SharedWeights | None = None
) -> dict[str, Contest]:
    """The measures of one language with draws in which a query weighs the same for all of them.

    Args:
        parts: by measure.
        n_draws: draws.
        seed: their seed.
        shared: what the queries weigh that other languages have too.
    """
    from scipy.special import chdtri

    numbers = {query: k for k, query in enumerate(queries_of(parts))}
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((n_draws, len(numbers)))
    # The variance is estimated too: so the draws of all measures are those of Student's t.
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
        contests[name] = Contest(part.systems, part.values, draws, len(part.queries), part.unbounded)
    return contests


def combined(parts: Mapping[str, Contest], shares: Mapping[str, float]) -> Contest | None:
    """The weighted sum of the measures of one language, of the systems that have all; None where none has.

    Args:
        parts: by measure.
        shares: by measure: what a difference of 1 counts.
    """
    systems = tuple(sorted(set.intersection(*(set(part.systems) for part in parts.values()))))
    if not systems:
        return None
    kept = {name: part.of(systems) for name, part in parts.items()}
    worth = np.sum([shares[name] * part.worth for name, part in kept.items()], axis=0)
    draws = np.sum([shares[name] * part.draws for name, part in kept.items()], axis=0)
    sides = open_sides([part.unbounded for name, part in kept.items() if shares[name] > 0])
    return Contest(systems, worth, draws, max(part.n_queries for part in parts.values()), sides)


def mean_contest(contests: Sequence[Contest], n_queries: int) -> Contest | None:
    """The mean over languages, each weighing the same, of the systems that all have; None where none has.

    Args:
        contests: of the languages.
        n_queries: their queries, those that they share counted once.
    """
    systems = tuple(sorted(set.intersection(*(set(contest.systems) for contest in contests))))
    if not systems:
        return None
    parts = [contest.of(systems) for contest in contests]
    worth, draws = mean_over_languages([part.worth for part in parts], [part.draws for part in parts])
    return Contest(systems, worth, draws, n_queries, open_sides([part.unbounded for part in parts]))


def _wider(n: int) -> float:
    """By what normal deviations are multiplied so that those of n queries reach as far as Student's t."""
    from scipy.special import ndtri, stdtrit

    upper = (1 + LEVEL) / 2
    return float(stdtrit(max(n - 1, 1), upper) / ndtri(upper))


def _centred(moves: Array, strata: Sequence[NDArray[np.intp]]) -> Array:
    """The moves about their stratum's mean, for as many degrees of freedom."""
    out = np.zeros(moves.shape)
    for rows in strata:
        n = len(rows)
        if n > 1:
            out[rows] = (moves[rows] - moves[rows].mean(axis=0)) * np.sqrt(n / (n - 1))
    return out
