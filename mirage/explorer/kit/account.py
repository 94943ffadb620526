"""Login and the reader's own data: view, download, erase."""

from __future__ import annotations

import json
from dataclasses import asdict

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.kit.identity import reader
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.text import plain
from mirage.store import owned


def entry() -> None:
    """Show the login state and the reader's data in the sidebar; nothing without a login."""
    current_reader = reader()
    name = current_reader.name
    if not name:
        if current_reader.provided:
            st.button("Log in", key="yours_login", on_click=st.login, width="stretch")
        return
    with st.container(horizontal=True, gap="small"):
        if st.button(f"{plain(name)} …", key="yours_open", type="tertiary", help="Data stored under your name."):
            _show()
        if current_reader.provided:
            st.button("Log out", key="yours_logout", type="tertiary", on_click=st.logout)


@st.dialog("Your data")
def _show() -> None:
    """Let readers view, download and erase their data."""
    from mirage.explorer.kit import votes as people
    from mirage.people import votes

    current_reader = reader()
    try:
        on_battles = people.database().rows(votes.Vote, voter=current_reader.name)
        on_citations = people.database().rows(votes.Evidence, voter=current_reader.name)
        notes = people.database().rows(votes.Note, voter=current_reader.name)
    except MirageError as error:
        refuse(error)
        return
    copies = owned.owned_arenas(current_reader.owner)
    st.markdown(f"**{plain(current_reader.name)}**")
    st.caption(
        f"Votes on battles: {len(on_battles):,}; on citations: {len(on_citations):,}. "
        f"Notes: {len(notes):,}. Arenas with your uploads: {len(copies):,}."
    )
    kept = {
        "name": current_reader.name,
        "battles": [asdict(row) for row in on_battles],
        "citations": [asdict(row) for row in on_citations],
        "notes": [asdict(row) for row in notes],
        "arenas": sorted(copies),
    }
    st.download_button(
        "Download all",
        lambda: json.dumps(kept, ensure_ascii=False, indent=1).encode("utf-8"),
        "mine.json",
        "application/json",
        on_click="ignore",
    )
    st.caption(
        "Erasing removes your name, the texts of your notes and session times; votes and categories are kept "
        "anonymously. "
        "Your arenas are deleted. This cannot be undone."
    )
    certain = st.checkbox("I understand", key="yours_certain")
    if st.button("Erase", type="primary", key="yours_erase", disabled=not certain):
        try:
            n = people.database().forget(current_reader.name)
            for path in copies.values():
                owned.delete(current_reader.owner, path)
        except MirageError as error:
            refuse(error)
            return
        st.session_state.pop("_spot_session", None)
        st.success(f"Your name was removed from {n:,} rows and {len(copies):,} arenas were deleted.")
