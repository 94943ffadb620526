"""A login and what belongs to it: who is there, what is kept under that name, as a file, and its removal."""

from __future__ import annotations

import json
from dataclasses import asdict

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.text import plain
from mirage.explorer.serve.identity import reader
from mirage.store import owned


def entry() -> None:
    """Who is logged in, in the sidebar, and the way to what is theirs; nothing where there is no login."""
    current_reader = reader()
    name = current_reader.name
    if not name:
        if current_reader.provided:
            st.button("Log in", key="yours_login", on_click=st.login, width="stretch")
        return
    with st.container(horizontal=True, gap="small"):
        if st.button(f"{plain(name)} …", key="yours_open", type="tertiary", help="What is kept under your name."):
            _show()
        if current_reader.provided:
            st.button("Log out", key="yours_logout", type="tertiary", on_click=st.logout)


@st.dialog("What is kept under your name")
def _show() -> None:
    """What is theirs, to see, to take away and to erase."""
    from mirage.explorer.kit import votes as people
    from mirage.people import votes

    current_reader = reader()
    try:
        on_battles = people.database().rows(votes.Vote, voter=current_reader.name)
        on_citations = people.database().rows(votes.Evidence, voter=current_reader.name)
        on_nuggets = people.database().rows(votes.NuggetVote, voter=current_reader.name)
    except MirageError as error:
        refuse(error)
        return
    copies = owned.owned_arenas(current_reader.owner)
    st.markdown(f"**{plain(current_reader.name)}**")
    st.caption(
        f"Rows of votes on battles: {len(on_battles):,}; on citations: {len(on_citations):,}; "
        f"on nuggets: {len(on_nuggets):,}. "
        f"Arenas with answers that you brought: {len(copies):,}."
    )
    kept = {
        "name": current_reader.name,
        "battles": [asdict(row) for row in on_battles],
        "citations": [asdict(row) for row in on_citations],
        "nuggets": [asdict(row) for row in on_nuggets],
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
        "Erasing takes your name, your notes and your visits from your votes, which then count as an unknown person's: "
        "agreement and ratings stay. The arenas that you brought are removed. Nothing brings them back."
    )
    certain = st.checkbox("I want this", key="yours_certain")
    if st.button("Erase", type="primary", key="yours_erase", disabled=not certain):
        try:
            n = people.database().forget(current_reader.name)
            for path in copies.values():
                owned.delete(current_reader.owner, path)
        except MirageError as error:
            refuse(error)
            return
        st.session_state.pop("_spot_session", None)
        st.success(f"Your name is gone from {n:,} rows, and {len(copies):,} arenas are removed.")
