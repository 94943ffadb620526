"""Parts of a page beside each other where there is room for them, below each other where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def side_by_side(
    *parts: tuple[int, float], key: str, gap: Literal["small", "medium"] = "small"
) -> list[DeltaGenerator]:
    """Columns that never get narrower than what they show needs.

    Args:
        parts: for each column the least width in pixels, and its share of the width beyond all of these.
        key: unique on the page.
        gap: between the columns.
    """
    rules = "".join(
        f'.st-key-beside_{key} > * > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"]:nth-child({i}) '
        f"{{ flex: {share} 1 {least}px; min-width: min({least}px, 100%); }}"
        for i, (least, share) in enumerate(parts, 1)
    )
    with st.container(key=f"beside_{key}"):
        st.html(f"<style>{rules}</style>")
        return list(st.columns(len(parts), gap=gap))
