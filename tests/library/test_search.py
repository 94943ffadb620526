"""Search in the answers: the index finds what reading finds, in every script, and is a cache like any other."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import PATIENCE, ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_source import read_sample
from streamlit.testing.v1 import AppTest

from mirage import schema, store
from mirage.errors import ArenaError, TableMissing
from mirage.store import home
from mirage.store import search as searching
from mirage.store.query_rows import of_query
from mirage.store.search import build_index, has_index, search
from pages import page_text

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


def arena_of(folder: Path, texts: list[str | None], *, name: str = "arena") -> store.Arena:
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
    return store.write(
        folder / name, {"answers": schema.from_rows("answers", rows)}, label="simulated", made_by="a test"
    )


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> tuple[store.Arena, store.Arena]:
    """One arena with an index, and its twin without: the sample's texts of all languages, and odd ones."""
    sample = read_sample(ROOT / "data" / "sample" / "source")
    texts = [*sample["passages"]["text"].to_pylist(), *sample["answers"]["text"].to_pylist(), *ODD]
    folder = tmp_path_factory.mktemp("arenas")
    with_index, without = arena_of(folder, texts, name="indexed"), arena_of(folder, texts, name="read")
    with pytest.MonkeyPatch.context() as patch:
        # That of every test: this one is set up before it.
        patch.setenv("MIRAGE_HOME", str(tmp_path_factory.getbasetemp() / "no-home"))
        build_index(with_index)
        assert has_index(with_index)
        assert not has_index(without)
    return with_index, without


WORDS = [
    *("Suomenlinna", "suomenLINNA", "1748", "[fi-01#2]", "##Reason:", "the", "in the", "zzzz"),
    *("أول", "সাল", "రక్త", "ほん", "本語", "และ", "한국", "года", "中国的", "ìlú", "हिन्दी", "سال"),
    *("水", "の", "e", "t", " ", "th", "東京", "京", "ab", "b", "a", "é", "ß", "ÉTÉ", "größe", "\u0301"),
    *('"', '""', '"yes"', "%", "_", "*", "AND", " NOT ", "of_it", "^", "(", "a OR b", "text:", "'", "\\", "--"),
    *("\0", "nul", "after", "l\0i", "\x1f", "\x1fs", "\ufffd", "\uffff", "nt \ufffd", "İstanbul", "οδος", "ŉ"),
]


@pytest.mark.parametrize("text", WORDS)
def test_the_index_finds_what_reading_finds(twins: tuple[store.Arena, store.Arena], text: str) -> None:
    matches, expected = (search(arena, text).to_pylist() for arena in twins)
    assert matches == expected
    assert matches == sorted(matches, key=lambda row: tuple(row.values()))
    assert has_index(twins[0])


@settings(deadline=None)
@given(text=st.text(max_size=5) | st.integers(0, 10**9).map(str))
def test_the_index_finds_what_reading_finds_whatever_is_asked(
    twins: tuple[store.Arena, store.Arena], text: str
) -> None:
    assert search(twins[0], text).equals(search(twins[1], text))
    assert has_index(twins[0])


@settings(deadline=None)
@given(data=st.data())
def test_every_piece_of_an_answer_finds_it(twins: tuple[store.Arena, store.Arena], data: st.DataObject) -> None:
    """Also its very last characters, which begin no group of three of their own."""
    rows = twins[1].read("answers")
    row = rows.slice(data.draw(st.integers(0, len(rows) - 1)), 1).to_pylist()[0]
    text = row["text"]
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]
    if unicodedata.combining(piece[0]) or unicodedata.normalize("NFC", piece) != piece:
        return  # half of a character is not there once it is composed
    key = {name: row[name] for name in ("language", "query_id", "system")}
    assert key in search(twins[0], piece.upper() if piece.upper().lower() == piece.lower() else piece).to_pylist()


def test_only_what_the_index_cannot_tell_apart_is_looked_for_by_reading(twins: tuple[store.Arena, store.Arena]) -> None:
    by_reading = {text for text in WORDS if searching._by_index(twins[0], text, ()) is None}
    assert by_reading == {text for text in WORDS if set(text) & searching._UNSURE}


