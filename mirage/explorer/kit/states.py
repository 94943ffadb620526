"""Labels, progress, missing states and errors of a page."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

import streamlit as st

from mirage.errors import MirageError, NotEnoughData, TableMissing
from mirage.explorer.kit.text import plain
from mirage.store.arena import Arena
from mirage.text.segmentation import as_sentence

_EVERY = 0.1
"""Minimum seconds between updates of a progress bar."""

LABELS = {
    "real answers": ("blue", "Computed from answers of real systems."),
    "published figures": ("violet", "Figures printed in a paper; not recomputed."),
    "published verdicts": (
        "blue",
        "Verdicts of people and LLM judges as published, without texts. The list of tables has source and licence.",
    ),
    "baseline": ("gray", "Built-in systems that need no model."),
    "sample": ("gray", "Synthetic data for trying things out; says nothing about real systems."),
    "simulated": ("orange", "Simulated data, to show how a page works."),
    "own data": ("green", "Imported by you."),
}
"""Badges by kind of numbers: text, colour and meaning."""

STORED = {"real replies": "real answers", "questions only": "queries only"}
"""Display texts of stored labels (`Arena.label`), if different."""


def kind_of(label: str) -> tuple[str, str, str]:
    """Return the text, colour and meaning of an arena's label (`Arena.label`)."""
    label = STORED.get(label, label)
    return (label, *LABELS.get(label, ("gray", "Label set by the arena.")))


def badge_html(text: str, color: str, meaning: str) -> str:
    """Return a badge as HTML, with its meaning on hover; plain text.

    Args:
        text: on the badge.
        color: blue, violet, orange, green or gray.
        meaning: what it means.
    """
    return f'<span class="mg-kind mg-kind-{color}" title="{escape(meaning)}">{escape(text)}</span>'


def badge(label: str) -> None:
    """Show the kind of numbers as a badge, by an arena's label; its meaning is on hover."""
    st.html(badge_html(*kind_of(label)))


@contextmanager
def show_progress(text: str) -> Iterator[Callable[[float, str], None]]:
    """Show a progress bar; yield a function that takes the share done and a message.

    Errors replace the bar.
    """
    bar = st.progress(0.0, text=plain(text))
    last = 0.0

    def move(share: float, message: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            bar.progress(min(share, 1.0), text=plain(message))

    try:
        yield move
    except MirageError as error:
        bar.empty()
        refuse(error)
    else:
        bar.empty()


@contextmanager
def first_time(text: str, arena: Arena) -> Iterator[None]:
    """Show a spinner the first time that something is computed in this session; later it is cached.

    Args:
        text: what is being computed; distinct for each computation.
        arena: the arena it is computed from.
    """
    done: set[tuple[str, str, str]] = st.session_state.setdefault("_first_times", set())
    key = text, arena.address, arena.version
    if key in done:
        yield
        return
    with st.spinner(text, show_time=True):
        yield
    done.add(key)


def missing(error: TableMissing, *, why: str = "") -> None:
    """Show that something is missing: what, why, and the command that brings it, with a copy button.

    Args:
        error: the table that is missing.
        why: the reason.
    """
    with st.container(border=True):
        st.markdown(f"**This arena has no {error.table} table.** {plain(why)}")
        if error.command:
            st.caption("This command adds it; then reload the page.")
            st.code(error.command, language=None, wrap_lines=True)


def refuse(error: MirageError) -> None:
    """Show an error, or that there is too little data: what is wrong, where, what to do. Never a traceback."""
    if isinstance(error, TableMissing):
        missing(error)
        return
    parts = [as_sentence(error.what)]
    parts += [f"Where: {error.where}"] if error.where else []
    parts += [f"To do: {error.do}"] if error.do else []
    box = st.info if isinstance(error, NotEnoughData) else st.error
    box("\n\n".join(plain(part) for part in parts))


@contextmanager
def show_error(arena: Arena) -> Iterator[None]:
    """Show an error of the block, with the name of the arena instead of its path."""
    try:
        yield
    except MirageError as error:
        refuse(error.rename_path(str(arena.path), arena.name))
