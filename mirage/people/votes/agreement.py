"""Agreement of people with each judge, and with each other: raw and chance-corrected, with intervals.

By default only votes on battles sampled at random count: the queue oversamples battles on which judges waver, where
everyone agrees less, so the agreement over all votes would depend on the queue.

The naming of the two systems is arbitrary, so the chance of either winner is pooled: kappa and alpha do not change when
systems are renamed (`pooled`).
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decided import decide_battles
from mirage.battles.decision import FIRST, SECOND, Battle, Decision, decisions, points
from mirage.people.votes.rows import Vote
from mirage.people.votes.verdicts import battle, label
from mirage.schema import PEOPLE, CodeOrAll, Count, Range, Share
from mirage.stats.intervals import bootstrap_tails, wilson
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]
Coefficient = Annotated[float, Range(-1, 1)]

DRAWS, SEED, LEVEL = 1_000, 0, 0.95
LEAST = 10
"""Minimum number of queries for an interval: a bootstrap of fewer covers less than its nominal level."""
ENOUGH = 30
"""Number of queries from which the figures are reliable; with fewer a badge is grey."""
_DEFINED = 0.9
"""Minimum share of draws with a value for an interval."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of people with one judge, or with each other, in one language."""

    key = ("referee", "language")

    referee: str
    """The judge; `people`: people among themselves."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have an interval, with equal weights."""
    n: Count
    """Pairs of opinions compared: votes on battles with a parsed verdict of the judge; for people, pairs of votes on
    one battle.
    """
    queries: Count
    """Number of queries, the units of the intervals."""
    voters: Count
    """Number of people."""
    raw: Share | None
    """Share of the pairs that agree (first better, second better, tie); `both_bad` is a tie."""
    raw_low: Share | None
    """Lower end of the 95% interval of `raw`: percentiles over draws of queries; Wilson's if all agree or none."""
    raw_high: Share | None
    """Upper end."""
    kappa: Coefficient | None
    """Cohen's (1960): agreement beyond chance, 1 is perfect, 0 is chance; null for more than two people among
    themselves."""
    kappa_low: Coefficient | None
    """Lower end of the interval of `kappa`."""
    kappa_high: Coefficient | None
    """Upper end."""
    alpha: Coefficient | None
    """Krippendorff's, nominal, missing votes allowed, over the judge and every person (2018, ch. 12)."""
    alpha_low: Coefficient | None
    """Lower end of the interval of `alpha`."""
    alpha_high: Coefficient | None
    """Upper end."""
    distance: Share | None
    """Mean absolute difference between the points of a person's vote and of the judge's verdict for the first system (1
    a win, 0.5 a tie, 0 a loss): 0 is full agreement. A graded verdict counts with its points, so that 0.9 is nearer to
    a win than 0.6, while `raw` treats both as a win or a tie.
    """
    distance_low: Share | None
    """Lower end of the interval of `distance`."""
    distance_high: Share | None
    """Upper end."""
    skipped: Count
    """Votes without an opinion, excluded."""
    both_bad: Count
    """Votes that both answers are bad, among `n`: compared as ties."""
    unread: Count
    """Votes on battles without a parsed verdict of the judge, excluded."""
    enough: bool
    """Whether the figures are reliable (`ENOUGH` queries)."""
    reason: str | None
    """Reason why a value or an interval is null."""
    draws: Count
    """Draws behind the intervals."""
    seed: Count
    """Their seed."""


def alpha(counts: Array, *, pooled: bool = False) -> float:
    """Return Krippendorff's alpha for nominal values.

    Args:
        counts: U x C: number of observers who gave unit u the value c; units with fewer than two values are ignored.
        pooled: whether the first two values are two sides of one, with a common chance.

    Returns:
        Alpha; NaN if no two values can be compared, or all are the same.

    Source: Krippendorff, Content Analysis, 4th ed. (2018), ch. 12: 1 - observed / expected disagreement.
    """
    return float(alphas(coincidences(counts).sum(axis=0, keepdims=True), pooled=pooled)[0])


