"""Retrieval across languages, the languages of passages, and failures that are due to them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import CliRunner
from cross_lingual import LANGUAGES, LOYAL, OPEN, write_across

import mirage
from mirage import schema, store
from mirage.cli import app
from mirage.errors import BadInput, UnknownName
from mirage.stages.retrieve.stage import RetrieveSettings, retrieve

TEXTS = {"fi": "Helsinki on Suomen kaupunki.", "sv": "Helsinki är en stad i Finland.", "ar": "هلسنكي Helsinki مدينة"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write an arena of one question in three languages, without passages."""
    rows = [schema.Query(code, "q", None, "Helsinki?", None) for code in TEXTS]
    return store.write(tmp_path / "arena", {"queries": schema.from_rows("queries", rows)}, made_by="a test").path


def write_corpus(folder: Path, ids: dict[str, str]) -> Path:
    """Write a corpus with one file for each language."""
    folder.mkdir()
    for code, passage_id in ids.items():
        line = json.dumps({"docid": passage_id, "text": TEXTS[code]})
        (folder / f"corpus.{code}.jsonl").write_text(line + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write a corpus whose passages have ids of their own."""
    return write_corpus(tmp_path / "corpus", {code: f"d-{code}" for code in TEXTS})


def found(arena: store.Arena, retriever: str) -> dict[str, set[tuple[str, str | None]]]:
    """Return id and language of the passages of a retriever by language of the query."""
    result: dict[str, set[tuple[str, str | None]]] = {}
    for row in arena.read("retrieved").to_pylist():
        if row["retriever"] == retriever:
            result.setdefault(row["language"], set()).add((row["passage_id"], row["passage_language"]))
    return result


def test_every_query_searches_all_languages_in_one_index(path: Path, corpus: Path) -> None:
    arena = retrieve(path, RetrieveSettings(corpus=corpus, across=()), made_by="a test")
    assert found(arena, "bm25") == {key: {(f"d-{code}", code) for code in TEXTS} for key in TEXTS}
    scores = {}
    for row in arena.read("retrieved").to_pylist():
        scores.setdefault(row["passage_id"], set()).add(row["score"])
    assert all(len(values) == 1 for values in scores.values()), "a score does not depend on the query's language"


def test_named_languages_are_searched_alone(path: Path, corpus: Path) -> None:
    run = CliRunner().invoke(app, ["generate", "retrieve", str(path), "--corpus", str(corpus), "--across", "fi,ar"])
    assert run.exit_code == 0, run.output
    assert found(store.open_arena(path), "bm25") == {key: {("d-fi", "fi"), ("d-ar", "ar")} for key in TEXTS}


def test_a_language_without_passages_is_refused(path: Path, corpus: Path) -> None:
    with pytest.raises(UnknownName, match="de"):
        retrieve(path, RetrieveSettings(corpus=corpus, across=("de",)), made_by="a test")


def test_one_id_in_two_languages_is_refused(path: Path, tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "same", dict.fromkeys(TEXTS, "d"))
    with pytest.raises(BadInput, match="passage d"):
        retrieve(path, RetrieveSettings(corpus=folder, across=()), made_by="a test")


def test_a_corpus_passage_without_language_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"docid": "d", "text": "Helsinki"}) + "\n")
    with pytest.raises(BadInput, match="no language"):
        retrieve(path, RetrieveSettings("x", corpus=tmp_path / "corpus.jsonl", across=()), made_by="a test")


def test_an_arena_is_searched_by_the_languages_of_its_passages(tmp_path: Path) -> None:
    write_across(tmp_path / "arena", queries=3)
    settings = RetrieveSettings(across=("de",), languages=("ar", "en"))
    arena = retrieve(tmp_path / "arena", settings, made_by="a test")
    own = arena.read("retrieved").to_pylist()
    ids = {row["passage_id"] for row in own if row["retriever"] == "bm25"}
    assert ids
    assert all(name.endswith("-de") for name in ids)


def test_imports_keep_the_language_of_passages(tmp_path: Path) -> None:
    passages = [
        {"id": "1", "text": "Helsinki on Suomen pääkaupunki.", "language": "Finnish"},
        {"id": "2", "text": "Helsingfors är Finlands huvudstad.", "lang": "sv"},
        {"id": "3", "text": "Helsinki is the capital.", "language": "no language at all"},
        {"id": "4", "text": "Helsinki is a city."},
    ]
    line = {"id": "q", "question": "Mikä on pääkaupunki?", "language": "fi", "contexts": passages, "answer": "Helsinki"}
    (tmp_path / "in.jsonl").write_text(json.dumps({**line, "system": "s"}) + "\n", encoding="utf-8")
    run = CliRunner().invoke(app, ["import", str(tmp_path / "in.jsonl"), "--into", str(tmp_path / "arena")])
    assert run.exit_code == 0, run.output
    rows = store.open_arena(tmp_path / "arena").read("passages").to_pylist()
    languages = {row["passage_id"]: row["passage_language"] for row in rows}
    assert languages == {"1": "fi", "2": "sv", "3": None, "4": None}


def test_a_trec_corpus_in_another_language_gives_texts(tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    folder.mkdir()
    (folder / "topics.sw.tsv").write_text("1\tMji mkuu wa Ufini ni upi?\n", encoding="utf-8")
    (folder / "qrels.sw.txt").write_text("1 0 d-sv 1\n")
    line = json.dumps({"docid": "d-sv", "title": "Finland", "text": TEXTS["sv"]})
    (folder / "corpus.sv.jsonl").write_text(line + "\n", encoding="utf-8")
    run = CliRunner().invoke(app, ["import", "--as", "trec", str(folder), "--into", str(tmp_path / "arena")])
    assert run.exit_code == 0, run.output
    (row,) = store.open_arena(tmp_path / "arena").read("passages").to_pylist()
    assert (row["language"], row["passage_language"], row["text"]) == ("sw", "sv", TEXTS["sv"])


def test_an_arena_without_languages_of_passages_has_no_such_column(path: Path, corpus: Path) -> None:
    arena = retrieve(path, RetrieveSettings(corpus=corpus), made_by="a test")
    assert set(arena.read("retrieved")["passage_language"].to_pylist()) == {None}


def test_failures_name_the_language_that_is_not_used(tmp_path: Path) -> None:
    arena = write_across(tmp_path / "arena", queries=12)
    causes = Counter((row["system"], row["cause"]) for row in mirage.attribution(arena, answers=True))
    # Half of the queries have a passage of the first other language only, and the loyal system cites none of them.
    assert causes[LOYAL, "unused_language"] == 6 * len(LANGUAGES)
    assert causes[LOYAL, "right"] == 6 * len(LANGUAGES)
    assert causes[OPEN, "right"] == 12 * len(LANGUAGES)


def test_few_queries_do_not_show_that_a_language_is_unused(tmp_path: Path) -> None:
    arena = write_across(tmp_path / "arena", queries=8)
    causes = Counter((row["system"], row["cause"]) for row in mirage.attribution(arena, answers=True))
    assert causes[LOYAL, "other_language"] == 4 * len(LANGUAGES)
    shares = {row["cause"] for row in mirage.attribution(arena) if row["system"] == LOYAL}
    assert {"other_language", "unused_language"} <= shares
