"""Link to the guide, where a deployment serves it."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import streamlit as st

ADDRESS = "MIRAGE_GUIDE_URL"
"""Environment variable: address of the built guide (`make docs`)."""


def guide_link() -> None:
    """Link the guide in the sidebar, if its address is set."""
    url = os.environ.get(ADDRESS, "").strip()
    if urlsplit(url).scheme in ("https", "http"):
        st.link_button("Guide", url, type="tertiary")
