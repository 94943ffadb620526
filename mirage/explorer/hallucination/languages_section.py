"""Section on passage languages: correct decisions by the languages of the query and of the passages shown."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache

import streamlit as st

from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.language_pairs import show_pairs
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.text import plain
from mirage.stages.across.summary import DecisionShare, decisions_by_pair
from mirage.store import Arena

PICKERS = ("decisions_of",)
"""Keys of the section's pickers."""


@lru_cache(maxsize=8)
def decisions(arena: Arena, parser: str, languages: tuple[str, ...]) -> tuple[DecisionShare, ...]:
    """Return every system's shares of correct decisions by pair of languages."""
    return tuple(decisions_by_pair(arena, languages=languages, parser=parser))


def show_pairs_of_decisions(page: Page, parser: str) -> None:
    """Show one system's correct decisions by languages of query and passage."""
    st.header("Languages of passages", anchor=False)
    shares = decisions(page.arena, parser, tuple(page.languages("outcomes")))
    systems = sorted({share.system for share in shares})
    if not systems:
        st.caption("No system was shown a relevant passage whose language is known.")
        return
    system = pick("System", systems, key="decisions_of", kind="system", width=300)
    st.caption(
        plain(
            f"Correct decisions of {system}, shown a relevant passage in the column's language: it answers, and "
            "cites a relevant passage or nothing."
        )
    )
    rows = [{**asdict(share), "value": share.share} for share in shares if share.system == system]
    show_pairs(rows, key="decision_pairs", alt=f"Correct decisions of {system} by languages.", value="Correct")
