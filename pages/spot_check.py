"""Would I have decided the same?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from mirage import ui, votes
from mirage.errors import MirageError
from mirage.languages import LANGUAGES
from mirage.schema import from_rows
from mirage.ui import reply, texts, vote_item, vote_session
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
        subject = ui.pick(
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
        voter = vote_session.voter()
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
    kind: type[votes.Row] = votes.Vote if subject == "battles" else votes.Evidence
    load = views.past if subject == "battles" else views.past_evidence
    try:
        session = vote_session.enter(page.arena, language, voter, kind, lambda db: load(page.arena, db, language))
    except MirageError as error:
        ui.refuse(error)
        waiting(vote_session.pending())
        st.button("Try again", type="primary")
        return
    if subject == "battles":
        pool = views.pool(page.arena, language)
        same = f"; {pool.same_text:,} with the same text twice are left out" if pool.same_text else ""
        page.summary(
            f"{len(pool.battles):,} battles in {LANGUAGES[language].name}{same}. Names are hidden, order is drawn."
        )
    else:
        n = len(views.citing(page.arena, language))
        page.summary(f"{n:,} replies in {LANGUAGES[language].name} that may cite a passage. Names are hidden.")
    vote()
    page.download(
        f"votes-{language}",
        from_rows(kind, session.own_votes),
        about={"language": language, "voter": voter, "votes": "those that stood when the page was last opened"},
    )


@st.fragment
def vote() -> None:
    """One item; a vote draws this part again and nothing else."""
    session = vote_session.current_session()
    if session.failed is not None:
        ui.refuse(session.failed)
    row = vote_session.pending()
    if session.kind is votes.Vote:
        battle(session, row)
    else:
        citation(session, row)


def battle(session: vote_session.VoteSession, unsent_vote: votes.Row | None) -> None:
    """The last battle's result and the next battle."""
    pool = views.pool(session.arena, session.language)
    own_votes = session.own_votes
    progress = votes.progress(pool, session.log, voter=session.voter)
    st.progress(
        min(1.0, progress.questions / progress.enough),
        text=f"{progress.own:,} of {progress.own + progress.left:,} battles voted, "
        f"{progress.own_random:,} of them drawn at random. Questions with anybody's random vote: "
        f"{progress.questions:,}; {progress.enough} make the agreement with a judge reliable.",
    )
    if own_votes:
        last_vote = own_votes[-1]
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            vote_item.show_result(views.vote_result(session.arena, last_vote))
            key = f"spot_open_{last_vote.vote_id}"
            if st.button("Open that battle →", type="tertiary", key=key, on_click=leave, args=(last_vote,)):
                st.rerun()
    item, *following = votes.next_items(pool, voter=session.voter, seen=own_votes, n=2) or [None]
    if item is None:
        finished("battles" if pool.battles else "")
        bar(session, {}, None, unsent_vote)
        return
    shown = battles.battle_view(session.arena, (item.language, item.query_id), item.system_a, item.system_b)
    token = session.token((item.language, item.query_id, *sorted((item.system_a, item.system_b))))
    vote_item.top(token)
    with st.container(horizontal=True, key="spot_body", gap="medium"):
        with st.container(key="spot_asked", gap="small"):
            reply.show_facts([LANGUAGES[item.language].name])
            reply.show_question(shown.question)
            vote_item.show_sides(shown)
        with st.container(key="spot_given", gap="small"):
            if shown.question.passages:
                st.header(f"{len(shown.question.passages)} passages", anchor=False)
                reply.show_passages(shown.question)

    def make_vote(choice: str, note: str | None) -> votes.Row:
        return votes.cast(
            item,
            vote=choice,
            vote_id=token,
            arena=session.arena.name,
            voter=session.voter,
            note=note,
            seconds=session.seconds(token),
            session=session.reader.session,
            shown=views.battle_digest(shown),
        )

    bar(session, vote_item.BATTLE | vote_item.SKIP, (token, make_vote), unsent_vote)
    for other in following:
        # All is drawn: what most likely comes next is read while this one is.
        battles.battle_view(session.arena, (other.language, other.query_id), other.system_a, other.system_b)


