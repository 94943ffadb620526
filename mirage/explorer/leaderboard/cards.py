"""Cards of systems: a line of text, and the pickers that filter systems by them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from mirage import schema
from mirage.explorer.kit.pick import pick, pick_segments
from mirage.explorer.kit.text import link_html
from mirage.store.arena import Arena
from mirage.views.system_cards import card_lines, chosen_systems, filter_words, find_choices

PICKERS = {
    "weights": ("Weights", "choice of weights", None),
    "price": ("Max price", "price", "US dollars per million output tokens."),
    "size": ("Max size", "size", "Billions of parameters."),
    "retriever": ("Retriever", "retriever", None),
}
"""Label, noun for the options, and help of the picker of each filter (`system_cards.FACETS`)."""
_ANY = "any"


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
    for key, (label, kind, about) in PICKERS.items():
        if key in choices:
            options, draw = (_ANY, *choices[key]), pick_segments if key == "weights" else pick
            picked = draw(label, options, key=key, kind=kind, help=about)
            wanted |= {} if picked == _ANY else {key: picked}
    shown = chosen_systems(arena, systems, wanted)
    if not shown:
        st.caption(f":orange[No data for any of the {len(systems)} systems: showing all.]")
    return shown or tuple(systems), filter_words(wanted)


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
