"""Formats of answers by name: every value of a file lands where it should, what a writer writes is read again, and a
refusal says which record, which field and what to do.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner

from mirage import cli, schema, store
from mirage.errors import BadInput
from mirage.io.formats import run, values
from mirage.io.imports.formats import FileImport, import_file
from mirage.io.sources.files import Options
from mirage.text.answers import citations
from mirage.text.languages import language

HOSTILE = "شكرا <b>&amp;</b> \"x\", 'y'\n\n=1+1; \u200f[2]\t…"
"""Right to left, markup, quotes, line ends, a formula, a citation, a tab."""
EN = "Why does the sun rise in the east and not in the west of every country?"


def jsonl(path: Path, *records: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def taken(path: Path, into: Path, name: str) -> tuple[FileImport, store.Arena]:
    """Import a file that must be recognised, and check the arena."""
    result = import_file(path, into)
    assert result.summary.format == name
    store.check(result.arena)
    return result, result.arena


def rows(arena: store.Arena, name: str, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in arena.read(name).to_pylist()]


def same(first: store.Arena, second: store.Arena, *names: str) -> None:
    for name in names:
        assert second.read(name).to_pylist() == first.read(name).to_pylist(), name


def test_records_leave_with_our_numbers_and_come_in_again_as_they_were(tmp_path: Path) -> None:
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
    features = [schema.Feature("pt-BR", "q1", "a system", "rouge_l", 0.5, None)]
    scores = [schema.Score("pt-BR", "q1", "a system", "clear", "anna", True, 3.0, 1.0, 4.0, None)]
    tables = {"features": schema.from_rows("features", features), "scores": schema.from_rows("scores", scores)}
    arena = store.write(arena.path, tables, made_by="a test")
    out = tmp_path / "out.jsonl"
    result = CliRunner().invoke(cli.app, ["export", "records", str(arena.path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    first = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert first["mirage"] == {"rouge_l": 0.5, "clear/anna": 3.0}
    back, second = taken(out, tmp_path / "second", "rag")
    same(arena, second, "queries", "turns", "tags", "references", "passages", "documents", "answers")
    assert left_out(back) == {}


def left_out(result: FileImport) -> dict[str, int]:
    return {entry.what: entry.n for entry in result.summary.left_out}


def test_ragas(tmp_path: Path) -> None:
    file = jsonl(
        tmp_path / "gpt-9.jsonl",
        {
            "user_input": EN,
            "retrieved_contexts": [HOSTILE, "The earth turns."],
            "reference_contexts": ["The earth turns.", "never retrieved"],
            "response": HOSTILE,
            "reference": "It turns east.",
            "rubrics": {"score1_description": "bad"},
            "faithfulness": 0.25,
            "context_recall": None,
        },
        {"user_input": f"{EN} Really?", "retrieved_contexts": [], "response": "", "faithfulness": 1},
    )
    result, arena = taken(file, tmp_path / "arena", "ragas")
    assert {text for _, text in rows(arena, "queries", "language", "text")} == {EN, f"{EN} Really?"}
    assert sorted(rows(arena, "answers", "system", "text", "status")) == [
        ("gpt-9", "", "empty"),
        ("gpt-9", HOSTILE, "ok"),
    ]
    assert rows(arena, "references", "text") == [("It turns east.",)]
    assert sorted(rows(arena, "passages", "position", "text", "relevant")) == [
        (1, HOSTILE.strip(), None),
        (2, "The earth turns.", True),
    ]
    scores = rows(arena, "scores", "measure", "rater", "person", "value")
    assert sorted(scores, key=str) == sorted(
        [
            ("context_recall", "ragas", False, None),
            ("faithfulness", "ragas", False, 0.25),
            ("faithfulness", "ragas", False, 1.0),
        ],
        key=str,
    )
    assert left_out(result) == {"rubrics": 1, "reference_contexts": 1}
    assert "gpt-9" in result.summary.guessed["system"]


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
    assert left_out(result) == {}


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


def test_ragas_conversations_and_old_names(tmp_path: Path) -> None:
    talk = [
        {"content": "Hello there, my dear friend.", "type": "human"},
        {"content": "Hi!", "type": "ai"},
        {"content": EN, "type": "human"},
        {"content": "Calling a tool.", "type": "ai", "tool_calls": [{"name": "map", "args": {}}]},
        {"content": "east", "type": "tool"},
        {"content": HOSTILE, "type": "ai"},
    ]
    _, arena = taken(
        jsonl(tmp_path / "talk.jsonl", {"user_input": talk, "reference": "East.", "model": "m"}),
        tmp_path / "talk",
        "ragas",
    )
    assert rows(arena, "turns", "position", "speaker", "text") == [
        (1, "human", "Hello there, my dear friend."),
        (2, "ai", "Hi!"),
    ]
    assert rows(arena, "answers", "system", "text") == [("m", HOSTILE)]
    file = table(
        tmp_path / "old.csv",
        [{"question": EN, "answer": "East.", "contexts": "['a', \"b's\"]", "ground_truth": "E", "faithfulness": "nan"}],
    )
    _, arena = taken(file, tmp_path / "old", "ragas")
    assert sorted(rows(arena, "passages", "text")) == [("a",), ("b's",)]
    assert rows(arena, "scores", "measure", "value") == [("faithfulness", None)]


def test_bergen(tmp_path: Path) -> None:
    folder = tmp_path / "mistral_top5"
    folder.mkdir()
    text = "### User:\nBackground:\nDocument 1: Sun. It\n\nrises.\nDocument 2: Document 9: no.\n\n\nQuestion: "
    records = [
        {
            "q_id": "-17",
            "response": HOSTILE,
            "instruction": f"{text}{EN}\n\n### Assistant:\n\nResponse:\n",
            "label": ["East", "The east"],
            "question": EN,
            "ranking_label": [["5977910"], []],
            "M": 1.0,
        },
        {"q_id": 18, "response": None, "instruction": "free", "label": [], "question": f"{EN} 2", "M": None},
    ]
    file = folder / "eval_dev_out.json"
    file.write_text(json.dumps(records, indent=1), encoding="utf-8")
    result, arena = taken(file, tmp_path / "arena", "bergen")
    assert rows(arena, "queries", "query_id", "text") == [("-17", EN), ("18", f"{EN} 2")]
    assert rows(arena, "answers", "system", "text", "status", "numbered") == [
        ("mistral_top5", HOSTILE, "ok", True),
        ("mistral_top5", None, "missing", None),
    ]
    assert sorted(rows(arena, "passages", "query_id", "position", "text")) == [
        ("-17", 1, "Sun. It\n\nrises."),
        ("-17", 2, "Document 9: no."),
    ]
    assert rows(arena, "references", "text") == [("East",)]
    assert rows(arena, "scores", "measure", "rater", "value") == [("M", "bergen", 1.0), ("M", "bergen", None)]
    assert left_out(result) == {"label": 1, "ranking_label": 1}


def ragelo_folder(folder: Path) -> Path:
    folder.mkdir()
    table(folder / "queries.csv", [{"qid": 0, "query": EN}, {"qid": 1, "query": f"{EN} And the moon?"}])
    table(
        folder / "documents.csv",
        [
            {"qid": 0, "did": 0, "document": HOSTILE},
            {"qid": 0, "did": "d 1", "document": "The earth turns."},
            {"qid": 1, "did": 2, "document": "The moon too."},
        ],
    )
    table(
        folder / "answers.csv",
        [
            {"qid": 0, "agent": "agent1", "answer": "East, says [0]."},
            {"qid": 0, "agent": "agent2", "answer": HOSTILE},
            {"qid": 1, "agent": "agent1", "answer": ""},
        ],
    )
    common = {"exception": None, "pairwise": True, "agent": None}
    jsonl(
        folder / "results.jsonl",
        {"qid": "0", "agent_a": "agent1", "agent_b": "agent2", "raw_answer": "[[A]]", "answer": "A"} | common,
        {"qid": "0", "agent_a": "agent2", "agent_b": "agent1", "raw_answer": "r", "answer": {"winner": "C"}} | common,
        {"qid": "1", "agent_a": "agent1", "agent_b": "agent2", "raw_answer": None, "answer": None}
        | common
        | {"exception": "time out"},
        {"qid": "0", "agent": "agent1", "raw_answer": "fine", "answer": {"score": 2, "reasoning": "ok"}},
        {"qid": "0", "did": "0", "raw_answer": "relevant", "answer": {"score": 1}},
    )
    return folder


def test_an_answer_beside_a_models_output_is_the_reference(tmp_path: Path) -> None:
    """Of a record with both, the system said the output; a record with `answer` alone keeps it."""
    record = {"question": "Wann wurde die Brücke gebaut?", "docs": ["Gebaut 1902."], "system": "s", "answer": "1902"}
    for name in ("output", "prediction", "response", "actual_output"):
        rows_in = ({**record, name: "Im Jahr 1902 [1]."}, {**record, "system": "t", name: None})
        arena = taken(jsonl(tmp_path / f"{name}.jsonl", *rows_in), tmp_path / name, "rag")[1]
        assert rows(arena, "answers", "system", "text") == [("s", "Im Jahr 1902 [1]."), ("t", None)]
        assert rows(arena, "references", "text") == [("1902",)]
    arena = taken(jsonl(tmp_path / "alone.jsonl", record), tmp_path / "alone", "rag")[1]
    assert rows(arena, "answers", "text") == [("1902",)]


def test_queries_with_more_than_ragelo_has_are_not_taken_for_its_files(tmp_path: Path) -> None:
    """A file with the texts that a system generated is not read as queries alone."""
    record = {"qid": "1", "query": "다리는 언제 지어졌나요?", "generated_texts": "1902년입니다."}
    with pytest.raises(BadInput):
        import_file(jsonl(tmp_path / "in.jsonl", record), tmp_path / "arena")


def test_one_object_over_many_lines_is_read_whatever_the_file_is_called(tmp_path: Path) -> None:
    """What a file holds decides, not the end of its name."""
    record = {"question": "橋はいつ建てられましたか。", "contexts": ["1902年。"], "answer": "1902年。", "system": "赤"}
    file = tmp_path / "whole.jsonl"
    file.write_text(json.dumps({"date": "2023-06-22", "rows": [record]}, indent=4, ensure_ascii=False), "utf-8")
    assert rows(taken(file, tmp_path / "arena", "rag")[1], "answers", "system") == [("赤",)]


def test_ragelo_by_its_other_names_of_columns(tmp_path: Path) -> None:
    """Columns have one meaning under each of the names by which RAGElo finds them."""
    folder = tmp_path / "ragelo"
    folder.mkdir()
    files = {
        "queries.csv": "qid,query\n0, Quelle rivière traverse la vallée ?\n",
        "documents.csv": "query_id,doc_id,document_text\n0,d0, La Bise la traverse.\n0,d1,Le pont date de 1902.\n",
        "answers.csv": 'query_id,agent,answer\n0, un,"La Bise [d0]."\n0,deux,Je ne sais pas.\n',
        "pairwise_answers_evaluations.csv": 'query_id,agent_a,agent_b,raw_answer,answer\n0,un,deux,"Bien. [[A]]",A\n',
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    arena = taken(folder, tmp_path / "arena", "ragelo")[1]
    assert set(rows(arena, "answers", "system")) == {("deux",), ("un",)}
    assert set(rows(arena, "passages", "passage_id")) == {("d0",), ("d1",)}
    assert rows(arena, "judgments", "system_a", "system_b", "verdict") == [("un", "deux", "A")]


def test_ragelo(tmp_path: Path) -> None:
    result, arena = taken(ragelo_folder(tmp_path / "in"), tmp_path / "arena", "ragelo")
    assert rows(arena, "passages", "query_id", "passage_id", "text") == [
        ("0", "0", HOSTILE.strip()),
        ("0", "d 1", "The earth turns."),
        ("1", "2", "The moon too."),
    ]
    assert rows(arena, "answers", "query_id", "system", "text", "numbered") == [
        ("0", "agent1", "East, says [0].", False),
        ("0", "agent2", HOSTILE, False),
        ("1", "agent1", "", False),
    ]
    assert rows(arena, "judgments", "query_id", "judge", "system_a", "verdict", "rationale", "reason") == [
        ("0", "ragelo", "agent1", "A", "[[A]]", None),
        ("0", "ragelo", "agent2", "tie", "r", None),
        ("1", "ragelo", "agent1", "unparsed", None, "time out"),
    ]
    assert rows(arena, "scores", "system", "measure", "rater", "person", "value") == [
        ("agent1", "score", "ragelo", False, 2.0)
    ]
    assert left_out(result) == {"results of documents": 1}
    (mention,) = citations("East, says [0].", ["0", "d 1"], numbered=False)
    assert mention.passage_id == "0"


OPEN_RAG_EVAL = [
    {
        "query_id": "q",
        "query": EN,
        "query_run": 1,
        "passage_id": "[1]",
        "passage": HOSTILE,
        "generated_answer": "A [1]",
    },
    {"query_id": "q", "query": EN, "query_run": 1, "passage_id": "[2]", "passage": "p2", "generated_answer": ""},
    {
        "query_id": "q",
        "query": EN,
        "query_run": 2,
        "passage_id": "[2]",
        "passage": "p2",
        "generated_answer": "B [2, 3]",
    },
    {"query_id": "q", "query": EN, "query_run": 2, "passage_id": "[3]", "passage": "p3", "generated_answer": ""},
]


def test_open_rag_eval(tmp_path: Path) -> None:
    file = table(tmp_path / "bot.csv", OPEN_RAG_EVAL)
    result, arena = taken(file, tmp_path / "arena", "open-rag-eval")
    assert rows(arena, "queries", "query_id", "text") == [("q", EN)]
    assert sorted(rows(arena, "passages", "position", "text")) == [(1, HOSTILE.strip()), (2, "p2"), (3, "p3")]
    ids = [passage_id for (passage_id,) in sorted(rows(arena, "passages", "passage_id"))]
    assert len(set(ids)) == 3
    # The second run was shown p2 and p3, which stand second and third among the passages of the query.
    assert rows(arena, "answers", "system", "text", "numbered") == [
        ("bot", "A [1]", True),
        ("bot run 2", "B [2, 3]", True),
    ]
    assert {"system", "query_run", "passage_id"} <= result.summary.guessed.keys()


def inspector_file(path: Path) -> Path:
    scale = [{"value": name, "numeric_value": value} for value, name in enumerate(("no", "hm", "yes"), start=1)]
    content = {
        "name": "hostile",
        "models": [{"model_id": "m 1", "name": "M"}, {"model_id": "reference", "name": "R"}],
        "metrics": [
            {"name": "faithful", "author": "human", "type": "categorical", "values": scale},
            {"name": "overlap", "author": "algorithm", "type": "numerical", "range": [-1, 1, 0.2]},
        ],
        "documents": [{"document_id": "d/1", "text": HOSTILE, "title": "T", "url": "https://x.org/1", "year": 1999}],
        "tasks": [
            {
                "task_id": "t<::>1",
                "task_type": "rag",
                "input": [
                    {"speaker": "user", "text": "Hello, how are you today?"},
                    {"speaker": "agent", "text": HOSTILE},
                    {"speaker": "user", "text": EN},
                ],
                "contexts": [{"document_id": "d/1"}],
                "targets": [{"speaker": "agent", "text": "East."}],
                "annotations": {"context_relevance": {"system": [0]}},
                "Question Type": ["Factoid", "Opinion"],
                "Turn": 2,
                "Multi-Turn": [],
            },
            {"task_id": 2, "task_type": "generation", "input": f"{EN} Or west?", "contexts": [], "targets": []},
        ],
        "evaluations": [
            {
                "task_id": "t<::>1",
                "model_id": "m 1",
                "model_response": HOSTILE,
                "annotations": {
                    "faithful": {"ann": {"value": "yes", "duration": 3.0}, "bob": {"value": "none of these"}},
                    "overlap": {"system": {"value": -0.5}},
                },
            },
            {"task_id": 2, "model_id": "reference", "model_response": "East.", "annotations": {}},
        ],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_inspector(tmp_path: Path) -> None:
    result, arena = taken(inspector_file(tmp_path / "in.json"), tmp_path / "arena", "inspector")
    assert rows(arena, "queries", "query_id", "text") == [("2", f"{EN} Or west?"), ("t<::>1", EN)]
    assert rows(arena, "turns", "query_id", "speaker", "text") == [
        ("t<::>1", "user", "Hello, how are you today?"),
        ("t<::>1", "agent", HOSTILE),
    ]
    assert rows(arena, "tags", "query_id", "tag", "value") == [
        ("t<::>1", "Question Type", "Factoid"),
        ("t<::>1", "Question Type", "Opinion"),
        ("t<::>1", "Turn", "2"),
    ]
    assert rows(arena, "references", "query_id", "text") == [("t<::>1", "East.")]
    assert rows(arena, "passages", "passage_id", "title", "text", "relevant") == [("d/1", "T", HOSTILE.strip(), True)]
    assert rows(arena, "documents", "url", "metadata") == [("https://x.org/1", '{"year": 1999}')]
    assert rows(arena, "answers", "query_id", "system", "text") == [
        ("2", "reference", "East."),
        ("t<::>1", "m 1", HOSTILE),
    ]
    scores = rows(arena, "scores", "measure", "rater", "person", "value", "low", "high")
    assert scores == [
        ("faithful", "ann", True, 3.0, 1.0, 3.0),
        ("faithful", "bob", True, None, 1.0, 3.0),
        ("overlap", "system", False, -0.5, -1.0, 1.0),
    ]
    assert left_out(result) == {"timestamp, duration": 1}
    assert "reference" in result.summary.guessed["system"]


def test_inspector_of_the_second_schema(tmp_path: Path) -> None:
    content = {
        "schema_version": 2,
        "models": [{"model_id": "m"}],
        "metrics": [{"name": "good", "author": "human", "type": "numerical"}],
        "tasks": [
            {"task_id": "t", "input": [{"role": "user", "content": EN}], "targets": [{"type": "text", "value": "E"}]}
        ],
        "results": [
            {
                "task_id": "t",
                "model_id": "m",
                "output": {"type": "text", "value": "East."},
                "contexts": [{"document_id": "d", "text": "The earth turns."}],
                "scores": {"good": {"ann": {"value": 2}}},
            }
        ],
    }
    file = tmp_path / "v2.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    _, arena = taken(file, tmp_path / "arena", "inspector")
    assert rows(arena, "answers", "text") == [("East.",)]
    assert rows(arena, "references", "text") == [("E",)]
    assert rows(arena, "passages", "passage_id", "text") == [("d", "The earth turns.")]
    assert rows(arena, "scores", "value", "low", "high") == [(2.0, None, None)]


def test_trec_rag(tmp_path: Path) -> None:
    sentences = [
        {"text": HOSTILE.replace("[2]", "two"), "citations": [1, 0]},
        {"text": "No source.", "citations": []},
        {"text": "The earth turns.", "citations": [2]},
    ]
    file = jsonl(
        tmp_path / "run.jsonl",
        {
            "run_id": "r1",
            "topic_id": "2024-1",
            "topic": EN,
            "references": ["msmarco_v2.1_doc_1_1#1_1", "d2", "d2"],
            "response_length": 9,
            "answer": sentences,
        },
        {
            "metadata": {"team_id": "t", "run_id": "r2", "narrative_id": 2, "narrative": f"{EN} Tell me."},
            "references": ["d9"],
            "responses": [{"text": "By id.", "citations": ["d9", "d8"]}, {"text": "Scored.", "citations": {"d8": 0.5}}],
        },
        {"metadata": {"run_id": "r3", "topic_id": 2}, "references": [], "answer": []},
    )
    result, arena = taken(file, tmp_path / "arena", "trec-rag")
    assert rows(arena, "queries", "query_id", "text") == [("2", f"{EN} Tell me."), ("2024-1", EN)]
    assert [
        (q, p, n) for q, p, n in rows(arena, "passages", "query_id", "passage_id", "position") if q == "2024-1"
    ] == [
        ("2024-1", "d2", 2),
        ("2024-1", "msmarco_v2.1_doc_1_1#1_1", 1),
    ]
    text = f"{HOSTILE.replace('[2]', 'two')} [1, 2] No source. The earth turns. [2]"
    assert rows(arena, "answers", "query_id", "system", "text", "numbered") == [
        ("2", "r2", "By id. [1, 2] Scored. [2]", True),
        ("2", "r3", "", True),
        ("2024-1", "r1", text, True),
    ]
    assert "citations" in result.summary.guessed


WRONG: list[tuple[str, Mapping[str, Any], str]] = [
    ("ragas", {"user_input": EN, "response": "a", "retrieved_contexts": [{"score": 1}]}, "retrieved_contexts"),
    ("ragas", {"user_input": [{"content": "x", "type": "ai"}], "response": "a"}, "user_input"),
    ("ragas", {"user_input": {"other": "x"}, "response": "a"}, "user_input"),
    ("bergen", {"q_id": "", "response": "a", "label": [], "question": EN}, "q_id"),
    ("bergen", {"q_id": "1", "response": [True], "label": [], "question": EN}, "response"),
    ("ragelo", {"qid": "", "query": EN}, "qid"),
    (
        "trec-rag",
        {"run_id": "r", "topic_id": "1", "topic": EN, "references": ["d"], "answer": [{"text": True}]},
        "answer",
    ),
    (
        "trec-rag",
        {"run_id": "r", "topic_id": "1", "references": ["d"], "answer": [{"text": "a", "citations": [1]}]},
        "citations",
    ),
    ("trec-rag", {"run_id": "", "topic_id": "1", "references": [], "answer": []}, "run_id"),
]


@pytest.mark.parametrize(("name", "record", "field"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_a_refusal_names_the_record_the_field_and_the_flag(
    tmp_path: Path, name: str, record: Mapping[str, Any], field: str
) -> None:
    file = jsonl(tmp_path / "in.jsonl", record)
    with pytest.raises(BadInput) as refused:
        import_file(file, tmp_path / "arena", name=name)
    assert f"{file}:1" in refused.value.where
    assert field in refused.value.what
    assert "--map" in refused.value.do
    assert not (tmp_path / "arena").exists()


def test_all_that_is_wrong_in_one_object_is_told_at_once(tmp_path: Path) -> None:
    file = inspector_file(tmp_path / "in.json")
    content = json.loads(file.read_text())
    content["evaluations"] += [{"task_id": "nowhere", "model_id": "m 1"}, {"task_id": 2}]
    content["tasks"][0]["input"] = []
    file.write_text(json.dumps(content))
    with pytest.raises(BadInput) as refused:
        import_file(file, tmp_path / "arena")
    told = f"{refused.value.what} {refused.value.where}"
    assert all(place in told for place in ("tasks[0]", "evaluations[2]", "evaluations[3]"))


@pytest.mark.parametrize("name", ["ragas", "bergen", "ragelo", "open-rag-eval", "inspector", "trec-rag"])
def test_the_same_file_twice_changes_nothing(tmp_path: Path, name: str) -> None:
    files = {
        "ragas": lambda: jsonl(tmp_path / "a.jsonl", {"user_input": EN, "response": "a", "retrieved_contexts": ["c"]}),
        "bergen": lambda: jsonl(tmp_path / "a.jsonl", {"q_id": 1, "response": "a", "label": ["b"], "question": EN}),
        "ragelo": lambda: ragelo_folder(tmp_path / "in"),
        "open-rag-eval": lambda: table(tmp_path / "a.csv", OPEN_RAG_EVAL),
        "inspector": lambda: inspector_file(tmp_path / "a.json"),
        "trec-rag": lambda: jsonl(
            tmp_path / "a.jsonl",
            {
                "run_id": "r",
                "topic_id": 1,
                "topic": EN,
                "references": ["d"],
                "answer": [{"text": "A", "citations": [0]}],
            },
        ),
    }
    file = files[name]()
    _, arena = taken(file, tmp_path / "arena", name)
    assert import_file(file, tmp_path / "arena").arena.version == arena.version


def test_a_short_query_is_in_the_language_of_its_conversation(tmp_path: Path) -> None:
    talk = [
        {"content": EN, "type": "human"},
        {"content": "It turns.", "type": "ai"},
        {"content": "Merci", "type": "human"},
    ]
    file = jsonl(tmp_path / "a.jsonl", {"user_input": talk, "reference": "x", "model": "m"})
    _, arena = taken(file, tmp_path / "arena", "ragas")
    assert rows(arena, "queries", "language", "text") == [("en", "Merci")]


# Lists in cells


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("['one' 'two']", ["one", "two"]),
        ("['one'\n 'two'\n \"It isn't open.\"]", ["one", "two", "It isn't open."]),
        ("array(['one', 'two, [3] and (4)'], dtype=object)", ["one", "two, [3] and (4)"]),
        ("array(['one', 'two'], dtype='<U3')", ["one", "two"]),
        ("[array(['one'], dtype=object) array(['two'], dtype=object)]", [["one"], ["two"]]),
        ("[['one' 'two']\n ['three' 'four']]", [["one", "two"], ["three", "four"]]),
        ("[np.str_('one'), np.str_('two')]", ["one", "two"]),
        ("['a ] [ b' 'c']", ["a ] [ b", "c"]),
        ("[True False]", [True, False]),
        ("[1 -2 0.5]", [1, -2, 0.5]),
        ('["one", "two"]', ["one", "two"]),
        ("('one', 'two')", ["('one', 'two')"]),
        ("[1] A passage that was numbered.", ["[1] A passage that was numbered."]),
        ("array theory", ["array theory"]),
    ],
)
def test_a_list_in_a_cell_is_parted_whatever_wrote_it(written: str, expected: list[Any]) -> None:
    assert values.as_list(written) == expected


@pytest.mark.parametrize("written", ["['one' ... 'two']", "['one' 'two]", "array(['one' ... 'two'], dtype=object)"])
def test_a_list_of_texts_that_cannot_be_parted_is_refused(written: str) -> None:
    with pytest.raises(BadInput) as caught:
        values.as_list(written, "f.csv:2")
    assert caught.value.where == "f.csv:2"


def test_contexts_that_pandas_wrote_of_numpy_are_parted(shared: Path) -> None:
    tables, _ = run.read(shared / "field" / "ragas-numpy.csv", options=Options.parse(values=["language=en"]))
    texts = [row["text"] for row in tables["passages"].to_pylist()]
    assert len(texts) == 5
    assert "It isn't open." in texts


# MT-Bench


def test_reference_answers_are_no_system(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mt"
    shutil.copytree(shared / "field" / "mt-reference-answer", folder)
    tables, _ = run.read(folder)
    assert set(tables["answers"]["system"].to_pylist()) == {"red"}
    assert sorted(tables["references"]["text"].to_pylist()) == ["56", "81"]
    query = json.loads((folder / "question.jsonl").read_text())
    (folder / "question.jsonl").write_text(json.dumps(query | {"reference": ["7 x 8"]}))
    assert sorted(run.read(folder)[0]["references"]["text"].to_pylist()) == ["56", "81"]
    shutil.rmtree(folder / "reference_answer")
    assert run.read(folder)[0]["references"]["text"].to_pylist() == ["7 x 8"]


# NoMIRACL


def test_rows_of_nomiracl_are_queries_with_labels(tmp_path: Path) -> None:
    passages = [{"docid": f"d#{k}", "title": "T", "text": f"Text {k}."} for k in (2, 0, 1)]
    row = {"query_id": "q1", "query": EN, "positive_passages": passages[:1], "negative_passages": passages[1:]}
    tables, summary = run.read(jsonl(tmp_path / "rows.jsonl", row, row | {"query_id": "q2", "positive_passages": []}))
    assert summary.format == "nomiracl"
    assert tables["queries"]["subset"].to_pylist() == ["relevant", "non_relevant"]
    of_first = [row for row in tables["passages"].to_pylist() if row["query_id"] == "q1"]
    assert [(row["passage_id"], row["relevant"]) for row in of_first] == [
        ("d#0", False),
        ("d#1", False),
        ("d#2", True),
    ]


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

SPOKEN = {"role": "user", "content": [{"type": "text", "text": EN}, {"type": "image_url", "image_url": {"url": "x"}}]}
QUESTIONS = {
    "speakers": [{"speaker": "user", "text": EN}],
    "parts": [SPOKEN],
    "sharegpt": {"messages": [{"from": "human", "value": EN}]},
    "in a cell": json.dumps([{"role": "user", "content": EN}]),
    "in a cell of pandas": str([{"speaker": "user", "text": EN}]),
    "value": {"type": "text", "value": EN},
    "gemini": [{"role": "user", "parts": [{"text": EN}]}],
}
ANSWERS = {
    "sentences": [{"sentence_id": 0, "sentence": "East."}, {"sentence_id": 1, "sentence": "It turns."}],
    "texts": ["East.", "It turns."],
    "value": {"type": "text", "value": "East. It turns."},
    "message": {"role": "assistant", "content": "East. It turns."},
    "messages": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "east"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "East. It turns."}]},
    ],
    "thoughts": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "East. It turns."}],
    "text": {"text": "East. It turns."},
    "in a cell": str([{"role": "assistant", "content": "East. It turns."}]),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("name", ["rag", "ragas"])
def test_a_question_in_any_shape_is_its_text(tmp_path: Path, name: str, question: Any) -> None:
    field = "user_input" if name == "ragas" else "question"
    file = jsonl(tmp_path / "in.jsonl", {field: question, "response": "a", "system": "m"})
    _, arena = taken(file, tmp_path / "arena", name)
    assert rows(arena, "queries", "text") == [(EN,)]


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_answers_and_passages_in_any_shape_are_their_text(tmp_path: Path, answer: Any) -> None:
    contexts = ["East. It turns." if "role" in str(answer) else answer]
    record = {"question": EN, "answer": answer, "contexts": contexts, "system": "m"}
    _, arena = taken(jsonl(tmp_path / "in.jsonl", record), tmp_path / "arena", "rag")
    assert rows(arena, "answers", "text", "status") == [("East. It turns.", "ok")]
    assert rows(arena, "passages", "text") == [("East. It turns.",)]
    assert rows(arena, "answers", "thoughts") == [("Hm." if "Hm." in str(answer) else None,)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("question", [{"role": "system", "content": "Be brief."}]),
        ("question", {"id": 3}),
        ("answer", [{"type": "image_url", "image_url": {"url": "x"}}]),
        ("answer", {"score": 1}),
        ("answer", [1, 2]),
        ("answer", True),
        ("contexts", [{"text": {"score": 1}}]),
        ("contexts", [{"score": 1}]),
        ("contexts", [["a", 0.5]]),
    ],
)
def test_a_value_in_no_known_shape_is_an_error_that_names_it(tmp_path: Path, field: str, value: Any) -> None:
    record = {"question": EN, "answer": "a", "contexts": ["b"], "system": "m", field: value}
    with pytest.raises(BadInput) as refused:
        import_file(jsonl(tmp_path / "in.jsonl", record), tmp_path / "arena", name="rag")
    assert field in refused.value.what


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
