"""The test of every two systems of a ranking, and the ranks that the tests leave open.

    tests = ranking.tests["all"]
    tests.are_separated("gpt-4o", "mistral"), tests.rank_range("mistral"), tests.adjusted[i, j]

**The test** of "X and Y are equally strong" flips the signs of the queries' scores (Hemerik, Goeman and Finos, Journal
of the Royal Statistical Society B 82, 2020): the likelihood is maximised with the two ratings constrained to be equal,
and each query's score for their difference is computed there and projected off the other systems (the efficient
score). Where all pairs meet on every query the scores are the points of X minus those of Y. If the two are equal, a
score is as likely to favour X as Y: with up to `EXACT` queries on which they differ, the p-value is the share of all
sign patterns with a sum at least as far from 0. With more queries the normal approximation gives it: the score test
with the variance under the hypothesis, the query as the cluster, and half a step of the sum as continuity correction.
That variance is the smaller of two estimates: the sum of squares, which the sign patterns have, and the variance within
strata, which is smaller where strata favour different systems. The degrees of freedom of the latter say little where
most strata have hardly any variance: a system that lost every decided query in 18 languages had a p-value of 0.008.
A variance around the observed mean is too small where few queries differ: it separates equal
systems in 12% of arenas of seven battles. In the joint row the mean over languages of the difference is constrained to
0. Nothing is infinite where a system never lost, unlike in a test of fitted differences.

A row of two systems has the test of a comparison (`mirage.ranking.compare.paired`): the pair is the same.

With more than 64 systems, where people gave several votes each, where a constrained maximum for every pair would take
minutes, and where battles alone do not determine the ratings, fitted differences are tested by their covariance; no
p-value is then below 2^(1 - m), with m the queries on which the two differ.

**Over all pairs** of the row the probability that any two equal systems are separated is bounded by 5%. Where all
pairs meet on the same queries, that is by the step-down maximum (Romano and Wolf, Econometrica 73, 2005) of |sum of
differences of points| / sqrt(differing queries), with whole queries flipped: all patterns of signs up to `EVERY`
queries, else `FLIPS` random ones and the data's own. A flip of whole queries keeps how the pairs go together, so that
few queries separate more than pair by pair; it assumes that a query's points are as likely as their mirror image,
also where only some systems are equal. The adjusted p-values are multiplied by `SAFETY`: three systems of which one
wins then have an exact worst case of 3.95%, without it 5.4%. docs/methods.md has what was simulated. Other rows, and
those of fitted differences, take Holm's correction.

The ranks that the tests leave open (`rank_range`) hold for all systems together with the same probability; a system is
tied with the best if they begin at 1.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.errors import UnknownName
from mirage.ranking.by_query import ByQuery
from mirage.ranking.fit import davidson, logistic, maximise
from mirage.ranking.records import ALPHA, LanguageRanking
from mirage.stats.arrays import Array, Flags, Integers, Places
from mirage.stats.encoding import place_names
from mirage.stats.holm import holm
from mirage.stats.units import Units, joint_spread, moves_alike
from mirage.text.segmentation import join_first

EXACT = 20
"""Number of differing queries up to which every pattern of signs is counted."""

MOST = 250
"""Number of queries up to which pairs are adjusted by flips of whole queries. With more, Holm's correction separates as
many, its variance is that within strata, and it needs no flips.
"""

EVERY, FLIPS, SAFETY = 12, 9_999, 1.25
"""Number of queries up to which every pattern of signs is counted, number of random patterns with more, and factor of
the adjusted p-values.
"""

_SAME = 1e-9
"""Scores on a query smaller than this, in points of a battle, are rounding errors; so are fitted differences smaller
than this share of the compared magnitudes.
"""

_CELLS = 1_000_000
"""Maximum tests x pairs, and tests x queries of a language, in memory."""

_MANY = 64
"""Number of systems above which fitted differences are tested."""

_START = 3.0
"""Starting ratings for the constrained maximum are clipped to this, in logits: further out, Newton overshoots."""

_CLOSE = 1e-7
"""Tolerance of the constrained maximum, in logits."""


@dataclass(frozen=True, eq=False, repr=False)
class BoardTests:
    """Tests of every two systems of a row, and the ranks that they leave open."""

    language: str
    """Code, or `all`."""
    systems: tuple[str, ...]
    """The S systems, the best first."""
    z: Array
    """S x S: normal score of each test, above 0 where the row system is ahead; 0 on the diagonal."""
    p: Array
    """S x S: two-sided p-values, symmetric, 1 on the diagonal."""
    adjusted: Array
    """S x S: the same, adjusted for the S (S - 1) / 2 pairs."""
    differing: Integers
    """S x S: number of queries on which the two differ."""
    n_queries: int
    """Number of queries."""
    stepped: bool = False
    """Whether they are adjusted by the step-down maximum; else by Holm's correction."""
    level: float = ALPHA
    """Probability that any two equal systems are separated."""

    def __repr__(self) -> str:
        tied = [system for system in self.systems if self.rank_range(system)[0] == 1]
        return f"BoardTests({self.language!r}: tied with the best: {join_first(tied)}; {self.n_queries:,} queries)"

    @property
    def n_pairs(self) -> int:
        """Number of tested pairs."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @property
    def few(self) -> bool:
        """True if there are too few queries to separate any pair, however large the difference."""
        return (SAFETY if self.stepped else self.n_pairs) * 2.0 ** (1 - self.n_queries) > self.level

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
        return bool(self.adjusted[self.index_of(first, second)] <= self.level)

    def tied_with(self, system: str) -> tuple[str, ...]:
        """Return the systems that a system is not separated from, the best first.

        Raises:
            UnknownName: if it is not in this row.
        """
        (k, _) = self.index_of(system, system)
        rest = zip(self.systems, self.adjusted[k], strict=True)
        return tuple(other for other, p in rest if other != system and p > self.level)

    def rank_range(self, system: str) -> tuple[int, int]:
        """Return the best and the worst rank that the tests leave open: behind every system that is separated and
        ahead, before every one that is separated and behind.

        The ranges of all systems hold together with a probability of at least one minus the level (Mogstad, Romano,
        Shaikh and Wilhelm, Review of Economic Studies 91, 2024).

        Raises:
            UnknownName: if it is not in this row.
        """
        low, high = self.rank_ranges[:, self.index_of(system, system)[0]].tolist()
        return low, high

    @property
    def better(self) -> Flags:
        """S x S: whether the row system is significantly better than the column system."""
        return (self.adjusted <= self.level) & (self.z > 0)

    @cached_property
    def rank_ranges(self) -> Integers:
        """The best and the worst rank of every system that the tests leave open (2 x S)."""
        return rank_ranges(self.better)


def rank_ranges(better: Flags) -> Integers:
    """Return the ranks that tests leave open: from 1 + the number of systems significantly better to the number of
    systems minus those significantly worse (2 x S).

    Args:
        better: S x S: whether the row system is significantly better than the column system.
    """
    return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)])


def in_rank_order(row: LanguageRanking) -> Places:
    """Return the indices of a row's systems, best first, ties by name (S)."""
    rounded = [-round(rating, 9) for rating in row.theta.tolist()]
    return np.array(sorted(range(len(rounded)), key=lambda k: (rounded[k], row.systems[k])), dtype=np.intp)


