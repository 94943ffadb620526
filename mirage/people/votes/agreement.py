"""Agreement of people with each judge, and with each other: raw and chance-corrected, with intervals.

By default only votes on battles sampled at random count: the queue oversamples battles on which judges waver, where
everyone agrees less, so the agreement over all votes would depend on the queue.

The naming of the two systems is arbitrary, so the chance of either winner is pooled: kappa and alpha do not change when
systems are renamed (`opinions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from mirage.battles.decision import decide_battles
from mirage.people.votes.kinds import Vote
from mirage.people.votes.opinions import (
    ENOUGH,
    STATISTICS,
    WIDTH,
    Items,
    Opinions,
    battle_sums,
    by_query,
    items_of,
    judge_opinions,
    judge_sums,
    opinions_of,
)
from mirage.schema import PEOPLE, CodeOrAll, Count, Range, Share
from mirage.stats.jackknife import LEAST, Scale, Spread, estimate, jackknife
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
        votes: the valid ones (`valid_votes`), of one arena.
        judgments: table `judgments`; None if there is none.
        control: whether only battles count that were drawn at random. With False the figures are those of the battles
            that the queue chose, and say little about the others.

    Returns:
        A row for each judge and language that has a vote, and `all` where there are several languages; judges by
        name, people last, languages in the order of their codes.
    """
    opinions = opinions_of(vote for vote in votes if vote.control or not control)
    names, items = [], {}
    if judgments is not None:
        battles = decide_battles(judgments)
        names, items = list(battles.judges), items_of(battles, opinions)
    return [row for judge in (*names, None) for row in _rows(judge, opinions, items.get(judge or "", {}))]


def judges_agreement(judgments: pa.Table) -> list[tuple[str, Agreement]]:
    """Compare every two judges on the battles that both decided, in each language and overall.

    Args:
        judgments: table `judgments`.

    Returns:
        A judge, and its row with another judge, the later by name, as the judge.
    """
    battles = decide_battles(judgments)
    rows = []
    for j, name in enumerate(battles.judges):
        opinions = judge_opinions(battles, j)
        items = items_of(battles, opinions)
        for judge in battles.judges[j + 1 :]:
            common = items.get(judge, {})
            rows += [(name, row) for row in _rows(judge, {code: opinions[code] for code in common}, common)]
    return rows


class _Part(NamedTuple):
    """Results of one language, with their variances."""

    row: Agreement
    spreads: Mapping[str, Spread]
    """Value and variance of each statistic."""
    people: frozenset[str]


_STATISTICS = {"raw": "agree", "kappa": "kappa", "alpha": "alpha"}
"""Fields of a row, and their statistics."""
_COUNTS = ("n", "queries", "skipped", "both_bad", "unread")
"""Fields that are summed over languages."""


def _rows(judge: str | None, opinions: Mapping[str, Opinions], items: Mapping[str, Items]) -> list[Agreement]:
    """Return the row of each language with opinions, and the row over all if there are several."""
    parts = [_compare(judge, opinions[code], items.get(code)) for code in in_order(opinions)]
    return [*(part.row for part in parts), *([_joint(parts)] if len(parts) > 1 else [])]


def _compare(judge: str | None, opinions: Opinions, items: Items | None) -> _Part:
    """Compare people with a judge in one language, or with each other.

    Args:
        judge: the judge; None for people among themselves.
        opinions: people's opinions.
        items: the battles that the judge decided too, if any.
    """
    among, sums = np.zeros(0, dtype=np.intp), np.zeros((0, WIDTH))
    if judge is None:
        among = np.flatnonzero(opinions.n > 1)
        sums = by_query(opinions.query[among], battle_sums(opinions.pairs[among], opinions.counts[among]))
    elif items is not None:
        among, sums = items.battle, judge_sums(items)
    compared = np.isin(opinions.of, among)
    people = frozenset(opinions.voter[compared].tolist())
    reasons = []
    if judge is None and len(people) > 2:
        reasons.append(f"kappa is of two, these are {len(people)} people: see alpha")
    spreads = {name: jackknife(sums, *STATISTICS[statistic]) for name, statistic in _STATISTICS.items()}
    if reasons:
        spreads["kappa"] = Spread(np.nan, np.nan, 0, 0)
    values = _values([spreads])
    n, n_queries = round(float(sums[:, :9].sum())), len(sums)
    reasons += _reasons(judge, n, n_queries, values, bool(reasons))
    row = Agreement(
        judge=judge or PEOPLE,
        language=opinions.language,
        n=n,
        queries=n_queries,
        voters=len(people),
        **values,
        skipped=opinions.skipped,
        both_bad=int(opinions.both_bad[compared].sum()),
        unread=0 if judge is None else int((~compared).sum()),
        enough=n_queries >= ENOUGH,
        reason="; ".join(reasons) or None,
    )
    return _Part(row, spreads, people)


def _reasons(judge: str | None, n: int, queries: int, values: Mapping[str, float | None], no_kappa: bool) -> list[str]:
    if not n:
        return ["no vote on a battle that this judge has judged" if judge else "no battle has votes of two people"]
    reasons = []
    if queries < LEAST:
        reasons.append(f"votes on fewer than {LEAST} queries")
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
