"""Notes on the pages Answers and Battle: written, listed, counted, undone, filtered by, and never read as markup."""

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE, ROOT
from page_answers_cases import PAGE as ANSWERS
from page_spot_check_cases import folder  # noqa: F401  # a fixture
from payloads import HOSTILE
from streamlit.testing.v1 import AppTest

from mirage.errors import Unreachable
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.notes_section import noted_battles
from mirage.people.notes import make_note, notes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Note, split_categories
from mirage.store.arena import open_arena
from mirage.store.roles import ROLES
from pages import headings, html, page_text, text

BATTLE = ROOT / "pages" / "battle.py"
FOLD = "notes_fold"


def open_page(script: Path = ANSWERS, **params: str | list[str]) -> AppTest:
    """Open a page with its fold of notes open."""
    page = AppTest.from_file(script, default_timeout=PATIENCE)
    page.query_params.update({"arena": "texts", "query": "en:e00", **params})
    page.session_state[FOLD] = True
    page.run()
    assert not page.exception
    return page


def labelled(elements: Any, label: str) -> Any:
    """The one element with a label."""
    (found,) = (element for element in elements if element.label == label)
    return found


def write(page: AppTest, *categories: str, text: str = "", name: str = "", on: tuple[str, ...] = ()) -> None:
    """Fill the form and save."""
    if on:
        labelled(page.selectbox, "Note on").set_value(on).run()
    labelled(page.multiselect, "Categories").set_value(list(categories))
    labelled(page.text_area, "Note").set_value(text)
    if name:
        labelled(page.text_input, "Your name").set_value(name)
    labelled(page.button, "Save note").click().run()
    assert not page.exception


def log() -> list[Note]:
    return people.database().rows(Note)


def listed(page: AppTest) -> str:
    return " ".join(text(page).split())


def test_a_note_is_written_listed_and_filtered_by(arenas: Path) -> None:
    page = open_page()
    assert "category" not in {widget.key for widget in page.multiselect}
    write(page, "padded", "wrong fact", text="Names another river.", name="amina", on=("aya-101",))
    (note,) = log()
    assert (note.system, note.voter, note.note) == ("aya-101", "amina", "Names another river.")
    assert set(split_categories(note.categories)) == {"padded", "wrong fact"}
    assert notes_on(open_arena(arenas / "texts"), [note]).counting == [note]
    assert "1 note" in headings(page)
    assert "amina on aya-101 padded wrong fact Names another river." in listed(page) or (
        "amina on aya-101 wrong fact padded Names another river." in listed(page)
    )
    assert "Your name" not in [field.label for field in page.text_input], "the name is asked for once"

    page.multiselect(key="category").set_value(["padded"]).run()
    assert not page.exception
    assert "1 of 33 queries and 1 of 98 answers match." in page_text(page)
    by_link = open_page(category="wrong fact")
    assert "1 of 33 queries and 1 of 98 answers match." in page_text(by_link)


def test_a_later_note_replaces_the_own_and_undo_takes_it_back(arenas: Path) -> None:
    page = open_page()
    write(page, "padded", name="amina", on=("gpt-4",))
    labelled(page.selectbox, "Note on").set_value(("gpt-4",)).run()
    assert labelled(page.multiselect, "Categories").value == ["padded"], "the form begins with the own note"
    write(page, "no error", text="It is fine.")
    assert len(log()) == 2
    assert "no error It is fine." in listed(page)
    assert "1 note" in headings(page)
    for _ in range(2):
        labelled(page.button, "Undo").click().run()
    assert not page.exception
    assert not [heading for heading in headings(page) if "note" in heading]
    assert notes_on(open_arena(arenas / "texts"), log()).counting == []