def kappa(table: Array, *, pooled: bool = False) -> float:
    """Return Cohen's kappa.

    Args:
        table: C x C contingency table of the two observers.
        pooled: as in `alpha`.

    Returns:
        Kappa; NaN if expected agreement is 1, or the table is empty.

    Source: Cohen, Educational and Psychological Measurement 20 (1960).
    """
    sums = np.concatenate([[table.sum(), np.trace(table)], table.sum(axis=1), table.sum(axis=0)])
    return float(_kappa(sums[None], pooled=pooled)[0])


def agreement(
    votes: Sequence[Vote],
    judgments: pa.Table | None,
    *,
    control: bool = True,
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[Agreement]:
    """Compare people with every judge and with each other, in each language and overall.

    Args:
        votes: those that stand (`standing`), of one arena.
        judgments: table `judgments`; None if there is none.
        control: whether only battles count that were drawn at random. With False the figures are those of the battles
            that the queue chose, and say little about the others.
        draws: bootstrap draws of queries.
        seed: seed of the draws.

    Returns:
        A row for each referee and language that has a vote, and `all` where there are several languages; judges by
        name, people last, languages in the order of their codes.
    """
    counted = [vote for vote in votes if vote.control] if control else list(votes)
    by_language: dict[str, list[_Opinion]] = defaultdict(list)
    for vote in counted:
        by_language[vote.language].append(_Opinion(battle(vote), label(vote), vote.voter, vote.vote))
    among = {opinion.battle for opinions in by_language.values() for opinion in opinions}
    verdicts = {} if judgments is None else decisions(judgments, among=among)
    names = [] if judgments is None else sorted(set(judgments["judge"].unique().to_pylist()))
    rows = []
    for referee in (*names, None):
        parts = [
            _compare(referee, code, by_language[code], verdicts.get(referee or "", {}), draws, seed)
            for code in in_order(by_language)
        ]
        rows += [part.row for part in parts]
        if len(parts) > 1:
            rows.append(_joint(parts))
    return rows


def judges_agreement(judgments: pa.Table, *, draws: int = DRAWS, seed: int = SEED) -> list[tuple[str, Agreement]]:
    """Compare every two judges on the battles that both decided, in each language and overall.

    Args:
        judgments: table `judgments`.
        draws: bootstrap draws of queries.
        seed: seed of the draws.

    Returns:
        A judge, and its row with another judge, the later by name, as the referee.
    """
    battles = decide_battles(judgments)
    s = len(battles.systems)
    pair = (battles.query.astype(np.int64) * s + battles.first) * s + battles.second
    own = {
        (j, k): np.flatnonzero((battles.judge == j) & (battles.language == k))
        for j in range(len(battles.judges))
        for k in range(len(battles.languages))
    }
    codes = in_order(battles.languages)
    rows = []
    for j, other in combinations(range(len(battles.judges)), 2):
        name, referee = battles.judges[j], battles.judges[other]
        parts = []
        for code in codes:
            k = battles.languages.index(code)
            _, left, right = np.intersect1d(pair[own[j, k]], pair[own[other, k]], return_indices=True)
            left, right = own[j, k][left], own[other, k][right]
            if len(left):
                sums = _judges_sums(battles.label[left], battles.label[right], battles.points[right])
                starts = np.flatnonzero(np.diff(battles.query[left], prepend=-1))
                by_query = np.add.reduceat(sums, starts, axis=0)
                parts.append(_figures(referee, code, by_query, frozenset({name}), (0, 0, 0), draws, seed))
        rows += [(name, part.row) for part in parts]
        if len(parts) > 1:
            rows.append((name, _joint(parts)))
    return rows


def _judges_sums(opinion: NDArray[np.intp], label: NDArray[np.intp], given: Array) -> Array:
    """Return each battle's contribution, from a judge's opinion and the referee's decision and points (N x
    `_WIDTH`).
    """
    n = len(opinion)
    sums = np.zeros((n, _WIDTH))
    sums[:, 0] = 1
    sums[:, 1] = opinion == label
    sums[np.arange(n), 2 + label] = 1
    sums[np.arange(n), 5 + opinion] = 1
    sums[:, 8:12] = coincidences(np.eye(3)[opinion] + np.eye(3)[label])
    sums[:, 12] = np.abs(given - np.array([points(kind) for kind in range(3)])[opinion])
    return sums


class _Opinion(NamedTuple):
    """A vote in comparable form."""

    battle: Battle
    label: int | None
    """None for a skip."""
    voter: str
    word: str
    """The vote's own word."""


@dataclass(frozen=True, eq=False)
class _Part:
    row: Agreement
    drawn: dict[str, Array | None]
    """By statistic its value in each draw; None where it has no interval."""
    voters: frozenset[str]


_STATISTICS = ("raw", "kappa", "alpha", "distance")
_WIDTH = 13
"""Sums of a query: pairs, agreeing pairs, 3 + 3 marginals, 4 of coincidences, absolute differences in points."""


def _compare(
    judge: str | None,
    language: str,
    votes: Sequence[_Opinion],
    verdicts: Mapping[Battle, Decision],
    draws: int,
    seed: int,
) -> _Part:
    opinions: dict[Battle, list[tuple[str, int]]] = defaultdict(list)
    counted: list[_Opinion] = []
    unread = 0
    for vote in votes:
        if vote.label is None:
            continue
        if judge is not None and vote.battle not in verdicts:
            unread += 1
            continue
        opinions[vote.battle].append((vote.voter, vote.label))
        counted.append(vote)
    if judge is None:
        opinions = {
            battle_key: battle_opinions for battle_key, battle_opinions in opinions.items() if len(battle_opinions) > 1
        }
        counted = [vote for vote in counted if vote.battle in opinions]
    voters = frozenset(name for battle_opinions in opinions.values() for name, _ in battle_opinions)
    by_query: dict[str, Array] = defaultdict(lambda: np.zeros(_WIDTH))
    for battle_key, battle_opinions in sorted(opinions.items()):
        labels = tuple(value for _, value in sorted(battle_opinions))
        by_query[battle_key[1]] += _sums(labels, None if judge is None else verdicts[battle_key])
    sums = np.array([by_query[query] for query in sorted(by_query)]).reshape(-1, _WIDTH)
    skipped = sum(vote.word == "skip" for vote in votes)
    both_bad = sum(vote.word == "both_bad" for vote in counted)
    return _figures(judge, language, sums, voters, (skipped, both_bad, unread), draws, seed)


def _figures(
    judge: str | None,
    language: str,
    sums: Array,
    voters: frozenset[str],
    left_out: tuple[int, int, int],
    draws: int,
    seed: int,
) -> _Part:
    """Compute the row of one referee in one language.

    Args:
        judge: the referee; None for people among themselves.
        language: code.
        sums: Q x `_WIDTH`.
        voters: who was compared.
        left_out: how many votes were skipped, said that both are bad, and had no verdict.
        draws: bootstrap draws of queries.
        seed: seed of the draws.
    """
    reasons = []
    if judge is None and len(voters) > 2:
        reasons.append(f"kappa is of two, these are {len(voters)} people: see alpha")
    statistics: dict[str, Callable[[Array], Array]] = {
        "raw": lambda s: _over(s[:, 1], s[:, 0]),
        "kappa": lambda s: np.full(len(s), np.nan) if reasons else _kappa(s[:, :8], pooled=True),
        "alpha": lambda s: alphas(s[:, 8:12], pooled=True),
        "distance": lambda s: _over(s[:, 12], s[:, 0]),
    }
    rng = np.random.default_rng([seed, zlib.crc32(f"{judge or PEOPLE}/{language}".encode())])
    n_queries = len(sums)
    # Queries with equal sums are drawn as one kind: tens of thousands of single battles have few distinct sums.
    kinds, counts = np.unique(sums, axis=0, return_counts=True)
    times = rng.multinomial(n_queries, counts / n_queries, draws) if n_queries else None
    values: dict[str, Any] = {}
    drawn: dict[str, Array | None] = {}
    for name, statistic in statistics.items():
        value = float(statistic(sums.sum(axis=0, keepdims=True))[0])
        drawn[name] = None if times is None or np.isnan(value) else statistic(times @ kinds)
        values |= interval(name, value, drawn, n_queries)
    n = int(sums[:, 0].sum())
    reasons += _reasons(judge, n, n_queries, values, bool(reasons))
    return _Part(
        Agreement(
            referee=judge or PEOPLE,
            language=language,
            n=n,
            queries=n_queries,
            voters=len(voters),
            **values,
            skipped=left_out[0],
            both_bad=left_out[1],
            unread=left_out[2],
            enough=n_queries >= ENOUGH,
            reason="; ".join(reasons) or None,
            draws=draws,
            seed=seed,
        ),
        drawn,
        voters,
    )


@lru_cache(maxsize=4096)
def _sums(labels: tuple[int, ...], verdict: Decision | None) -> Array:
    """Return one battle's contribution to the sums (`_WIDTH`), from people's opinions and the judge's decision."""
    sums = np.zeros(_WIDTH)
    pairs = (
        [(verdict.label, value) for value in labels]
        if verdict is not None
        else [(a, b) for k, a in enumerate(labels) for b in labels[k + 1 :]]
    )
    for a, b in pairs:
        sums[0] += 1
        sums[1] += a == b
        sums[2 + a] += 1
        sums[5 + b] += 1
        sums[12] += abs((points(a) if verdict is None else verdict.points) - points(b))
    counts = Counter(labels if verdict is None else [*labels, verdict.label])
    sums[8:12] = coincidences(np.array([[counts[c] for c in range(3)]], dtype=np.float64))[0]
    sums.flags.writeable = False
    return sums


def coincidences(counts: Array) -> Array:
    """Return each unit's observed disagreement and its counts (U x (1 + C)); zeros if nothing can be compared."""
    m = counts.sum(axis=1)
    two = m > 1
    disagreement = np.where(two, (m**2 - (counts**2).sum(axis=1)) / np.where(two, m - 1, 1), 0)
    return np.column_stack([disagreement, counts * two[:, None]])


def alphas(sums: Array, *, pooled: bool) -> Array:
    """Return Krippendorff's alpha of B data sets, from B x (1 + C) sums of `coincidences`; `pooled` as in `alpha`."""
    counts = _pool(sums[:, 1:], pooled)
    n = counts.sum(axis=1)
    expected = n**2 - (counts**2).sum(axis=1)
    return np.asarray(1 - _over((n - 1) * sums[:, 0], expected))


def _kappa(sums: Array, *, pooled: bool) -> Array:
    """Return kappa of B data sets, from n, agreements, and the marginals of both observers."""
    c = (sums.shape[1] - 2) // 2
    first, second = _pool(sums[:, 2 : 2 + c], pooled), _pool(sums[:, 2 + c :], pooled)
    n = sums[:, 0]
    chance = (first * second).sum(axis=1)
    return _over(n * sums[:, 1] - chance, n**2 - chance)


def _pool(counts: Array, pooled: bool) -> Array:
    if not pooled:
        return counts
    averaged = counts.copy()
    averaged[:, [FIRST, SECOND]] = counts[:, [FIRST, SECOND]].mean(axis=1, keepdims=True)
    return averaged


def _over(a: Array, b: Array) -> Array:
    """Return the quotient, NaN for a denominator of 0."""
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=np.abs(b) > 1e-12))


