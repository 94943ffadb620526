"""Cards of systems: as text and columns, and filters on them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.io.sources.cards import cards_of as cards_of
from mirage.ranking.facts import system_facts
from mirage.store import makers_of
from mirage.text.makers import BASELINE, OTHER

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

FACTS = tuple(field.name for field in fields(schema.SystemCard) if field.name != "system")
"""Fields of a card, in order."""
SHOWN = ("licence", "released", "price_out")
"""Fields shown on the leaderboard."""
MEASURED = ("price", "seconds")
"""Facts measured by logged calls (`ranking.facts`)."""


@dataclass(frozen=True, slots=True)
class CardFilter:
    """Filter on system cards. Systems whose card lacks a required value do not pass."""

    open_weights: bool = False
    """Only systems with downloadable weights."""
    price: float | None = None
    """Maximum US dollars per million output tokens (`price_out`); None for any."""
    parameters: float | None = None
    """Maximum billions of parameters; None for any."""
    retriever: str | None = None
    """Retriever; None for any."""

    @property
    def words(self) -> str:
        """Describe the filter in words; empty without conditions."""
        clauses = (
            "open weights" if self.open_weights else "",
            f"at most ${self.price:g} per million output tokens" if self.price is not None else "",
            f"at most {self.parameters:g}B parameters" if self.parameters is not None else "",
            f"passages by {self.retriever}" if self.retriever is not None else "",
        )
        return ", ".join(clause for clause in clauses if clause)

    def takes(self, card: schema.SystemCard) -> bool:
        """Return whether a card passes the filter."""
        return (
            (not self.open_weights or card.open_weights is True)
            and _under(card.price_out, self.price)
            and _under(card.parameters, self.parameters)
            and self.retriever in (None, card.retriever)
        )


@dataclass(frozen=True, slots=True)
class CardChoices:
    """Filter values offered for an arena's cards."""

    open_weights: bool
    """Whether systems differ in open weights."""
    prices: tuple[float, ...]
    """Distinct output prices, ascending; empty if fewer than two."""
    parameters: tuple[float, ...]
    """Distinct sizes, ascending; empty if fewer than two."""
    retrievers: tuple[str, ...]
    """Retrievers; empty if there are none."""

    def __bool__(self) -> bool:
        return bool(self.open_weights or self.prices or self.parameters or self.retrievers)


def choices(arena: Arena, systems: Collection[str]) -> CardChoices:
    """Return the filter values offered for some systems."""
    cards = [_card(arena, system) for system in systems]
    retrievers = sorted({card.retriever for card in cards if card.retriever})
    return CardChoices(
        open_weights=len({card.open_weights for card in cards}) > 1 and any(card.open_weights for card in cards),
        prices=_several({card.price_out for card in cards}),
        parameters=_several({card.parameters for card in cards}),
        retrievers=tuple(retrievers),
    )


def chosen_systems(arena: Arena, systems: Sequence[str], wanted: CardFilter) -> tuple[str, ...]:
    """Return the selected systems, in order."""
    return tuple(system for system in systems if wanted.takes(_card(arena, system)))


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
    makers = makers_of(arena)
    names = [maker if (maker := makers.of(system)) not in (BASELINE, OTHER) else None for system in systems]
    known: list[str] = []
    values: dict[str, tuple[list[Any], pa.DataType]] = {"organisation": (names, pa.string())}
    for fact in SHOWN:
        values[fact] = (
            [getattr(_card(arena, system), fact) for system in systems],
            schema.arrow_schema("systems").field(fact).type,
        )
    measured = system_facts(arena, systems)
    for name in MEASURED:
        values[name] = [getattr(measured[system], name) for system in systems], pa.float64()
    for name, (column, kind) in values.items():
        rows = rows.append_column(name, pa.array(column, kind))
        known += [name] if any(value is not None for value in column) else []
    return rows, tuple(known)


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


def _several(values: Collection[float | None]) -> tuple[float, ...]:
    known = tuple(sorted(value for value in values if value is not None))
    return known if len(known) > 1 else ()


def _under(value: float | None, most: float | None) -> bool:
    return most is None or (value is not None and value <= most)


def with_lines(rows: pa.Table, arena: Arena) -> list[dict[str, Any]]:
    """Return rows with a `system` as dicts, with a summary of its card as `card`."""
    known = cards_of(arena)
    return [row | {"card": card_lines(known.get(row["system"]))} for row in rows.to_pylist()]
