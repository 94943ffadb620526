"""The bounds of what a page draws, and how it says at once that there is more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.text import note
from mirage.text.segmentation import count_text

ROWS = 100
"""Rows of a table that stand on the page; with more it scrolls within."""
WINDOW = 25
"""Rows at a time of a table that scrolls within."""
MARKS = 3_000
"""Marks of a chart that a browser draws without a wait."""
_FEWEST = 10
"""Systems that are drawn at a time, however many marks each has."""


def page_systems(systems: Sequence[str], *, key: str, marks: int = 1) -> Sequence[str]:
    """Return the systems that a chart draws: all of them, or those of the page that a picker chooses.

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
    """Say in place of a chart that it has too many marks; return whether it has not."""
    marks = sum(len(trace.get("y", ())) for trace in figure["data"])
    if marks > 2 * MARKS:
        note(
            f"Chart too large ({count_text(marks, 'mark')}; limit {2 * MARKS:,}). Choose fewer languages; the table "
            "and download have every value."
        )
    return marks <= 2 * MARKS
