"""The marks of systems beside their names, above a chart that does not write them itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import streamlit as st

from mirage.explorer.kit.table import mark_html, mode
from mirage.publish.charts.palette import family


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A mark and what has it."""

    system: str
    """Whose mark it is."""
    text: str
    """What is written beside it."""
    dashes: str | None = None
    """The line through its marks, as SVG's `stroke-dasharray`; None where there is none."""


def legend(entries: Iterable[LegendEntry]) -> None:
    """Show marks with their names."""
    st.html(f'<div class="mg-legend">{"".join(map(_entry, entries))}</div>')


def _entry(entry: LegendEntry) -> str:
    """A mark, its line and its text as HTML."""
    line = "" if entry.dashes is None else f'<i style="background: {_line(entry)}"></i>'
    return f"<span>{mark_html(entry.system, mode())} {line}<bdi>{escape(entry.text)}</bdi></span>"


def _line(entry: LegendEntry) -> str:
    """A stretch of a line as a background of CSS: inline SVG does not come through."""
    color = family(entry.system).color(mode())
    if entry.dashes in (None, "none"):
        return color
    stops, place = [], 0
    for k, length in enumerate(map(int, entry.dashes.split(","))):
        stops.append(f"{'transparent' if k % 2 else color} {place}px {place + length}px")
        place += length
    return f"repeating-linear-gradient(90deg, {', '.join(stops)})"