def separate_fitted(
    row: LanguageRanking,
    difference: Array,
    covariances: Iterable[tuple[Array, int]],
    queries_by_system: NDArray[np.integer],
) -> BoardTests:
    """Test every two systems of a row by their fitted difference and its covariance.

    Args:
        row: the row of S systems.
        difference: S: the quantity that the tests compare: each rating plus the sum of the queries' influences on it.
        covariances: independent parts of its covariance (S x S), each with its number of units.
        queries_by_system: S: number of units of each system.
    """
    from scipy.special import ndtri

    order = in_rank_order(row)
    i, j = np.triu_indices(len(order), 1)
    # The variance is that around 0, with Satterthwaite's degrees of freedom.
    whole = np.zeros((len(order), len(order)))
    below, units = np.zeros_like(whole), 0
    for covariance, n in covariances:
        spread = np.diag(covariance)
        own = np.maximum(spread[:, None] + spread - 2 * covariance, 0)
        whole += own
        below += own**2 / max(n - 1, 1)
        units += max(n - 1, 1)
    a, b = order[i], order[j]
    variance, total = whole[a, b], difference[a] - difference[b]
    size = np.abs(difference[a]) + np.abs(difference[b]) + np.sqrt(whole.max(initial=0))
    df = np.divide(variance**2, below[a, b], out=np.full_like(variance, max(units, 1)), where=below[a, b] > 0)
    z = np.zeros_like(total)
    np.divide(total, np.sqrt(variance + total**2 / df), out=z, where=np.abs(total) > _SAME * size)
    differing = np.minimum(queries_by_system[a], queries_by_system[b])
    bound = ndtri(np.minimum(2.0**-differing, 0.5))
    return _make_tests(row, np.clip(z, bound, -bound), differing)