def test_what_no_answer_contains_leaves_the_index_as_it_is(twins: tuple[store.Arena, store.Arena]) -> None:
    for text in ("ꙮ", "ꙮꙮ", "ꙮꙮꙮ"):
        assert list(searching._by_index(twins[0], text, ())) == []
    assert has_index(twins[0])


def test_a_search_is_narrowed_by_language_and_system_and_cut(twins: tuple[store.Arena, store.Arena]) -> None:
    for arena in twins:
        everything = search(arena, "a").to_pylist()
        some = search(arena, "a", languages=["fi"], systems={"s1"}).to_pylist()
        assert some == [row for row in everything if (row["language"], row["system"]) == ("fi", "s1")]
        assert some
        assert search(arena, "a", limit=5).to_pylist() == everything[:5]
        assert search(arena, "a", languages=[], systems=()).to_pylist() == everything


def test_every_answer_contains_the_empty_text_but_one_that_is_not_there(
    twins: tuple[store.Arena, store.Arena],
) -> None:
    results = [search(arena, "") for arena in twins]
    assert len(results[0]) == twins[0].rows("answers") - 1
    assert results[0].equals(results[1])


def test_an_index_is_never_stale(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, ["the old text"] * 4)
    old = build_index(arena)
    assert len(search(arena, "old text")) == 4
    newer = arena_of(tmp_path, ["the new text"] * 4)
    assert not has_index(newer)
    assert len(search(newer, "old text")) == 0
    new = build_index(newer)
    assert (new.is_file(), old.is_file()) == (True, False)
    assert len(search(newer, "new text")) == 4


def test_an_index_survives_what_leaves_the_answers_as_they_are(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, ["one text"] * 3)
    build_index(arena)
    queries = schema.from_rows("queries", [schema.Query("fi", "q0000", None, "Why?", None)])
    rewritten = store.write(arena.path, {"queries": queries}, made_by="a test")
    assert rewritten.version != arena.version
    assert has_index(rewritten)
    store.check(rewritten)


def test_an_index_can_be_deleted_or_damaged_and_is_made_again(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, ["one text"] * 3)
    path = build_index(arena)
    path.write_bytes(b"no database at all" * 100)
    assert len(search(arena, "one")) == 3
    assert not has_index(arena)
    assert build_index(arena) == path
    path.unlink()
    assert len(search(arena, "one")) == 3
    index = build_index(arena)
    index.write_bytes(index.read_bytes()[:5000])
    assert len(search(arena, "one text")) == 3


def test_what_an_interrupted_build_left_is_not_taken_for_an_index(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, ["one text"] * 3)
    path = searching._place(arena)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".tmp").write_bytes(b"half")
    assert not has_index(arena)
    assert build_index(arena) == path
    assert not path.with_suffix(".tmp").exists()
    assert len(search(arena, "text")) == 3


def test_progress_runs_from_nothing_to_all(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, [f"text {i}" for i in range(2500)])
    reports: list[tuple[float, str]] = []
    build_index(arena, lambda share, message: reports.append((share, message)))
    shares = [share for share, _ in reports]
    assert shares == sorted(shares)
    assert len(shares) > 3
    assert 0 < shares[0] < shares[-1] <= 1
    assert "2,500 of 2,500" in reports[-2][1]


