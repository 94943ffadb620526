"""Tiers of a ranking, from a paired test over queries for every two systems.

    tiers = separate(ranking)["all"]                     # or ranking.tiers["all"]
    tiers.tier["gpt-4o"], tiers.are_separated("gpt-4o", "mistral"), tiers.holm[i, j]

**The test** of "X and Y are equally strong" is the score test with the query as the cluster: the likelihood is
maximised with the two ratings constrained to be equal, each query's score for their difference is computed there and
projected off the other systems (the efficient score), and the sum of the scores is divided by its clustered standard
error: Student's t. Where all pairs meet on every query this is the paired t test of the points of the two on each
query. In the joint row the mean over languages of the difference is constrained to 0. Nothing is infinite where a
system never lost, unlike in a test of fitted differences. No p-value is below 2^(1 - m), with m the queries on which
the two differ: the minimum of an exact sign-flip test, so that a handful of queries cannot separate anything.

Simulations favoured it over the test of fitted differences (Wald), which separated equal systems in 36% of small,
unbalanced arenas, and over sign flipping, which errs as rarely but has less power with 20 queries or fewer: with equal
systems any two are separated in 0 to 6% of arenas of 2 to 19 systems and 5 to 100 queries, at a nominal 5%. Only with
more than 64 systems, where a constrained maximum for every pair would take minutes, are fitted differences tested.

**Holm's correction** over all pairs of the row bounds the probability that any two equal systems are separated by 5%.

**A tier** is a run of the ranking such that every system in it is separated from every system in every other tier: two
systems of different tiers differ, and the probability that any two equal systems are in different tiers is at most 5%.
Two systems of one tier may also differ, and some are separated; `alike` lists for each system those that it is not
separated from. A system with hardly any battles (`PLACED`) would merge all tiers, and so would one whose rating the
data does not bound in the middle of the others, as in the joint row when it never lost in one language: such a system
has no tier, and `span` gives the range of tiers it may belong to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.errors import UnknownName
from mirage.ranking.by_query import ByQuery
from mirage.ranking.fit import Array, davidson, logistic, maximise
from mirage.ranking.fitted import fitted_tests
from mirage.ranking.records import JOINT, LanguageRanking
from mirage.ranking.threads import one_thread
from mirage.stats.holm import holm
from mirage.stats.units import Units, joint_spread, moves_alike

ALPHA = 0.05
"""Probability that any two equal systems of a row are separated."""

PLACED = 0.25
"""Share of the median system's battles below which a system has no tier."""

_SAME = 1e-9
"""Scores on a query smaller than this, in points of a battle, are rounding errors."""

_CELLS = 1_000_000
"""Maximum tests x pairs in memory."""

_MANY = 64
"""Number of systems above which fitted differences are tested."""

_START = 3.0
"""Starting ratings for the constrained maximum are clipped to this, in logits: further out, Newton overshoots."""

_CLOSE = 1e-7
"""Tolerance of the constrained maximum, in logits."""


