"""Link to the guide, where a deployment serves it."""

from __future__ import annotations

import os

import streamlit as st

ADDRESS = "MIRAGE_GUIDE_URL"
"""Environment variable: address of the built guide (`make docs`)."""


def guide_link() -> None:
    """Link the guide in the sidebar, if its address is set."""
    url = os.environ.get(ADDRESS, "").strip()
    if url.startswith(("https://", "http://")):
        st.link_button("Guide", url, type="tertiary")
