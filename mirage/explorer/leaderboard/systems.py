"""Filter of systems by their cards, and a card in words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from mirage.explorer.kit.pick import pick, pick_segments
from mirage.explorer.kit.text import link_html
from mirage.explorer.leaderboard import cards

if TYPE_CHECKING:
    from mirage import schema
    from mirage.store import Arena

_ANY = "any"


def pick_systems(arena: Arena, systems: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Draw pickers to filter systems; nothing if their cards do not differ.

    Args:
        arena: the arena.
        systems: all systems that are rated.

    Returns:
        The systems to show, in their order: all without a filter, or if none passes; and the filter in words.
    """
    choices = cards.choices(arena, systems)
    if not choices:
        return tuple(systems), ""
    with st.container(width="content", gap=None):
        # As high as a picker's label, so that the button aligns with the boxes.
        st.html('<div class="mg-label">Systems</div>')
        place = st.popover("Filter", help="Filter systems by their cards. Ranks stay the same.")
    with place:
        wanted = _pick_filter(choices)
    shown = cards.chosen_systems(arena, systems, wanted)
    if wanted != cards.CardFilter() and not shown:
        with place:
            st.caption(f":orange[No data for any of the {len(systems)} systems: showing all.]")
    return shown or tuple(systems), wanted.words


def _pick_filter(choices: cards.CardChoices) -> cards.CardFilter:
    weights = price = size = retriever = _ANY
    if choices.open_weights:
        weights = pick_segments("Weights", (_ANY, "open"), key="weights", kind="choice of weights")
    if choices.prices:
        price = pick(
            "Max price",
            (_ANY, *(f"{value:g}" for value in choices.prices)),
            key="price",
            kind="price",
            help="US dollars per million output tokens.",
        )
    if choices.parameters:
        size = pick(
            "Max size",
            (_ANY, *dict.fromkeys(f"{value:g}" for value in choices.parameters)),
            key="size",
            kind="size",
            help="Billions of parameters.",
        )
    if choices.retrievers:
        retriever = pick("Retriever", (_ANY, *choices.retrievers), key="retriever", kind="retriever")
    return cards.CardFilter(
        open_weights=weights == "open",
        price=None if price == _ANY else float(price),
        parameters=None if size == _ANY else float(size),
        retriever=None if retriever == _ANY else retriever,
    )


def card_line(card: schema.SystemCard | None) -> None:
    """Show a card in a line of small text, with links to the model's page and the sources."""
    lines = cards.card_lines(card)
    if card is None or not lines:
        return
    parts = [escape(line) for line in lines]
    if card.url:
        parts.append(link_html(card.url))
    if card.source:
        parts.append(escape(f"Source: {card.source}"))
    st.html(f'<div class="mg-about">{" · ".join(parts)}</div>')
