"""Sections of a page: all names are shown, one section is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from mirage.explorer.kit.pick import link_state, pick_segments

KEY = "section"


def sections(pickers: Mapping[str, Sequence[str]]) -> str:
    """Offer the sections of a page, and return the one to draw.

    A link that names a picker of a section opens that section, unless it names a section too.

    Args:
        pickers: keys of the pickers of every section, by its name, which is also the URL value; the first
            section is open unless another one is chosen. At least one.
    """
    fresh = KEY not in st.session_state
    if st.session_state.get(KEY) not in pickers and not fresh:
        st.session_state[KEY] = next(iter(pickers))
    if fresh or link_state().arrived:
        meant = [name for name, keys in pickers.items() if any(key in st.query_params for key in keys)]
        if meant and KEY not in st.query_params:
            st.session_state[KEY] = meant[0]
            if fresh:
                # The URL must be set before the picker is drawn; Streamlit forbids it later.
                st.query_params[KEY] = meant[0]
    chosen: str = pick_segments("Section", tuple(pickers), key=KEY, kind="section")
    return chosen
