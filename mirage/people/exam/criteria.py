"""Agreement of a judge's criteria: equal decisions on the same battles, and the order of the systems."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mirage.battles.decided import DecidedBattles, decide_battles
from mirage.battles.verdict_rows import COLUMNS, OF_KNOWN
from mirage.errors import NotEnoughData
from mirage.people.exam.items import Opinions, items_of
from mirage.people.exam.order import Order, order_measures, order_of
from mirage.people.votes.agreement import judges_agreement
from mirage.people.votes.coefficients import Coefficient
from mirage.schema import OVERALL, CodeOrAll, Count, Share

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

DRAWS, SEED = 500, 0


@dataclass(frozen=True, slots=True)
class CriteriaAgreement:
    """Agreement of one judge's verdicts by two criteria, in one language."""

    key = ("judge", "one", "other", "language")

    judge: str
    """The judge, without its criterion."""
    one: str
    """The criterion that sorts first."""
    other: str
    """The other criterion."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages, with equal weights."""
    battles: Count
    """Battles decided by both."""
    queries: Count
    """Their queries, the units of the intervals."""
    systems: Count
    """Systems in the order that `tau` compares."""
    equal: Share | None
    """Share of the battles with the same decision: the same winner, or both ties."""
    equal_low: Share | None
    """Lower end of the 95% interval of `equal`, over queries."""
    equal_high: Share | None
    """Upper end."""
    tau: Coefficient | None
    """Kendall's tau-b of the systems' ratings by the two criteria on these battles; null with fewer than 3 systems."""
    tau_low: Coefficient | None
    """Lower end of the interval of `tau`, which covers every two orders that agree with the significant differences."""
    tau_high: Coefficient | None
    """Upper end."""
    reason: str | None
    """Why a value or an interval is null."""


def criteria_agreement(arena: Arena, *, draws: int = DRAWS, seed: int = SEED) -> list[CriteriaAgreement]:
    """Compare every two criteria of each judge on the battles that it decided by both.

    Args:
        arena: with judgments.
        draws: draws of queries behind the intervals.
        seed: seed of the draws.

    Returns:
        By judge, criteria and language; `all` after the languages if there are several.

    Raises:
        TableMissing: if the arena has no judgments.
        NotEnoughData: if no judge has verdicts by two criteria on the same battle.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    arena.need("judgments")
    rows = []
    for judge, names in _criteria(arena).items():
        if len(names) < 2:
            continue
        judgments = arena.read("judgments", columns=COLUMNS)
        for one, other in combinations(sorted(names), 2):
            both = pa.array([names[one], names[other]], pa.string())
            pair = judgments.filter(pc.is_in(judgments["judge"], both))
            rows += _compare((judge, one, other), (names[one], names[other]), pair, draws, seed)
    if not rows:
        raise NotEnoughData(
            "no judge has verdicts by two criteria on the same battle",
            do="judge by another one: mirage judge DIR --judge NAME --model MODEL --criterion groundedness",
        )
    return rows


def _criteria(arena: Arena) -> dict[str, dict[str, str]]:
    """Return the judge names by criterion, by judge without its criterion. Known-answer pairs do not count."""
    table = arena.sql(
        "SELECT DISTINCT judge, criterion FROM judgments WHERE person IS NOT TRUE AND NOT starts_with(judge, ?) "
        "ORDER BY judge",
        [OF_KNOWN],
    )
    names: dict[str, dict[str, str]] = {}
    for row in table.to_pylist():
        criterion = row["criterion"] or OVERALL
        names.setdefault(row["judge"].removesuffix(f": {criterion}"), {})[criterion] = row["judge"]
    return names


def _compare(
    about: tuple[str, str, str], names: tuple[str, str], judgments: pa.Table, draws: int, seed: int
) -> list[CriteriaAgreement]:
    """Return the rows of two criteria of a judge."""
    orders = _orders(decide_battles(judgments), names, draws, seed)
    rows = []
    for _, row in judges_agreement(judgments, draws=draws, seed=seed):
        scope = orders.values() if row.language == "all" else [orders[row.language]]
        pairs = [pair for pair in scope if pair is not None]
        tau = order_measures(pairs, none="fewer than three systems")["tau_b"]
        reasons = dict.fromkeys(reason for reason in (row.reason, tau.reason) if reason)
        rows.append(
            CriteriaAgreement(
                *about,
                row.language,
                row.n,
                row.queries,
                tau.n,
                row.raw,
                row.raw_low,
                row.raw_high,
                tau.value,
                tau.low,
                tau.high,
                "; ".join(reasons) or None,
            )
        )
    return rows


def _orders(
    battles: DecidedBattles, names: tuple[str, str], draws: int, seed: int
) -> dict[str, tuple[Order, Order] | None]:
    """Return the order of the systems by both names on their common battles, by language; None without an order."""
    orders: dict[str, tuple[Order, Order] | None] = {}
    other = battles.judges.index(names[1]) if names[1] in battles.judges else -1
    for k, code in enumerate(battles.languages):
        rows = np.flatnonzero((battles.judge == other) & (battles.language == k))
        opinions = Opinions(
            code,
            battles.queries,
            battles.systems,
            battles.query[rows],
            battles.first[rows],
            battles.second[rows],
            np.eye(3)[battles.label[rows]],
            np.zeros(len(rows)),
        )
        items = items_of(battles, {code: opinions}).get(names[0], {}).get(code) if len(rows) else None
        if items is None or not len(items):
            orders[code] = None
            continue
        one, two = (order_of(items, taken, draws=draws, seed=seed) for taken in (items.points, items.people))
        orders[code] = None if one is None or two is None else (one, two)
    return orders
