"""Runs of TREC: what a retriever brought, in a table of its own."""

import json
from pathlib import Path

import pytest
from arena_writer import add_rows, read_rows, write_arena
from commands import mirage

from mirage import schema
from mirage.errors import ArenaError, BadInput
from mirage.io.imports.formats import import_file
from mirage.store import arena as arenas
from mirage.store.arena import open_arena


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An arena with two queries, of which one has given passages."""
    queries = [schema.Query("fi", f"q{n}", None, f"Kuka on mies numero {n}?", None) for n in (1, 2)]
    passages = [schema.Passage("fi", "q1", f"d{n}", n, None, f"Teksti {n}.", n == 1) for n in (1, 2)]
    tables = {"queries": queries, "passages": passages}
    return write_arena(tmp_path / "arena", tables).path


SWEDISH = "Helsinki är en stad i Finland."
RUN = "q1 Q0 d9 1 7.25 first\nq1 Q0 d1 2 7.0 first\nq2 Q0 d9 1 0.1 first\n"


def test_a_run_alone_changes_nothing_but_its_own_table(path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text(RUN)
    before = open_arena(path)
    arena = import_file(tmp_path / "a.trec", path).arena
    assert arena.read("passages").equals(before.read("passages"))
    assert arena.read("queries").equals(before.read("queries"))
    rows = [tuple(row.values()) for row in read_rows(arena, "retrieved")]
    assert rows == [
        ("fi", "q1", "first", "d1", 2, 7.0, None, None, None),
        ("fi", "q1", "first", "d9", 1, 7.25, None, None, None),
        ("fi", "q2", "first", "d9", 1, 0.1, None, None, None),
    ], "a document that nobody gave has no text"


def test_what_answers_were_shown_does_not_change(path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text(RUN)
    import_file(tmp_path / "a.trec", path)
    answer = schema.Answer("fi", "q1", "s", "Ei.", "ok", None, None, None, None, "first", 1)
    add_rows(path, answers=[answer])
    import_file(tmp_path / "a.trec", path)
    (tmp_path / "b.trec").write_text("q1 Q0 d2 1 1.0 first\n")
    with pytest.raises(ArenaError, match="first"):
        import_file(tmp_path / "b.trec", path)


def test_the_score_decides_the_rank(path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text("q1 Q0 d1 0 1.0 r\nq1 Q0 d2 1 3.0 r\nq1 Q0 d3 2 3.0 r\n")
    done = import_file(tmp_path / "a.trec", path)
    ranks = {row["passage_id"]: row["rank"] for row in read_rows(done.arena, "retrieved")}
    assert ranks == {"d2": 1, "d3": 2, "d1": 3}
    assert "rank" in done.summary.guessed


def test_a_document_that_is_ranked_twice_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text("q1 Q0 d1 1 2.0 r\nq1 Q0 d1 2 1.0 r\n")
    with pytest.raises(BadInput, match="d1") as caught:
        import_file(tmp_path / "a.trec", path)
    assert caught.value.where.endswith(":2")


def test_documents_that_the_corpus_lacks_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "topics.fi.tsv").write_text("q1\tKuka on mies?\n")
    (folder / "run.fi.txt").write_text("q1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 1.0 r\n")
    (folder / "corpus.fi.jsonl").write_text('{"docid": "d1", "title": "T", "text": "Teksti."}\n')
    done = import_file(folder, tmp_path / "arena")
    assert [(entry.what, entry.n) for entry in done.summary.left_out] == [("texts of retrieved documents", 1)]
    assert arenas.check(done.arena)


def test_a_query_id_that_is_a_word_of_headers_is_no_header(tmp_path: Path) -> None:
    file = tmp_path / "topics.en.tsv"
    file.write_text("id\twhat now\nq2\twhere is the old bridge\n")
    done = import_file(file, tmp_path / "arena", name="trec")
    assert done.arena.read("queries")["query_id"].to_pylist() == ["id", "q2"]


def test_the_run_given_is_the_passages_of_the_queries(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "topics.fi.tsv").write_text("q1\tKuka on mies?\n")
    (folder / "run.fi.txt").write_text("q1 Q0 d1 1 2.0 given\n")
    arena = import_file(folder, tmp_path / "arena").arena
    assert "retrieved" not in arena.tables
    assert arena.read("passages")["passage_id"].to_pylist() == ["d1"]


def test_imports_keep_the_language_of_passages(tmp_path: Path) -> None:
    passages = [
        {"id": "1", "text": "Helsinki on Suomen pääkaupunki.", "language": "Finnish"},
        {"id": "2", "text": "Helsingfors är Finlands huvudstad.", "lang": "sv"},
        {"id": "3", "text": "Helsinki is the capital.", "language": "no language at all"},
        {"id": "4", "text": "Helsinki is a city."},
    ]
    line = {"id": "q", "question": "Mikä on pääkaupunki?", "language": "fi", "contexts": passages, "answer": "Helsinki"}
    (tmp_path / "in.jsonl").write_text(json.dumps({**line, "system": "s"}) + "\n", "utf-8")
    mirage("import", tmp_path / "in.jsonl", "--into", tmp_path / "arena")
    rows = read_rows(tmp_path / "arena", "passages")
    languages = {row["passage_id"]: row["passage_language"] for row in rows}
    assert languages == {"1": "fi", "2": "sv", "3": None, "4": None}


def test_a_trec_corpus_in_another_language_gives_texts(tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    folder.mkdir()
    (folder / "topics.sw.tsv").write_text("1\tMji mkuu wa Ufini ni upi?\n", "utf-8")
    (folder / "qrels.sw.txt").write_text("1 0 d-sv 1\n")
    line = json.dumps({"docid": "d-sv", "title": "Finland", "text": SWEDISH})
    (folder / "corpus.sv.jsonl").write_text(line + "\n", "utf-8")
    mirage("import", "--as", "trec", folder, "--into", tmp_path / "arena")
    (row,) = read_rows(tmp_path / "arena", "passages")
    assert (row["language"], row["passage_language"], row["text"]) == ("sw", "sv", SWEDISH)
