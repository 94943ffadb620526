"""A judge's passport: the rate at which it prefers an answer to its copy with a planted fault, by fault and language.

The items are an arena of their own (`mirage.stages.judge.faults`). An item counts 1 if every verdict in both orders
names the original, 0 if every verdict names the faulty copy, and a half otherwise, which is the average of a judge that
cannot tell, whether it ties, guesses, or names a position. The control is an answer beside its own copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mirage.battles.decided import DecidedBattles, decide_battles
from mirage.battles.decision import FIRST, SECOND, TIE
from mirage.battles.verdict_rows import COLUMNS, programs
from mirage.errors import NotEnoughData, UnknownName
from mirage.people.exam.items import opinions_of
from mirage.people.votes import PEOPLE, Vote
from mirage.people.votes.stage import counting
from mirage.schema import CodeOrAll, Count, Share
from mirage.stages.judge.faults import FAMILIES, ORIGINAL
from mirage.stats.jackknife import Array, Estimate, estimate, jackknife
from mirage.text.languages import in_order

if TYPE_CHECKING:
    from mirage.store import Arena

_NOTHING = "no item was judged in both orders"


@dataclass(frozen=True, slots=True)
class PassportRow:
    """Rate at which a judge, or people, detect one fault in one language."""

    key = ("judge", "fault", "language")

    judge: str
    """The judge; `people` for votes and imported verdicts on the same items."""
    fault: str
    """The fault family; `copy` is the control."""
    language: CodeOrAll
    """Language of the queries; `all`: all items together."""
    detected: Share | None
    """Share of items in which the original wins: 1 if every verdict in both orders names it, a half if they disagree
    or tie. Chance level is 0.5.
    """
    low: Share | None
    """Lower end of the 95% interval of `detected`, with the query as the cluster and a t quantile; null with fewer than
    10 queries."""
    high: Share | None
    """Upper end."""
    n: Count
    """Items judged in both orders; for people, votes."""
    queries: Count
    """Their queries."""
    split: Share | None
    """Share of items on which the two orders disagree; null for people."""
    split_low: Share | None
    """Lower end of its 95% interval."""
    split_high: Share | None
    """Upper end."""
    unread: Count
    """Items without a parsed verdict in both orders; 0 for people."""
    unmade: Count
    """Queries whose answer cannot have this fault."""
    reason: str | None
    """Reason why a value or its interval is null, or why items are missing."""


@dataclass(frozen=True)
class Passport:
    """The passport of one judge."""

    judge: str
    """The judge."""
    rows: tuple[PassportRow, ...]
    """The judge's rows, then people's if they voted: by fault, then language; `all` after the languages."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages, without `all`."""
        return tuple(dict.fromkeys(row.language for row in self.rows if row.language != "all"))


def passport(
    items: Arena, judge: str, *, votes: Iterable[Vote] = (), languages: Sequence[str] | None = None
) -> Passport:
    """Compute the passport of a judge.

    Args:
        items: the arena of the items (`mirage.stages.judge.faults.passport_path`).
        judge: the judge's name.
        votes: the log of votes, or none.
        languages: codes; None for all.

    Raises:
        TableMissing: if no judge has decided an item.
        UnknownName: if this judge has not.
        NotEnoughData: if it has decided none in these languages.
    """
    items.need("judgments")
    judgments = programs(items.read("judgments", columns=(*COLUMNS, "person")))
    battles = decide_battles(judgments)
    if judge not in battles.judges:
        raise UnknownName("judge with a passport", judge, battles.judges, where=items.address)
    made, unmade = _count_items(items)
    codes = [code for code in in_order(items.languages("answers")) if languages is None or code in languages]
    rows = _rows(judge, _sums(_decided(battles, judge)), codes, made, unmade)
    if not any(row.n for row in rows):
        raise NotEnoughData(f"{judge} has decided no item in these languages", do="omit --languages")
    people = _rows(PEOPLE, _sums(_voted(counting(items, votes))), codes, {}, {})
    return Passport(judge, (*rows, *(people if any(row.n for row in people) else ())))


def judges_of(items: Arena) -> tuple[str, ...]:
    """Return the judges that have decided items, by name."""
    if "judgments" not in items.tables:
        return ()
    rows = items.sql("SELECT DISTINCT judge FROM judgments WHERE person IS NOT TRUE ORDER BY judge")
    return tuple(rows["judge"].to_pylist())


Sums = Mapping[tuple[str, str], Mapping[str, Array]]
"""By family and language, and query: points of the original, all items, and split items."""
_WIDTH = 3
_Counted = tuple[str, str, str, str, Array, float]
"""A battle: language, query, both systems, the decisions for `FIRST`, `SECOND` and `TIE`, and whether it is split."""


