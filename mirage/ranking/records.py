"""The ranking of one language: ratings, ranks and differences, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mirage.errors import UnknownName
from mirage.ranking.graph import Side, common_side, main_group
from mirage.stats.arrays import Array, Integers, Places
from mirage.stats.encoding import place_names
from mirage.stats.intervals import student_tails
from mirage.text.segmentation import count_text

ALPHA = 0.05
"""Significance level of every test: p of at most this is significant."""

LEVEL = 1 - ALPHA
"""Nominal coverage of every interval."""

JOINT = "all"
"""Language of the joint row."""

RARE = 20
"""Number of differing queries below which an interval allows for one unseen query: resampled queries cannot show what
happens on one query in 20. With 1 to 10% of 20 to 60 queries differing, intervals without it cover 82 to 89%.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between the ratings of two systems, with its interval."""

    first: str
    """The system to compare."""
    second: str
    """The reference system."""
    language: str
    """Code, or `all`."""
    value: float
    """Rating of the first minus that of the second, in logits: 1 / (1 + exp(-value)) is the expected share of points of
    the first in a battle with the second.
    """
    low: float | None
    """Lower end of the 95% interval; null if the data does not bound it."""
    high: float | None
    """Upper end."""
    n_queries: int
    """Number of queries."""
    n_draws: int
    """Number of draws behind the interval."""
    seed: int
    """Their seed."""


def best_three(systems: Sequence[str], ratings: Array) -> str:
    """Return the three best systems with their ratings, and the number of the others, in one line."""
    best = ", ".join(f"{systems[k]} {ratings[k]:+.2f}" for k in np.argsort(-ratings)[:3])
    return best + (f", {len(systems) - 3} more" if len(systems) > 3 else "")


@dataclass(frozen=True, eq=False)
class UnseenQuery:
    """Largest possible effect of one more query on the ratings of S systems."""

    worst: Array
    """S: change of a system's rating if it loses all of its battles on the query."""
    best: Array
    """S: the change if it wins all of them."""
    pairs: Array
    """S x S: change of the row system's rating minus the column system's, if the first loses and the second wins all
    of its battles on the query."""
    decided: Integers
    """S: number of queries on which the system has more or fewer points than its opponents."""
    differing: Integers
    """S x S: number of queries on which the points of the two differ."""

    def among(self, places: Places) -> UnseenQuery:
        """Return the effect on some of the systems, given their indices."""
        pairs = np.ix_(places, places)
        return UnseenQuery(
            self.worst[places], self.best[places], self.pairs[pairs], self.decided[places], self.differing[pairs]
        )


