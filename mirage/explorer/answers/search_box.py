"""The offer to index the answers of a large arena, where a search would read them all."""

from __future__ import annotations

import streamlit as st

from mirage.explorer.kit.states import working
from mirage.store import Arena
from mirage.store import search as store_search

_MANY = 10_000
"""Answers that are read in a moment; more are worth an index."""
_KB = 1.8
"""What an answer of usual length takes in the index."""


def offer_index(arena: Arena) -> None:
    """Offer to index an arena's answers, where they are many and it is not done; to be called where a text is sought.

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
