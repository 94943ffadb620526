"""Which system answers my question better?"""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer import kit as ui
from mirage.explorer.ask import data as views
from mirage.explorer.ask import view
from mirage.explorer.serve.identity import login_required, may, network_address, reader
from mirage.explorer.spot_check import vote_item
from mirage.people.ask import AskDesk, Asked, live_folder
from mirage.store.home import ASK_FILE, LIVE, ask_file
from mirage.text.languages import name_of, search_name
from mirage.text.segmentation import count_text

ASKED, TODO, ERROR, AGREED = "_ask_asked", "_ask_todo", "_ask_error", "_ask_agreed"
"""Session keys: the current question, the next question, the last error, and the reader's consent."""
PULSE = 0.5
"""Interval in seconds at which a waiting page checks that its reader is still connected."""
EVERY = 0.12
"""Interval in seconds between redraws of streaming answers; the first text is drawn at once."""


def main(page: ui.Page) -> None:
    """Show the question field, then two answers, the vote, and the systems' names."""
    try:
        desk = views.desk(page.arena)
    except MirageError as error:
        page.summary("Questions are disabled until the file of this page is fixed.")
        ui.refuse(error)
        return
    if desk is None:
        unconfigured(page)
        return
    settings = desk.settings
    page.summary(
        f"{count_text(len(settings.systems), 'system')}, two at a time and blind. "
        f"{count_text(desk.votes(), 'vote')} so far, ranked separately from the test set."
    )
    if not settings.open:
        st.info("Questions are closed.")
    elif not may("voter"):
        refuse_reader()
    else:
        question_form(desk)
    if (failure := st.session_state.pop(ERROR, None)) is not None:
        ui.refuse(failure)
    if (typed := st.session_state.pop(TODO, None)) is not None:
        answer(desk, typed)
    elif (asked := st.session_state.get(ASKED)) is not None:
        show(desk, asked)


def unconfigured(page: ui.Page) -> None:
    """Explain that questions are off, and how to turn them on."""
    asked_about = page.arena.path.parent
    if page.arena.path.name == LIVE and ask_file(asked_about) is not None:
        page.summary("These are readers' questions and their votes.")
        if st.button("Ask a question", key="ask_back", type="primary"):
            ui.switch(asked_about)
        return
    page.summary("Questions to this arena are disabled.")
    with st.container(border=True):
        st.markdown(f"**This arena has no {ASK_FILE}.**")
        st.caption(
            "This file in the arena's folder lets readers ask questions, which two systems answer side by side. List "
            "two or more systems, then reload the page. Keys stay in environment variables."
        )
        st.code(
            "consent: Your question, the answers and your vote are kept and may be published.\n"
            "systems:\n"
            "  - name: small\n"
            "    provider: vllm\n"
            "    model: NAME\n"
            "  - name: large\n"
            "    provider: openai\n"
            "    model: NAME",
            language="yaml",
            wrap_lines=True,
        )


def refuse_reader() -> None:
    """Explain who may ask."""
    with st.container(border=True):
        if login_required() and not reader().name:
            st.markdown("**Log in to ask.**")
            st.caption("Open the page through your login address. All other pages are readable without it.")
        else:
            st.markdown("**Asking requires the voter role.**")
            st.caption("Ask your administrator. All other pages are readable without it.")


