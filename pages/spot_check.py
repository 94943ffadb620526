"""Page Spot check: do I agree with the judge?"""

from typing import Any

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.kit import answer_card, battle_sides, vote_session
from mirage.explorer.kit.frame import Page, none_selected, show
from mirage.explorer.kit.identity import login_required, may, reader
from mirage.explorer.kit.pick import pick, pick_segments, pickers_popover
from mirage.explorer.kit.states import refuse, show_error
from mirage.explorer.kit.table import mode
from mirage.explorer.kit.text import note as show_note
from mirage.explorer.kit.text import plain
from mirage.explorer.spot_check import vote_item
from mirage.people.votes import queue
from mirage.people.votes.correct import correction_needs
from mirage.people.votes.kinds import KINDS, Row, Vote
from mirage.people.votes.opinions import ENOUGH
from mirage.people.votes.rows import LONGEST, cast
from mirage.publish.charts.palette import arena_looks
from mirage.schema import from_rows
from mirage.text.languages import in_language, name_of, search_name
from mirage.text.segmentation import count_text
from mirage.views import spot_check as views
from mirage.views.battle import battle_view
from mirage.views.query import query_view

NAME = "spot_voter_now"
"""Key of the field for the name that the first vote asks for."""


def main(page: Page) -> None:
    """Show one item after another, with the pickers behind Options."""
    page.need("answers")
    codes = page.languages("answers")
    if not codes:
        none_selected(page, "answers")
        return
    options = pickers_popover("Options", ("ballot", "language"), "What to vote on, in which language, and your name.")
    with options:
        subject = pick_segments(
            "Vote on",
            ("battles", "citations"),
            key="ballot",
            kind="ballot",
            width="content",
            help="battles: which of two answers is better? citations: does the passage support the citing sentence?",
        )
        language = pick(
            "Language",
            codes,
            key="language",
            kind="language",
            named=search_name,
            default="en",
            help="Choose a language you read well.",
        )
        voter = vote_session.voter()
    if not may("voter"):
        page.summary("Vote first; then the systems and the judges' verdicts are revealed.")
        with st.container(border=True):
            if login_required() and not reader().name:
                st.markdown("**Log in to vote.**")
                st.caption("Open the page through your login address. All other pages are readable without it.")
            else:
                st.markdown("**Voting requires the voter role.**")
                st.caption("Ask your administrator. All other pages are readable without it.")
        return
    kind = KINDS[subject].row
    try:
        session = vote_session.enter(page.arena, language, voter, kind)
    except MirageError as error:
        refuse(error)
        show_pending(vote_session.pending())
        st.button("Try again", type="primary")
        return
    if subject == "battles":
        pool = views.pool(page.arena, language)
        same = f"; {pool.same_text:,} with identical answers excluded" if pool.same_text else ""
        page.summary(f"{len(pool.battles):,} battles {in_language(language)}{same}. Blind and in random order.")
        with options:
            st.toggle(
                "Relevance labels",
                key="spot_labels",
                help="Show which passages are labelled relevant. Hidden by default so that you judge for yourself.",
            )
            show_note(correction_needs(pool.n_queries))
    else:
        n = len(views.citing_answers(page.arena, language))
        page.summary(f"{n:,} answers {in_language(language)} with possible citations. Blind.")
    vote()
    page.download(
        f"votes-{language}",
        lambda: from_rows(kind, session.own_votes),
        about={"language": language, "voter": voter, "votes": "as of the last load of the page"},
    )


@st.fragment
def vote() -> None:
    """Show one item; a vote reruns only this fragment, except the first, which asks for a name."""
    session = vote_session.current_session()
    if not session.voter and vote_session.name():
        st.rerun()
    if session.failed is not None:
        refuse(session.failed)
    for line in (*session.left_out, *filter(None, [session.notice])):
        st.caption(plain(line))
    row = vote_session.pending()
    # A fragment within the page's runs without them.
    with show_error(session.arena), arena_looks((), mode()):
        (battle if session.kind is Vote else citation)(session, row)


