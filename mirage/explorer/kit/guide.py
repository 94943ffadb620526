"""Links to the guide and its tour, where a deployment serves them."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import streamlit as st

ADDRESS = "MIRAGE_GUIDE_URL"
"""Environment variable: address of the built guide (`make docs`)."""
TOUR = "tour.html"
"""The tour of the pages (`docs/tour.md`), relative to the guide's address."""


def guide_link() -> None:
    """Link the guide and its tour in the sidebar, if its address is set."""
    url = os.environ.get(ADDRESS, "").strip()
    if urlsplit(url).scheme not in ("https", "http"):
        return
    with st.container(horizontal=True, gap="small"):
        st.link_button("Guide", url, type="tertiary")
        st.link_button("Tour", f"{url.rstrip('/')}/{TOUR}", type="tertiary")
