"""Price and latency of a system, from its card and its calls in the ledger."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from mirage.io.sources.cards import cards_of
from mirage.ranking.decide.records import SystemFacts
from mirage.schema import SystemCard
from mirage.store import kept_ledger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.store import Arena


def system_facts(
    arena: Arena, systems: Iterable[str], *, tokens_in: float | None = None, tokens_out: float | None = None
) -> dict[str, SystemFacts]:
    """Return the known facts of each system.

    Args:
        arena: with cards in the table `systems`, or published systems with cards; its ledger has the calls.
        systems: their names.
        tokens_in: prompt tokens of an answer if the ledger has no call of the system; None if unknown.
        tokens_out: tokens of an answer, likewise.
    """
    cards = cards_of(arena)
    names = sorted(systems)
    calls = _calls(arena, set(names))
    return {name: _facts(name, cards.get(name), calls.get(name, []), tokens_in, tokens_out) for name in names}


def _calls(arena: Arena, systems: set[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the calls behind each system's answers."""
    if "answers" not in arena.tables:
        return {}
    calls_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with kept_ledger(arena.path) as ledger:
        if ledger is None:
            return {}
        sql = "SELECT DISTINCT system, call FROM answers WHERE call IS NOT NULL ORDER BY ALL"
        for row in arena.sql(sql).to_pylist():
            if row["system"] in systems and (call := ledger.get(row["call"])):
                calls_of[row["system"]].append(call)
    return calls_of


def _facts(
    system: str, card: SystemCard | None, calls: list[dict[str, Any]], given_in: float | None, given_out: float | None
) -> SystemFacts:
    tokens = [[call[name] for call in calls if call.get(name) is not None] for name in ("tokens_in", "tokens_out")]
    tokens_in, tokens_out = (
        mean(counts) if counts else given for counts, given in zip(tokens, (given_in, given_out), strict=True)
    )
    price = reason = None
    if card is None or card.price_in is None or card.price_out is None:
        reason = "the system's card has no prices"
    elif tokens_in is None or tokens_out is None:
        reason = "the tokens of its answers are neither in the ledger nor given"
    else:
        price = (tokens_in * card.price_in + tokens_out * card.price_out) / 1e3
    seconds = [call["seconds"] for call in calls if call.get("seconds") is not None]
    return SystemFacts(
        system,
        price,
        reason,
        median(seconds) if seconds else None,
        tokens_in,
        tokens_out,
        len(calls),
        card.licence if card else None,
        card.open_weights if card else None,
        card.context_length if card else None,
    )
