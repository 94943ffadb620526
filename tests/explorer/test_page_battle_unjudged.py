"""The Battle and Answers pages on answers that nobody has compared: side by side, with the scores they came with."""

from functools import partial
from pathlib import Path

import pytest
from arena_writer import write_arena
from view_query_cases import build

import pages
from mirage import schema
from mirage.store.arena import Arena, open_arena
from mirage.views.query import query_view
from pages import html, page_text, text

A, B = "aya-101", "gpt-4"
KEY = ("en", "e00")
HOSTILE = "<script>alert(1)</script>"


def score(system: str, measure: str, rater: str, value: float | None, *, person: bool = True) -> schema.Score:
    reason = "the rater skipped it" if value is None else None
    return schema.Score(*KEY, system, measure, rater, person, value, 1.0, 4.0, reason)


SCORES = [
    score(A, "faithfulness", "ann", 4.0),
    score(A, "faithfulness", "ben", 3.0),
    score(B, "faithfulness", "ann", 2.0),
    score(B, "faithfulness", HOSTILE, None),
    score(B, "a-program", "rouge", 1.25, person=False),
]


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    """Answers with passages, their scores, and nothing that decides a battle."""
    bare = build(module_path, "scored", tables=("queries", "passages", "answers"))
    write_arena(bare.path, {"scores": SCORES})
    return module_path


@pytest.fixture
def arena(arenas: Path) -> Arena:
    return open_arena(arenas / "scored")


opened = partial(pages.open_page, arena="scored")


def test_two_answers_are_shown_with_passages_scores_and_the_commands_for_verdicts(arena: Arena) -> None:
    page = opened("battle", a=A, b=B, query=":".join(KEY))
    shown = query_view(arena, KEY, "strict")
    answers = {answer.system: answer.text for answer in shown.answers}
    source, words = html(page), page_text(page)
    assert all(system in source for system in (A, B))
    assert all(str(answers[system]).split()[0] in words for system in (A, B))
    assert f"{len(shown.passages)} passages" in words
    assert "No judge has compared these answers yet" in words
    assert arena.command("judgments") in words
    assert "mirage votes scores" in words
    assert f"{arena.path} --verdicts-from faithfulness" in words
    flat = " ".join(text(page).replace("\xa0", " ").split())
    assert "Rated: faithfulness 4, 3" in flat
    assert "the rater skipped it" in flat
    assert "1.25" in flat
    assert "<script>" not in source


def test_the_answers_page_shows_every_score_on_its_answer(arena: Arena) -> None:
    page = opened("answers", query=":".join(KEY))
    cards = {card.split("</span>", 1)[0]: card for card in html(page).split('<span class="mg-name">')[1:]}
    assert "4, 3" in cards[A]
    assert "ann: 4; ben: 3" in cards[A]
    assert "1.25" in cards[B]
    assert "<script>" not in html(page)


def test_the_download_of_a_query_has_the_mean_scores(arena: Arena) -> None:
    rows = {row["system"]: row for row in query_view(arena, KEY, "strict").table().to_pylist()}
    assert rows[A]["score:faithfulness"] == 3.5
    assert rows[B]["score:a-program"] == 1.25
    assert rows[A]["score:a-program"] is None


def test_the_answers_of_one_system_make_no_battle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = schema.Query(*KEY, None, "Which lake?", None)
    answer = schema.Answer(*KEY, "alone", text="The Blue.", status="ok", template=None, reason=None, call=None)
    tables = {"queries": [query], "answers": [answer]}
    write_arena(tmp_path / "alone", tables, title="Alone", label="own data")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    page = opened("battle", arena="alone")
    assert "answers from one" in page_text(page)


def test_what_is_missing_is_told_beside_what_is_there(arena: Arena) -> None:
    words = page_text(opened("features"))
    assert arena.command("features") in words
    assert "queries, passages, answers and scores" in words
