"""Page Nuggets: the facts that a good answer states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import streamlit as st

from mirage import schema, store
from mirage.errors import MirageError
from mirage.explorer import kit as ui
from mirage.explorer.answers import data as answers
from mirage.explorer.kit import answer_card
from mirage.explorer.kit import conclusions as page_conclusions
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.query_keys import Key, key_text
from mirage.explorer.nuggets import bank
from mirage.explorer.nuggets import data as views
from mirage.explorer.nuggets.matrix import show_nuggets
from mirage.explorer.serve.identity import may, reader
from mirage.explorer.spot_check import vote_session
from mirage.people import votes
from mirage.schema import from_rows
from mirage.stages import nuggets
from mirage.stages.features.nugget_edits import NAMES, EditEffect, ScoreChange, effect_of, save_edit
from mirage.stages.nuggets import TERMS
from mirage.stages.nuggets.stage import BankChanged
from mirage.store import home, owned
from mirage.text.languages import name_of, search_name
from mirage.text.segmentation import count_text

SCORES = (
    ui.Col("system", "System", "system", width=166, help="System name."),
    ui.Col("rank", "Rank", "rank", width=48, help="Current rank by this score; 1 is best."),
    ui.Col("rank_after", "New rank", "rank", width=48, help="Rank after the edit."),
    ui.Col("mean", "Score", "rate", width=66, help="Current mean over the language's queries."),
    ui.Col("mean", "95%", "interval", low="low", high="high", width=80, help="95% interval over queries."),
    ui.Col("mean_after", "New score", "rate", width=66, help="Mean after the edit."),
    ui.Col(
        "mean_after",
        "95%",
        "interval",
        low="low_after",
        high="high_after",
        width=80,
        help="95% interval over queries.",
    ),
    ui.Col(
        "difference", "Difference", "probability", width=78, help="After minus before, over queries with both scores."
    ),
    ui.Col(
        "difference",
        "95%",
        "interval",
        low="difference_low",
        high="difference_high",
        width=80,
        help="95% interval, paired over queries.",
    ),
    ui.Col("query", "This query", "rate", width=82, help="Current score on this query."),
    ui.Col("query_after", "New", "rate", width=66, help="Score on this query after the edit."),
    ui.Col("n", "n", "count", width=44, help="Queries with a score after the edit."),
)
PEOPLE = (
    ui.Col("assigner", "Assigner", "text", help="Model or program that assigned nuggets to answers."),
    ui.Col("language", "Language", "language", help="Language of the queries."),
    ui.Col("raw", "Exact", "rate", help="Share of people's votes in exact agreement."),
    ui.Col("raw", "95% interval", "interval", low="raw_low", high="raw_high", help="Clustered by query."),
    ui.Col("kappa", "Kappa", "probability", help="Weighted Cohen's kappa: 1 is perfect, 0 is chance."),
    ui.Col("kappa", "95% interval", "interval", low="kappa_low", high="kappa_high", help="Clustered by query."),
    ui.Col("n", "Votes", "count", help="Votes compared (n)."),
    ui.Col("queries", "Queries", "count", help=f"Number of queries; below {votes.ENOUGH} unreliable."),
    ui.Col("voters", "People", "count", help="People who voted."),
    ui.Col("undecided", "Undecided", "count", help="Votes on nuggets the assigner left undecided; excluded."),
)
_DRAFT, _SAVED, _REFUSED = "_nuggets_draft", "_nuggets_saved", "_nuggets_refused"


def main(page: ui.Page) -> None:
    """Show a query, its nuggets, and the effect of a draft change."""
    page.need("nuggets")
    codes = page.languages("nuggets")
    if not codes:
        page.summary("No nuggets in the selected languages.")
        st.info("Choose other languages in the sidebar, or clear the selection.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        language = ui.pick(
            "Language", codes, key="language", kind="language", named=search_name, default="en", width=160
        )
        queries = views.queries(page.arena, language)
        query = ui.pick("Query", queries, key="bank", kind="query", width=280, help="Show this query's nuggets.")
    key = (language, query)
    shown = answers.query_view(page.arena, key, "strict")
    entries = views.bank(page.arena, key)
    page.summary(
        f"{count_text(page.arena.rows('nuggets'), 'nugget')} in total; {count_text(len(queries), 'query')} in "
        f"{name_of(language)} with nuggets.",
        conclusion=page_conclusions.of_nuggets(views.matrix(page.arena, key)),
    )
    answer_card.show_query(shown)
    if (refused := st.session_state.pop(_REFUSED, None)) is not None:
        ui.refuse(refused)
    if message := st.session_state.pop(_SAVED, ""):
        st.success(message)
    if entries:
        show_nuggets(page.arena, key, link=False)
    left, right = st.columns([3, 2], gap="large")
    passages = {passage.passage_id: passage for passage in shown.passages}
    with left:
        show(page, key, entries, passages)
    with right:
        edit(page, key, entries, passages)
    preview(page, key)
    agreement(page, language)
    page.download("nuggets", views.bank_rows(page.arena, key), about={"language": language, "query": query})


def show(page: ui.Page, key: Key, entries: Sequence[schema.Nugget], passages: Mapping[str, schema.Passage]) -> None:
    """Show the nuggets, and people's changes to them."""
    st.header("Wording and sources", anchor=False)
    bank.show_bank(entries, passages)
    history = views.edits(page.arena, key)
    with st.expander(bank.edits_title(history), expanded=False):
        if history:
            bank.show_edits(history)
        else:
            st.caption("Every change is logged with author and time.")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        ui.onward("answers", "See which answers state them", query=key_text(key))
        ui.onward("spot_check", "Vote", ballot="nuggets", language=key[0])


