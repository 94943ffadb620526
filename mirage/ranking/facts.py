"""Price and latency of systems, from their cards and their calls in the ledger."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from mirage.io.sources.cards import cards_of
from mirage.schema import SystemCard
from mirage.store.arena import Arena
from mirage.store.ledger import kept_ledger


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """Price and latency of a system; null where unknown."""

    price: float | None
    """US dollars per 1,000 answers: mean tokens of its calls at the prices of its card."""
    seconds: float | None
    """Median latency of its calls, in seconds."""

    def within(self, max_price: float | None, max_latency: float | None) -> bool:
        """Return whether the system meets both limits; an unknown fact does not meet a limit."""
        limits = ((self.price, max_price), (self.seconds, max_latency))
        return all(limit is None or (value is not None and value <= limit) for value, limit in limits)


def system_facts(arena: Arena, systems: Iterable[str]) -> dict[str, SystemFacts]:
    """Return price and latency of each system.

    Args:
        arena: with cards in the table `systems`, or published systems with cards; its ledger has the calls.
        systems: their names.
    """
    cards, names = cards_of(arena), sorted(systems)
    calls = _calls(arena, set(names))
    return {name: _facts(cards.get(name), calls.get(name, [])) for name in names}


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


def _facts(card: SystemCard | None, calls: list[dict[str, Any]]) -> SystemFacts:
    price = None
    tokens_in, tokens_out, seconds = (
        [call[name] for call in calls if call.get(name) is not None] for name in ("tokens_in", "tokens_out", "seconds")
    )
    if card is not None and card.price_in is not None and card.price_out is not None and tokens_in and tokens_out:
        price = (mean(tokens_in) * card.price_in + mean(tokens_out) * card.price_out) / 1e3
    return SystemFacts(price, median(seconds) if seconds else None)
