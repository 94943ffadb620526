"""View of the systems' cards: facts about them, as text and columns, and the systems that pass a filter on them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields

import pyarrow as pa

from mirage import schema
from mirage.io.sources.cards import cards_of
from mirage.ranking.facts import SystemFacts, system_facts
from mirage.store.arena import Arena
from mirage.store.makers import makers_of
from mirage.text.makers import BASELINE, OTHER

FACTS = tuple(field.name for field in fields(schema.SystemCard) if field.name != "system")
"""Fields of a card, in order."""
SHOWN = ("about", "licence", "released", "price_out")
"""Fields shown on the leaderboard."""
MEASURED = ("price", "seconds")
"""Facts measured by logged calls (`ranking.facts`)."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter on a field of system cards; systems whose card lacks the field do not pass."""

    key: str
    """Key of its picker."""
    field: str
    """Field of the card."""
    words: str
    """The filter in words, with its value as `{}`."""
    limit: bool = False
    """Whether the value is a maximum; else it must be equal."""

    def options(self, cards: Collection[schema.SystemCard]) -> tuple[str, ...]:
        """Return the values offered for some cards: empty if these do not differ."""
        values = {getattr(card, self.field) for card in cards}
        if not self.limit:
            return tuple(sorted({_text(value) for value in values} - {""})) if len(values) > 1 else ()
        known = sorted(value for value in values if value is not None)
        return tuple(dict.fromkeys(f"{value:g}" for value in known)) if len(known) > 1 else ()

    def takes(self, card: schema.SystemCard, wanted: str) -> bool:
        """Return whether a card passes."""
        value = getattr(card, self.field)
        return value is not None and value <= float(wanted) if self.limit else _text(value) == wanted


FACETS = (
    Facet("weights", "open_weights", "open weights"),
    Facet("price", "price_out", "at most ${} per million output tokens", limit=True),
    Facet("size", "parameters", "at most {}B parameters", limit=True),
    Facet("retriever", "retriever", "passages by {}"),
)
"""The filters."""


def _text(value: str | bool | None) -> str:
    return "open" if value is True else value or ""


def find_choices(arena: Arena, systems: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the values to choose from for some systems, by the key of their facet."""
    cards = [_card(arena, system) for system in systems]
    return {facet.key: options for facet in FACETS if (options := facet.options(cards))}


def chosen_systems(arena: Arena, systems: Sequence[str], wanted: Mapping[str, str]) -> tuple[str, ...]:
    """Return the systems that pass the chosen values of some facets, in order."""
    chosen = [facet for facet in FACETS if facet.key in wanted]
    return tuple(s for s in systems if all(facet.takes(_card(arena, s), wanted[facet.key]) for facet in chosen))


def filter_words(wanted: Mapping[str, str]) -> str:
    """Return the filters and their chosen values in words."""
    return ", ".join(facet.words.format(wanted[facet.key]) for facet in FACETS if facet.key in wanted)


def card_of(arena: Arena, system: str) -> schema.SystemCard | None:
    """Return the card of a system; None if it has none."""
    return cards_of(arena).get(system)


def card_lines(card: schema.SystemCard | None) -> tuple[str, ...]:
    """Return the known facts of a card, one clause each."""
    if card is None:
        return ()
    weights = {True: "open weights", False: "closed weights", None: None}[card.open_weights]
    prices = [
        f"${price:,.6g} per million {of} tokens"
        for price, of in ((card.price_in, "input"), (card.price_out, "output"))
        if price is not None
    ]
    lines = (
        card.about or "",
        ", ".join(part for part in (card.licence, weights) if part),
        f"{card.parameters:g}B parameters" if card.parameters is not None else "",
        f"released {card.released}" if card.released else "",
        ", ".join(prices),
        f"context of {card.context_length:,} tokens" if card.context_length else "",
        f"passages by {card.retriever}" if card.retriever else "",
    )
    return tuple(line for line in lines if line)


def release_words(arena: Arena, systems: Sequence[str]) -> str:
    """Return the years in which the systems were released, as ` (released 2022 to 2024)`; empty if none is known."""
    dates = [card.released for system in systems if (card := card_of(arena, system)) is not None and card.released]
    years = sorted({date[:4] for date in dates})
    if not years:
        return ""
    return f" (released {years[0]})" if len(years) == 1 else f" (released {years[0]} to {years[-1]})"


def with_facts(rows: pa.Table, arena: Arena) -> tuple[pa.Table, tuple[str, ...]]:
    """Add the columns of leaderboards: description, organisation, licence, release date, prices, latency.

    Returns:
        The rows with the columns `about`, `organisation`, `licence`, `released`, `price_out`, `price` (US dollars per
        1,000 answers) and `seconds` (median latency); and the names of the columns with a value.
    """
    systems = rows["system"].to_pylist()
    cards, makers, measured = [_card(arena, s) for s in systems], makers_of(arena), system_facts(arena, systems)
    names = [maker if (maker := makers.of(system)) not in (BASELINE, OTHER) else None for system in systems]
    columns = {}
    for fact in SHOWN:
        kind = schema.arrow_schema("systems").field(fact).type
        columns[fact] = pa.array([getattr(card, fact) for card in cards], kind)
    columns = {"about": columns.pop("about"), "organisation": pa.array(names, pa.string()), **columns}
    for name in MEASURED:
        columns[name] = pa.array([getattr(measured[system], name) for system in systems], pa.float64())
    for name, column in columns.items():
        rows = rows.append_column(name, column)
    return rows, tuple(name for name, column in columns.items() if column.null_count < len(column))


def with_cards(rows: pa.Table, arena: Arena) -> pa.Table:
    """Add the facts of each `system`'s card as columns; rows without any card are unchanged.

    Args:
        rows: a table with a column `system`.
        arena: the arena of the systems.
    """
    cards = [_card(arena, system) for system in rows["system"].to_pylist()]
    if not any(getattr(card, fact) is not None for card in cards for fact in FACTS):
        return rows
    for field in schema.arrow_schema("systems"):
        if field.name in FACTS:
            values = [getattr(card, field.name) for card in cards]
            name = field.name if field.name != "source" else "card_source"
            rows = rows.append_column(name, pa.array(values, field.type))
    return rows


def _card(arena: Arena, system: str) -> schema.SystemCard:
    nothing = dict.fromkeys(FACTS)
    return card_of(arena, system) or schema.SystemCard(system, **nothing)


def facts_of(arena: Arena) -> Mapping[str, SystemFacts]:
    """Return price and latency of the systems with cards; empty without answers."""
    return system_facts(arena, cards_of(arena)) if "answers" in arena.tables else {}


def explain_limits(facts: Collection[SystemFacts], max_price: float | None, max_latency: float | None) -> str:
    """Return why limits on price and latency leave no system."""
    reasons = []
    for option, limit, values in (
        ("--max-price", max_price, [fact.price for fact in facts]),
        ("--max-latency", max_latency, [fact.seconds for fact in facts]),
    ):
        known = [value for value in values if value is not None]
        least = f"the least of {len(known)} known is {min(known):g}" if known else "that of no system is known"
        reasons += [] if limit is None else [f"{option} {limit:g}: {least}"]
    return f"no system is left: {'; '.join(reasons)}"
