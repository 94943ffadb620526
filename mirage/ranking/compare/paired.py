"""Paired difference of two systems over the queries that both have: one test, and what follows from it.

The query is the unit: it gives one difference, and queries are sampled independently. Verdict, interval, p-value,
detectable difference and number of queries belong to one test:

- Bounded differences have Gaffke's test (`mirage.stats.gaffke`), with one unseen query at the worst value: with rare
  differences to one side, Student's t gives `equivalent` or `better` far too often. Where every query counts the same
  and one system is right or wrong, it is the exact sign test. Kinds of queries, and languages, that weigh equally are
  weights of the queries; a query that languages share is one unit.
- Unbounded differences (a reranker's score) have Student's t, and no p-value below 2^(1 - m), with m the queries on
  which the two differ: the minimum of an exact sign-flip test.

Of several languages asked about, each has its test at 5% divided by their number.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mirage.battles.counts import Battles, PeoplesVotes
from mirage.ranking.people import add_people
from mirage.ranking.records import ALPHA
from mirage.stats.arrays import Array, Places
from mirage.stats.gaffke import SAME, BoundedMean
from mirage.stats.intervals import agree_with_test
from mirage.stats.units import Units, joint_spread
from mirage.text.languages import scope_name
from mirage.text.segmentation import count_text, join_first

POWER = 0.8
"""Probability with which a test is to find a difference."""
FAR = 10
"""Multiple of the present queries above which no number of queries is given: the two are practically equal."""
_OPEN = 1e-12
"""Distance from 0, relative to the range, of an end that 0 itself would be: an interval excludes what its test does."""
_DIGITS = 12
"""Digits of p that its integration holds."""
_BEHIND = 24
"""Numbers of queries below a sufficient one that are tried too: the power of an exact test is not monotone."""


@dataclass(frozen=True, slots=True)
class PairedEstimate:
    """A difference of two systems with its uncertainty, in the unit of the measure; above 0 the first is ahead."""

    value: float
    """Mean of the queries' differences, with equal weights of strata and languages."""
    low: float | None
    """Lower end of the interval; null where the data puts no bound on it."""
    high: float | None
    """Upper end."""
    p: float
    """Two-sided p-value of no difference."""
    n_queries: int
    """Number of queries of both."""
    differing: int
    """Number of queries on which the two differ."""
    detectable: float | None = None
    """Minimum true difference that the test finds with power `POWER`; null with a reason."""
    needed: int | None = None
    """Number of queries, in all, with which the test would decide with power `POWER`; null with a reason."""
    reason: str | None = None
    """Reason why an end is null, or languages are left out; else null."""
    unknown: str | None = None
    """Reason why the number of queries is null."""
    wider: float = 1.0
    """Factor by which votes of the same people widen the interval."""
    bounded: bool = False
    """Whether the interval holds an unseen query, without which it shows no equivalence."""


@dataclass(frozen=True, eq=False, slots=True)
class LanguageDifferences:
    """Differences of two systems in one language."""

    queries: tuple[str, ...]
    """The Q queries with values of both."""
    values: Array
    """Q: the first system's value minus the second's."""
    strata: Places
    """Q: the stratum of each; strata have equal weights."""
    people: PeoplesVotes | None = None
    """The single votes behind the values, where those of one person are a cluster; `points` is the difference."""

    @property
    def groups(self) -> tuple[Places, ...]:
        """Query indices of each stratum."""
        return tuple(np.flatnonzero(self.strata == k) for k in np.unique(self.strata))

    def shares(self) -> Array:
        """Return each query's weight in the mean of the language (Q); their sum is 1."""
        shares, groups = np.empty(len(self.values)), self.groups
        for rows in groups:
            shares[rows] = 1 / (len(rows) * len(groups))
        return shares


