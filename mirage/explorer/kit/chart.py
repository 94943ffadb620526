"""Charts on pages: a figure as a plain dict, with PNG and SVG export and, if wanted, the mark that is clicked; a
note says what a chart is too large to draw.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from mirage.explorer.kit.actions import image_format
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.table import ROWS
from mirage.explorer.kit.text import note
from mirage.text.segmentation import count_text
from mirage.views.cache import memoize

_WIDTHS = (400, 600, 800, 1200, 1600, 2000, 2400, 2800, 3200)
"""Widths in pixels supported by the stylesheet."""
MARKS = 3_000
"""Maximum marks of a chart that a browser draws quickly."""
_FEWEST = 10
"""Maximum systems per chart, however many marks each has."""


def chart(
    figure: Mapping[str, Any],
    *,
    key: str,
    alt: str,
    select: bool = False,
    name: str = "",
    wide: bool = False,
    half: bool = False,
) -> Any:
    """Show a figure that carries its own look.

    Args:
        figure: `data` and `layout` as plain dicts, drawn for the page's mode (`table.mode`).
        key: unique on the page.
        alt: what the chart shows, in a sentence, for those who do not see it.
        select: return what is clicked.
        wide: the chart needs 800 pixels, or the width it has; on a narrower screen it scrolls sideways.
        half: the chart is half a page and needs 480 pixels; on a narrower screen it scrolls sideways.
        name: stem of the exported image's file name; the key unless given.

    Returns:
        `customdata` of the clicked mark, or None.
    """
    if not _is_drawable(figure):
        return None
    # Streamlit lets no chart be wider than what holds it: style.css widens that, in steps.
    width = figure["layout"].get("width", 0)
    least = next((pixels for pixels in _WIDTHS if pixels >= width), _WIDTHS[-1])
    fit = "_half" if half else f"_wide{least}" if width else ""
    place: Any = st.container(key=f"scroll_{key}{fit}") if wide or half else st
    config = {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": image_format(), "filename": name or key, "scale": 3},
    }
    state: Any = place.plotly_chart(
        _build_figure(json.dumps(figure)),
        key=key,
        width="content" if width else "stretch",
        theme=None,
        config=config,
        alt=alt,
        on_select="rerun" if select else "ignore",
        selection_mode="points",
    )
    points = state.selection.points if select else []
    return points[0].get("customdata") if points else None


def clicked_mark(key: str) -> Any:
    """Return `customdata` of the mark that is clicked in a chart that comes later in the run, or None."""
    state = st.session_state.get(key)
    points = state.selection.points if state is not None else []
    return points[0].get("customdata") if points else None


@memoize
def _build_figure(figure: str) -> Any:
    """Return a figure in JSON as Plotly's own, which is checked and copied once, not on every run."""
    from plotly.graph_objects import Figure

    made = Figure(json.loads(figure)).to_dict()

    class Drawn(Figure):  # type: ignore[misc]  # Plotly has no types
        """A figure that does not change."""

        def to_dict(self) -> Any:
            return made

    return Drawn()


def page_systems(systems: Sequence[str], *, key: str, marks: int = 1) -> Sequence[str]:
    """Return the systems that a chart draws: all, or one page of them selected by a picker.

    Args:
        systems: in the order of the table.
        key: name of the picker's parameter.
        marks: marks of a system.
    """
    most = min(ROWS, max(_FEWEST, MARKS // marks))
    if len(systems) <= most:
        return systems
    pages = {f"{k + 1}-{min(k + most, len(systems))}": systems[k : k + most] for k in range(0, len(systems), most)}
    chosen: str = pick(
        "Systems shown",
        tuple(pages),
        key=key,
        kind="range of ranks",
        width=150,
        help=f"{most} at a time, by rank. The table and download have all {len(systems):,}.",
    )
    note(f"Chart: systems {chosen} of {len(systems):,}, by rank. Choose others above.")
    return pages[chosen]


def _is_drawable(figure: Mapping[str, Any]) -> bool:
    """Return whether a chart has few enough marks; if not, show a note in its place."""
    marks = sum(len(trace.get("y", ())) for trace in figure["data"])
    if marks > 2 * MARKS:
        note(
            f"Chart too large ({count_text(marks, 'mark')}; limit {2 * MARKS:,}). Choose fewer languages; the table "
            "and download have every value."
        )
    return marks <= 2 * MARKS
