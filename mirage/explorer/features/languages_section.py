"""Section on the passage languages that each system prefers to cite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache

import streamlit as st

from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.language_pairs import show_pairs
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.text import plain
from mirage.stages.across.preference import OWN, LanguagePreference
from mirage.stages.across.summary import is_cross_lingual, system_preference
from mirage.store import Arena


@lru_cache(maxsize=8)
def preference(arena: Arena, languages: tuple[str, ...]) -> tuple[LanguagePreference, ...]:
    """Return the language preferences of the systems; empty if passages are in one language."""
    if "answers" not in arena.tables or not is_cross_lingual(arena):
        return ()
    return tuple(system_preference(arena, languages=languages))


def show_cited_languages(page: Page, codes: Sequence[str]) -> None:
    """Show one system's preference by languages of query and cited passage; nothing if passages are in one language."""
    rows = preference(page.arena, tuple(codes))
    if not rows:
        return
    st.subheader("Languages of cited passages", anchor=False)
    system = pick("System", sorted({row.name for row in rows}), key="cited_of", kind="system", width=300)
    own = [row for row in rows if row.name == system]
    claimed = any(row.significant for row in own if row.passage_language == OWN)
    st.caption(
        plain(
            "Share of a language in the cited passages, minus its share in the passages shown, within relevance "
            "classes. "
            + (
                "Significantly prefers the query's language."
                if claimed
                else "No significant preference for the query's language."
            )
        )
    )
    shown = [{**asdict(row), "value": row.preference} for row in own]
    show_pairs(shown, key="cited_pairs", alt=f"Language preference of {system}.", value="Preference", signed=True)