@dataclass(frozen=True, eq=False, repr=False)
class Tiers:
    """Groups of systems by rating: any two systems of different tiers are separated by a test (family-wise 5%)."""

    language: str
    """Code, or `all`."""
    systems: tuple[str, ...]
    """The S systems, the best first."""
    tiers: tuple[int | None, ...]
    """S: the tier of each, 1 is best; None for a system with hardly any battles, or with an unbounded rating that would
    merge tiers of others.
    """
    t: Array
    """S x S: statistic of each test, above 0 where the row system is ahead; 0 on the diagonal."""
    df: Array
    """S x S: degrees of freedom."""
    p: Array
    """S x S: two-sided p-values, symmetric, 1 on the diagonal."""
    holm: Array
    """S x S: the same after Holm's correction over the S (S - 1) / 2 pairs."""
    differing: NDArray[np.int64]
    """S x S: number of queries on which the two differ."""
    level: float
    """The family-wise level."""
    n_queries: int
    """Number of queries."""

    method = (
        "score test of each pair with the query as the cluster (Student's t, p not below 2^(1 - differing queries)), "
        "Holm's correction over all pairs; every two systems of different tiers are separated"
    )

    def __repr__(self) -> str:
        by_tier: dict[int | None, list[str]] = {}
        for system, tier in zip(self.systems, self.tiers, strict=True):
            by_tier.setdefault(tier, []).append(system)
        best = "; ".join(
            f"{tier}: {', '.join(by_tier[tier][:4])}{' ...' * (len(by_tier[tier]) > 4)}" for tier in [*by_tier][:4]
        )
        more = f"; {len(by_tier) - 4} more" if len(by_tier) > 4 else ""
        return f"Tiers({self.language!r}: {best}{more}; {self.n_queries:,} queries, level {self.level:g})"

    @property
    def tier(self) -> dict[str, int | None]:
        """The tier of each system."""
        return dict(zip(self.systems, self.tiers, strict=True))

    @property
    def tests(self) -> int:
        """Number of tested pairs."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @property
    def few(self) -> bool:
        """True if there are too few queries to separate any pair, however large the difference."""
        return self.tests * 2.0 ** (1 - self.n_queries) > self.level

    def index_of(self, first: str, second: str) -> tuple[int, int]:
        """Return the index of the test of two systems in the matrices.

        Raises:
            UnknownName: if one is not in this row.
        """
        for name in (first, second):
            if name not in self.systems:
                raise UnknownName("system", name, self.systems)
        return self.systems.index(first), self.systems.index(second)

    def are_separated(self, first: str, second: str) -> bool:
        """Return whether the test separates two systems at the family-wise level."""
        return bool(self.holm[self.index_of(first, second)] <= self.level)

    def alike(self, system: str) -> tuple[str, ...]:
        """Return the systems that a system is not separated from, the best first.

        Raises:
            UnknownName: if it is not in this row.
        """
        (k, _) = self.index_of(system, system)
        rest = zip(self.systems, self.holm[k], strict=True)
        return tuple(other for other, p in rest if other != system and p > self.level)

    def rank_range(self, system: str) -> tuple[int, int]:
        """Return the best and the worst rank that the tests leave open: behind every system that is separated and
        ahead, before every one that is separated and behind.

        The ranges of all systems hold together with a probability of at least one minus the level (Mogstad, Romano,
        Shaikh and Wilhelm, Review of Economic Studies 91, 2024).

        Raises:
            UnknownName: if it is not in this row.
        """
        (k, _) = self.index_of(system, system)
        separated = self.holm[k] <= self.level
        ahead, behind = (int((separated & side).sum()) for side in (self.t[k] < 0, self.t[k] > 0))
        return 1 + ahead, len(self.systems) - behind

    def span(self, system: str) -> tuple[int, int] | None:
        """Return the best and the worst tier among a system and the systems it is not separated from; None if none has
        a tier.

        Raises:
            UnknownName: if it is not in this row.
        """
        tiers = [tier for other in (system, *self.alike(system)) if (tier := self.tier[other]) is not None]
        return (min(tiers), max(tiers)) if tiers else None


class RatedBattles(Protocol):
    """The parts of a ranking that the tests use: its rows, and the battles behind them."""

    @property
    def languages(self) -> Mapping[str, LanguageRanking]:
        """Return the rows by language code, including `all`."""
        ...

    @property
    def battles(self) -> Mapping[str, Battles]:
        """Return the battles by language code."""
        ...

    @property
    def by_query(self) -> Mapping[str, ByQuery]:
        """Return the battles by query, by language code."""
        ...


def separate(ranking: RatedBattles, *, known: Mapping[str, Tiers] | None = None) -> dict[str, Tiers]:
    """Test every two systems of each language of a ranking, and of `all`, and group them into tiers.

    Args:
        ranking: the ranking.
        known: tiers already computed, by language.

    Raises:
        NotEnoughData: if the ranking does not hold its battles.
    """
    tiers_by_language = dict(known or {})
    if not ranking.languages.keys() - tiers_by_language.keys():
        return tiers_by_language
    with one_thread():
        parts = ranking.by_query
        for language, row in ranking.languages.items():
            if language in tiers_by_language:
                continue
            chosen = dict(parts) if language == JOINT else {language: parts[language]}
            units = Units({code: ranking.battles[code].queries for code in chosen})
            tiers_by_language[language] = _tiers(row, chosen, units)
    return tiers_by_language


def in_rank_order(row: LanguageRanking) -> NDArray[np.intp]:
    """Return the indices of a row's systems, best first, ties by name (S)."""
    rounded = [-round(rating, 9) for rating in row.theta.tolist()]
    return np.array(sorted(range(len(rounded)), key=lambda k: (rounded[k], row.systems[k])), dtype=np.intp)


