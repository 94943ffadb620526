"""The head of a page as one element, since every element costs a click: title, what kind of numbers, question, summary.

Its rules are in style.css.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from mirage.ui.entries import PageEntry
from mirage.ui.states import kind_of


class Head:
    """The head of the page that is being drawn: it stands where it is made, and changes as more becomes known."""

    def __init__(self, entry: PageEntry, label: str) -> None:
        """Draw it.

        Args:
            entry: the page.
            label: kind of the numbers, as an arena has it.
        """
        self._entry, self._label, self._summary = entry, label, ""
        self._place = st.html(self._written())

    def change(self, *, label: str | None = None, summary: str | None = None) -> None:
        """Draw it again with another label, or a summary as plain text."""
        self._label = self._label if label is None else label
        self._summary = self._summary if summary is None else summary
        self._place.html(self._written())

    def _written(self) -> str:
        """The head as HTML; all of it is escaped."""
        shown, color, meaning = kind_of(self._label)
        kind = f'<span class="mg-kind mg-kind-{color}" title="{escape(meaning)}">{escape(shown)}</span>'
        summary = f'<p class="mg-summary">{escape(self._summary)}</p>' if self._summary else ""
        title, about = escape(self._entry.title), escape(self._entry.question)
        return f'<div class="mg-page"><h1>{title}</h1>{kind}<p>{about}</p>{summary}</div>'