def test_two_programs_that_build_at_once_make_one_index(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, [f"text {i}" for i in range(1500)])
    code = (
        "import sys; from pathlib import Path; from mirage import store; from mirage.store import search\n"
        "arena = store.open_arena(Path(sys.argv[1])); search.build_index(arena)\n"
        "print(len(search.search(arena, 'text 1')))"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", code, str(arena.path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [program.communicate(timeout=PATIENCE)[0].strip() for program in programs]
    assert [program.returncode for program in programs] == [0, 0]
    assert outputs == ["611", "611"]
    folder = searching._place(arena).parent
    assert len(list(folder.glob(f"{searching._stem(arena)}*.sqlite"))) == 1
    assert not list(folder.glob("search-*.tmp"))


def test_whoever_waits_for_another_session_is_told(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, ["one text"] * 3)
    messages: list[str] = []
    with ThreadPoolExecutor() as session:
        with searching._lock(searching._place(arena), lambda *_: None):
            waiting = session.submit(build_index, arena, lambda _, message: messages.append(message))
            while not messages:
                assert not waiting.done()
        waiting.result()
    assert "Another session" in messages[0]
    assert waiting.result().is_file()


def test_sessions_search_at_once(twins: tuple[store.Arena, store.Arena]) -> None:
    words = [word for word in WORDS if len(word) > 1] * 3
    with ThreadPoolExecutor(8) as threads:
        for arena in twins:
            counts = list(threads.map(lambda word, arena=arena: len(search(arena, word)), words))
            assert counts == counts[: len(words) // 3] * 3


def test_an_index_lies_in_the_users_own_folder_and_leaves_the_arena_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    arena = arena_of(tmp_path, ["one text"] * 3)
    before = sorted(arena.path.rglob("*"))
    path = build_index(arena)
    assert path.is_relative_to(home.home_folder() / "search")
    assert sorted(arena.path.rglob("*")) == before
    assert len(search(arena, "text")) == 3
    assert has_index(arena)
    assert build_index(arena) == path


def test_indexes_of_many_arenas_are_kept_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(searching, "_KEPT", 2)
    arenas = [arena_of(tmp_path, ["one text"] * 3, name=f"arena{n}") for n in range(3)]
    paths = []
    for second, arena in enumerate(arenas):
        paths.append(build_index(arena))
        os.utime(paths[-1], (second, second))
    assert [path.is_file() for path in paths] == [False, True, True]


def test_an_index_that_cannot_be_written_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = arena_of(tmp_path, ["one text"] * 3)
    (tmp_path / "home").write_text("a file where a folder should be", encoding="utf-8")
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    with pytest.raises(ArenaError, match="search index cannot be written"):
        build_index(arena)
    assert len(search(arena, "one text")) == 3


def test_an_arena_without_answers_says_what_brings_them(tmp_path: Path) -> None:
    queries = schema.from_rows("queries", [schema.Query("fi", "q0", None, "Why?", None)])
    arena = store.write(tmp_path / "bare", {"queries": queries}, label="simulated", made_by="a test")
    assert not has_index(arena)
    for ask in (lambda: search(arena, "x"), lambda: build_index(arena)):
        with pytest.raises(TableMissing, match="answers"):
            ask()


# One query


@pytest.mark.parametrize("few", [10_000, 10], ids=["by row groups", "by DuckDB"])
def test_the_rows_of_a_query_are_all_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr("mirage.store.query_rows._FEW", few)
    arena = arena_of(tmp_path, [f"text {i}" for i in range(3000)])
    everything = arena.read("answers").to_pylist()
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


# The offer on a page


def test_a_page_offers_an_index_where_a_search_reads_many_answers_and_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = schema.from_rows(
        "queries", [schema.Query(c, f"q{i:04}", None, "Why?", None) for c in ("ar", "fi") for i in range(9)]
    )
    arena = arena_of(tmp_path, [f"text number {i}" for i in range(27)])
    store.write(arena.path, {"queries": queries}, made_by="a test")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store, "bundled_arenas", dict)
    monkeypatch.setattr("mirage.explorer.answers.search_box._MANY", 20)
    app = AppTest.from_file(ROOT / "pages" / "answers.py", default_timeout=PATIENCE)
    app.query_params["q"] = "number 7"
    app.run()
    assert "1 of 18 queries and 1 of 27 answers match." in page_text(app)
    (offer,) = [button for button in app.button if button.label == "Build search index"]
    offer.click().run()
    assert not app.exception
    assert has_index(arena)
    assert not [button for button in app.button if button.label == "Build search index"]
    app.text_input(key="q").set_value("NUMBER 1").run()
    assert " 11 of 27 answers match." in page_text(app)


def test_a_small_arena_needs_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = schema.from_rows("queries", [schema.Query("ar", "q0000", None, "Why?", None)])
    store.write(arena_of(tmp_path, ["a text"]).path, {"queries": queries}, made_by="a test")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store, "bundled_arenas", dict)
    app = AppTest.from_file(ROOT / "pages" / "answers.py", default_timeout=PATIENCE)
    app.query_params["q"] = "text"
    app.run()
    assert not app.exception
    assert not [button for button in app.button if button.label == "Build search index"]