def pair_differences(
    battles: Mapping[str, Battles], first: str, second: str, without: Collection[tuple[str, str]] = ()
) -> dict[str, LanguageDifferences]:
    """Return the first system's share of the points of their battles less the second's, on each query on which they
    meet, by language; a tie is half a point. Queries in `without`, by language and query_id, are left out.
    """
    met = {}
    for code, of_language in battles.items():
        if first in of_language.systems and second in of_language.systems:
            pair = of_language.subset((first, second))
            k = pair.systems.index(first)
            points = pair.shared("half").astype(float)
            won, lost = points[:, k, 1 - k], points[:, 1 - k, k]
            used = np.array([(code, query) not in without for query in pair.queries], dtype=bool)
            rows = np.flatnonzero((won + lost > 0) & used)
            if len(rows):
                gaps = ((won - lost)[rows]) / (won + lost)[rows]
                people = _orient_votes(pair.ballots, k, rows)
                met[code] = LanguageDifferences(
                    tuple(pair.queries[row] for row in rows), gaps, pair.strata[rows], people
                )
    return met


def _orient_votes(ballots: PeoplesVotes | None, first: int, rows: Places) -> PeoplesVotes | None:
    """Return the votes on a pair with the difference of points of its first system, and the queries' places in some
    rows; None if those of one person are not clustered.
    """
    if ballots is None or not ballots.clustered:
        return None
    used = np.isin(ballots.query, rows)
    points = np.where(ballots.first == first, 1, -1) * (2 * ballots.points - 1)
    query = np.searchsorted(rows, ballots.query[used])
    names = ("voter", "first", "second")
    return replace(ballots, query=query, points=points[used], **{name: getattr(ballots, name)[used] for name in names})


def estimate_difference(
    languages: Mapping[str, LanguageDifferences], *, reach: float | None, tests: int = 1
) -> PairedEstimate:
    """Estimate the mean of paired differences, with equal weights of languages and of the strata in each.

    Args:
        languages: the differences by code, at least one; each has a query.
        reach: the largest possible difference; None if unbounded.
        tests: number of languages asked about, over which the test is corrected (Bonferroni).
    """
    if reach is None:
        return _test_by_t(languages, tests)
    values, weights = _weigh_units(languages)
    mean = BoundedMean(values, weights, reach)
    wider = _widen_for_people(languages, float(weights**2 @ (values - mean.value) ** 2), ALPHA / tests)
    low, high = (mean.value + wider * (end - mean.value) for end in mean.interval(ALPHA / tests))
    differing = int((np.abs(values) > SAME * reach).sum())
    # The mean whose distance, widened, is that of 0.
    p = float(f"{min(1.0, tests * mean.p_value(mean.value * (1 - 1 / wider))):.{_DIGITS}g}")
    ahead, behind = (p <= ALPHA and sign * mean.value > 0 for sign in (1, -1))
    low = max(low, _OPEN * reach) if ahead else min(low, 0.0)
    high = min(high, -_OPEN * reach) if behind else max(high, 0.0)
    ends = max(low, -reach), min(high, reach)
    return PairedEstimate(mean.value, *ends, p, len(values), differing, bounded=True, wider=wider)


def _widen_for_people(languages: Mapping[str, LanguageDifferences], variance: float, level: float) -> float:
    """Return the factor that widens the interval of a mean for clusters of people, given its variance over queries; 1
    without clusters.
    """
    from scipy.special import ndtri, stdtrit

    units, fewest = Units({code: part.queries for code, part in languages.items()}), math.inf
    moves, voter, query = [], [], []
    for code, part in languages.items():
        if (ballots := part.people) is None:
            continue
        shares = part.shares()[ballots.query] / np.bincount(ballots.query)[ballots.query]
        moves.append(shares * (ballots.points - part.shares() @ part.values) / len(languages))
        voter.append(ballots.voter)
        query.append(units.numbers[code][ballots.query])
        fewest = min(fewest, ballots.n_voters)
    if math.isinf(fewest):
        return 1.0
    people = add_people(np.concatenate(moves)[:, None], np.concatenate(voter), np.concatenate(query))
    extra = max(float(people[0, 0]), 0.0)
    reach = float(stdtrit(fewest - 1, 1 - level / 2) / ndtri(1 - level / 2))
    return reach * math.sqrt(1 + (extra / variance if variance > 0 else 0.0))


