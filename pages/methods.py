"""Page Methods: the definitions of `docs/methods.md`, one at a time, by an index and a search."""

import streamlit as st

from mirage.errors import UnknownName
from mirage.explorer.kit.frame import Page, show
from mirage.explorer.kit.query_navigation import ListEntry, show_list
from mirage.explorer.kit.text import plain
from mirage.explorer.methods.data import definitions


def main(page: Page) -> None:
    """Show the index of the definitions that contain all words of the search, and the chosen one, else the first."""
    words = st.text_input("Search", key="search", bind="query-params", placeholder="rate, interval, tie ...", width=320)
    every = definitions()
    found = [section for section in every if section.matches(words or "")]
    page.summary(f"{len(found)} of {len(every)} definitions.")
    if not found:
        st.info("No definition matches all of these words. Try fewer.")
        return
    term = st.query_params.get("term", "")
    names = [section.name for section in every]
    if term and term not in names:
        error = UnknownName("definition", term, names)
        st.caption(f":orange[{plain(f'Unknown value in the link: {error.what}; {error.do}')}]")
    shown = next((section for section in found if section.name == term), found[0])
    with st.container(horizontal=True, key="methods_body", gap="medium"):
        with st.container(key="methods_index"):
            entries = [ListEntry(section.name, section.name, "", section.group) for section in found]
            show_list(entries, current=shown.name, key="methods_listing", on_pick=open_definition)
        with st.container(key="methods_shown"):
            st.markdown(f"## {shown.name}\n\n{shown.text}", width=760)


def open_definition(name: str) -> None:
    """Put a definition into the link, so that it is shown."""
    st.query_params["term"] = name


show("methods", main)
