"""From question to question: the one shown is in the address, the next one a key away, all of them in a list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import streamlit as st

from mirage.errors import UnknownName
from mirage.ui import listing
from mirage.ui.text import plain
from mirage.views.keys import PAGE, Key, Keys, name


def current(
    page: str, found: Keys, state: Hashable, resolve: Callable[[str], Key], *, start: Key | None = None
) -> Key | None:
    """The question to show: the one in the address, else one that matches; kept in the address.

    Args:
        page: the page's name.
        found: the questions that match.
        state: arena and filters: a question that was shown gives way when others leave it out.
        resolve: the question that a link means; raises UnknownName.
        start: one that matches, to be shown where the address names none; the first unless given.
    """
    asked = st.query_params.get("query", "")
    before = st.session_state.get(f"_{page}_before", ("", state))
    key = None
    if asked:
        try:
            key = resolve(asked)
        except UnknownName as error:
            if before[0] != asked:
                said = f"The link asks for something else: {error.what}; {error.do}"
                st.session_state[f"_{page}_problem"] = said
        # A question that was shown gives way when other filters leave it out; one that a link asks for does not.
        if key is not None and found.place(key) is None and before[0] == asked and before[1] != state:
            key = None
    elif (number := st.query_params.get("page", "")).isdecimal() and found.page(int(number)):
        key = found.page(int(number))[0]
    if key is None and found.keys:
        key = start or found.keys[0]
    there = name(key) if key else ""
    st.query_params.pop("page", None)
    if there and there != asked:
        st.query_params["query"] = there
    st.session_state[f"_{page}_before"] = (there, state)
    if problem := st.session_state.get(f"_{page}_problem"):
        st.caption(f":orange[{plain(problem)}]")
    return key


def go(page: str, question: str) -> None:
    """Show another question, by its name."""
    st.session_state.pop(f"_{page}_problem", None)
    st.query_params["query"] = question


def steps(page: str, found: Keys, key: Key) -> str:
    """Draw the buttons to the previous and the next question, which the arrow keys press.

    Returns:
        Which of the questions that match this one is, in words.
    """
    place = found.place(key)
    following = 0 if place is None else place + 1
    for label, shortcut, to in (
        ("Previous", "Left", None if place is None else place - 1),
        ("Next", "Right", following),
    ):
        there = to is not None and 0 <= to < len(found.keys)
        st.button(
            label,
            key=f"{page}_{shortcut.lower()}",
            shortcut=shortcut,
            disabled=not there,
            on_click=go,
            args=(page, name(found.keys[to]) if there and to is not None else ""),
        )
    return "not among the questions that match" if place is None else f"{place + 1:,} of {len(found.keys):,}"


def choose(page: str, found: Keys, key: Key, entries: Callable[[tuple[Key, ...]], Sequence[listing.Entry]]) -> None:
    """Draw the page of the list that holds a question, and the way to its other pages.

    Args:
        page: the page's name.
        found: the questions that match.
        key: the one that is shown.
        entries: the lines of some questions; their keys are the questions' names.
    """
    place = found.place(key)
    number = 1 if place is None else place // PAGE + 1
    listing.listing(
        entries(found.page(number)),
        current=name(key),
        key=f"{page}_listing",
        on_pick=lambda question: go(page, question),
    )
    if found.pages > 1:
        picker = f"{page}_page_{number}"
        st.pagination(
            found.pages, default=number, key=picker, max_visible_pages=5, on_change=_turn, args=(page, found, picker)
        )


def _turn(page: str, found: Keys, picker: str) -> None:
    """Show the first question of the page of the list that was picked."""
    go(page, name(found.page(st.session_state[picker])[0]))
