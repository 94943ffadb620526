"""The missing state of texts: a button to an arena that has them, and one that downloads NoMIRACL's."""

import streamlit as st

from mirage.explorer.kit.frame import Page, switch
from mirage.explorer.kit.identity import may
from mirage.explorer.kit.states import show_progress
from mirage.explorer.kit.text import note
from mirage.store import home
from mirage.store.arena import open_arena


def offer_texts(page: Page) -> None:
    """Lead from NoMIRACL's numbers without texts to the same query, or another, in an arena that has them; offer
    curators to download its texts.

    Args:
        page: the page whose arena lacks them.
    """
    if not page.arena.name.startswith("nomiracl"):
        return
    asked = False
    with st.container(horizontal=True, gap="small", key="texts_absent"):
        page.offer_arena("answers")
        if not _is_complete() and may("curator"):
            about = "NoMIRACL's queries, passages and answers, from its public repository. Takes a minute or two."
            asked = st.button("Download the texts (75 MB)", key="texts_pull", help=about)
    note("The texts of this arena are not bundled.")
    if asked:
        _download_texts()


def _is_complete() -> bool:
    """Return whether the arena with texts is complete; features are written last."""
    path = home.home_arenas().get(home.TEXTS)
    return path is not None and "features" in open_arena(path).tables


def _download_texts() -> None:
    """Download the texts and open their arena."""
    from mirage.io.imports.texts import download_texts  # deferred: imports all formats, which is slow

    arena = None
    with show_progress("Requesting the files") as progress:
        arena = download_texts(home.home_folder(), progress)
    if arena is not None:
        switch(arena.path)