def plan_queries(
    estimate: PairedEstimate, languages: Mapping[str, LanguageDifferences], reach: float, tests: int = 1
) -> PairedEstimate:
    """Return an estimate of a bounded difference with what its test can detect, and how many queries it needs.

    Args:
        estimate: the estimate.
        languages: the differences by code.
        reach: the largest possible difference.
        tests: number of languages asked about.
    """
    values, weights = _weigh_units(languages)
    if estimate.wider > 1:
        return replace(estimate, unknown="the same people vote on further queries, which alone may not decide")
    level, wins, losses = ALPHA / tests, values > SAME * reach, values < -SAME * reach
    if np.abs(np.abs(values) - reach * (wins | losses)).max() > SAME * reach:
        least = BoundedMean(values, weights, reach).detectable(level, POWER)
        return replace(
            estimate, detectable=least, unknown="the number of queries is known for wins, ties and losses only"
        )
    # Kish (1965): so many queries of equal weight vary as much.
    n = 1 / float(weights @ weights)
    won, lost = float(weights @ wins) * n, float(weights @ losses) * n
    share = detectable_share(round(n), min((won + lost + 1) / (n + 1), 1.0), level)
    estimate = replace(estimate, detectable=None if share is None else share * reach)
    if estimate.p <= ALPHA:
        return estimate
    needed, unknown = queries_in_all(estimate, n, won + lost, max(won, lost), level)
    return replace(estimate, needed=needed, unknown=unknown)


def _weigh_units(languages: Mapping[str, LanguageDifferences]) -> tuple[Array, Array]:
    """Return the value and the weight of every unit; the sum of the weights is 1."""
    units = Units({code: part.queries for code, part in languages.items()})
    sums, weights = np.zeros(units.n), np.zeros(units.n)
    for code, part in languages.items():
        shares = part.shares() / len(languages)
        sums[units.numbers[code]] += shares * part.values
        weights[units.numbers[code]] += shares
    return sums / weights, weights


def _test_by_t(languages: Mapping[str, LanguageDifferences], tests: int) -> PairedEstimate:
    """Estimate an unbounded difference by Student's t, over the languages in which it varies."""
    from scipy.special import ndtri, stdtr, stdtrit

    reasons = {code: reason for code, part in languages.items() if (reason := _lacks_spread(part))}
    known = {code: part for code, part in languages.items() if code not in reasons} or languages
    units = Units({code: part.queries for code, part in known.items()})
    moves = {code: (part.values * part.shares() / len(known))[:, None] for code, part in known.items()}
    differing = np.zeros(units.n, dtype=bool)
    for code, part in known.items():
        differing[units.numbers[code]] |= np.abs(part.values) > SAME
    value, least = sum(float(part.sum()) for part in moves.values()), _least(int(differing.sum()))
    estimate = PairedEstimate(value, None, None, min(1.0, tests * least), units.n, int(differing.sum()))
    if len(reasons) == len(languages):
        why = next(iter(reasons.values())) if len(reasons) == 1 else "no language has an interval"
        return replace(estimate, reason=why)
    variance, below = (
        float(part[0]) for part in joint_spread(moves, {code: part.groups for code, part in known.items()}, units)
    )
    error, df = math.sqrt(variance), variance**2 / below
    unknown = "the number of queries is known for measures with bounds only"
    half = float(stdtrit(df, 1 - ALPHA / tests / 2)) * error
    p = min(1.0, tests * max(2 * float(stdtr(df, -abs(value) / error)), least))
    ends = agree_with_test(np.array(value), np.array(value - half), np.array(value + half), ndtri(p / 2))
    return replace(
        estimate,
        low=float(ends[0]),
        high=float(ends[1]),
        p=p,
        detectable=half + float(stdtrit(df, POWER)) * error,
        reason=name_left_out(reasons),
        unknown=unknown,
    )


def name_left_out(reasons: Mapping[str, str]) -> str | None:
    """Return which languages a mean leaves out, given the reason for each; None if there are none."""
    names = [f"{scope_name(code)} ({reason})" for code, reason in sorted(reasons.items())]
    return f"the mean is without {join_first(names)}" if names else None


