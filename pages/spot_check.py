"""Would I have decided the same?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from mirage import ui, votes
from mirage.errors import MirageError
from mirage.languages import LANGUAGES
from mirage.schema import from_rows
from mirage.ui import ballot, booth, reply, texts
from mirage.ui.identity import login_required
from mirage.views import answers
from mirage.views import battle as battles
from mirage.views import spot_check as views


def main() -> None:
    """The pickers, then one item after the other."""
    page = ui.begin("spot_check")
    if "answers" not in page.arena.tables:
        if "outcomes" in page.arena.tables and page.arena.name.startswith("nomiracl"):
            page.summary(
                "There is nothing to read here: a vote is on two answers, and this arena has their numbers alone."
            )
            texts.absent(page)
            return
        page.need("answers")
    codes = page.languages("answers")
    if not codes:
        page.summary("No answers in the languages picked.")
        st.info("Pick other languages in the sidebar, or none for all.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        what = ui.pick(
            "Vote on",
            ("battles", "citations"),
            key="ballot",
            kind="ballot",
            segments=True,
            width="content",
            help="battles: which of two answers is better. citations: does a passage support the sentence that cites "
            "it.",
        )
        language = ui.pick(
            "Language",
            codes,
            key="language",
            kind="language",
            default="en",
            width=120,
            help="Choose one that you read well. " + ", ".join(f"{code}: {LANGUAGES[code].name}" for code in codes),
        )
        voter = booth.voter()
    if not voter:
        page.summary("You decide first; then you see whose answers they were and what each judge said.")
        with st.container(border=True):
            if login_required():
                st.markdown("**Votes need a login here, and none has reached this page.**")
                st.caption("Open the page through the address at which you log in. All other pages can be read.")
            else:
                st.markdown("**Give a name or a pseudonym to begin.**")
                st.caption("Your votes are kept under it. One key a vote; the votes of this visit can be taken back.")
        return
    kind: type[votes.Row] = votes.Vote if what == "battles" else votes.Evidence
    load = views.past if what == "battles" else views.past_evidence
    try:
        opened = booth.enter(page.arena, language, voter, kind, lambda db: load(page.arena, db, language))
    except MirageError as error:
        ui.refuse(error)
        waiting(booth.pending())
        st.button("Try again", type="primary")
        return
    if what == "battles":
        pool = views.pool(page.arena, language)
        same = f"; {pool.same_text:,} with the same text twice are left out" if pool.same_text else ""
        page.summary(
            f"{len(pool.battles):,} battles in {LANGUAGES[language].name}{same}. Names are hidden, order is drawn."
        )
    else:
        n = len(views.citing(page.arena, language))
        page.summary(f"{n:,} replies in {LANGUAGES[language].name} that may cite a passage. Names are hidden.")
    ballot.style()
    vote()
    page.download(
        f"votes-{language}",
        from_rows(kind, opened.mine),
        about={"language": language, "voter": voter, "votes": "those that stood when the page was last opened"},
    )


@st.fragment
def vote() -> None:
    """One item; a vote draws this part again and nothing else."""
    here = booth.current()
    if here.failed is not None:
        ui.refuse(here.failed)
    row = booth.pending()
    if here.kind is votes.Vote:
        battle(here, row)
    else:
        citation(here, row)


def battle(here: booth.Booth, waits: votes.Row | None) -> None:
    """The last battle's result and the next battle."""
    pool = views.pool(here.arena, here.language)
    mine = here.mine
    done = votes.progress(pool, here.log, voter=here.voter)
    st.progress(
        min(1.0, done.questions / done.enough),
        text=f"{done.mine:,} of {done.mine + done.left:,} battles voted, {done.mine_random:,} of them drawn at random. "
        f"Questions with anybody's random vote: {done.questions:,}; {done.enough} make the agreement with a judge "
        "reliable.",
    )
    if mine:
        was = mine[-1]
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            ballot.result(views.result(here.arena, was))
            key = f"spot_open_{was.vote_id}"
            if st.button("Open that battle →", type="tertiary", key=key, on_click=leave, args=(was,)):
                st.rerun()
    one, *then = votes.next_items(pool, voter=here.voter, seen=mine, n=2) or [None]
    if one is None:
        finished("battles" if pool.battles else "")
        bar(here, {}, None, waits)
        return
    shown = battles.battle(here.arena, (one.language, one.query_id), one.system_a, one.system_b)
    token = here.token((one.language, one.query_id, *sorted((one.system_a, one.system_b))))
    ballot.top(token)
    with st.container(horizontal=True, key="spot_body", gap="medium"):
        with st.container(key="spot_asked", gap="small"):
            reply.about([LANGUAGES[one.language].name])
            reply.question(shown.question)
            ballot.sides(shown)
        with st.container(key="spot_given", gap="small"):
            if shown.question.passages:
                st.header(f"{len(shown.question.passages)} passages", anchor=False)
                reply.passages(shown.question)

    def made(said: str, note: str | None) -> votes.Row:
        return votes.cast(
            one,
            vote=said,
            vote_id=token,
            arena=here.arena.name,
            voter=here.voter,
            note=note,
            seconds=here.seconds(token),
            session=here.reader.session,
            shown=views.digest(shown),
        )

    bar(here, ballot.BATTLE | ballot.SKIP, (token, made), waits)
    for other in then:
        # All is drawn: what most likely comes next is read while this one is.
        battles.battle(here.arena, (other.language, other.query_id), other.system_a, other.system_b)