def edit(page: ui.Page, key: Key, entries: Sequence[schema.Nugget], passages: Mapping[str, schema.Passage]) -> None:
    """Show the form of a change."""
    st.header("Edit", anchor=False)
    if not may("curator"):
        st.info("Editing nuggets requires the curator role. Ask your administrator.")
        return
    if page.arena.path in store.bundled_arenas().values():
        offer_copy(page)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kind = st.selectbox("Change", tuple(FORMS) if entries else ("add",), key="nuggets_change", width=160)
        name = vote_session.voter("curator", "Editing")
    if not name:
        st.caption("Enter a name or pseudonym to start; it is stored with each change.")
        return
    chosen = [_which(entries)] if kind in OF_ONE else list(entries)
    with st.form(f"nuggets_{kind}"):
        change = FORMS[kind](key, chosen, passages)
        pressed = st.form_submit_button("Preview", type="primary")
    if pressed and change is None:
        st.warning("Choose nuggets and enter a text.")
    elif pressed and change is not None:
        st.session_state[_DRAFT] = views.BankDraft((page.arena.path, key), tuple(entries), change)


def offer_copy(page: ui.Page) -> None:
    """Offer a copy of a bundled arena, which is read-only."""
    st.caption("The bundled arena is read-only. Your changes go into a private copy.")
    if not st.button("Create a copy to edit", type="primary", key="nuggets_copy"):
        return
    owner = reader().owner
    folder = owned.owner_folder(owner) / f"{page.arena.name}-own"
    completed = False
    with ui.working("Copying the arena ..."):
        if not store.is_arena(folder):
            owned.need_room(owner, page.arena.size)
            with home.alone(owned.owner_folder(owner)):
                store.copy(page.arena, folder)
        completed = True
    if completed:
        ui.switch(folder)


Change = Callable[..., nuggets.BankChange] | None
"""A change that lacks bank, author and time; None where the form is not filled in."""


def _key(nugget: schema.Nugget) -> nuggets.NuggetKey:
    return nugget.language, nugget.query_id, nugget.nugget_id