def _lacks_spread(part: LanguageDifferences) -> str:
    """Return why Student's t has no interval in a language; empty if it has one."""
    if len(part.values) == 1:
        return "one query gives no estimate of the spread"
    if min(map(len, part.groups)) < 2:
        return "a stratum has only one query"
    if max(float(np.ptp(part.values[rows])) for rows in part.groups) > SAME:
        return ""
    same = np.abs(part.values).max() <= SAME
    return "they differ on no query" if same else "they differ by the same amount on every query"


def _least(differing: int) -> float:
    """Return the minimum p-value of an exact sign-flip test with this number of differing queries."""
    return min(1.0, 2.0 ** (1 - differing))


# --- the exact sign test ----------------------------------------------------------------------------------------------


def sign_test_power(n: int, differing: float, won: float, level: float) -> float:
    """Return the probability that the two-sided exact sign test of n queries finds the system ahead.

    Args:
        n: number of queries.
        differing: probability that the two differ on a query.
        won: probability that the system ahead wins such a query.
        level: level of the test.
    """
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    reach = 8 * math.sqrt(n * differing * (1 - differing)) + 8
    m = np.arange(max(math.floor(n * differing - reach), 0), min(math.ceil(n * differing + reach), n) + 1)
    chosen = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    chance = np.exp(chosen + xlogy(m, differing) + xlog1py(n - m, -differing))
    critical = _critical_wins(level, 1 << n.bit_length())[m]
    return float(chance @ np.where(critical < m, bdtrc(critical, m, won), 0.0))


@lru_cache(maxsize=32)
def _critical_wins(level: float, size: int) -> Array:
    """Return, for 0 to size - 1 differing queries, the number of wins that a system needs more than."""
    from scipy.special import bdtr, bdtrik

    m = np.arange(size)
    critical = np.ceil(bdtrik(1 - level / 2, m, 0.5))
    below = np.maximum(critical - 1, 0)
    return np.asarray(np.where(bdtr(below, m, 0.5) >= 1 - level / 2, below, critical))


def detectable_share(n: int, differing: float, level: float) -> float | None:
    """Return the minimum difference of two shares of points that the sign test of n queries finds with power `POWER`;
    None if it finds none.

    Args:
        n: number of queries.
        differing: share of queries on which the two differ; a larger difference needs as many.
        level: level of the test.
    """
    from scipy.optimize import brentq

    def excess(difference: float) -> float:
        share = max(differing, difference)
        return sign_test_power(n, share, (1 + difference / share) / 2, level) - POWER

    return float(brentq(excess, 0.0, 1.0, xtol=1e-6)) if excess(1.0) >= 0 else None


def queries_in_all(
    estimate: PairedEstimate, effective: float, differing: float, won: float, level: float
) -> tuple[int | None, str | None]:
    """Return the number of queries, in all, with which the exact sign test has power `POWER`, or the reason why there
    is none.

    Args:
        estimate: the estimate.
        effective: number of queries of equal weight that vary as much.
        differing: effective number on which the two differ.
        won: effective number that the system ahead wins.
        level: level of the test.
    """
    n, m = estimate.n_queries, estimate.differing
    if m < (least := math.ceil(1 - math.log2(level))):
        return None, f"they differ on {count_text(m, 'query')}, and no test decides below {least}"
    share, chance = min((differing + 1) / (effective + 1), 1.0), won / (differing + 1)
    if chance <= 0.5:
        return None, "they win about equally many queries"

    def is_enough(total: int) -> bool:
        return sign_test_power(total, share, chance, level) >= POWER

    low, high = 0, round(FAR * effective)
    if not is_enough(high):
        return None, f"more than {FAR} times the present {count_text(n, 'query')} would be needed"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    total = next(k for k in range(max(high - _BEHIND, 1), high + 1) if is_enough(k))
    # Rounded first: a sum of weights is exact to rounding alone.
    return math.ceil(round(total * n / effective, 6)), None
