"""Navigation between queries: the current one in the URL, keys for previous and next, a list of all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import streamlit as st

from mirage.errors import UnknownName
from mirage.explorer.kit import listing
from mirage.explorer.kit.query_keys import PAGE, Key, Keys, key_text
from mirage.explorer.kit.text import plain

_DIGITS = 9
"""Maximum digits of a page number."""


def current_query(
    page: str, queries: Keys, state: Hashable, resolve: Callable[[str], Key], *, start: Key | None = None
) -> Key | None:
    """Return the query to show: the one in the address, else a matching one, which the address then names.

    Args:
        page: the page's name.
        queries: matching queries.
        state: arena and filters: a query that was shown gives way when others leave it out.
        resolve: the query that a link means; raises UnknownName.
        start: one that matches, to be shown where the address names none; the first unless given.
    """
    requested = st.query_params.get("query", "")
    before = st.session_state.get(f"_{page}_before", ("", state))
    key = None
    if requested:
        try:
            key = resolve(requested)
        except UnknownName as error:
            if before[0] != requested:
                message = f"Unknown value in the link: {error.what}; {error.do}"
                st.session_state[f"_{page}_problem"] = message
        # A query that the filters exclude is replaced, unless a link names it.
        if key is not None and queries.place(key) is None and before[0] == requested and before[1] != state:
            key = None
    elif number := st.query_params.get("page", ""):
        # Limit the digits: Python rejects very long integers, and others are slow.
        place = int(number) if number.isdecimal() and len(number) <= _DIGITS else 0
        if place > 0 and queries.page(place):
            key = queries.page(place)[0]
        else:
            st.session_state[f"_{page}_problem"] = (
                f"Unknown value in the link: no page {number[:_DIGITS]}; use 1 to {queries.pages}"
            )
    if key is None and queries.keys:
        key = start or queries.keys[0]
    query_name = key_text(key) if key else ""
    st.query_params.pop("page", None)
    if query_name and query_name != requested:
        st.query_params["query"] = query_name
    st.session_state[f"_{page}_before"] = (query_name, state)
    if problem := st.session_state.get(f"_{page}_problem"):
        st.caption(f":orange[{plain(problem)}]")
    return key


def go(page: str, query: str) -> None:
    """Switch to another query, by its name."""
    st.session_state.pop(f"_{page}_problem", None)
    st.query_params["query"] = query


def step_buttons(page: str, queries: Keys, key: Key) -> str:
    """Draw the buttons to the previous and the next query, which the arrow keys press.

    Returns:
        The position among the matching queries, in words.
    """
    place = queries.place(key)
    following = 0 if place is None else place + 1
    for label, shortcut, target in (
        ("Previous", "Left", None if place is None else place - 1),
        ("Next", "Right", following),
    ):
        exists = target is not None and 0 <= target < len(queries.keys)
        st.button(
            label,
            key=f"{page}_{shortcut.lower()}",
            shortcut=shortcut,
            disabled=not exists,
            on_click=go,
            args=(page, key_text(queries.keys[target]) if exists and target is not None else ""),
        )
    return "does not match the filters" if place is None else f"{place + 1:,} of {len(queries.keys):,}"


def list_page(
    page: str, queries: Keys, key: Key, entries: Callable[[tuple[Key, ...]], Sequence[listing.ListEntry]]
) -> None:
    """Draw the page of the list that contains a query, and links to other pages.

    Args:
        page: the page's name.
        queries: those that match.
        key: the one that is shown.
        entries: the lines of some queries; their keys are the queries' names.
    """
    place = queries.place(key)
    number = 1 if place is None else place // PAGE + 1
    listing.listing(
        entries(queries.page(number)),
        current=key_text(key),
        key=f"{page}_listing",
        on_pick=lambda query: go(page, query),
    )
    if queries.pages > 1:
        picker = f"{page}_page_{number}"
        st.pagination(
            queries.pages,
            default=number,
            key=picker,
            max_visible_pages=5,
            on_change=_turn,
            args=(page, queries, picker),
        )


def _turn(page: str, queries: Keys, picker: str) -> None:
    """Switch to the first query of the selected list page."""
    go(page, key_text(queries.page(st.session_state[picker])[0]))