def _which(entries: Sequence[schema.Nugget]) -> schema.Nugget:
    chosen: schema.Nugget = st.selectbox(
        "Nugget", entries, format_func=lambda nugget: nugget.text, key=f"nuggets_which_{_stamp(entries)}"
    )
    return chosen


def _stamp(entries: Sequence[schema.Nugget]) -> str:
    """Names the nuggets that a widget is about, so that it keeps no state of removed nuggets."""
    return votes.digest(*(f"{nugget.nugget_id} {nugget.importance}" for nugget in entries))


def _reword(_query: Key, chosen: Sequence[schema.Nugget], _passages: Any) -> Change:
    (nugget,) = chosen
    text = st.text_area("Text", nugget.text, key=f"nuggets_reword_{_stamp(chosen)}")
    st.caption("Rewording creates a new nugget; existing assignments are dropped.")
    return partial(nuggets.reword, key=_key(nugget), text=text) if text.strip() else None


def _importance(_query: Key, chosen: Sequence[schema.Nugget], _passages: Any) -> Change:
    (nugget,) = chosen
    other: schema.NuggetImportance = "okay" if nugget.importance == "vital" else "vital"
    st.markdown(f"It is {nugget.importance} and would be **{other}**.")
    st.caption("vital: a good answer must state it. okay: good to have.")
    return partial(nuggets.set_importance, key=_key(nugget), importance=other)


def _split(_query: Key, chosen: Sequence[schema.Nugget], _passages: Any) -> Change:
    (nugget,) = chosen
    text = st.text_area("Parts, one per line", nugget.text, key=f"nuggets_split_{_stamp(chosen)}")
    st.caption("Each part inherits the importance.")
    parts = [nuggets.NuggetText(line, nugget.importance) for line in text.splitlines() if line.strip()]
    return partial(nuggets.split, key=_key(nugget), parts=parts) if parts else None


def _merge(_query: Key, entries: Sequence[schema.Nugget], _passages: Any) -> Change:
    stamp = _stamp(entries)
    chosen = st.multiselect("Nuggets", entries, format_func=lambda nugget: nugget.text, key=f"nuggets_merge_{stamp}")
    text = st.text_area("Merged text", key=f"nuggets_merged_{stamp}")
    st.caption("The merged nugget is vital if any part is.")
    change = partial(nuggets.merge, keys=[_key(nugget) for nugget in chosen], text=text)
    return change if chosen and text.strip() else None


def _drop(_query: Key, chosen: Sequence[schema.Nugget], _passages: Any) -> Change:
    (nugget,) = chosen
    st.caption("Removed from the bank; kept in the history.")
    return partial(nuggets.drop, key=_key(nugget))


def _add(key: Key, entries: Sequence[schema.Nugget], passages: Mapping[str, schema.Passage]) -> Change:
    stamp = _stamp(entries)
    text = st.text_area("The fact", key=f"nuggets_add_{stamp}", placeholder="One fact, in the query's language")
    importance = st.radio("Importance", get_args(schema.NuggetImportance), key=f"nuggets_as_{stamp}", horizontal=True)
    passage = st.selectbox(
        "Source passage", [None, *passages], format_func=lambda name: name or "no passage", key=f"nuggets_from_{stamp}"
    )
    change = partial(nuggets.add, query=key, nugget=nuggets.NuggetText(text, importance), passage_id=passage)
    return change if text.strip() else None


FORMS: dict[str, Callable[..., Change]] = {
    "reword": _reword,
    "importance": _importance,
    "split": _split,
    "merge": _merge,
    "drop": _drop,
    "add": _add,
}
"""The fields of each change."""
OF_ONE = ("reword", "importance", "split", "drop")
"""Changes to one nugget, which is chosen before the form."""