def test_notes_of_others_have_no_undo(arenas: Path) -> None:
    arena = open_arena(arenas / "texts")
    with Votes() as db:
        db.submit(make_note(arena, ("en", "e00"), ("gpt-4",), voter="amina", categories=["padded"], session="other"))
    page = open_page()
    assert "1 note" in headings(page)
    assert "Undo" not in [button.label for button in page.button]
    write(page, "padded", name="amina", on=("aya-101",))
    assert [button.label for button in page.button].count("Undo") == 1, "a name that anybody can type undoes nothing"


def test_an_empty_or_nameless_note_is_not_saved_and_stays_typed(arenas: Path) -> None:
    page = open_page()
    write(page, "padded", text="Long.")
    assert log() == []
    assert "name or a pseudonym" in page_text(page)
    assert labelled(page.text_area, "Note").value == "Long."
    write(page, name="amina")
    assert log() == []
    assert "empty" in page_text(page)


def test_a_database_that_is_gone_keeps_what_was_typed(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_page()

    def submit(self: Votes, row: Any) -> Any:
        raise Unreachable("the votes cannot be reached", do="try again")

    with monkeypatch.context() as broken:
        broken.setattr(Votes, "submit", submit)
        write(page, "padded", text="Long.", name="amina")
    assert "cannot be reached" in page_text(page)
    assert labelled(page.text_area, "Note").value == "Long."
    labelled(page.button, "Save note").click().run()
    assert [note.note for note in log()] == ["Long."]


def test_who_may_not_vote_reads_notes_and_writes_none(
    arenas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = open_arena(arenas / "texts")
    with Votes() as db:
        db.submit(make_note(arena, ("en", "e00"), ("gpt-4",), voter="juma", text="Good."))
    roles = tmp_path / "roles.toml"
    roles.write_text('default = "reader"\nvoters = ["amina"]\n', "utf-8")
    monkeypatch.setenv(ROLES, str(roles))
    page = open_page()
    assert "juma on gpt-4 Good." in listed(page)
    assert not page.text_area
    assert "voter role" in page_text(page)


def test_hostile_notes_and_categories_are_shown_as_text(arenas: Path) -> None:
    arena = open_arena(arenas / "texts")
    name = "<b>$x$</b> **bold** :red[y]"
    with Votes() as db:
        for k, payload in enumerate(HOSTILE):
            db.submit(
                make_note(
                    arena, ("en", "e00"), ("gpt-4",), voter=f"<i>{k}</i>", categories=[name], text=payload or "none"
                )
            )
    page = open_page()
    source = html(page)
    assert "<b>$x$</b>" not in source
    assert "<i>0</i>" not in source
    assert "&lt;b&gt;$x$&lt;/b&gt;" in source
    assert not re.search(r"<script>|<img src=x", source)
    write(page, name, name="amina", on=("aya-101",))
    assert log()[-1].categories == name


def test_a_battle_has_notes_on_the_comparison_and_on_either_answer(arenas: Path) -> None:
    page = open_page(BATTLE, arena="judged", judge="zeta")
    pair, *single = labelled(page.selectbox, "Note on").options
    assert len(single) == 2
    write(page, text="Both miss it.", name="amina")
    write(page, "padded", on=(single[0],))
    on_battle, on_answer = log()
    assert (on_battle.system, on_answer.system) == (None, single[0])
    assert {on_battle.system_a, on_battle.system_b} == set(single)
    assert pair not in single
    answers = open_page(arena="judged", query=f"{on_answer.language}:{on_answer.query_id}")
    assert "1 note" in headings(answers), "the note on the answer alone"
    query = f"{on_answer.language}:{on_answer.query_id}"
    found = open_page(BATTLE, arena="judged", judge="zeta", query=query, category="padded")
    assert re.search(r"\b1 of \d+ battles between", page_text(found))
    assert found.multiselect(key="category").value == ["padded"]
    arena, key = open_arena(arenas / "judged"), (on_answer.language, on_answer.query_id)
    assert noted_battles(arena, (single[0], "another"), ["padded"]) == {key}
    assert noted_battles(arena, (single[1], "another"), ["padded"]) == frozenset()
