"""Page Methods: the definitions of `docs/methods.md`, searchable."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from mirage.explorer.kit.frame import Page, show
from mirage.explorer.methods.data import definitions


def main(page: Page) -> None:
    """Show the definitions that contain all words of the search, by group."""
    words = st.text_input("Search", key="search", bind="query-params", placeholder="rate, interval, tie ...", width=320)
    every = definitions()
    shown = [section for section in every if section.matches(words or "")]
    page.summary(f"{len(shown)} of {len(every)} definitions.")
    if not shown:
        st.info("No definition matches all of these words. Try fewer.")
    for group, sections in groupby(shown, key=lambda section: section.group):
        parts = [f"## {group}"]
        for section in sections:
            parts += [f"### {section.title}"] * bool(section.title) + [section.text]
        st.markdown("\n\n".join(parts), width=760)


show("methods", main)