@dataclass(frozen=True, eq=False, repr=False)
class LanguageRanking:
    """The ranking of one language, or of all jointly."""

    language: str
    """Code, or `all`."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    theta: Array
    """S: ratings in logits, centred on 0."""
    draws: Array
    """B x S: the ratings of each bootstrap draw."""
    record: Integers
    """S x 3: wins, ties, losses."""
    groups: tuple[tuple[str, ...], ...]
    """Strongly connected groups of the comparison graph, from the largest down; with more than one, the data does not
    bound some ratings.
    """
    n_queries: int
    """Number of queries."""
    queries_by_system: Places
    """S: number of queries with battles of each system."""
    unparsed: int
    """Battles excluded because their verdict is unparsed."""
    unbounded: Mapping[str, Side] = field(default_factory=dict)
    """By system outside `bounded`: the side on which the data does not bound its rating. `above`: neither it nor any
    system that it lost to, directly or indirectly, ever lost to the others.
    """
    unseen: UnseenQuery | None = None
    """The unseen query of the intervals; None where battles are not counted by query."""
    voters: int | None = None
    """Number of people by whom votes are clustered, in addition to queries; None without such clusters."""

    def among(self, systems: Sequence[str]) -> LanguageRanking:
        """Return the values of some of the systems, without recentring them."""
        k = place_names(systems, self.systems)
        return replace(
            self,
            systems=tuple(systems),
            theta=self.theta[k],
            draws=self.draws[:, k],
            record=self.record[k],
            queries_by_system=self.queries_by_system[k],
            unbounded={system: side for system, side in self.unbounded.items() if system in systems},
            unseen=None if self.unseen is None else self.unseen.among(k),
        )

    @property
    def units(self) -> Places:
        """S: number of queries of each system, or of people if fewer: the units of the intervals."""
        return self.queries_by_system if self.voters is None else np.minimum(self.queries_by_system, self.voters)

    def __repr__(self) -> str:
        n = count_text(self.n_queries, "query")
        return f"LanguageRanking({self.language!r}: {best_three(self.systems, self.theta)}; {n})"

    @property
    def bounded(self) -> tuple[str, ...]:
        """Systems whose rating the data bounds on both sides: those of the single largest group, none if there is none
        (two systems that never lost to each other bound nothing).
        """
        return main_group(self.groups)

    def interval(self) -> Array:
        """Return the 95% interval of each rating, lower and upper ends (2 x S); infinite if unbounded.

        Percentiles over the draws, expanded from a normal to a t quantile for the number of queries of each system, as
        Hesterberg (2015, The American Statistician 69(4)) proposes. The expectation of the k-th of B draws is the
        k / (B + 1) quantile, hence `weibull`. With fewer than `RARE` decided queries the interval allows for one unseen
        query at its worst.
        """
        shifts = np.zeros((2, len(self.systems)))
        if self.unseen is not None:
            shifts = np.where(self.unseen.decided < RARE, np.stack([self.unseen.worst, self.unseen.best]), 0.0)
        ends = _ends(self.theta, self.draws, self.units, shifts)
        for k, side in zip(place_names(self.unbounded, self.systems), self.unbounded.values(), strict=True):
            if side != "above":
                ends[0, k] = -np.inf
            if side != "below":
                ends[1, k] = np.inf
        return ends

    def differences(self, reference: str, *, system: str | None = None) -> Array:
        """Return every system's rating minus that of a reference, and the ends of its interval (3 x S); infinite if
        unbounded. The precision of other systems' ratings does not affect it.

        Args:
            reference: the system that the others are compared with.
            system: the only system to compare (3 x 1); None for all.

        Raises:
            UnknownName: if a system is not ranked here.
        """
        for name in (reference, reference if system is None else system):
            if name not in self.systems:
                raise UnknownName("system", name, self.systems, where=f"the ranking of {self.language}")
        k = self.systems.index(reference)
        names = self.systems if system is None else (system,)
        chosen = [self.systems.index(name) for name in names]
        value = self.theta[chosen] - self.theta[k]
        units = np.minimum(self.units[chosen], self.units[k])
        shifts = np.zeros((2, len(chosen)))
        if self.unseen is not None:
            pairs = np.stack([self.unseen.pairs[chosen, k], -self.unseen.pairs[k, chosen]])
            shifts = np.where(self.unseen.differing[chosen, k] < RARE, pairs, 0.0)
        low, high = _ends(value, self.draws[:, chosen] - self.draws[:, k : k + 1], units, shifts)
        for position, name in enumerate(names):
            if name == reference:
                continue
            own, other = self.unbounded.get(name), self.unbounded.get(reference)
            if own in ("below", "both") or other in ("above", "both"):
                low[position] = -np.inf
            if own in ("above", "both") or other in ("below", "both"):
                high[position] = np.inf
        return np.stack([value, low, high])

    def ranks(self) -> Integers:
        """Return the ranks (S): 1 is best; equal ratings share the best rank."""
        return np.asarray(rank_draws(self.theta[None])[0])


def rank_draws(theta: Array) -> Integers:
    """Return B x S ranks of B x S ratings: 1 + the number of systems better by more than rounding error."""
    s = theta.shape[1]
    order = np.argsort(theta, axis=1)
    ascending = np.take_along_axis(theta, order, axis=1)
    # Number of systems that are not clearly better: those up to this one, and the next ones as long as they are level.
    last = np.tile(np.arange(1, s + 1), (len(theta), 1))
    for step in range(1, s):
        level = ascending[:, step:] <= ascending[:, :-step] + 1e-9
        if not level.any():
            break
        last[:, :-step] += level
    ranks = np.empty(theta.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, s - last + 1, axis=1)
    return ranks


def mean_over_languages(values: Sequence[Array], draws: Sequence[Array]) -> tuple[Array, Array]:
    """Return the mean over languages (S) and its draws (B x S); or those of single values with B draws each.

    Languages have equal weights. Weights by precision would estimate something else: a large lead is estimated less
    precisely than a small one, so it would count less. Each language's draws are shifted to have the language's value
    as their mean: their bias is small relative to their spread, but unlike the spread it does not shrink with the
    number of languages.

    Args:
        values: by language, S values.
        draws: by language, B x S draws; draw b of all languages is one joint draw.
    """
    total = np.zeros(draws[0].shape)
    for value, drawn in zip(values, draws, strict=True):
        total += drawn - drawn.mean(axis=0) + value
    return np.mean(values, axis=0), total / len(draws)


def open_sides(unbounded: Sequence[Mapping[str, Side]]) -> dict[str, Side]:
    """Return by system the side on which the mean over languages is unbounded. A system that never lost in one of 18
    languages has a mean without an upper bound.

    Args:
        unbounded: by language, the side on which its data does not bound a system's value.
    """
    systems = sorted({system for sides in unbounded for system in sides})
    return {system: common_side([sides[system] for sides in unbounded if system in sides]) for system in systems}


def widen_draws(theta: Array, draws: Array, queries_by_system: Places) -> Array:
    """Scale B x S draws to the variance of the ratings: exponential weights of n queries have (n - 1) / (n + 1) of it.

    Args:
        theta: S ratings.
        draws: B x S draws with exponential weights of the queries.
        queries_by_system: S: number of queries with battles of each system.
    """
    n = np.maximum(queries_by_system, 2)
    return np.asarray(theta + np.sqrt((n + 1) / (n - 1)) * (draws - theta))


def _ends(value: Array, draws: Array, units: Places, shifts: Array) -> Array:
    """Return percentiles of the draws, for the number of units of each system (2 x S).

    Args:
        value: S estimates.
        draws: B x S draws of them.
        units: S: numbers of units.
        shifts: 2 x S: largest change by an unseen query, below and above, with an exponential weight.
    """
    ends = np.empty((2, draws.shape[1]))
    weight = np.random.default_rng(0).exponential(size=(len(draws), 1))
    for n in np.unique(units).tolist():
        of_n = units == n
        for end, (tail, shift) in enumerate(zip(student_tails(LEVEL, n), shifts, strict=True)):
            drawn = draws[:, of_n] + weight * shift[of_n]
            ends[end, of_n] = np.quantile(drawn, tail, axis=0, method="weibull")
    return np.stack([np.minimum(ends[0], value), np.maximum(ends[1], value)])