def _decided(battles: DecidedBattles, judge: str) -> Iterator[_Counted]:
    """Yield the battles that a judge decided in both orders."""
    orders = np.zeros((len(battles.label), 2), dtype=bool)
    orders[battles.of, battles.swapped.astype(np.intp)] = True
    low, high = (np.full(len(battles.label), value) for value in (np.inf, -np.inf))
    np.minimum.at(low, battles.of, battles.verdict_points)
    np.maximum.at(high, battles.of, battles.verdict_points)
    own = (battles.judge == battles.judges.index(judge)) & orders.all(axis=1)
    for k in np.flatnonzero(own).tolist():
        names = battles.systems[battles.first[k]], battles.systems[battles.second[k]]
        about = battles.languages[battles.language[k]], battles.queries[battles.query[k]]
        yield *about, *names, np.eye(3)[battles.label[k]], float(low[k] != high[k])


def _voted(votes: Iterable[Vote]) -> Iterator[_Counted]:
    """Yield the battles that people decided."""
    for code, heard in opinions_of(votes).items():
        for query, first, second, counts in zip(heard.query, heard.first, heard.second, heard.counts, strict=True):
            yield code, heard.queries[query], heard.systems[first], heard.systems[second], counts, np.nan


def _sums(battles: Iterable[_Counted]) -> Sums:
    sums: dict[tuple[str, str], dict[str, Array]] = {}
    for code, query, first, second, counts, split in battles:
        fault = second if first == ORIGINAL else first
        if ORIGINAL in (first, second) and fault in FAMILIES:
            won = counts[FIRST if first == ORIGINAL else SECOND] + counts[TIE] / 2
            by_query = sums.setdefault((fault, code), {})
            by_query[query] = by_query.get(query, np.zeros(_WIDTH)) + np.array([won, counts.sum(), split])
    return sums


Reasons = Mapping[tuple[str, str], Counter[str]]
"""By family and language: reasons why the fault cannot be planted, with the number of queries."""


def _count_items(items: Arena) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], Counter[str]]]:
    """Return the number of items, and the reasons of missing ones, by family and language."""
    made: dict[tuple[str, str], int] = {}
    reasons: dict[tuple[str, str], Counter[str]] = {}
    for row in items.sql("SELECT system, language, status, reason FROM answers").to_pylist():
        key = row["system"], row["language"]
        if row["status"] == "ok":
            made[key] = made.get(key, 0) + 1
        else:
            reasons.setdefault(key, Counter())[row["reason"] or row["status"]] += 1
    return made, reasons


def _rows(
    judge: str, sums: Sums, codes: Sequence[str], made: Mapping[tuple[str, str], int], unmade: Reasons
) -> list[PassportRow]:
    """Return the rows of every family and language, and of all languages."""
    rows = []
    for fault in FAMILIES:
        scopes = [(code, [code]) for code in codes] + [("all", list(codes))]
        for language, scope in scopes:
            by_query: dict[str, Array] = {}
            for code in scope:
                for query, values in sums.get((fault, code), {}).items():
                    # A query id shared by several languages is one unit.
                    by_query[query] = by_query.get(query, np.zeros(_WIDTH)) + values
            reasons = sum((unmade.get((fault, code), Counter()) for code in scope), Counter[str]())
            there = sum(made.get((fault, code), 0) for code in scope)
            judged = round(sum(values[1] for values in by_query.values()))
            rows.append(_row((judge, fault, language), by_query, max(there - judged, 0) if made else 0, reasons))
    return rows


def _row(about: tuple[str, str, str], by_query: Mapping[str, Array], unread: int, unmade: Counter[str]) -> PassportRow:
    """Return one row, of a judge, a family and a language."""
    table = np.array([by_query[query] for query in sorted(by_query)]).reshape(-1, _WIDTH)
    why = [f"{n} without an item: {reason}" for reason, n in unmade.most_common()]
    seen = _share(table[:, :2], why[0] if why else _NOTHING)
    split = Estimate(None, None, None, 0, 0, None) if np.isnan(table).any() else _share(table[:, [2, 1]])
    reasons = [*([seen.reason] if seen.reason and seen.reason not in why else []), *why]
    return PassportRow(
        *about, seen.value, seen.low, seen.high, seen.n, seen.queries,
        split.value, split.low, split.high, unread, sum(unmade.values()), "; ".join(reasons) or None,
    )  # fmt: skip


def _share(sums: Array, none: str = _NOTHING) -> Estimate:
    """Estimate a share from its numerator and denominator by query."""
    return estimate([jackknife(sums, lambda s: s[:, 0] / s[:, 1], lambda s: s[:, 1])] if len(sums) else [], none=none)