def interval(name: str, value: float, drawn: dict[str, Array | None], queries: int) -> dict[str, float | None]:
    """Return a value and its 95% interval, as `name`, `name_low` and `name_high`; null if undefined.

    Args:
        name: of the statistic; `raw` and `distance` are shares, with Wilson's interval where they are 0 or 1.
        value: the statistic.
        drawn: its value in each draw of queries, by name; set to None here where there is no interval.
        queries: how many there are.
    """
    ends: tuple[float | None, float | None] = (None, None)
    draws = drawn[name]
    if draws is not None and queries >= LEAST and np.isfinite(draws).mean() >= _DEFINED:
        if name in ("raw", "distance") and value in (0, 1):
            ends = wilson(int(value) * queries, queries)
        elif np.ptp(draws[np.isfinite(draws)]) > 0:
            tails = bootstrap_tails(LEVEL, queries)
            low, high = np.quantile(draws[np.isfinite(draws)], tails, method="weibull")
            ends = float(low), float(high)
    if ends[0] is None:
        drawn[name] = None
    return {name: None if np.isnan(value) else value, f"{name}_low": ends[0], f"{name}_high": ends[1]}


def _reasons(judge: str | None, n: int, queries: int, values: dict[str, Any], no_kappa: bool) -> list[str]:
    if not n:
        return ["no vote on a battle that this judge has judged" if judge else "no battle has votes of two people"]
    reasons = []
    if queries < LEAST:
        reasons.append(f"votes on {queries} queries are too few for an interval: it takes {LEAST}")
    without = [name for name in ("kappa", "alpha")[no_kappa:] if values[name] is None]
    if without:
        reasons.append(f"no {' or '.join(without)}: all opinions are the same")
    elif queries >= LEAST and values["alpha_low"] is None:
        reasons.append("no interval beyond chance: the draws of queries do not differ, or have no value")
    return reasons


