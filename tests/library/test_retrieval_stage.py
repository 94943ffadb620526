"""Retrieving: BM25, fusion, what is written beside what, and what is refused."""

import json
from collections import Counter
from pathlib import Path

import pytest
from arena_writer import add_rows, read_rows, write_arena
from commands import mirage
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mirage import schema
from mirage.errors import ArenaError, BadInput, NotEnoughData
from mirage.stages.generate.baselines import bm25 as okapi
from mirage.stages.retrieve import bm25
from mirage.stages.retrieve.corpus import read_corpus
from mirage.stages.retrieve.stage import RetrieveSettings, retrieve
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena
from mirage.store.runs import settings_of
from mirage.text.segmentation import terms

TEXTS = {
    "fi": ["Helsinki on Suomen pääkaupunki.", "Turku on vanhin kaupunki.", "Kissa istuu matolla."],
    "ja": ["東京は日本の首都です。", "大阪は大きな都市です。", "猫が好きです。"],
    "th": ["กรุงเทพเป็นเมืองหลวงของประเทศไทย", "เชียงใหม่อยู่ทางเหนือ", "แมวนอนหลับ"],
}
QUERIES = {"fi": "Mikä on Suomen pääkaupunki?", "ja": "日本の首都はどこですか", "th": "เมืองหลวงของไทย"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An arena of three languages with a query each, to which the second passage is given."""
    queries = [schema.Query(code, "q", None, text, None) for code, text in QUERIES.items()]
    passages = [schema.Passage(code, "q", "d1", 1, "T", texts[1], False) for code, texts in TEXTS.items()]
    tables = {"queries": queries, "passages": passages}
    return write_arena(tmp_path / "arena", tables).path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """The passages of the three languages, one file each, ids the same."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for code, texts in TEXTS.items():
        lines = [json.dumps({"docid": f"d{n}", "title": "T", "text": text}) for n, text in enumerate(texts)]
        (folder / f"corpus.{code}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def lists(arena: Arena, retriever: str) -> dict[str, list[str]]:
    rows = [row for row in read_rows(arena, "retrieved") if row["retriever"] == retriever]
    by_language: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: (row["language"], row["rank"])):
        by_language.setdefault(row["language"], []).append(row["passage_id"])
    return by_language


def test_bm25_finds_the_passage_in_every_script(path: Path, corpus: Path) -> None:
    arena = retrieve(path, RetrieveSettings(corpus=corpus), made_by="a test")
    assert {code: ids[0] for code, ids in lists(arena, "bm25").items()} == dict.fromkeys(TEXTS, "d0")
    rows = {(row["language"], row["passage_id"]): row for row in read_rows(arena, "retrieved")}
    assert rows["fi", "d0"]["text"] == TEXTS["fi"][0]
    if ("fi", "d1") in rows:
        assert rows["fi", "d1"]["text"] is None, "it stands in table passages"
    assert arenas.check(arena)


def test_without_a_corpus_the_arena_is_searched(path: Path) -> None:
    arena = retrieve(path, RetrieveSettings(languages=("fi",)), made_by="a test")
    assert lists(arena, "bm25") == {"fi": ["d1"]}


def test_other_languages_and_retrievers_keep_their_lists(path: Path, corpus: Path) -> None:
    retrieve(path, RetrieveSettings(corpus=corpus), made_by="a test")
    retrieve(path, RetrieveSettings("other", corpus=corpus, depth=1), made_by="a test")
    before = lists(open_arena(path), "bm25")
    arena = retrieve(path, RetrieveSettings(depth=1, languages=("fi",), corpus=corpus), made_by="a test")
    assert lists(arena, "bm25") == {**before, "fi": ["d0"]}
    assert lists(arena, "other") == {code: ["d0"] for code in TEXTS}


def test_the_lists_that_answers_were_shown_stay(path: Path, corpus: Path) -> None:
    retrieve(path, RetrieveSettings(corpus=corpus), made_by="a test")
    answer = schema.Answer("fi", "q", "s", "Ei.", "ok", None, None, None, None, "bm25", 1)
    add_rows(path, answers=[answer])
    retrieve(path, RetrieveSettings(corpus=corpus), made_by="a test")
    with pytest.raises(ArenaError, match="bm25"):
        retrieve(path, RetrieveSettings(depth=1), made_by="a test")


words = st.text(alphabet="abcdef ", min_size=0, max_size=30)


@settings(max_examples=150)
@given(st.lists(words, min_size=1, max_size=40), words, st.integers(1, 12))
@example(["", "", "", "", "", "a"], "a a a", 1)
def test_the_search_that_skips_finds_what_all_scores_find(texts: list[str], query: str, depth: int) -> None:
    index = bm25.Bm25(texts)
    got = index.search(query, depth)
    # The baselines' own BM25, with the same constants but for a factor that orders nothing.
    counts = [Counter(terms(text)) for text in texts]
    everything = bm25.Bm25(texts).search(query, len(texts))
    assert got == everything[:depth]
    assert {row for row, _ in everything} == {row for row, count in enumerate(counts) if set(terms(query)) & set(count)}
    assert index.search(query, depth) == got, "a search leaves nothing behind"


def test_scores_are_those_of_okapi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirage.stages.generate.baselines.K1", bm25.K1)
    monkeypatch.setattr("mirage.stages.generate.baselines.B", bm25.B)
    texts = ["a b c a", "b c", "c c c d", "e"]
    expected = okapi(["a", "c", "c"], [terms(text) for text in texts])
    got = dict(bm25.Bm25(texts).search("a c c", 9))
    assert [got.get(row, 0.0) * (bm25.K1 + 1) for row in range(4)] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"docid": "a", "text": "x"}\n{"docid": "a", "text": "y"}\n', "two passages a"),
        ('{"docid": "a", "text": "x"}\n{"text": "y"}\n', "no id"),
        ('{"docid": "a", "text": "x"}\n{"docid": "b"}\n', "no text"),
    ],
)
def test_a_corpus_with_a_wrong_line_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "corpus.fi.jsonl").write_text(lines)
    with pytest.raises(BadInput, match=message) as caught:
        read_corpus(tmp_path / "corpus.fi.jsonl", "fi")
    assert caught.value.where.endswith(":2")


def test_one_corpus_of_several_languages(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("docid,title,text,language\na,T,x,fi\nb,,y,ja\n")
    assert read_corpus(tmp_path / "all.csv", "fi").passages.to_pylist() == [
        {"passage_id": "a", "title": "T", "text": "x"}
    ]
    with pytest.raises(NotEnoughData):
        read_corpus(tmp_path / "all.csv", "th")


def test_the_command(path: Path, corpus: Path) -> None:
    mirage("generate", "retrieve", path, "--corpus", corpus, "--depth", 2)
    assert set(lists(open_arena(path), "bm25")) == set(TEXTS)
    made = settings_of(open_arena(path), "retrieved", "bm25")
    assert made == {"method": "bm25", "corpus": corpus.name, "depth": 2}


@pytest.mark.parametrize("options", [("--name", "given"), ("--name", "a b"), ("--corpus", "none.jsonl")], ids=" ".join)
def test_the_command_refuses(path: Path, options: tuple[str, ...]) -> None:
    assert "to do" in mirage("generate", "retrieve", path, *options, code=2).output