def preview(page: ui.Page, key: Key) -> None:
    """Preview the edit's effect on the scores, and offer to save it."""
    draft: views.BankDraft | None = st.session_state.get(_DRAFT)
    name = vote_session.name()
    if draft is None or draft.place != (page.arena.path, key) or not name or not may("curator"):
        return
    with st.container(border=True, key="nuggets_preview"):
        st.header("Preview", anchor=False)
        try:
            if set(draft.seen) != set(views.bank(page.arena, key)):
                raise BankChanged(*key)
            change = draft.change(views.whole_bank(page.arena), author=name, time=votes.now())
            effect = effect_of(page.arena, change)
        except MirageError as error:
            del st.session_state[_DRAFT]
            ui.refuse(error)
            return
        st.html(f'<div class="mg-bank">{bank.difference(views.edit_of(change.edit))}</div>')
        scores(effect)
        with st.container(horizontal=True, gap="small"):
            pressed = st.button("Save", type="primary", key="nuggets_save")
            st.button("Cancel", key="nuggets_discard", on_click=lambda: st.session_state.pop(_DRAFT, None))
        if pressed:
            save(page, draft, name, effect)


def scores(effect: EditEffect) -> None:
    """Show the scores of all systems before and after."""
    if effect.assigner is None:
        st.caption("No assignments yet, so no score changes.")
        return
    score = ui.pick(
        "Score",
        NAMES,
        key="nugget_score",
        default="nugget_all",
        width=240,
        help="nugget_all: all nuggets. strict: partial support counts 0.",
    )
    rows = [row for row in effect.rows if row.feature == score]
    moved = sum(row.rank != row.rank_after for row in rows)
    st.markdown(f"**{count_text(moved, 'system')} of {len(rows)} would change rank.**")
    ui.table(from_rows(ScoreChange, rows), SCORES, key="nugget_scores")
    words = f"Assignments by {effect.assigner}, {name_of(effect.change.edit.language)}."
    if effect.matched and effect.assigner != TERMS:
        words += (
            f" {count_text(effect.matched, 'new nugget')} assigned here by shared words ({TERMS}). After saving, this "
            f"query has no score until {effect.assigner} assigns them."
        )
    st.caption(ui.plain(words))


def save(page: ui.Page, draft: views.BankDraft, name: str, effect: EditEffect) -> None:
    """Save the change and show the nuggets; on a conflict with another editor, show that instead."""
    change = partial(_apply, draft.change, name, votes.now())
    try:
        save_edit(page.arena.path, change, made_by="the page Nuggets", expected=draft.seen)
    except BankChanged as error:
        del st.session_state[_DRAFT]
        st.session_state[_REFUSED] = error
        st.rerun()
    except MirageError as error:
        ui.refuse(error)
        return
    del st.session_state[_DRAFT]
    waiting = effect.matched and effect.assigner not in (None, TERMS)
    st.session_state[_SAVED] = "Saved." + (
        f" New nuggets await assignment by {ui.plain(str(effect.assigner))}: mirage nuggets assign." if waiting else ""
    )
    st.rerun()


def _apply(change: Callable[..., nuggets.BankChange], author: str, time: str, table: Any) -> nuggets.BankChange:
    return change(table, author=author, time=time)


def agreement(page: ui.Page, language: str) -> None:
    """Show the agreement of people with the nugget assigners; nothing without votes."""
    if "nugget_assignments" not in page.arena.tables:
        return
    st.header("Agreement with people", anchor=False)
    try:
        rows = [row for row in people.assigners_at(page.arena) if row.language in (language, "all")]
    except MirageError as error:
        st.caption(ui.plain(f"People's votes are unavailable: {error.what}."))
        return
    if not rows:
        st.caption(f"No votes on nuggets in {name_of(language)} yet. Vote on the Spot check page.")
        return
    ui.table(from_rows(votes.AssignerAgreement, rows), PEOPLE, key="assigners")
    reasons = [f"{row.assigner}, {row.language}: {row.reason}." for row in rows if row.reason]
    st.caption(ui.plain(" ".join(["Blind votes on randomly drawn answers.", *reasons])))


ui.show("nuggets", main)
