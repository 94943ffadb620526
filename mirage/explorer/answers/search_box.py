"""Button that builds a search index for large arenas, where a search would read all answers."""

from __future__ import annotations

import streamlit as st

from mirage.explorer.kit.states import working
from mirage.store import Arena
from mirage.store import search as store_search

_MANY = 10_000
"""Number of answers above which an index is offered."""
_KB = 1.8
"""Index size per answer of typical length, in bytes."""


def offer_index(arena: Arena) -> None:
    """Offer to index a large arena's answers, if there is no index yet. Call it when a text is searched.

    Args:
        arena: the arena that is searched.
    """
    n = arena.rows("answers")
    if n < _MANY or store_search.has_index(arena):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="search_offer"):
        st.caption(f"Without an index, searching {n:,} answers takes several seconds.", width="content")
        size = max(1, round(n * _KB / 1000))
        pressed = st.button(
            "Build search index",
            help=f"One-time: about {size:,} MB on disk, up to a minute. The index can be deleted at any time.",
        )
    if pressed:
        _build(arena)


def _build(arena: Arena) -> None:
    completed = False
    with working("Building the search index") as progress:
        store_search.build_index(arena, progress)
        completed = True
    if completed:
        st.rerun()
