"""The header of a page as a single element, since every element slows down reruns: title, badge, question, summary.

Styled in style.css.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from mirage.explorer.kit.page_list import PageEntry
from mirage.explorer.kit.states import badge_html, kind_of


class Head:
    """The header of the running page, placed where it is created and updated as the page computes.

    Headers rarely change: the last header is drawn at once, and redrawn only if the new one differs.
    """

    def __init__(self, entry: PageEntry, label: str) -> None:
        """Reserve its place here.

        Args:
            entry: the page.
            label: kind of the numbers, an arena's label.
        """
        self._entry, self._arena_label = entry, label
        self._place = st.empty()

    def begin(self, before: str = "") -> None:
        """Draw the header known so far; called at the start of every run, with `settle` at its end.

        Args:
            before: the page's header in the last run, as HTML.
        """
        self._label, self._summary, self._conclusion = self._arena_label, "", ""
        self._shown = before or self.written
        self._place.html(self._shown)

    def label(self, label: str) -> None:
        """Set the kind of the numbers; drawn with the next update."""
        self._label = label

    def fill(self, summary: str, conclusion: str = "") -> None:
        """Draw the summary and conclusion; plain text."""
        self._summary, self._conclusion = summary, conclusion
        self.settle()

    def settle(self) -> None:
        """Redraw the header if it has changed."""
        if self.written != self._shown:
            self._shown = self.written
            self._place.html(self._shown)

    @property
    def summary(self) -> str:
        """The current summary; empty if there is none yet."""
        return self._summary

    @property
    def written(self) -> str:
        """The header as escaped HTML."""
        kind = badge_html(*kind_of(self._label))
        conclusion = f'<p class="mg-conclusion">{escape(self._conclusion)}</p>' if self._conclusion else ""
        summary = f'<p class="mg-summary">{escape(self._summary)}</p>' if self._summary else ""
        title, about = escape(self._entry.title), escape(self._entry.question)
        return f'<div class="mg-page"><h1>{title}</h1>{kind}<p>{about}</p>{conclusion}{summary}</div>'
