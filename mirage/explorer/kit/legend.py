"""The marks of systems beside their names, above a chart that does not write them itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import streamlit as st

from mirage.explorer.kit.table import mark_html, mode


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A mark and what has it."""

    system: str
    """Whose mark it is."""
    text: str
    """What is written beside it."""


def legend(entries: Iterable[LegendEntry]) -> None:
    """Show marks with their names."""
    st.html(f'<div class="mg-legend">{"".join(map(_entry, entries))}</div>')


def _entry(entry: LegendEntry) -> str:
    """A mark and its text as HTML."""
    return f"<span>{mark_html(entry.system, mode())} <bdi>{escape(entry.text)}</bdi></span>"
