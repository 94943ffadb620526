"""Search in the answers: the index finds what reading finds, in every script, and is a cache like any other."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows, write_arena
from conftest import ROOT
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_source import read_sample

from mirage import schema
from mirage.errors import ArenaError, TableMissing
from mirage.store.arena import Arena
from mirage.store.query_rows import of_query
from mirage.store.search import answer_values, find_answers


def search(arena: Arena, text: str, languages: Sequence[str] = ()) -> list[dict[str, str]]:
    """Keys of the answers that contain a text."""
    found = [
        {"language": row["language"], "query_id": row["query_id"], "system": system}
        for system in ("s0", "s1", "s2")
        for row in find_answers(arena, text=text, languages=languages, chosen={"system": (system,)}).to_pylist()
    ]
    return sorted(found, key=lambda row: tuple(row.values()))


ODD = (
    'She said "yes" and left; 100% of_it * AND NOT "',
    "nul\0inside and after",
    "",
    None,
    unicodedata.normalize("NFD", "Größe ÉTÉ") + " " + "Größe",
    "a",
    "ab",
    "東京",
    "東京都に行く",
    "unit\x1fseparator",
    "noncharacter \uffff replacement \ufffd",
    "İstanbul ΟΔΟΣ ß ŉ",
)


def arena_of(folder: Path, texts: list[str | None], *, name: str = "arena") -> Arena:
    """Three answers a query, in two languages, sorted otherwise than they were written."""
    rows = [
        schema.Answer(
            "fi" if i % 3 else "ar",
            f"q{i // 3:04}",
            f"s{i % 3}",
            text,
            "missing" if text is None else "ok",
            *[None] * 3,
        )
        for i, text in reversed(list(enumerate(texts)))
    ]
    return write_arena(folder / name, {"answers": rows}, label="simulated")


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    """The sample's texts of all languages, and odd ones."""
    sample = read_sample(ROOT / "data" / "sample" / "source")
    texts = [*sample["passages"]["text"].to_pylist(), *sample["answers"]["text"].to_pylist(), *ODD]
    return arena_of(module_path, texts)


@pytest.fixture(scope="module")
def rows(arena: Arena) -> list[dict[str, Any]]:
    """The answers, with their text as a search compares it."""
    rows = read_rows(arena, "answers")
    return [row | {"lower": unicodedata.normalize("NFC", row["text"] or "").lower()} for row in rows]


KEY = ("language", "query_id", "system")


@pytest.mark.parametrize(*read_table("searched_words"))
def test_a_text_is_found_where_it_stands_whatever_its_case_and_composition(
    arena: Arena, rows: list[dict[str, Any]], text: str
) -> None:
    matches = search(arena, text)
    needle = unicodedata.normalize("NFC", text).lower()
    stand = [{name: row[name] for name in KEY} for row in rows if row["text"] is not None and needle in row["lower"]]
    # Python lower-cases a final sigma and a dotted capital I by their neighbours; DuckDB letter by letter.
    if not set(text) & set("İοδος"):
        assert matches == stand


@settings(max_examples=30)
@given(data=st.data())
def test_every_piece_of_an_answer_finds_it(arena: Arena, rows: list[dict[str, Any]], data: st.DataObject) -> None:
    row = rows[data.draw(st.integers(0, len(rows) - 1))]
    text = row["text"]
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]
    if unicodedata.combining(piece[0]) or unicodedata.normalize("NFC", piece) != piece:
        return  # half of a character is not there once it is composed
    key = {name: row[name] for name in KEY}
    assert key in search(arena, piece.upper() if piece.upper().lower() == piece.lower() else piece)


def test_a_search_is_narrowed_by_language(arena: Arena) -> None:
    everything = search(arena, "a")
    some = search(arena, "a", ["fi"])
    assert some == [row for row in everything if row["language"] == "fi"]
    assert 0 < len(some) < len(everything)
    assert search(arena, "a", []) == everything


def test_no_answer_contains_half_a_character(arena: Arena) -> None:
    assert search(arena, "\ud800") == []


def test_answers_to_queries_without_labels_are_found_beside_those_with(tmp_path: Path) -> None:
    answers = [schema.Answer("cy", f"q{q}", "x", "Caerdydd", "ok", *[None] * 3) for q in range(3)]
    outcome = schema.OutcomeRow("cy", "q1", "x", "strict", "relevant", "answered", "given", None, None, True)
    tables = {"answers": schema.from_rows("answers", answers), "outcomes": schema.from_rows("outcomes", [outcome])}
    half = write_arena(tmp_path / "half", tables, label="simulated")
    for chosen, queries in (({"parser": ("strict",)}, 3), ({"outcome": ("answered",)}, 1), ({"system": ("x",)}, 3)):
        assert len(find_answers(half, text="caer", chosen=chosen)) == queries
    assert (answer_values(half)["queries"], answer_values(half)["answers"]) == (3, 3)


def test_an_arena_without_answers_says_what_brings_them(tmp_path: Path) -> None:
    query = schema.Query("fi", "q0", None, "Why?", None)
    bare = write_arena(tmp_path / "bare", {"queries": [query]}, label="simulated")
    with pytest.raises(TableMissing, match="answers"):
        search(bare, "x")


# One query


@pytest.mark.parametrize("few", [10_000, 10], ids=["by row groups", "by DuckDB"])
def test_the_rows_of_a_query_are_all_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr("mirage.store.query_rows._FEW", few)
    arena = arena_of(tmp_path, [f"text {i}" for i in range(3000)])
    everything = read_rows(arena, "answers")
    for query_id in ("q0000", "q0133", "q0134", "q0999"):
        for code in ("ar", "fi"):
            expected = [r for r in everything if (r["language"], r["query_id"]) == (code, query_id)]
            assert of_query(arena, "answers", (code, query_id)) == expected
            assert expected
    assert of_query(arena, "answers", ("fi", "no such")) == []
    assert of_query(arena, "answers", ("sw", "q0000")) == []
    assert of_query(arena, "passages", ("fi", "q0000")) == []


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, [f"text {i}" for i in range(30)])
    file = next((arena.path / "answers").glob("fi-*"))
    file.write_bytes(b"x" * file.stat().st_size)
    with pytest.raises(ArenaError, match="damaged"):
        of_query(arena, "answers", ("fi", "q0000"))
