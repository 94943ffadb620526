"""The head of a page as one element, since every element costs a click: title, what kind of numbers, question, summary.

Its rules are in style.css.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from mirage.explorer.kit.entries import PageEntry
from mirage.explorer.kit.states import badge_html, kind_of


class Head:
    """The head of the page that is being drawn: it stands where it is made, and changes as more becomes known.

    A page mostly says what it said before: where that is known it is drawn at once, and again only where the page says
    something else.
    """

    def __init__(self, entry: PageEntry, label: str) -> None:
        """Have a place for it here.

        Args:
            entry: the page.
            label: kind of the numbers, as an arena has it.
        """
        self._entry, self._arena_label = entry, label
        self._place = st.empty()

    def begin(self, before: str = "") -> None:
        """Draw it as far as it is known; called in every run of a page, and `settle` at its end.

        Args:
            before: the head that this page had when it ran last, as HTML.
        """
        self._label, self._summary, self._conclusion = self._arena_label, "", ""
        self._shown = before or self.written
        self._place.html(self._shown)

    def label(self, label: str) -> None:
        """Set the kind of the numbers; drawn with what the page says next."""
        self._label = label

    def fill(self, summary: str, conclusion: str = "") -> None:
        """Draw the summary and conclusion; plain text."""
        self._summary, self._conclusion = summary, conclusion
        self.settle()

    def settle(self) -> None:
        """Draw it as it is now, if that is not what stands there."""
        if self.written != self._shown:
            self._shown = self.written
            self._place.html(self._shown)

    @property
    def summary(self) -> str:
        """The summary as it stands; empty while there is none."""
        return self._summary

    @property
    def written(self) -> str:
        """The head as HTML; all of it is escaped."""
        kind = badge_html(*kind_of(self._label))
        conclusion = f'<p class="mg-conclusion">{escape(self._conclusion)}</p>' if self._conclusion else ""
        summary = f'<p class="mg-summary">{escape(self._summary)}</p>' if self._summary else ""
        title, about = escape(self._entry.title), escape(self._entry.question)
        return f'<div class="mg-page"><h1>{title}</h1>{kind}<p>{about}</p>{conclusion}{summary}</div>'