def battle(session: vote_session.VoteSession, unsent_vote: Row | None) -> None:
    """Show the last battle's result and the next battle."""
    pool = views.pool(session.arena, session.language)
    own_votes = session.own_votes
    progress = queue.progress(pool, session.log, voter=session.voter)
    drawn = {battle.query_id for battle, control in zip(pool.battles, pool.control, strict=True) if control}
    goal = min(ENOUGH, max(len(drawn), progress.queries))
    own = f"Your votes: {progress.own:,} of {count_text(progress.own + progress.left, 'battle')}."
    reached = min(1.0, progress.queries / goal) if goal else 0.0
    st.progress(reached, text=f"Queries voted on: {progress.queries:,} of {goal:,}. {own}")
    if own_votes:
        last_vote = own_votes[-1]
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            agreeing = views.count_agreeing(session.arena, own_votes)
            vote_item.show_result(views.vote_result(session.arena, last_vote), agreeing)
            key = f"spot_open_{last_vote.vote_id}"
            if st.button("Open this battle →", type="tertiary", key=key, on_click=leave, args=(last_vote,)):
                st.rerun()
    items = queue.next_items(pool, voter=session.order, seen=own_votes, n=2)
    if not items:
        show_finished("battles" if pool.battles else "")
        bar(session, {}, None, unsent_vote)
        return
    item, *following = items
    shown = battle_view(session.arena, (item.language, item.query_id), item.system_a, item.system_b)
    token = session.token((item.language, item.query_id, *sorted((item.system_a, item.system_b))))
    vote_item.top(token)
    labels = bool(st.session_state.get("spot_labels"))
    with st.container(horizontal=True, key="spot_body", gap="medium"):
        with st.container(key="spot_asked", gap="small"):
            answer_card.show_facts([name_of(item.language)])
            answer_card.show_query(shown.query)
            battle_sides.show_sides(shown, labels=labels)
        with st.container(key="spot_given", gap="small"):
            if shown.query.passages:
                st.header(count_text(len(shown.query.passages), "passage"), anchor=False)
                answer_card.show_passages(shown.query, labels=labels)

    bar(
        session,
        battle_sides.BATTLE | vote_item.SKIP,
        (token, vote_maker(session, token, item, shown=views.battle_digest(shown))),
        unsent_vote,
    )
    for other in following:
        # Prefetch the next battle while this one is read.
        battle_view(session.arena, (other.language, other.query_id), other.system_a, other.system_b)


def citation(session: vote_session.VoteSession, unsent_vote: Row | None) -> None:
    """Show the last citation's result and the next citation."""
    own_votes = session.own_votes
    if own_votes:
        last_vote = own_votes[-1]
        last_query = query_view(session.arena, (last_vote.language, last_vote.query_id), "strict")
        vote_item.show_cited(
            last_vote, next((p for p in last_query.passages if p.passage_id == last_vote.passage_id), None)
        )
    pair = views.next_pair(session.arena, session.language, own_votes)
    st.caption(f"{len(own_votes):,} of {len(session.log):,} votes on citations in this language are yours.")
    if pair is None:
        show_finished("citations" if own_votes else "")
        bar(session, {}, None, unsent_vote)
        return
    token = session.token(pair.key)
    vote_item.top(token)
    query = query_view(session.arena, (pair.language, pair.query_id), "strict")
    answer = next(answer for answer in query.answers if answer.system == pair.system)
    passage = next(p for p in query.passages if p.passage_id == pair.passage_id)
    answer_card.show_facts([name_of(pair.language), "Does the passage support the sentence?"])
    answer_card.show_query(query)
    vote_item.show_citation(pair, answer, query, passage)

    bar(session, vote_item.EVIDENCE, (token, vote_maker(session, token, pair)), unsent_vote)