def separate_draws(row: LanguageRanking) -> BoardTests:
    """Test every two systems of a row by their fitted difference and its covariance over the draws."""
    covariance = np.atleast_2d(np.cov(row.draws, rowvar=False))
    units = row.n_queries if row.voters is None else min(row.n_queries, row.voters)
    return separate_fitted(row, row.theta, [(covariance, units)], row.units)


def separate_two(row: LanguageRanking, difference: float, p: float, differing: int) -> BoardTests:
    """Return the test of the only two systems of a row by their comparison; ratings that count battles, and favour the
    other of the two, separate nothing.

    Args:
        row: the row.
        difference: points of the first system less those of the second.
        p: its p-value.
        differing: number of queries on which the two differ.
    """
    from scipy.special import ndtri

    agree = difference * (row.theta[0] - row.theta[1]) > 0
    p = p if agree else 1.0
    z = np.array([-ndtri(max(p, np.finfo(float).tiny) / 2)])
    exact = np.array([[1.0, p], [p, 1.0]])
    return replace(_make_tests(row, z, np.array([differing])), p=exact, adjusted=exact)


def separate_row(row: LanguageRanking, parts: Mapping[str, ByQuery], units: Units) -> BoardTests:
    """Test every two systems of a row, given the battles of its languages by query, and their units."""
    if max(len(part.systems) for part in parts.values()) > _MANY:
        return _test_influences(row, parts, units)
    systems = [row.systems[k] for k in in_rank_order(row)]
    i, j = np.triu_indices(len(systems), 1)
    at_once = max(1, _CELLS // max(max(len(part.whole.i), len(part.weights)) for part in parts.values()))
    blocks = [
        _flip_signs(parts, units, [systems[a] for a in i[k : k + at_once]], [systems[b] for b in j[k : k + at_once]])
        for k in range(0, len(i), at_once)
    ]
    z, differing = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return _make_tests(row, z, differing, _common_points(systems, parts, units))


def _make_tests(
    row: LanguageRanking, z: Array, differing: NDArray[np.integer], points: Array | None = None
) -> BoardTests:
    """Return the tests of a row.

    Args:
        row: the row of S systems.
        z: the tests of its pairs (i, j), i < j, of the systems, best first, in the order of `numpy.triu_indices`.
        differing: by pair, the number of queries on which the two differ.
        points: the systems' points on every unit (U x S), where all pairs meet on the same queries.
    """
    from scipy.special import ndtr

    order = in_rank_order(row)
    i, j = np.triu_indices(len(order), 1)
    p = np.minimum(2 * ndtr(-np.abs(z)), 1)
    adjusted = holm(p) if points is None else np.maximum(p, np.minimum(SAFETY * step_down(points), 1))

    def square(values: NDArray[Any], diagonal: float, below: int = 1) -> Array:
        whole = np.full((len(order), len(order)), diagonal)
        whole[i, j], whole[j, i] = values, below * values.astype(float)
        return whole

    return BoardTests(
        row.language,
        tuple(row.systems[k] for k in order),
        square(z, 0.0, -1),
        square(p, 1.0),
        square(adjusted, 1.0),
        square(differing, 0).astype(np.int64),
        row.n_queries,
        points is not None,
    )


def _common_points(systems: Sequence[str], parts: Mapping[str, ByQuery], units: Units) -> Array | None:
    """Return the points of every system on every unit, less those of its opponents (U x S), with equal weights of
    languages and strata; None for too many units, or if not all pairs of the systems meet on the same queries.
    """
    if units.n > MOST:
        return None
    points = np.zeros((units.n, len(systems)))
    for code, part in parts.items():
        i, j = part.each.ends
        inside = np.isin(part.systems, systems)
        pairs = np.flatnonzero(inside[i] & inside[j])
        first, second = part.each.first[:, pairs], part.each.second[:, pairs]
        met = first + second + (0 if part.each.ties is None else part.each.ties[:, pairs])
        if (np.abs(met - met[:, :1]) > _SAME).any():
            return None
        net = (first - second) @ part.likelihood.D[pairs]
        share = part.weights / max(float(part.weights @ met[:, 0]), 1.0)
        points[units.numbers[code]] += net[:, place_names(systems, part.systems)] * share[:, None]
    return points


def step_down(points: Array) -> Array:
    """Return the adjusted p-values of all pairs (i, j), i < j, of S systems, by the step-down maximum over flips of
    whole queries.

    Args:
        points: U x S: the points of every system on every unit.
    """
    i, j = np.triu_indices(points.shape[1], 1)
    points = points / max(float(np.abs(points).max(initial=0)), 1e-300)
    points = points[np.ptp(points, axis=1) > _SAME]
    differing = np.array([(np.abs(points[:, a] - points[:, b]) > _SAME).sum() for a, b in zip(i, j, strict=True)])
    scale = np.sqrt(np.maximum(differing, 1))
    total = points.sum(axis=0)
    statistic = np.abs(total[i] - total[j]) / scale
    order = np.argsort(-statistic, kind="stable")
    i, j, scale = i[order], j[order], scale[order]
    bound = statistic[order] * (1 - 1e-9) - _SAME
    reached, patterns = np.zeros(len(order)), 0
    for sums in _flip_sums(points):
        flipped = np.abs(sums[:, i] - sums[:, j]) / scale
        largest = np.maximum.accumulate(flipped[:, ::-1], axis=1)[:, ::-1]
        reached += (largest >= bound).sum(axis=0)
        patterns += len(sums)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(reached / patterns)
    return adjusted


def _flip_sums(points: Array) -> Iterator[Array]:
    """Yield the sums of points (R x S) under patterns of signs of the units: all up to a common sign, or random ones
    with the data's own.
    """
    units = len(points)
    if units <= EVERY:
        bits = np.arange(2 ** max(units - 1, 0))[:, None] >> np.arange(units) & 1
        yield (1.0 - 2.0 * bits) @ points
        return
    yield points.sum(axis=0)[None]
    rng = np.random.default_rng(0)
    at_once = max(1, _CELLS // len(points[0]) ** 2)
    for start in range(0, FLIPS, at_once):
        rows = min(at_once, FLIPS - start)
        yield (1.0 - 2.0 * rng.integers(0, 2, (rows, units))) @ points


def _flip_signs(
    parts: Mapping[str, ByQuery], units: Units, first: Sequence[str], second: Sequence[str]
) -> tuple[Array, Integers]:
    """Return the normal score and the number of differing units of some of the tests."""
    from scipy.special import ndtri

    pulls, freed = _pair_scores([*parts.values()], first, second)
    # A point of a battle between the two changes the score by `freed`.
    largest = np.max([np.abs(pull).max(axis=0) for pull in pulls], axis=0)
    noise = np.maximum(1e-6 * largest, _SAME * freed)
    by_code = {code: np.where(np.abs(pull) > noise, pull, 0.0) for code, pull in zip(parts, pulls, strict=True)}
    if units.shared:
        scores = np.zeros((units.n, len(first)))
        for code, own in by_code.items():
            scores[units.numbers[code]] += own
        # Scores of languages that cancel out leave a rounding error, which depends on the processor.
        scores[np.abs(scores) <= noise] = 0.0
    else:
        scores = np.concatenate([*by_code.values()])
    differs = scores != 0
    differing = differs.sum(axis=0)
    total = scores.sum(axis=0)
    variance, below = joint_spread(by_code, {code: part.strata for code, part in parts.items()}, units)
    # Where all scores of a stratum are equal, both are rounding errors.
    spread = variance > 1e-12 * largest**2
    df = np.divide(variance**2, below, out=np.maximum(differing - 1.0, 1.0), where=spread & (below > 0))
    # The variance around the mean that the hypothesis gives, which is 0: of the scores of every stratum around their
    # own mean, or of all scores around 0, which bounds it where strata are too small or too equal for the first.
    around = (scores**2).sum(axis=0) * differing / np.maximum(differing - 1, 1)
    deviation = np.sqrt(np.minimum(variance + total**2 / df, around))
    step = np.where(differs, np.abs(scores), np.inf).min(axis=0, initial=np.inf)
    level = np.abs(total) <= 1e-9 * largest * np.maximum(differing, 1)
    z = np.zeros(len(first))
    np.divide(np.sign(total) * np.maximum(np.abs(total) - step, 0), deviation, out=z, where=~level)
    for k in np.flatnonzero((differing <= EXACT) & ~level).tolist():
        z[k] = -np.sign(total[k]) * ndtri(sign_flip_p(scores[differs[:, k], k]) / 2)
    return z, differing


def sign_flip_p(scores: Array) -> float:
    """Return the two-sided p-value of scores that are symmetric around 0: the share of all patterns of signs whose sum
    is at least as far from 0.

    Args:
        scores: N, at most `EXACT`: the sums of each half of them are combined.
    """
    halves = []
    for half in (scores[::2], scores[1::2]):
        sums = np.zeros(1)
        for score in half:
            sums = np.concatenate([sums + score, sums - score])
        halves.append(sums)
    first, second = halves[0], np.sort(halves[1])
    # Sums that are equal but for rounding count as equal.
    bound = abs(scores.sum()) - 1e-6 * np.abs(scores).sum()
    within = np.searchsorted(second, bound - first).sum()
    return float(min(1.0, 2 * (1 - within / 2.0 ** len(scores))))


def _pair_scores(parts: Sequence[ByQuery], first: Sequence[str], second: Sequence[str]) -> tuple[list[Array], Array]:
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


def _test_influences(row: LanguageRanking, parts: Mapping[str, ByQuery], units: Units) -> BoardTests:
    """Test the fitted differences of a row by the queries' influences on them."""
    moves, difference = {}, np.zeros(len(row.systems))
    for code, part in parts.items():
        place = place_names(row.systems, part.systems)
        moves[code] = part.moves[:, place] / len(parts)
        difference += part.point[0, place] / len(parts) + moves[code].sum(axis=0)
    strata = {code: part.strata for code, part in parts.items()}
    covariances = ((part.T @ part, len(part)) for part in moves_alike(moves, strata, units))
    return separate_fitted(row, difference, covariances, row.queries_by_system)


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
        a, b = (place_names(names, part.systems) for names in (first, second))
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
