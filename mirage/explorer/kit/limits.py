"""Limits on what a page draws, with notes on what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.text import note
from mirage.text.segmentation import count_text

ROWS = 100
"""Maximum rows of a table on the page; longer tables scroll."""
WINDOW = 25
"""Visible rows of a scrolling table."""
MARKS = 3_000
"""Maximum marks of a chart that a browser draws quickly."""
_FEWEST = 10
"""Maximum systems per chart, however many marks each has."""


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


def is_drawable(figure: Mapping[str, Any]) -> bool:
    """Return whether a chart has few enough marks; if not, show a note in its place."""
    marks = sum(len(trace.get("y", ())) for trace in figure["data"])
    if marks > 2 * MARKS:
        note(
            f"Chart too large ({count_text(marks, 'mark')}; limit {2 * MARKS:,}). Choose fewer languages; the table "
            "and download have every value."
        )
    return marks <= 2 * MARKS