def _tiers(row: LanguageRanking, parts: Mapping[str, ByQuery], units: Units) -> Tiers:
    order = in_rank_order(row)
    systems = tuple(row.systems[k] for k in order)
    i, j = np.triu_indices(len(systems), 1)
    if max(len(part.systems) for part in parts.values()) > _MANY:
        return tiers_of_tests(row, systems, *_test_fitted(row, parts, units, order), level=ALPHA)
    at_once = max(1, _CELLS // max(len(part.whole.i) for part in parts.values()))
    blocks = [
        _studentise(parts, units, [systems[a] for a in i[k : k + at_once]], [systems[b] for b in j[k : k + at_once]])
        for k in range(0, len(i), at_once)
    ]
    t, df, differing = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return tiers_of_tests(row, systems, t, df, differing, level=ALPHA)


def tiers_of_tests(
    row: LanguageRanking, systems: tuple[str, ...], t: Array, df: Array, differing: NDArray[np.int64], *, level: float
) -> Tiers:
    """Compute tiers from the tests of all pairs.

    Args:
        row: the tested row.
        systems: its S systems, the best first.
        t: P: statistic of each pair (i, j), i < j, in the order of `numpy.triu_indices`; above 0 where i is ahead.
        df: P: degrees of freedom.
        differing: P: number of queries on which the two differ.
        level: the family-wise level.
    """
    from scipy.special import stdtr

    s = len(systems)
    i, j = np.triu_indices(s, 1)
    p = np.clip(np.maximum(2 * stdtr(df, -np.abs(t)), 2.0 ** (1 - differing)), 0, 1)
    adjusted = np.array(holm(p))
    battles = row.record.sum(axis=1)[[row.systems.index(system) for system in systems]]
    enough = np.asarray(battles >= PLACED * np.median(battles))
    loose = np.array([system in row.unbounded for system in systems], dtype=bool)

    def square(values: NDArray[np.generic], diagonal: float, below: int = 1) -> Array:
        whole = np.full((s, s), diagonal)
        whole[i, j], whole[j, i] = values, below * values.astype(float)
        return whole

    whole = square(adjusted, 1.0)
    return Tiers(
        row.language,
        systems,
        _placed_runs(whole <= level, enough, loose),
        square(t, 0.0, -1),
        square(df, np.nan),
        square(p, 1.0),
        whole,
        square(differing, 0).astype(np.int64),
        level,
        row.n_queries,
    )


def _placed_runs(
    separated: NDArray[np.bool_], enough: NDArray[np.bool_], loose: NDArray[np.bool_]
) -> tuple[int | None, ...]:
    """Return the tier of each system in the order of the ranking.

    Args:
        separated: S x S.
        enough: S: whether a system has enough battles for a tier.
        loose: S: whether the data does not bound its rating; such a system gets a tier if that merges no others.
    """
    placed = enough & ~loose
    tiers = tier_runs(separated, placed)
    for k in np.flatnonzero(enough & loose):
        more = placed.copy()
        more[k] = True
        with_it = tier_runs(separated, more)
        if max(filter(None, with_it), default=0) >= max(filter(None, tiers), default=0):
            placed, tiers = more, with_it
    return tiers


def tier_runs(separated: NDArray[np.bool_], placed: NDArray[np.bool_]) -> tuple[int | None, ...]:
    """Return the tier of each system in the order of the ranking; a tier ends where all above are separated from all
    below.
    """
    chosen = np.flatnonzero(placed)
    together = ~separated[np.ix_(chosen, chosen)]
    # Lowest system that this system, or one above it, is not separated from.
    last = len(chosen) - 1 - together[:, ::-1].argmax(axis=1) if len(chosen) else chosen
    reach = np.maximum.accumulate(np.maximum(last, np.arange(len(chosen))))
    tiers: list[int | None] = [None] * len(placed)
    for k, place in enumerate(chosen.tolist()):
        above = tiers[chosen[k - 1]] if k else 1
        tiers[place] = (above or 0) + int(k > 0 and reach[k - 1] < k)
    return tuple(tiers)


def _studentise(
    parts: Mapping[str, ByQuery], units: Units, first: Sequence[str], second: Sequence[str]
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return statistic, degrees of freedom and number of differing units of some of the tests."""
    pulls, freed = _pulls([*parts.values()], first, second)
    # A point of a battle between the two changes the score by `freed`.
    largest = np.max([np.abs(pull).max(axis=0) for pull in pulls], axis=0)
    noise = np.maximum(1e-6 * largest, _SAME * freed)
    by_code = {code: np.where(np.abs(pull) > noise, pull, 0.0) for code, pull in zip(parts, pulls, strict=True)}
    total = np.sum([pull.sum(axis=0) for pull in by_code.values()], axis=0)
    variance, below = joint_spread(by_code, {code: part.strata for code, part in parts.items()}, units)
    differs = {code: pull != 0 for code, pull in by_code.items()}
    if units.shared:
        of_units = np.zeros((units.n, len(first)), dtype=bool)
        for code, own in differs.items():
            of_units[units.numbers[code]] |= own
        differing = of_units.sum(axis=0)
    else:
        differing = np.sum([own.sum(axis=0) for own in differs.values()], axis=0)
    # With equal pulls on all queries the variance is rounding error; the bound on p then decides.
    scale = largest * np.maximum(differing, 1)
    deviation = np.maximum(np.sqrt(variance), 1e-12 * scale + 1e-300)
    t = np.where((np.abs(total) <= 1e-9 * scale) | (differing == 0), 0.0, total / deviation)
    df = np.divide(variance**2, below, out=np.ones_like(variance), where=below > 0)
    return t, df, differing


def _pulls(parts: Sequence[ByQuery], first: Sequence[str], second: Sequence[str]) -> tuple[list[Array], Array]:
    """Return each query's efficient score for the difference of two systems at the constrained maximum, by language (Q
    x T), and the effect of a point on it (T).
    """
    points, directions, freed = _constrain_equal(parts, first, second)
    pulls = []
    for part, x, v in zip(parts, points, directions, strict=True):
        s, per_query = len(part.systems), part.each
        d, ahead = x[:, :s] @ part.likelihood.D.T, v[:, :s] @ part.likelihood.D.T
        if per_query.ties is None:
            win, lose = logistic(d)
            pull = per_query.first @ (lose * ahead).T - per_query.second @ (win * ahead).T
        else:
            win, lose, tie = davidson(d, x[:, -1:])
            nu = v[:, -1:]
            pull = (
                per_query.first @ ((lose + tie / 2) * ahead - tie * nu).T
                - per_query.second @ ((win + tie / 2) * ahead + tie * nu).T
                + per_query.ties @ ((lose - win) / 2 * ahead + (1 - tie) * nu).T
            )
        pulls.append(pull * part.weights[:, None])
    return pulls, freed


def _test_fitted(
    row: LanguageRanking, parts: Mapping[str, ByQuery], units: Units, order: NDArray[np.intp]
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return statistic, degrees of freedom and number of units that may differ of all tests, by fitted differences."""
    moves, difference = {}, np.zeros(len(row.systems))
    for code, part in parts.items():
        place_of = {name: k for k, name in enumerate(part.systems)}
        place = [place_of[name] for name in row.systems]
        moves[code] = part.moves[:, place] / len(parts)
        difference += part.point[0, place] / len(parts) + moves[code].sum(axis=0)
    strata = {code: part.strata for code, part in parts.items()}
    alike = moves_alike(moves, strata, units)
    t, df = fitted_tests(difference, ((part.T @ part, len(part)) for part in alike), order)
    i, j = np.triu_indices(len(order), 1)
    return t, df, np.minimum(row.queries_by_system[order[i]], row.queries_by_system[order[j]])


def _constrain_equal(
    parts: Sequence[ByQuery], first: Sequence[str], second: Sequence[str]
) -> tuple[list[Array], list[Array], Array]:
    """Maximise the likelihood under one linear constraint per test: the two systems' differences sum to 0 over
    languages.

    Returns:
        By language: T x size, the maxima; and T x size, the direction H^-1 c at each, c the constraint. A score along
        it is, to first order, independent of the other systems' ratings. And T: c' H^-1 c, over all languages.
    """
    tests = np.arange(len(first))
    constraints, points = [], []
    for part in parts:
        place = {name: k for k, name in enumerate(part.systems)}
        a, b = np.array([place[name] for name in first]), np.array([place[name] for name in second])
        c = np.zeros((len(first), part.likelihood.size))
        c[tests, a], c[tests, b] = 1, -1
        x = np.repeat(np.clip(part.point, -_START, _START), len(first), axis=0)
        x[tests, a] = x[tests, b] = (x[tests, a] + x[tests, b]) / 2
        constraints.append(c)
        points.append(x)
    models, c = [part.likelihood for part in parts], np.hstack(constraints)
    fitted = maximise(models, np.hstack(points), constraint=c[:, None], tolerance=_CLOSE, rounding=0.0, wait=True)
    directions, ends = fitted.directions[:, :, 0], np.cumsum([model.size for model in models])[:-1]
    return (
        np.split(fitted.point, ends, axis=1),
        np.split(directions, ends, axis=1),
        np.asarray((c * directions).sum(axis=1)),
    )
