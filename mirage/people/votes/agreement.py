"""Agreement of people with each judge, and with each other: raw and chance-corrected, with intervals.

By default only votes on battles sampled at random count: the queue oversamples battles on which judges waver, where
everyone agrees less, so the agreement over all votes would depend on the queue.

The naming of the two systems is arbitrary, so the chance of either winner is pooled: kappa and alpha do not change when
systems are renamed (`pooled`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decided import decide_battles
from mirage.battles.decision import Battle, Decision, decisions
from mirage.people.votes.coefficients import (
    ENOUGH,
    Array,
    alphas,
    coincidences,
    contingency,
    kappas,
    ratio,
)
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import battle, label
from mirage.schema import PEOPLE, CodeOrAll, Count, Range, Share
from mirage.stats.jackknife import LEAST, Scale, Spread, Statistic, estimate, jackknife
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa


Coefficient = Annotated[float, Range(-1, 1)]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of people with one judge, or with each other, in one language."""

    key = ("judge", "language")

    judge: str
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
    """Lower end of the 95% interval of `raw`, over queries and of these people: Wilson's at the effective number."""
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


def agreement(
    votes: Sequence[Vote],
    judgments: pa.Table | None,
    *,
    control: bool = True,
) -> list[Agreement]:
    """Compare people with every judge and with each other, in each language and overall.

    Args:
        votes: those that stand (`standing`), of one arena.
        judgments: table `judgments`; None if there is none.
        control: whether only battles count that were drawn at random. With False the figures are those of the battles
            that the queue chose, and say little about the others.

    Returns:
        A row for each judge and language that has a vote, and `all` where there are several languages; judges by
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
    for judge in (*names, None):
        parts = [
            _compare(judge, code, by_language[code], verdicts.get(judge or "", {})) for code in in_order(by_language)
        ]
        rows += [part.row for part in parts]
        if len(parts) > 1:
            rows.append(_joint(parts))
    return rows


def judges_agreement(judgments: pa.Table) -> list[tuple[str, Agreement]]:
    """Compare every two judges on the battles that both decided, in each language and overall.

    Args:
        judgments: table `judgments`.

    Returns:
        A judge, and its row with another judge, the later by name, as the judge.
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
        name, judge = battles.judges[j], battles.judges[other]
        parts = []
        for code in codes:
            k = battles.languages.index(code)
            _, left, right = np.intersect1d(pair[own[j, k]], pair[own[other, k]], return_indices=True)
            left, right = own[j, k][left], own[other, k][right]
            if len(left):
                sums = _judged_sums(np.eye(3)[battles.label[left]], battles.label[right])
                starts = np.flatnonzero(np.diff(battles.query[left], prepend=-1))
                by_query = np.add.reduceat(sums, starts, axis=0)
                parts.append(_figures(judge, code, by_query, _Voters(frozenset({name}))))
        rows += [(name, part.row) for part in parts]
        if len(parts) > 1:
            rows.append((name, _joint(parts)))
    return rows


def _judged_sums(people: Array, label: NDArray[np.intp]) -> Array:
    """Return each battle's contribution to the agreement of people, or of a judge, with a judge (B x `_WIDTH`).

    Args:
        people: B x 3: number of opinions of each kind.
        label: B: the judge's decision.
    """
    table = contingency(people, label)
    return np.column_stack(
        [
            people.sum(axis=1),
            np.trace(table, axis1=1, axis2=2),
            table.sum(axis=1),
            people,
            coincidences(people + np.eye(3)[label]),
        ]
    )


def _mutual_sums(labels: Sequence[int]) -> Array:
    """Return the contribution of people's opinions on one battle, ordered by person, to their mutual agreement."""
    sums = np.zeros(_WIDTH)
    for a, b in combinations(labels, 2):
        sums[0] += 1
        sums[1] += a == b
        sums[2 + a] += 1
        sums[5 + b] += 1
    sums[8:12] = coincidences(np.bincount(labels, minlength=3).astype(np.float64)[None])[0]
    return sums


class _Opinion(NamedTuple):
    """A vote in comparable form."""

    battle: Battle
    label: int | None
    """None for a skip."""
    voter: str
    word: str
    """The vote's own word."""


class _Part(NamedTuple):
    """Results of one language, with their variances."""

    row: Agreement
    spreads: Mapping[str, Spread]
    """Value and variance of each statistic."""
    people: frozenset[str]


class _Voters(NamedTuple):
    """People compared, and their votes that were left out or counted specially."""

    names: frozenset[str]
    skipped: int = 0
    both_bad: int = 0
    unread: int = 0


_STATISTICS = ("raw", "kappa", "alpha")
_COUNTS = ("n", "queries", "skipped", "both_bad", "unread")
"""Fields that are summed over languages."""
_WIDTH = 12
"""Sums of a query: pairs, agreeing pairs, 3 + 3 marginals, 4 of coincidences."""


