"""The missing state of texts: what is missing, why, the commands, and a download button."""

from __future__ import annotations

import streamlit as st

from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.states import working
from mirage.explorer.kit.text import note, plain
from mirage.store import home
from mirage.store.arena import open_arena


def absent(page: Page) -> None:
    """Offer to download NoMIRACL's texts, or to open the arena that has them; of other arenas say that they have none.

    Args:
        page: the page whose arena lacks them.
    """
    if not page.arena.name.startswith("nomiracl"):
        note("Numbers only: the texts they were computed from were not imported.")
        return
    with st.expander("Download the texts (about 75 MB)", key="texts_absent"):
        st.caption(
            "Only the numbers are bundled. Queries, passages and answers come from NoMIRACL’s public repository."
        )
        if _there():
            st.button("Open the arena with texts", type="primary", on_click=_open)
            return
        folder = home.home_folder()
        with st.container(horizontal=True, gap="small"):
            about = f"Into {plain(str(folder))}. Takes a minute or two."
            asked = st.button("Download texts", type="primary", help=about)
            page.offer_arena("answers")
        if asked:
            _bring()
        st.caption("Or on the command line, into your own folder:")
        st.code(
            "mirage pull nomiracl --into ANSWERS\n"
            "mirage import nomiracl ANSWERS --into ARENA\n"
            "mirage measure features ARENA\n"
            "mirage app ARENA",
            language=None,
            wrap_lines=True,
        )


def _there() -> bool:
    """Return whether the arena with texts is complete; features are written last."""
    path = home.home_arenas().get(home.TEXTS)
    return path is not None and "features" in open_arena(path).tables


def _open() -> None:
    st.session_state["arena"] = home.TEXTS


def _bring() -> None:
    from mirage.io.imports.texts import download_texts  # deferred: imports all formats, which is slow

    completed = False
    with working("Requesting the files") as progress:
        download_texts(home.home_folder(), progress)
        completed = True
    if completed:
        st.rerun()
