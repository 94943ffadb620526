"""The picker of languages in the sidebar: by name, and by family if there are many."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from mirage.explorer.kit.pick import check_link, pick_many
from mirage.text.languages import in_order, language, name_of, search_name

MANY = 18
"""Number of languages above which families are offered."""
_SEARCH = "language_search"


def pick_languages(codes: Sequence[str], problems: list[str]) -> list[str]:
    """Draw the picker.

    Args:
        codes: the languages of the arena.
        problems: list to which problems with the link are added.

    Returns:
        The selected languages, in the usual order; empty for all.
    """
    problems += check_link("languages", "language", codes)
    if len(codes) > MANY:
        _search(codes)
    return in_order(
        pick_many(
            "Languages",
            codes,
            key="languages",
            named=search_name,
            placeholder=f"All {len(codes)} languages" if len(codes) > 1 else name_of(codes[0]) if codes else "None",
            help="Default: all. Search by name, in English or in the language itself, or by code.",
        )
    )


def choices(codes: Sequence[str]) -> dict[str, list[str]]:
    """Return the searchable entries among languages.

    Args:
        codes: the languages.

    Returns:
        Codes by label: first every family of two or more languages with their number, then every language, sorted by
        name.
    """
    families: dict[str, list[str]] = {}
    for code in codes:
        if family := language(code).family:
            families.setdefault(family, []).append(code)
    several = {
        f"{family}: {len(members)} languages": members
        for family, members in sorted(families.items())
        if len(members) > 1
    }
    return several | {search_name(code): [code] for code in sorted(codes, key=name_of)}


def _search(codes: Sequence[str]) -> None:
    """Draw a search by name or family that adds to the selection."""
    by_label = choices(codes)

    def add() -> None:
        if chosen := st.session_state[_SEARCH]:
            picked = st.session_state.get("languages") or []
            st.session_state["languages"] = in_order({*picked, *by_label[chosen]})
            st.session_state[_SEARCH] = None

    st.selectbox(
        "Add languages",
        list(by_label),
        index=None,
        key=_SEARCH,
        placeholder="By name or family",
        on_change=add,
        help="Add a language or a whole family.",
    )
