"""Responsive columns: side by side if there is room, else stacked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

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


def rules() -> str:
    """Return the style rules for every position's width: one element per row would slow down every click."""
    place = '[class*="st-key-beside_"] > :has(> [class*="{}_"])'
    shares = "".join(f"{place.format(f'_share{n}')} {{ flex-grow: {n}; }}\n" for n in SHARES)
    least = "".join(
        f"{place.format(f'_least{n}')} {{ flex: 1 1 {n}px; min-width: min({n}px, 100%); }}\n" for n in LEAST
    )
    return least + shares