def citation(session: vote_session.VoteSession, unsent_vote: votes.Row | None) -> None:
    """The last citation's result and the next citation."""
    own_votes = session.own_votes
    if own_votes:
        last_vote = own_votes[-1]
        last_question = answers.question_view(session.arena, (last_vote.language, last_vote.query_id), "strict")
        vote_item.show_cited(
            last_vote, next((p for p in last_question.passages if p.passage_id == last_vote.passage_id), None)
        )
    pair = views.next_pair(session.arena, session.language, own_votes)
    st.caption(f"{len(own_votes):,} votes of yours on citations of this language, {len(session.log):,} of everybody.")
    if pair is None:
        finished("citations" if own_votes else "")
        bar(session, {}, None, unsent_vote)
        return
    token = session.token(pair.key)
    vote_item.top(token)
    question = answers.question_view(session.arena, (pair.language, pair.query_id), "strict")
    answer = next(answer for answer in question.replies if answer.system == pair.system)
    passage = next(p for p in question.passages if p.passage_id == pair.passage_id)
    reply.show_facts([LANGUAGES[pair.language].name, "Does the passage support the sentence?"])
    reply.show_question(question)
    vote_item.show_citation(pair, answer, question, passage)

    def make_vote(choice: Any, note: str | None) -> votes.Row:
        return views.evidence(
            pair,
            vote=choice,
            vote_id=token,
            arena=session.arena.name,
            voter=session.voter,
            note=note,
            seconds=session.seconds(token),
            session=session.reader.session,
        )

    bar(session, vote_item.EVIDENCE, (token, make_vote), unsent_vote)


def bar(
    session: vote_session.VoteSession,
    choices: dict[str, tuple[str, str]],
    item: tuple[str, Any] | None,
    unsent_vote: votes.Row | None,
) -> None:
    """The keys, a note and undo, always in sight."""
    with st.container(key="spot_bar", horizontal=True, vertical_alignment="center", gap="small"):
        if unsent_vote is not None:
            waiting(unsent_vote)
            label, key = (vote_item.BATTLE | vote_item.SKIP | vote_item.EVIDENCE)[unsent_vote.vote]
            st.button(
                f"Send again: {label}",
                key=f"spot_again_{unsent_vote.vote_id}",
                shortcut=key,
                type="primary",
                on_click=session.send,
                args=(unsent_vote,),
            )
        elif item is not None:
            token, make_vote = item
            for choice, (label, key) in choices.items():
                st.button(
                    label,
                    key=f"spot_{choice}_{token}",
                    shortcut=key,
                    on_click=press,
                    args=(session, token, make_vote, choice),
                )
            st.text_input(
                "Note",
                key=f"spot_note_{token}",
                label_visibility="collapsed",
                placeholder="Note (optional), then Tab",
                max_chars=votes.LONGEST["note"],
                width=200,
            )
        if (last := session.last) is not None:
            st.button(
                "Undo",
                key=f"spot_undo_{last.vote_id}",
                shortcut=vote_item.UNDO,
                type="tertiary",
                disabled=unsent_vote is not None,
                on_click=session.take_back,
                args=(last.vote_id,),
            )


def press(session: vote_session.VoteSession, token: str, make_vote: Any, choice: str) -> None:
    """Vote; where the database does not answer the vote waits, and no other is given meanwhile."""
    if vote_session.pending() is not None or any(row.vote_id == token for row in session.log):
        return
    try:
        row = make_vote(choice, st.session_state.get(f"spot_note_{token}"))
    except MirageError as error:
        session.failed = error
        return
    session.send(row)


def waiting(row: votes.Row | None) -> None:
    """Say that a vote is kept here, and try again by and by."""
    if row is not None:
        st.markdown("Your vote is kept here until the database answers.", width="content")
        st.fragment(again, run_every=vote_session.RETRY)()


def again() -> None:
    """Run the page again, which sends the vote that waits, once it has waited long enough."""
    if vote_session.due():
        st.rerun()


def finished(noun: str) -> None:
    """There is nothing more to vote on."""
    with st.container(border=True):
        if noun:
            st.markdown(f"**You have voted on all {noun} of this language.**")
            st.caption("Choose another language, or see on the Judges page how far you agree.")
        else:
            st.markdown("**There is nothing to vote on in this language.**")
            st.caption("It takes two different answers to one question, or a sentence that cites a passage.")


def leave(last_vote: votes.Vote) -> None:
    """Go to the Battle page, with the battle that was voted on."""
    query = f"{last_vote.language}:{last_vote.query_id}"
    st.session_state["_go"] = ("battle", {"a": [last_vote.system_a], "b": [last_vote.system_b], "query": [query]})


main()