class LanguagePart(Protocol):
    """Results of one language, with their draws."""

    @property
    def row(self) -> Any:
        """Row of the language: `language`, `queries`, `raw_low` and the statistics."""

    @property
    def drawn(self) -> Mapping[str, Array | None]:
        """Value of each statistic in each draw; None if it has no interval."""


_P = TypeVar("_P", bound=LanguagePart)


def having_interval(parts: Sequence[_P]) -> Sequence[_P]:
    """Return the languages to average over: those with an interval; all, if none has one."""
    return [part for part in parts if part.row.raw_low is not None] or parts


def means_over_languages(parts: Sequence[LanguagePart], statistics: Sequence[str]) -> dict[str, Any]:
    """Average each statistic over languages, with its interval from the means of the draws, as fields of a row.

    Args:
        parts: the languages.
        statistics: names of the statistics.
    """
    values: dict[str, Any] = {}
    for name in statistics:
        known = [part for part in parts if getattr(part.row, name) is not None]
        drawn = [draws for part in known if (draws := part.drawn[name]) is not None]
        mean = float(np.mean([getattr(part.row, name) for part in known])) if known else np.nan
        together = {name: np.mean(drawn, axis=0) if drawn and len(drawn) == len(known) else None}
        values |= interval(name, mean, together, sum(part.row.queries for part in known))
    return values


def _joint(parts: Sequence[_Part]) -> Agreement:
    """Average over the languages with an interval (all, if none has one), with the interval from the means of the
    draws; the counts are sums over all.
    """
    used = having_interval(parts)
    left = [part.row.language for part in parts if part.row.raw_low is None]
    values = means_over_languages(used, _STATISTICS)
    sums = {
        name: sum(getattr(part.row, name) for part in parts)
        for name in ("n", "queries", "skipped", "both_bad", "unread")
    }
    reasons = [f"too few votes for an interval in {', '.join(left)}"] if left else []
    if values["raw_low"] is None and not left:
        reasons.append("no interval: the draws of queries do not differ")
    first = parts[0].row
    return Agreement(
        referee=first.referee,
        language="all",
        voters=len(frozenset().union(*(part.voters for part in parts))),
        **values,
        **sums,
        enough=values["raw_low"] is not None and sum(part.row.queries for part in used) >= ENOUGH,
        reason="; ".join(reasons) or None,
        draws=first.draws,
        seed=first.seed,
    )
