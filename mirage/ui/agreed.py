"""The badge that says how far people agree with a judge: grey where too few have voted."""

from __future__ import annotations

import streamlit as st

from mirage import votes
from mirage.ui.text import plain
from mirage.views import agreement


def badge(row: votes.Agreement) -> None:
    """Show one row in a line, with what it rests on one hover away."""
    who = "People agree with each other" if row.referee == votes.PEOPLE else f"People agree with {row.referee}"
    color = "green" if row.enough else "gray"
    st.badge(plain(f"{who}: {agreement.words(row)}"), color=color, help=plain(agreement.why(row)))  # type: ignore[arg-type]
