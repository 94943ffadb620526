"""A legend of systems' marks and names, for charts without labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import streamlit as st

from mirage.explorer.kit.table import mark_html, mode


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A legend entry."""

    system: str
    """System of the mark."""
    text: str
    """Label text."""


def legend(entries: Iterable[LegendEntry]) -> None:
    """Show marks with their names."""
    st.html(f'<div class="mg-legend">{"".join(map(_entry, entries))}</div>')


def _entry(entry: LegendEntry) -> str:
    """Return a mark and its label as HTML."""
    return f"<span>{mark_html(entry.system, mode())} <bdi>{escape(entry.text)}</bdi></span>"
