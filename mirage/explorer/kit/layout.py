"""The looks of the frame: header of a page, responsive columns, stylesheet and logo."""

from html import escape
from pkgutil import get_data
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mirage.explorer.kit.page_list import PageEntry
from mirage.explorer.kit.states import badge_html, kind_of
from mirage.explorer.kit.text import Markup
from mirage.publish.charts.palette import ink

STYLESHEET = "style.css"
"""The explorer's stylesheet."""
LEAST = (320, 330, 340, 358, 380, 400, 420, 480, 500, 520, 560)
"""Minimum column widths in pixels supported by the stylesheet."""
SHARES = (1, 2, 3, 7, 8, 13, 14, 18, 99)
"""Shares of the width supported by the stylesheet."""


def side_by_side(*parts: tuple[int, int], key: str, gap: Literal["small", "medium"] = "small") -> list[DeltaGenerator]:
    """Return columns that never get narrower than their content needs.

    Args:
        parts: for each column the minimum width in pixels (`LEAST`) and its share of the remaining width (`SHARES`).
        key: unique on the page.
        gap: between the columns.
    """
    row = st.container(horizontal=True, key=f"beside_{key}", gap=gap)
    return [
        row.container(key=f"beside_{key}_{i}_least{least}_share{share}_") for i, (least, share) in enumerate(parts, 1)
    ]


def _column_rules() -> str:
    """Return the style rules for every position's width: one element per row would slow down every click."""
    place = '[class*="st-key-beside_"] > :has(> [class*="{}_"])'
    shares = "".join(f"{place.format(f'_share{n}')} {{ flex-grow: {n}; }}\n" for n in SHARES)
    least = "".join(
        f"{place.format(f'_least{n}')} {{ flex: 1 1 {n}px; min-width: min({n}px, 100%); }}\n" for n in LEAST
    )
    return least + shares


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
        self._label, self.summary, self.conclusion = self._arena_label, "", ""
        self._question = self._entry.question
        self._shown = before or self.written
        self._place.html(self._shown)

    def label(self, label: str) -> None:
        """Set the kind of the numbers; drawn with the next update."""
        self._label = label

    def ask(self, question: str) -> None:
        """Set the question; drawn with the next update."""
        self._question = question

    def fill(self, summary: str, conclusion: str = "") -> None:
        """Draw the summary and conclusion; plain text."""
        self.summary, self.conclusion = summary, conclusion
        self.settle()

    def settle(self) -> None:
        """Redraw the header if it has changed."""
        if self.written != self._shown:
            self._shown = self.written
            self._place.html(self._shown)

    @property
    def written(self) -> str:
        """The header as escaped HTML."""
        kind = badge_html(*kind_of(self._label))
        conclusion = f'<p class="mg-conclusion">{escape(self.conclusion)}</p>' if self.conclusion else ""
        summary = f'<p class="mg-summary">{escape(self.summary)}</p>' if self.summary else ""
        title, about = escape(self._entry.title), escape(self._question)
        top = f'<div class="mg-title"><h1>{title}</h1>{kind}</div>'
        return f'<div class="mg-page">{top}<p>{about}</p>{conclusion}{summary}</div>'


def stylesheet() -> Markup:
    """Return the stylesheet with the colours of the mode."""
    rules = (get_data("mirage.explorer.kit", STYLESHEET) or b"").decode() + _column_rules()
    return Markup(f"<style>:root {{ --mg-ground: {ink().ground}; }}\n{rules}</style>")


def _drawing() -> str:
    """Return the logo in the text colour of the mode."""
    return (
        f"<g fill='{ink().accent}' stroke='{ink().accent}' stroke-width='1.8'>"
        "<path d='M2 6h13M7 12h14M3 18h10'/><circle cx='9' cy='6' r='2.2'/><circle cx='15' cy='12' r='2.2'/>"
        "<circle cx='7' cy='18' r='2.2'/></g>"
    )


def sign() -> str:
    """Return the logo without the name, for a closed sidebar."""
    return f"<svg xmlns='http://www.w3.org/2000/svg' width='24' height='24' viewBox='0 0 24 24'>{_drawing()}</svg>"


def logo() -> str:
    """Return the logo with the name, in the text colour of the mode."""
    return (
        "<svg xmlns='http://www.w3.org/2000/svg' width='104' height='24' viewBox='0 0 104 24'>"
        f"{_drawing()}"
        "<text x='30' y='17.5' font-family='system-ui, Noto Sans, sans-serif' font-size='17' font-weight='650' "
        f"fill='{ink().text}'>mirage</text></svg>"
    )


ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cg stroke='%231f5fa8' "
    "stroke-width='1.6'%3E%3Cpath d='M1 4h9M5 8h10M2 12h7'/%3E%3C/g%3E%3Cg fill='%231f5fa8'%3E%3Ccircle cx='6' cy='4' "
    "r='2'/%3E%3Ccircle cx='10' cy='8' r='2'/%3E%3Ccircle cx='5' cy='12' r='2'/%3E%3C/g%3E%3C/svg%3E"
)
"""The logo: three dots with whiskers."""