def citation(here: booth.Booth, waits: votes.Row | None) -> None:
    """The last citation's result and the next citation."""
    mine = here.mine
    if mine:
        was = mine[-1]
        asked = answers.question(here.arena, (was.language, was.query_id), "strict")
        ballot.cited(was, next((p for p in asked.passages if p.passage_id == was.passage_id), None))
    pair = views.next_pair(here.arena, here.language, mine)
    st.caption(f"{len(mine):,} votes of yours on citations of this language, {len(here.log):,} of everybody.")
    if pair is None:
        finished("citations" if mine else "")
        bar(here, {}, None, waits)
        return
    token = here.token(pair.key)
    ballot.top(token)
    question = answers.question(here.arena, (pair.language, pair.query_id), "strict")
    one = next(one for one in question.replies if one.system == pair.system)
    passage = next(p for p in question.passages if p.passage_id == pair.passage_id)
    reply.about([LANGUAGES[pair.language].name, "Does the passage support the sentence?"])
    reply.question(question)
    ballot.citation(pair, one, question, passage)

    def made(said: Any, note: str | None) -> votes.Row:
        return views.evidence(
            pair,
            vote=said,
            vote_id=token,
            arena=here.arena.name,
            voter=here.voter,
            note=note,
            seconds=here.seconds(token),
            session=here.reader.session,
        )

    bar(here, ballot.EVIDENCE, (token, made), waits)


def bar(
    here: booth.Booth,
    choices: dict[str, tuple[str, str]],
    item: tuple[str, Any] | None,
    waits: votes.Row | None,
) -> None:
    """The keys, a note and undo, always in sight."""
    with st.container(key="spot_bar", horizontal=True, vertical_alignment="center", gap="small"):
        if waits is not None:
            waiting(waits)
            label, key = (ballot.BATTLE | ballot.SKIP | ballot.EVIDENCE)[waits.vote]
            st.button(
                f"Send again: {label}",
                key=f"spot_again_{waits.vote_id}",
                shortcut=key,
                type="primary",
                on_click=here.send,
                args=(waits,),
            )
        elif item is not None:
            token, made = item
            for said, (label, key) in choices.items():
                st.button(
                    label, key=f"spot_{said}_{token}", shortcut=key, on_click=press, args=(here, token, made, said)
                )
            st.text_input(
                "Note",
                key=f"spot_note_{token}",
                label_visibility="collapsed",
                placeholder="Note (optional), then Tab",
                max_chars=votes.LONGEST["note"],
                width=200,
            )
        if (last := here.last) is not None:
            st.button(
                "Undo",
                key=f"spot_undo_{last.vote_id}",
                shortcut=ballot.UNDO,
                type="tertiary",
                disabled=waits is not None,
                on_click=here.take_back,
                args=(last.vote_id,),
            )


def press(here: booth.Booth, token: str, made: Any, said: str) -> None:
    """Vote; where the database does not answer the vote waits, and no other is given meanwhile."""
    if booth.pending() is not None or any(row.vote_id == token for row in here.log):
        return
    try:
        row = made(said, st.session_state.get(f"spot_note_{token}"))
    except MirageError as error:
        here.failed = error
        return
    here.send(row)


def waiting(row: votes.Row | None) -> None:
    """Say that a vote is kept here, and try again by and by."""
    if row is not None:
        st.markdown("Your vote is kept here until the database answers.", width="content")
        st.fragment(again, run_every=booth.RETRY)()


def again() -> None:
    """Run the page again, which sends the vote that waits, once it has waited long enough."""
    if booth.due():
        st.rerun()


def finished(what: str) -> None:
    """There is nothing more to vote on."""
    with st.container(border=True):
        if what:
            st.markdown(f"**You have voted on all {what} of this language.**")
            st.caption("Choose another language, or see on the Judges page how far you agree.")
        else:
            st.markdown("**There is nothing to vote on in this language.**")
            st.caption("It takes two different answers to one question, or a sentence that cites a passage.")


def leave(was: votes.Vote) -> None:
    """Go to the Battle page, with the battle that was voted on."""
    query = f"{was.language}:{was.query_id}"
    st.session_state["_go"] = ("battle", {"a": [was.system_a], "b": [was.system_b], "query": [query]})


main()