def question_form(desk: AskDesk) -> None:
    """Show the consent, then the field, the language and the button."""
    settings = desk.settings
    agreed = bool(st.session_state.get(AGREED))
    terms = f"{settings.consent} {f'Kept {settings.retention}.' if settings.retention else ''}".strip()
    with st.container(key="ask_form", gap="small"):
        st.text_area(
            "Your question",
            key="ask_question",
            max_chars=settings.question_characters,
            height=80,
            placeholder="In any language",
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.selectbox(
                "Language",
                views.languages(desk.arena),
                key="ask_language",
                format_func=lambda code: "Detect" if code == views.DETECT else search_name(code),
                width=200,
                help="Language of the passages to search. If detection was wrong, select it and ask again.",
            )
            st.button("Ask", key="ask_send", type="primary", disabled=not agreed, on_click=begin)
        if agreed:
            st.caption(ui.plain(terms))
        else:
            st.checkbox("I agree: " + ui.plain(terms), key="ask_agree", on_change=agree)


def agree() -> None:
    """Remember the reader's consent for the session."""
    st.session_state[AGREED] = bool(st.session_state["ask_agree"])


def begin() -> None:
    """Submit the typed text as the next question."""
    st.session_state[TODO] = views.TypedQuestion(st.session_state["ask_question"], st.session_state["ask_language"])
    st.session_state.pop(ASKED, None)


def answer(desk: AskDesk, typed: views.TypedQuestion) -> None:
    """Ask, and stream both answers.

    Drawing raises if the reader has left the page or triggered a rerun; the block then closes the connections.
    """
    current, status = reader(), st.empty()
    status.caption("Searching passages")
    try:
        asked = views.ask(desk, typed, reader=current.owner, address=network_address())
    except MirageError as error:
        status.empty()
        ui.refuse(error)
        return
    # Entered before anything is drawn, since drawing can end this run.
    with asked:
        st.session_state[ASKED] = asked
        status.html(view.question_html(asked, desk))
        answers, stop = st.empty(), st.empty()
        stop.button("Stop", key=f"ask_stop_{asked.query_id}")
        drawn, began, first = 0.0, time.monotonic(), True
        while not asked.done:
            came = asked.wait(PULSE)
            now = time.monotonic()
            if (came and first) or now - drawn >= EVERY:
                first = first and not came
                answers.html(view.answers_html(asked, desk, seconds=now - began))
                drawn = now
        answers.html(view.answers_html(asked, desk))
        stop.empty()
    below(desk, asked)


def show(desk: AskDesk, asked: Asked) -> None:
    """Show a question with complete answers."""
    st.html(view.question_html(asked, desk))
    st.html(view.answers_html(asked, desk))
    below(desk, asked)


def below(desk: AskDesk, asked: Asked) -> None:
    """Show the vote or its result, then the passages."""
    if asked.vote:
        st.html(view.reveal_html(asked))
        with st.container(horizontal=True, gap="small"):
            st.button("Ask another question", key="ask_next", on_click=clear)
            if st.button("People's ranking →", key="ask_ranking", type="tertiary", on_click=leave, args=(desk,)):
                st.rerun()
    elif words := view.problem(asked):
        st.warning(ui.plain(words))
    else:
        vote_bar(desk, asked)
    st.header(count_text(len(asked.passages), "passage"), anchor=False)
    if asked.language not in desk.arena.languages("passages"):
        st.caption(f"No passage is in {ui.plain(name_of(asked.language))}: all languages were searched.")
    st.html(view.passages_html(asked, desk))


def vote_bar(desk: AskDesk, asked: Asked) -> None:
    """Show the four vote buttons."""
    with st.container(key="ask_bar", horizontal=True, vertical_alignment="center", gap="small"):
        for choice, (label, key) in vote_item.BATTLE.items():
            st.button(
                label,
                key=f"ask_{choice}_{asked.query_id}",
                shortcut=key,
                disabled=not asked.votable,
                on_click=vote,
                args=(desk, asked, choice),
            )


def vote(desk: AskDesk, asked: Asked, choice: Any) -> None:
    """Store the vote with its question; if that fails, show the error and keep the answers for a retry."""
    try:
        desk.vote(asked, choice, reader=reader().owner)
    except MirageError as error:
        st.session_state[ERROR] = error.rename_path(f"{desk.arena.path}/", "")


def clear() -> None:
    """Clear the page for the next question."""
    st.session_state.pop(ASKED, None)
    st.session_state["ask_question"] = ""


def leave(desk: AskDesk) -> None:
    """Go to the leaderboard of the readers' votes."""
    st.session_state["_switch"] = live_folder(desk.arena.path).absolute()
    st.session_state["_go"] = ("leaderboard", {})


ui.show("ask", main)
