"""Section on notes on a query's answers or a battle: all notes, and a form for the reader's own."""

import hashlib
from collections.abc import Sequence
from html import escape

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.kit import vote_session
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.identity import login_required, may, reader
from mirage.explorer.kit.pick import pick_many
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.text import Markup, heading_html, plain, text_html
from mirage.people import notes
from mirage.people.votes.kinds import Note, split_categories
from mirage.people.votes.rows import LONGEST
from mirage.store.arena import Arena
from mirage.text.segmentation import count_text

Target = tuple[str, ...]
"""Target of a note: the system of an answer, or the two systems of a battle."""
FEW, HEIGHT = 6, 420
"""Number of notes above which the list scrolls, and its height in pixels."""
_FAILED = "_note_failed"


def show_notes(arena: Arena, key: tuple[str, str], targets: Sequence[Target]) -> None:
    """Show the notes on some answers or a battle, and a form for the reader's own, folded at first.

    Args:
        arena: the arena.
        key: language and id of the query.
        targets: possible targets of notes; nothing is shown without any.
    """
    if not targets:
        return
    try:
        everybody = people.notes_at(arena)
    except MirageError as error:
        st.caption(plain(f"Notes are unavailable: {error.what}."))
        return
    items = [(*key, *sorted(target)) for target in targets]
    here = sorted((note for note in everybody if note.item in items), key=lambda note: items.index(note.item))
    if (failed := st.session_state.pop(_FAILED, None)) is not None:
        refuse(failed)
    if here:
        st.html(heading_html(count_text(len(here), "note")))
        with st.container(height=HEIGHT if len(here) > FEW else "content", border=False, gap="small"):
            for note in here:
                _show_note(note)
    # The label is constant, since a new label would close the expander.
    fold = st.expander("Write a note", key="notes_fold", on_change="rerun")
    if not fold.open:
        return
    with fold:
        if obstacle := _obstacle():
            st.caption(plain(obstacle))
            return
        used = {name for note in everybody for name in _categories(note)}
        _show_form(arena, key, targets, here, notes.order_categories({*notes.CATEGORIES, *used}))


def pick_categories(arena: Arena, *, battles: bool = False) -> list[str]:
    """Show the picker of categories of notes; nothing before the first note with one, or where notes are unavailable.

    Args:
        arena: the arena.
        battles: whether notes on battles count too.
    """
    try:
        found = people.notes_at(arena)
    except MirageError:
        return []
    options = notes.order_categories(name for note in found if battles or note.system for name in _categories(note))
    if not options:
        return []
    chosen: list[str] = pick_many(
        "Category",
        options,
        key="category",
        kind="category",
        placeholder="Any category",
        width=210,
        help="Answers with a note in one of these categories."
        if not battles
        else "Battles with a note in one of these categories, on the battle or one of its answers.",
    )
    return chosen


def find_notes(arena: Arena, categories: Sequence[str]) -> list[Note] | None:
    """Return the notes with one of the categories; None if no category is selected."""
    if not categories:
        return None
    return [note for note in people.notes_at(arena) if set(categories) & set(_categories(note))]


def noted_battles(arena: Arena, pair: tuple[str, str], categories: Sequence[str]) -> frozenset[tuple[str, str]] | None:
    """Return language and id of the queries on which a battle of two systems, or one of its answers, has a note in one
    of the categories; None if no category is selected.
    """
    found = find_notes(arena, categories)
    if found is None:
        return None
    return frozenset((row.language, row.query_id) for row in found if set(row.systems) <= set(pair))


def noted_answers(arena: Arena, categories: Sequence[str]) -> frozenset[tuple[str, str, str]] | None:
    """Return language, query and system of the answers with one of the categories in a note; None without any
    category.
    """
    found = find_notes(arena, categories)
    if found is None:
        return None
    return frozenset((row.language, row.query_id, row.system) for row in found if row.system)


def _categories(note: Note) -> tuple[str, ...]:
    return split_categories(note.categories)


