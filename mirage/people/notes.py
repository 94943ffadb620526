"""Error analysis: notes on answers and battles, with categories.

Notes are rows of the vote log (`mirage.people.votes.rows.Note`), so they are durable, belong to the texts they were
written on, and are undone by a later row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mirage.errors import BadInput
from mirage.people.votes.belonging import ArenaVotes, shown_now, votes_on
from mirage.people.votes.kinds import Note
from mirage.people.votes.rows import now, token, validate_row
from mirage.store.arena import Arena
from mirage.text.data import load_words

CATEGORIES: Mapping[str, str] = load_words("notes", "mirage.people")
"""Categories that the form offers, each with when to choose it; a note may have others."""


def order_categories(names: Iterable[str]) -> list[str]:
    """Return distinct categories in the order of `CATEGORIES`; others last, by name."""
    given = set(names)
    return [*(name for name in CATEGORIES if name in given), *sorted(given - CATEGORIES.keys())]


def notes_on(arena: Arena, log: Iterable[Note]) -> ArenaVotes[Note]:
    """Classify the notes on an arena in its current state (`votes.votes_on`); erased texts without a category are left
    out.
    """
    sorted_out = votes_on(arena, log)
    return replace(
        sorted_out,
        counting=[note for note in sorted_out.counting if note.categories or note.note],
        changed=[note for note in sorted_out.changed if note.categories or note.note],
    )


def make_note(
    arena: Arena,
    key: tuple[str, str],
    systems: Sequence[str],
    *,
    voter: str,
    categories: Iterable[str] = (),
    text: str | None = None,
    session: str | None = None,
) -> Note:
    """Create a note on an answer or a battle, to be submitted (`votes.Votes.submit`).

    Args:
        arena: the arena.
        key: language and id of the query.
        systems: the system of the answer, or the two of the battle.
        voter: the author.
        categories: names; a comma separates two.
        text: the text.
        session: the session it was written in.

    Raises:
        BadInput: if the note is empty, or the arena lacks the text of an answer.
    """
    first, *second = systems
    note = Note(
        vote_id=token(),
        time=now(),
        arena=arena.name,
        language=key[0],
        query_id=key[1],
        system=None if second else first,
        system_a=first if second else None,
        system_b=second[0] if second else None,
        voter=voter,
        vote="note",
        categories=",".join(categories) or None,
        note=(text or "").strip() or None,
        session=session,
    )
    if not note.categories and not note.note:
        raise BadInput("the note is empty", do="choose a category or write a text")
    (shown,) = shown_now(arena, [note])
    if shown is None:
        raise BadInput(
            f"{arena.name} has no answer text of {' and '.join(systems)} to {key[0]}:{key[1]}",
            do="check language, query_id and system",
        )
    return validate_row(replace(note, shown=shown))
