"""Cards of systems: as text and columns, and the filters on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from mirage import schema
from mirage.explorer.kit.pick import pick, pick_segments
from mirage.explorer.kit.text import link_html
from mirage.io.sources.cards import cards_of as cards_of
from mirage.ranking.facts import system_facts
from mirage.store.makers import makers_of
from mirage.text.makers import BASELINE, OTHER

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena

FACTS = tuple(field.name for field in fields(schema.SystemCard) if field.name != "system")
"""Fields of a card, in order."""
SHOWN = ("licence", "released", "price_out")
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
    label: str
    """Label of its picker."""
    kind: str
    """Noun for its options."""
    words: str
    """The filter in words, with its value as `{}`."""
    limit: bool = False
    """Whether the value is a maximum; else it must be equal."""
    help: str | None = None
    """Help of its picker."""

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
    Facet("weights", "open_weights", "Weights", "choice of weights", "open weights"),
    Facet(
        *("price", "price_out", "Max price", "price", "at most ${} per million output tokens"),
        limit=True,
        help="US dollars per million output tokens.",
    ),
    Facet(
        *("size", "parameters", "Max size", "size", "at most {}B parameters"),
        limit=True,
        help="Billions of parameters.",
    ),
    Facet("retriever", "retriever", "Retriever", "retriever", "passages by {}"),
)
"""The filters."""
_ANY = "any"


def _text(value: str | bool | None) -> str:
    return "open" if value is True else value or ""


def find_choices(arena: Arena, systems: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the values to choose from for some systems, by the key of their facet."""
    cards = [_card(arena, system) for system in systems]
    return {facet.key: options for facet in FACETS if (options := facet.options(cards))}


def chosen_systems(arena: Arena, systems: Sequence[str], wanted: Mapping[str, str]) -> tuple[str, ...]:
    """Return the systems that pass, in order, given the value wanted of some facets."""
    chosen = [facet for facet in FACETS if facet.key in wanted]
    return tuple(s for s in systems if all(facet.takes(_card(arena, s), wanted[facet.key]) for facet in chosen))


def pick_systems(arena: Arena, systems: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Draw the filters of systems by their cards; nothing if these do not differ.

    Args:
        arena: the arena.
        systems: all systems that are rated.

    Returns:
        The systems to show, in their order: all without a filter, or if none passes; and the filter in words.
    """
    choices = find_choices(arena, systems)
    if not choices:
        return tuple(systems), ""
    wanted = dict[str, str]()
    for facet in FACETS:
        if facet.key in choices:
            options, draw = (_ANY, *choices[facet.key]), pick_segments if facet.key == "weights" else pick
            picked = draw(facet.label, options, key=facet.key, kind=facet.kind, help=facet.help)
            wanted |= {} if picked == _ANY else {facet.key: picked}
    shown = chosen_systems(arena, systems, wanted)
    if not shown:
        st.caption(f":orange[No data for any of the {len(systems)} systems: showing all.]")
    words = ", ".join(facet.words.format(wanted[facet.key]) for facet in FACETS if facet.key in wanted)
    return shown or tuple(systems), words


def card_line(card: schema.SystemCard | None) -> None:
    """Show a card in a line of small text, with links to the model's page and the sources."""
    lines = card_lines(card)
    if card is None or not lines:
        return
    parts = [escape(line) for line in lines]
    if card.url:
        parts.append(link_html(card.url))
    if card.source:
        parts.append(escape(f"Source: {card.source}"))
    st.html(f'<div class="mg-about">{" · ".join(parts)}</div>')


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
    dates = [card.released for system in systems if (card := cards_of(arena).get(system)) is not None and card.released]
    years = sorted({date[:4] for date in dates})
    if not years:
        return ""
    return f" (released {years[0]})" if len(years) == 1 else f" (released {years[0]} to {years[-1]})"


def with_facts(rows: pa.Table, arena: Arena) -> tuple[pa.Table, tuple[str, ...]]:
    """Add the columns of leaderboards: organisation, licence, release date, prices, latency.

    Returns:
        The rows with the columns `organisation`, `licence`, `released`, `price_out`, `price` (US dollars per 1,000
        answers) and `seconds` (median latency); and the names of the columns with a value.
    """
    import pyarrow as pa

    systems = rows["system"].to_pylist()
    cards, makers, measured = [_card(arena, s) for s in systems], makers_of(arena), system_facts(arena, systems)
    names = [maker if (maker := makers.of(system)) not in (BASELINE, OTHER) else None for system in systems]
    columns = {"organisation": pa.array(names, pa.string())}
    for fact in SHOWN:
        kind = schema.arrow_schema("systems").field(fact).type
        columns[fact] = pa.array([getattr(card, fact) for card in cards], kind)
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
    import pyarrow as pa

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
    return cards_of(arena).get(system) or schema.SystemCard(system, **nothing)