def vote_maker(session: vote_session.VoteSession, token: str, item: Any, **shown: str | None) -> vote_session.MakeVote:
    """Return the function that builds a vote on an item from the choice and the note."""

    def make_vote(choice: str, note: str | None) -> Row:
        row: Row = cast(
            item,
            vote=choice,
            vote_id=token,
            arena=session.arena.name,
            voter=session.voter,
            note=note,
            seconds=session.seconds(token),
            session=session.reader.session,
            proof="voter" if session.reader.name else "draw",
            **shown,
        )
        return row

    return make_vote


def bar(
    session: vote_session.VoteSession,
    choices: dict[str, tuple[str, str]],
    item: tuple[str, Any] | None,
    unsent_vote: Row | None,
) -> None:
    """Show the folded note field, then the vote keys and undo, always in view."""
    if item is not None and unsent_vote is None and session.held is None:
        with st.expander("Add a note"):
            st.text_input(
                "Note",
                key=f"spot_note_{item[0]}",
                label_visibility="collapsed",
                placeholder="Stored with your vote; Tab to finish",
                max_chars=LONGEST["note"],
            )
    with st.container(key="spot_bar", horizontal=True, vertical_alignment="center", gap="small"):
        if unsent_vote is not None:
            show_pending(unsent_vote)
            label, key = vote_item.CHOICES[unsent_vote.vote]
            st.button(
                f"Resend: {label}",
                key=f"spot_again_{unsent_vote.vote_id}",
                shortcut=key,
                type="primary",
                on_click=session.send,
                args=(unsent_vote,),
            )
        elif item is not None:
            token, make_vote = item
            if session.held is not None:
                held_vote(session, session.held)
                return
            for choice, (label, key) in choices.items():
                st.button(
                    label,
                    key=f"spot_{choice}_{token}",
                    shortcut=key,
                    type="tertiary" if choice in vote_item.SKIP else "secondary",
                    on_click=press,
                    args=(session, token, make_vote, choice),
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


def held_vote(session: vote_session.VoteSession, held: vote_session.HeldVote) -> None:
    """Ask for the name under which the first vote is stored."""
    label, _ = vote_item.CHOICES[held.choice]
    st.markdown(f"**{label}**. Your name (first vote only):", width="content")
    vote_session.ask_name(NAME, bare=True)
    vote_item.focus_field(NAME, held.token)
    st.button("Change vote", key=f"spot_drop_{held.token}", type="tertiary", on_click=session.drop)


def press(session: vote_session.VoteSession, token: str, make_vote: Any, choice: str) -> None:
    """Vote; while the database does not respond the vote is pending, and no other is accepted."""
    if vote_session.pending() is not None or any(row.vote_id == token for row in session.log):
        return
    note = st.session_state.get(f"spot_note_{token}")
    if not session.voter:
        session.hold(token, choice, note, make_vote)
        return
    try:
        row = make_vote(choice, note)
    except MirageError as error:
        session.failed = error
        return
    session.send(row)


def show_pending(row: Row | None) -> None:
    """Say that a vote is pending, and retry regularly."""
    if row is not None:
        st.markdown("Your vote is saved here until the database responds.", width="content")
        st.fragment(retry_pending, run_every=vote_session.RETRY)()


def retry_pending() -> None:
    """Rerun the page, which resends the pending vote, once it has waited long enough."""
    if vote_session.is_due():
        st.rerun()


def show_finished(noun: str) -> None:
    """Say that no items are left to vote on."""
    with st.container(border=True):
        if noun:
            st.markdown(f"**You have voted on all {noun} in this language.**")
            st.caption("Choose another language, or see your agreement with the judges on the Judges page.")
        else:
            st.markdown("**Nothing to vote on in this language.**")
            st.caption("Voting needs two different answers to one query, or a citing sentence.")


def leave(last_vote: Vote) -> None:
    """Go to the Battle page, with the battle that was voted on."""
    query = f"{last_vote.language}:{last_vote.query_id}"
    st.session_state["_go"] = ("battle", {"a": [last_vote.system_a], "b": [last_vote.system_b], "query": [query]})


show("spot_check", main)