def _obstacle() -> str:
    """Return why this reader may not write notes, by the rules for votes; empty if they may."""
    try:
        if may("voter"):
            return ""
        login = login_required() and not reader().name
    except MirageError as error:
        return f"Notes cannot be written: {error.what}."
    return f"{'Log in' if login else 'Ask your administrator for the voter role'} to write notes."


def _show_note(note: Note) -> None:
    """Show one note, with a button to undo it if it is the reader's own."""
    systems = " and ".join(f"<bdi>{escape(name)}</bdi>" for name in note.systems)
    tags = " ".join(f'<span class="mg-tag"><bdi>{escape(name)}</bdi></span>' for name in _categories(note))
    head = f'<div class="mg-judge"><bdi>{escape(note.voter)}</bdi> <span>on {systems}</span> {tags}</div>'
    st.html(Markup(head + (text_html(note.note, language="") if note.note else "")))
    own = note.voter == vote_session.name() and (reader().name or note.session == reader().session)
    if own and not _obstacle():
        st.button("Undo", key=f"note_undo_{note.vote_id}", type="tertiary", on_click=_undo, args=(note,))


def _undo(note: Note) -> None:
    """Undo one of the reader's notes."""
    try:
        session = None if reader().name else reader().session
        people.database().undo(Note, note.vote_id, voter=note.voter, session=session)
    except MirageError as error:
        st.session_state[_FAILED] = error


def _show_form(
    arena: Arena, key: tuple[str, str], targets: Sequence[Target], here: Sequence[Note], categories: Sequence[str]
) -> None:
    """Show the form of a note, prefilled with the reader's earlier note."""
    target = targets[0]
    if len(targets) > 1:
        target = st.selectbox(
            "Note on", targets, format_func=_label, key=f"note_on_{_stamp(*key, *sum(targets, ()))}", width=330
        )
    author = vote_session.name()
    mine = next((note for note in here if note.voter == author and note.item == (*key, *sorted(target))), None)
    # The form's key contains arena, answer and note, so that drafts stay with their target.
    stamp = _stamp(arena.version, *key, *target, mine.vote_id if mine else "")
    with st.form(f"note_{stamp}", border=False):
        chosen = st.multiselect(
            "Categories",
            categories,
            default=_categories(mine) if mine else (),
            format_func=plain,
            key=f"note_categories_{stamp}",
            placeholder="Choose or type",
            accept_new_options=True,
            help=plain("; ".join(f"{name}: {meaning}" for name, meaning in notes.CATEGORIES.items())),
        )
        text = st.text_area(
            "Note",
            (mine.note if mine else None) or "",
            key=f"note_text_{stamp}",
            max_chars=LONGEST["note"],
            height=90,
            placeholder="What is wrong, or what is good? Ctrl+Enter saves.",
        )
        typed = ""
        if not author:
            typed = st.text_input(
                "Your name",
                key=f"note_name_{stamp}",
                max_chars=LONGEST["voter"],
                placeholder="or a pseudonym",
                width=220,
                help="Stored with your notes and votes; not part of the link.",
            )
        saved = st.form_submit_button("Save note")
    if saved:
        _save(arena, key, target, categories=chosen, text=text, typed=typed)


def _save(
    arena: Arena, key: tuple[str, str], target: Target, *, categories: Sequence[str], text: str, typed: str
) -> None:
    """Store a note and rerun the page; if storing fails, show the error and keep the input."""
    vote_session.keep_name(typed)
    author = vote_session.name()
    if not author:
        st.caption(":orange[Enter your name or a pseudonym to save the note.]")
        return
    try:
        note = notes.make_note(
            arena, key, target, voter=author, categories=categories, text=text, session=reader().session
        )
        people.database().submit(note)
    except MirageError as error:
        refuse(error)
        return
    st.rerun()


def _label(target: Target) -> str:
    """Return the name of a note's target."""
    return target[0] if len(target) == 1 else "the comparison"


def _stamp(*parts: str) -> str:
    """Return a short key of a form."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
