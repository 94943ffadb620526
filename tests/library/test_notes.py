"""Notes on answers and battles: rows of the log on both databases."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from votes_cases import every_store_is_closed, postgres, url  # noqa: F401  # fixtures

from mirage import schema
from mirage.errors import BadInput
from mirage.people.notes import make_note, notes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Note, split_categories
from mirage.people.votes.rows import validate_row
from mirage.store.arena import Arena, open_arena

QUERIES = ("1", "2", "3", "4")
SYSTEMS = ("x", "y")


def build(path: Path, text: str = "Answer of {0} to {1}.") -> Arena:
    """Write an arena with answers in two languages."""
    answers = [
        schema.Answer(code, query, system, text.format(system, query), "ok", *[None] * 3)
        for code in ("sw", "te")
        for query in QUERIES
        for system in SYSTEMS
    ]
    queries = [schema.Query(code, query, None, f"Query {query}?", None) for code in ("sw", "te") for query in QUERIES]
    tables = {
        "queries": queries,
        "answers": answers,
    }
    return write_arena(path, tables, title=path.name)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return build(tmp_path / "mine")


def note(arena: Arena, query: str = "1", *systems: str, language: str = "sw", **about: Any) -> Note:
    """A note by amina on an answer of x unless told otherwise."""
    about = {"voter": "amina", "categories": ["padded"]} | about
    return make_note(arena, (language, query), systems or ("x",), **about)


# The log


def test_a_note_is_stored_replaced_and_undone_on_both_databases(arena: Arena, url: str) -> None:
    with Votes(url) as db:
        first = db.submit(note(arena, text="Too long."))
        assert db.rows(Note) == [first]
        assert tuple(db.version().values()) == (0, 0, 1, 0)
        later = db.submit(note(arena, categories=["wrong fact", "padded"]))
        other = db.submit(note(arena, voter="juma", text="Fine.", categories=[]))
        on_battle = db.submit(note(arena, "1", "y", "x"))
        assert notes_on(arena, db.rows(Note)).counting == [later, other, on_battle]
        with pytest.raises(BadInput, match="not a vote by juma"):
            db.undo(Note, later.vote_id, voter="juma")
        db.undo(Note, later.vote_id, voter="amina")
        db.undo(Note, later.vote_id, voter="amina")
        assert notes_on(arena, db.rows(Note)).counting == [first, other, on_battle], "the earlier note counts again"
        assert len(db.rows(Note)) == 5, "nothing is deleted"


def test_an_erased_author_leaves_categories_and_no_text(arena: Arena, url: str) -> None:
    with Votes(url) as db:
        db.submit(note(arena, text="I am Amina.", session="s"))
        db.submit(note(arena, "2", categories=[], text="Only a text."))
        assert db.forget("amina") == 2
        (kept,) = notes_on(arena, db.rows(Note)).counting
        assert (kept.categories, kept.note, kept.session) == ("padded", None, None)
        assert kept.voter.startswith("anonymous-")


def test_a_note_belongs_to_the_text_it_was_written_on(tmp_path: Path, arena: Arena) -> None:
    written = note(arena)
    shutil.copytree(arena.path, tmp_path / "renamed")
    assert notes_on(open_arena(tmp_path / "renamed"), [written]).counting == [written]
    changed = notes_on(build(tmp_path / "changed", "Another answer of {0}."), [written])
    assert (changed.counting, changed.changed) == ([], [written])


@pytest.mark.parametrize(
    "about",
    [
        {"system": None},
        {"system_b": "y"},
        {"system_a": "x", "system_b": "y"},
        {"system": None, "system_a": "x"},
        {"system": None, "system_a": "x", "system_b": "x"},
        {"vote": "A"},
        {"vote": "undo"},
        {"language": "klingon"},
        {"time": "yesterday"},
        {"note": "n" * 4_001},
        {"voter": ""},
    ],
)
def test_a_note_that_contradicts_itself_is_rejected(arena: Arena, about: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        validate_row(replace(note(arena), **about))


def test_categories_have_one_form(arena: Arena) -> None:
    row = validate_row(replace(note(arena), categories=" padded ,wrong  fact,,padded"))
    assert row.categories == "padded,wrong fact"
    assert split_categories(row.categories) == ("padded", "wrong fact")
    assert split_categories(None) == ()


def test_a_new_note_names_what_exists(arena: Arena) -> None:
    assert note(arena, categories=["made up"]).categories == "made up"
    with pytest.raises(BadInput, match="empty"):
        note(arena, categories=[], text="  ")
    with pytest.raises(BadInput, match="no answer text of z to sw:1"):
        note(arena, "1", "z")