def _compare(
    judge: str | None,
    language: str,
    votes: Sequence[_Opinion],
    verdicts: Mapping[Battle, Decision],
) -> _Part:
    heard: dict[Battle, list[tuple[str, int]]] = defaultdict(list)
    for vote in votes:
        if vote.label is not None:
            heard[vote.battle].append((vote.voter, vote.label))
    if judge is None:
        opinions, unread = {key: of for key, of in heard.items() if len(of) > 1}, 0
    else:
        opinions = {key: of for key, of in heard.items() if key in verdicts}
        unread = sum(len(of) for key, of in heard.items() if key not in verdicts)
    voters = frozenset(name for of in opinions.values() for name, _ in of)
    battles = sorted(opinions)
    labels = [[value for _, value in sorted(opinions[key])] for key in battles]
    if judge is None:
        of_battle = np.array([_mutual_sums(values) for values in labels]).reshape(-1, _WIDTH)
    else:
        counts = np.array([np.bincount(values, minlength=3) for values in labels], dtype=np.float64).reshape(-1, 3)
        of_battle = _judged_sums(counts, np.array([verdicts[key].label for key in battles], dtype=np.intp))
    queries, of = np.unique(np.array([key[1] for key in battles], dtype=object), return_inverse=True)
    sums = np.zeros((len(queries), _WIDTH))
    np.add.at(sums, of, of_battle)
    skipped = sum(vote.word == "skip" for vote in votes)
    both_bad = sum(vote.word == "both_bad" and vote.battle in opinions for vote in votes)
    return _figures(judge, language, sums, _Voters(voters, skipped, both_bad, unread))


def _figures(judge: str | None, language: str, sums: Array, voters: _Voters) -> _Part:
    """Compute the row of one judge in one language.

    Args:
        judge: the judge; None for people among themselves.
        language: code.
        sums: Q x `_WIDTH`.
        voters: people compared.
    """
    reasons = []
    if judge is None and len(voters.names) > 2:
        reasons.append(f"kappa is of two, these are {len(voters.names)} people: see alpha")
    statistics: dict[str, Statistic] = {
        "raw": lambda s: ratio(s[:, 1], s[:, 0]),
        "kappa": lambda s: (
            np.full(len(s), np.nan) if reasons else kappas(s[:, 0], s[:, 1], s[:, 2:5], s[:, 5:8], pooled=True)
        ),
        "alpha": lambda s: alphas(s[:, 8:12], pooled=True),
    }
    spreads = {name: jackknife(sums, statistic, lambda s: s[:, 0]) for name, statistic in statistics.items()}
    values = _values([spreads])
    n, n_queries = int(sums[:, 0].sum()), len(sums)
    reasons += _reasons(judge, n, n_queries, values, bool(reasons))
    row = Agreement(
        judge=judge or PEOPLE,
        language=language,
        n=n,
        queries=n_queries,
        voters=len(voters.names),
        **values,
        skipped=voters.skipped,
        both_bad=voters.both_bad,
        unread=voters.unread,
        enough=n_queries >= ENOUGH,
        reason="; ".join(reasons) or None,
    )
    return _Part(row, spreads, voters.names)


def _reasons(judge: str | None, n: int, queries: int, values: Mapping[str, float | None], no_kappa: bool) -> list[str]:
    if not n:
        return ["no vote on a battle that this judge has judged" if judge else "no battle has votes of two people"]
    reasons = []
    if queries < LEAST:
        reasons.append(f"votes on {queries} queries are too few for an interval: it takes {LEAST}")
    without = [name for name in ("kappa", "alpha")[no_kappa:] if values[name] is None]
    if without:
        reasons.append(f"no {' or '.join(without)}: all opinions are the same")
    elif queries >= LEAST and values["alpha_low"] is None:
        reasons.append("no interval beyond chance: the value is the same without any query, or undefined")
    return reasons


def _values(parts: Sequence[Mapping[str, Spread]]) -> dict[str, float | None]:
    """Return the mean of each statistic over languages with its 95% interval, as fields of a row."""
    values: dict[str, float | None] = {}
    for name in _STATISTICS:
        scale: Scale = "share" if name == "raw" else "difference"
        found = estimate([spreads[name] for spreads in parts], none="", scale=scale)
        values |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
    return values


def _joint(parts: Sequence[_Part]) -> Agreement:
    """Return the row over all languages: means over those with an interval (all, if none has one), sums over all."""
    left = [part.row.language for part in parts if part.row.raw_low is None]
    used = [part for part in parts if part.row.raw_low is not None] or parts
    values = _values([part.spreads for part in used])
    reasons = [f"too few votes for an interval in {', '.join(left)}"] if left else []
    if values["raw_low"] is None and not left:
        reasons.append("no interval: the queries do not differ")
    fields: dict[str, Any] = values | {name: sum(getattr(part.row, name) for part in parts) for name in _COUNTS}
    return replace(
        parts[0].row,
        language="all",
        voters=len(frozenset().union(*(part.people for part in parts))),
        enough=values["raw_low"] is not None and sum(part.row.queries for part in used) >= ENOUGH,
        reason="; ".join(reasons) or None,
        **fields,
    )
