"""A judge's passport: the rate at which it prefers an answer to its copy with a planted fault, by fault and language.

The items are an arena of their own (`mirage.stages.judge.faults`). An item counts 1 if every verdict in both orders
names the original, 0 if every verdict names the faulty copy, and a half otherwise, which is the average of a judge that
cannot tell, whether it ties, guesses, or names a position. The control is an answer beside its own copy.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mirage.battles.decision import FIRST, TIE, decide_battles
from mirage.battles.verdict_rows import COLUMNS, programs
from mirage.errors import NotEnoughData, UnknownName
from mirage.schema import CodeOrAll, Count, Share
from mirage.stages.judge.faults import FAULTS, ORIGINAL
from mirage.stats.jackknife import estimate, jackknife
from mirage.stats.rows import group
from mirage.store.arena import Arena
from mirage.text.languages import in_order


@dataclass(frozen=True, slots=True)
class PassportRow:
    """Rate at which a judge detects one fault in one language."""

    key = ("judge", "fault", "language")

    judge: str
    """The judge."""
    fault: str
    """The fault; `copy` is the control."""
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
    """Items judged in both orders."""
    unread: Count
    """Items without a parsed verdict in both orders."""
    unmade: Count
    """Queries whose answer cannot have this fault."""
    reason: str | None
    """Reason why a value or its interval is null, or why items are missing."""


def passport(items: Arena, judge: str, *, languages: Sequence[str] | None = None) -> list[PassportRow]:
    """Compute the passport of a judge, by fault and language; `all` follows the languages.

    Args:
        items: the arena of the items (`mirage.stages.judge.faults.passport_path`).
        judge: the judge's name.
        languages: codes; None for all.

    Raises:
        TableMissing: if no judge has decided an item.
        UnknownName: if this judge has not.
        NotEnoughData: if it has decided none in these languages.
    """
    items.need("judgments")
    points = _points(items, judge)
    made, unmade = Counter[tuple[str, str]](), dict[tuple[str, str], Counter[str]]()
    for row in items.sql("SELECT system, language, status, reason FROM answers").to_pylist():
        key = row["system"], row["language"]
        if row["status"] == "ok":
            made[key] += 1
        else:
            unmade.setdefault(key, Counter())[row["reason"] or row["status"]] += 1
    codes = [code for code in in_order(items.languages("answers")) if languages is None or code in languages]
    rows = []
    for fault in FAULTS:
        for language, scope in [*((code, [code]) for code in codes), ("all", codes)]:
            # A query id shared by several languages is one unit.
            by_query = group(item for code in scope for item in points.get((fault, code), {}).items())
            reasons = sum((unmade.get((fault, code), Counter()) for code in scope), Counter[str]())
            why = [f"{n} without an item: {reason}" for reason, n in reasons.most_common()]
            none = why[0] if why else "no item was judged in both orders"
            sums = np.array([(sum(own), len(own)) for _, own in sorted(by_query.items())], float).reshape(-1, 2)
            spread = jackknife(sums, lambda s: s[:, 0] / s[:, 1], lambda s: s[:, 1])
            seen = estimate([spread] if len(sums) else [], none=none)
            if seen.reason and seen.reason not in why:
                why = [seen.reason, *why]
            unread = sum(made[fault, code] for code in scope) - seen.n
            found = seen.value, seen.low, seen.high, seen.n, max(unread, 0), reasons.total()
            rows.append(PassportRow(judge, fault, language, *found, "; ".join(why) or None))
    if not any(row.n for row in rows):
        raise NotEnoughData(f"{judge} has decided no item in these languages", do="omit --languages")
    return rows


def judges_of(items: Arena) -> tuple[str, ...]:
    """Return the judges that have decided items, by name."""
    if "judgments" not in items.tables:
        return ()
    rows = items.sql("SELECT DISTINCT judge FROM judgments WHERE person IS NOT TRUE ORDER BY judge")
    return tuple(rows["judge"].to_pylist())


def _points(items: Arena, judge: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return the points of the original on the items that a judge decided in both orders, by fault and language, and
    query.
    """
    battles = decide_battles(programs(items.read("judgments", columns=(*COLUMNS, "person"))))
    if judge not in battles.judges:
        raise UnknownName("judge with a passport", judge, battles.judges, where=items.address)
    orders = np.zeros((len(battles.label), 2), dtype=bool)
    orders[battles.of, battles.verdict_swapped.astype(np.intp)] = True
    own = (battles.judge == battles.judges.index(judge)) & orders.all(axis=1)
    points: dict[tuple[str, str], dict[str, float]] = {}
    for k in np.flatnonzero(own).tolist():
        first, second = battles.systems[battles.first[k]], battles.systems[battles.second[k]]
        fault = second if first == ORIGINAL else first
        if ORIGINAL in (first, second) and fault in FAULTS:
            won = 0.5 if battles.label[k] == TIE else float((battles.label[k] == FIRST) == (first == ORIGINAL))
            key = fault, battles.languages[battles.language[k]]
            points.setdefault(key, {})[battles.queries[battles.query[k]]] = won
    return points
