"""Notes on an arena: valid notes, categories, new notes, and files of notes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput, MirageError, NotEnoughData
from mirage.people import votes
from mirage.people.notes.counts import CategoryCount, count_categories
from mirage.people.notes.taxonomy import Taxonomy, load_taxonomy
from mirage.people.votes.rows import Note
from mirage.people.votes.stage import import_votes, read_row

_BY_HAND = "file-"
"""Prefix of the ids of notes that a file gave without one."""


def notes_on(arena: store.Arena, log: Iterable[Note]) -> votes.ArenaVotes[Note]:
    """Classify the notes on an arena in its current state (`votes.votes_on`); erased texts without a category are left
    out.
    """
    sorted_out = votes.votes_on(arena, log)
    return replace(
        sorted_out,
        counting=[note for note in sorted_out.counting if note.categories or note.note],
        changed=[note for note in sorted_out.changed if note.categories or note.note],
    )


def category_counts(
    arena: store.Arena, notes: Iterable[Note], *, languages: Sequence[str] | None = None
) -> list[CategoryCount]:
    """Count the categories of an arena's notes (`count_categories`), in the order of its taxonomy.

    Args:
        arena: the arena.
        notes: its notes that count (`notes_on`).
        languages: codes; None for all.

    Raises:
        NotEnoughData: if no note has a category.
        BadInput: if the file of categories is invalid.
    """
    counted = [note for note in notes if languages is None or note.language in languages]
    rows = count_categories(counted, load_taxonomy(arena).names)
    if not rows:
        where = f"{arena.name}" + (f" in {', '.join(languages)}" if languages else "")
        raise NotEnoughData(
            f"there are no notes with a category on {where}",
            do="write notes on the pages Answers and Battle, or run: mirage notes import FILE --arena DIR",
        )
    return rows


def make_note(
    arena: store.Arena,
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
        categories: names in the arena's taxonomy.
        text: the text.
        session: the session it was written in.

    Raises:
        UnknownName: if there is no such category.
        BadInput: if the note is empty, or the arena lacks the text of an answer.
    """
    first, *second = systems
    note = Note(
        vote_id=votes.token(),
        time=votes.now(),
        arena=arena.name,
        language=key[0],
        query_id=key[1],
        system=None if second else first,
        system_a=first if second else None,
        system_b=second[0] if second else None,
        voter=voter,
        vote="note",
        categories=votes.join_categories(categories),
        note=(text or "").strip() or None,
        undoes=None,
        session=session,
        shown=None,
    )
    (complete,) = _complete(arena, [note], [""], load_taxonomy(arena))
    return complete


def import_notes(database: votes.Votes, path: Path, *, arena: store.Arena | None = None) -> tuple[int, int]:
    """Import a file of notes; one invalid line rejects the file, and existing notes are unchanged.

    Args:
        database: the votes.
        path: a file as exported, or with `arena` one written by hand: language, query_id, system (or system_a and
            system_b), voter, and categories or note in each record.
        arena: the arena whose answers the notes are on. Its categories are then the only ones.

    Returns:
        The number of notes read, and the number of new ones.

    Raises:
        BadInput: with file and line.
        Unreachable: if the database does not respond.
    """
    first = next(store.records(path), None)
    if first is None:
        raise BadInput("this file has no notes", where=str(path), do="write one note a line")
    if arena is None:
        if not first.value.get("vote_id"):
            raise BadInput(
                "this note has no vote_id: the file is not an export",
                where=first.where,
                do="name the arena that the notes are on: --arena DIR",
            )
        return import_votes(database, Note, path)
    notes, places = [], []
    time = votes.now()
    for line in store.records(path):
        try:
            notes.append(votes.validate_row(read_row(Note, _fill_record(line.value, arena, time))))
        except BadInput as error:
            raise BadInput(error.what, where=line.where, do=error.do or "nothing was imported") from None
        places.append(line.where)
    _refuse_doubled(notes, places)
    notes = _complete(arena, notes, places, load_taxonomy(arena))
    stored = {note.vote_id for note in database.rows(Note)}
    new = [k for k, note in enumerate(notes) if not (note.vote_id.startswith(_BY_HAND) and note.vote_id in stored)]
    return len(notes), database.append([notes[k] for k in new], [places[k] for k in new])


def _fill_record(record: Mapping[str, Any], arena: store.Arena, time: str) -> dict[str, Any]:
    """Return a record with the fields that a file written by hand lacks."""
    filled = {"vote": "note", "arena": arena.name, "time": time, **{k: v for k, v in record.items() if v != ""}}
    if isinstance(given := filled.get("categories"), list):
        filled["categories"] = votes.join_categories(map(str, given))
    if filled.get("vote_id") is None:
        names = ("language", "query_id", "system", "system_a", "system_b", "voter", "categories", "note")
        content = "\0".join(str(filled.get(name) or "") for name in names)
        filled["vote_id"] = _BY_HAND + hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:24]
    return filled


def _refuse_doubled(notes: Sequence[Note], places: Sequence[str]) -> None:
    """Check that a hand-written file has one note per person and answer, since only the last would count."""
    seen: dict[tuple[str, ...], str] = {}
    for note, place in zip(notes, places, strict=True):
        if not note.vote_id.startswith(_BY_HAND):
            continue
        about = (note.voter, *votes.item(note))
        if about in seen:
            raise BadInput(
                f"{note.voter} has two notes on this answer or battle",
                where=place,
                do=f"join it with the one at {seen[about]}; nothing was imported",
            )
        seen[about] = place


def _complete(arena: store.Arena, notes: Sequence[Note], places: Sequence[str], taxonomy: Taxonomy) -> list[Note]:
    """Check new notes, and return them with the digest of their target."""
    complete = []
    for note, place, shown in zip(notes, places, votes.shown_now(arena, notes), strict=True):
        if note.vote == votes.UNDO or note.shown is not None:
            complete.append(note)  # as it was exported
            continue
        names = votes.split_categories(note.categories)
        try:
            if not names and not note.note:
                raise BadInput("the note is empty", do="choose a category or write a text")
            taxonomy.check(names)
            if shown is None:
                systems = " and ".join(votes.noted_systems(note))
                raise BadInput(
                    f"{arena.name} has no answer text of {systems} to {note.language}:{note.query_id}",
                    do="check language, query_id and system",
                )
            complete.append(votes.validate_row(replace(note, shown=shown)))
        except MirageError as error:
            error.where = error.where or place
            raise
    return complete
