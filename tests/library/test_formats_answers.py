"""Formats of answers by name: every value of a file lands where it should, what a writer writes is read again, and a
refusal says which record, which field and what to do.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows
from commands import mirage, refuses
from commands import write_jsonl as jsonl
from golden.cases import read_table

from mirage.errors import BadInput
from mirage.io import values
from mirage.io.formats import run
from mirage.io.imports.formats import FileImport, import_file
from mirage.io.options import Options
from mirage.store import arena as arenas
from mirage.store.arena import Arena
from mirage.text.languages import language

HOSTILE = "شكرا <b>&amp;</b> \"x\", 'y'\n\n=1+1; \u200f[2]\t…"
"""Right to left, markup, quotes, line ends, a formula, a citation, a tab."""
EN = "Why does the sun rise in the east and not in the west of every country?"


def taken(path: Path, into: Path, name: str) -> tuple[FileImport, Arena]:
    """Import a file that must be recognised, and check the arena."""
    result = import_file(path, into)
    assert result.summary.format == name
    arenas.check(result.arena)
    return result, result.arena


def rows(arena: Arena, name: str, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in read_rows(arena, name)]


def same(first: Arena, second: Arena, *names: str) -> None:
    for name in names:
        assert read_rows(second, name) == read_rows(first, name), name


def test_records_leave_and_come_in_again_as_they_were(tmp_path: Path) -> None:
    record = {
        "question": HOSTILE,
        "contexts": [
            {"id": "p1", "title": "T", "text": HOSTILE, "relevant": True, "url": "https://example.org/1", "year": 1902},
            {"id": "p2", "text": "Another."},
        ],
        "answer": HOSTILE,
        "system": "a system",
        "id": "q1",
        "language": "pt-BR",
        "reference": "In 1902.",
        "turns": [{"role": "user", "content": "Hello"}],
        "tags": {"domain": ["roads"], "era": ["old", "older"]},
        "subset": "relevant",
        "numbered": True,
    }
    missing = {**record, "system": "b", "answer": None, "status": "api_error"}
    arena = taken(jsonl(tmp_path / "in.jsonl", record, missing), tmp_path / "arena", "rag")[1]
    out = tmp_path / "out.jsonl"
    mirage("export", "records", arena.path, "--out", out)
    back, second = taken(out, tmp_path / "second", "rag")
    same(arena, second, "queries", "turns", "tags", "references", "passages", "documents", "answers")
    assert left_out(back) == {}


def left_out(result: FileImport) -> dict[str, int]:
    return {entry.what: entry.n for entry in result.summary.left_out}


def test_pitfall_170_an_output_is_read_or_refused_or_counted_as_silent(shared: Path, tmp_path: Path) -> None:
    source = shared / "field/turn4/01-inspector-output/harbour.json"
    result, arena = taken(source, tmp_path / "arena", "inspector")
    assert all(text for (text,) in rows(arena, "answers", "text"))
    assert result.summary.silent == 0
    whole = json.loads(source.read_text("utf-8"))
    whole["results"][0]["output"] = None
    (file := tmp_path / "x.json").write_text(json.dumps(whole), "utf-8")
    assert run.read(file)[1].silent == 1
    for unread in ({"ref": 7}, [{"role": "assistant", "parts": {"ref": 7}}], [[1, 2]], True):
        whole["results"][0]["output"] = unread
        file.write_text(json.dumps(whole), "utf-8")
        with pytest.raises(BadInput, match="output"):
            run.read(file)


def test_pitfall_179_reference_contexts_of_a_test_set_are_passages(shared: Path, tmp_path: Path) -> None:
    result, arena = taken(shared / "field/turn4/13-test-set-contexts/testset.jsonl", tmp_path / "arena", "ragas")
    assert rows(arena, "passages", "position", "relevant") == [(1, True)] * 3
    assert set(rows(arena, "queries", "subset")) == {("relevant",)}
    assert left_out(result) == {"synthesizer_name": 3}


def test_pitfall_161_errors_of_ragas_name_fields_of_the_file(
    tmp_path: Path,
) -> None:
    record = {"question": EN, "answer": "It turns.", "ground_truth": "It turns east."}
    contexts = [{"docid": "d1", "title": "Earth", "text": "The earth turns."}, {"page_content": "A day."}]
    file = jsonl(tmp_path / "x.jsonl", {**record, "contexts": contexts})
    passages = rows(taken(file, tmp_path / "a", "ragas")[1], "passages", "position", "title", "text")
    assert sorted(passages) == [(1, "Earth", "The earth turns."), (2, None, "A day.")]
    for name in ("ragas", "rag"):
        for wrong in ({"contexts": [{"text": {"a": 1}}]}, {"contexts": [], "question": {"a": 1}}):
            with pytest.raises(BadInput) as caught:
                run.read(jsonl(file, {**record, "system": "s", **wrong}), name=name)
            assert caught.value.what.split()[0].split(".")[0] in {"question", "contexts"}


# Lists in cells


@pytest.mark.parametrize(*read_table("lists_in_cells"))
def test_a_list_in_a_cell_is_parted_whatever_wrote_it(written: str, expected: list[Any]) -> None:
    assert values.as_list(written) == expected


@pytest.mark.parametrize("written", ["['one' ... 'two']", "['one' 'two]", "array(['one' ... 'two'], dtype=object)"])
def test_a_list_of_texts_that_cannot_be_parted_is_refused(written: str) -> None:
    with refuses(BadInput, where="f.csv:2"):
        values.as_list(written, "f.csv:2")


def test_contexts_that_pandas_wrote_of_numpy_are_parted(shared: Path) -> None:
    tables, _ = run.read(shared / "field" / "ragas-numpy.csv", options=Options.parse(values=["language=en"]))
    texts = [row["text"] for row in tables["passages"].to_pylist()]
    assert len(texts) == 5
    assert "It isn't open." in texts


# NoMIRACL


def test_one_published_file_of_all_systems(shared: Path, tmp_path: Path) -> None:
    published = shared / "nomiracl" / "relevant" / "en.test.vanilla_prompt.jsonl.gz"
    with gzip.open(published, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for _, line in zip(range(20), file, strict=False)]
    tables, summary = run.read(jsonl(tmp_path / "en.jsonl", *lines))
    assert summary.format == "nomiracl"
    assert set(tables["queries"]["language"].to_pylist()) == {"en"}
    texts = {(row["query_id"], row["system"]): row["text"] for row in tables["answers"].to_pylist()}
    assert texts == {
        (line["query_id"], system): text
        for line in lines
        for system, text in line["results"].items()
        if text is not None
    }


def test_the_code_of_the_paper_for_hindi() -> None:
    assert language("hn").code == "hi"


# Shapes of texts


def test_conversations_and_labelled_sentences_of_the_field(shared: Path, tmp_path: Path) -> None:
    given = Options(values={"system": "m"})
    field = shared / "field" / "turn4"
    result = import_file(field / "08-chat-question" / "tasks.jsonl", tmp_path / "tasks", options=given)
    assert rows(result.arena, "queries", "text")[0] == ("When was mole 0 of the harbour built?",)
    assert set(rows(result.arena, "answers", "text")) == {("1911.",)}
    assert set(rows(result.arena, "references", "text")) == {("In 1911.",)}
    result = import_file(field / "09-sentence-answer" / "labelled.jsonl", tmp_path / "labelled", options=given)
    assert set(rows(result.arena, "answers", "text")) == {("It was built in 1911. It is the longest of all.",)}
    assert {"answer.factuality", "answer.relevance"} <= left_out(result).keys()
