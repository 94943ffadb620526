"""Whether a number in brackets cites a passage is a property of the prompt that was sent, not of a template's name."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from arena_writer import read_rows, write_arena
from commands import mirage
from misbehaving import Service, reply

from mirage import schema
from mirage.stages.generate.stage import answers_of
from mirage.store.arena import open_arena
from mirage.views import query as view

TEMPLATES = {
    "mine": "Read these:\n{contexts}\n\nQuestion: {question}\n",
    "also": "Read these:\n{contexts_by_id}\n\nQuestion: {question}\n",
}
SAID = "##Reason: as [2] and [d#0] say. ##Answer: yes"


def tables() -> dict[str, pa.Table]:
    return {
        "queries": schema.from_rows("queries", [schema.Query("en", "q", None, "Is it so?", None)]),
        "passages": schema.from_rows(
            "passages", [schema.Passage("en", "q", f"d#{i}", i + 1, None, f"Text {i}.", i == 1) for i in range(3)]
        ),
    }


def cited(path: Path, system: str) -> tuple[str, dict[str, Any], list[tuple[str, bool]]]:
    """What `show answers`, the features and the Answers page take for the citations of the one answer."""
    only = ("n_citations", "n_unknown_citations", "citation_Recall@10")
    mirage("measure", "features", path, *(word for name in only for word in ("--only", name)))
    arena = open_arena(path)
    values = {r["feature"]: r["value"] for r in read_rows(arena, "features") if r["system"] == system}
    query = view.query_view(arena, ("en", "q"), "strict")
    (answer,) = (answer for answer in query.answers if answer.system == system)
    (row,) = answers_of(path, system)
    return row["citations"], values, [(c.label, c.known) for c in answer.citations]


BY_NUMBER = ("d#1,d#0", {"n_citations": 2, "n_unknown_citations": 0, "citation_Recall@10": 1})
BY_ID = ("2,d#0", {"n_citations": 1, "n_unknown_citations": 1, "citation_Recall@10": 0})


@pytest.mark.parametrize(("template", "expected"), [("mine", BY_NUMBER), ("also", BY_ID)])
def test_an_own_template_numbers_its_passages_or_shows_their_ids(
    tmp_path: Path, template: str, expected: tuple[str, dict[str, float]]
) -> None:
    path, file = tmp_path / "arena", tmp_path / f"{template}.txt"
    write_arena(path, tables())
    file.write_text(TEMPLATES[template], "utf-8")
    with Service(lambda call: reply(SAID)) as service:
        mirage("generate", path, "--system", "s", "--model", "m", "--base-url", service.url, "--template", file)
        (row,) = read_rows(path, "answers")
        assert (row["template"], row["numbered"]) == (template, template == "mine")
        citations, values, labels = cited(path, "s")
        assert (citations, values) == expected
        assert labels == [("2", template == "mine"), ("d#0", True)]
        calls = service.requests.total()
        mirage("generate", path, "--system", "s", "--model", "m", "--base-url", service.url, "--template", file)
        assert service.requests.total() == calls
        assert read_rows(path, "answers") == [row]


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        (',"numbered": true', (), BY_NUMBER),
        (',"numbered": false', (), BY_ID),
        (',"template": "mine"', ("--set", "numbered=true"), BY_NUMBER),
        (',"template": "vanilla"', (), BY_NUMBER),
        (',"template": "vanilla","numbered": false', (), BY_ID),
        (',"template": "mine"', (), BY_ID),
        ("", (), BY_ID),
    ],
)
def test_an_import_says_whether_its_prompts_numbered_the_passages(
    tmp_path: Path, columns: str, options: tuple[str, ...], expected: tuple[str, dict[str, float]]
) -> None:
    path, file = tmp_path / "arena", tmp_path / "answers.jsonl"
    write_arena(path, tables())
    file.write_text(f'{{"language": "en", "query_id": "q", "system": "s", "text": "{SAID}"{columns}}}\n', "utf-8")
    mirage("import", "--as", "answers", file, "--into", path, *options)
    citations, values, _ = cited(path, "s")
    assert (citations, values) == expected


def test_a_number_is_the_place_of_a_passage_in_every_format(tmp_path: Path) -> None:
    """Also in ragas' and promptfoo's, which say nothing about it, and with the passages in another order."""
    asked, said = "Who was the engineer of the old bridge over the river?", "It was Ada North [2]."
    of_both = "The bridge was built in 1902.", "Its engineer was Ada North."

    def ragas(system: str, contexts: list[str]) -> dict[str, Any]:
        return {"question": asked, "answer": said, "contexts": contexts, "system": system, "ground_truth": said}

    def promptfoo(system: str, contexts: list[str]) -> dict[str, Any]:
        about = {"promptIdx": 0, "testIdx": 0, "testCase": {}, "prompt": {"raw": asked}, "response": {"output": said}}
        return {**about, "provider": system, "vars": {"question": asked, "context": contexts}}

    for record in (ragas, promptfoo):
        file, path = tmp_path / f"{record.__name__}.jsonl", tmp_path / record.__name__
        rows = [record("a", [*of_both]), record("b", [*reversed(of_both)])]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        assert "are not measured" not in mirage("evaluate", file, "--into", path).output
        arena = open_arena(path)
        values = {(r["system"], r["feature"]): r["value"] for r in read_rows(arena, "features")}
        assert [values[system, "n_citations"] for system in "ab"] == [1, 1]
        assert [values[system, "n_unknown_citations"] for system in "ab"] == [0, 0]
        assert [row["text"][-4:] for row in read_rows(arena, "answers")] == ["[2].", "[1]."]


def test_numbers_of_passages_in_no_known_order_are_no_citations(tmp_path: Path) -> None:
    path, pooled = tmp_path / "arena", pa.array([True] * 3)
    held = tables()
    held["passages"] = held["passages"].set_column(held["passages"].column_names.index("pooled"), "pooled", pooled)
    write_arena(path, held)
    file = tmp_path / "answers.csv"
    file.write_text("query_id,system,text\nq,s,Yes [2].\nq,t,Yes [d#1].\nq,u,Yes.\n", "utf-8")
    mirage("import", "--as", "answers", file, "--into", path)
    told = "Citations of 1 answer are not measured: numbers are cited, and the order of the passages is not known"
    assert mirage("evaluate", path).output.count(told) == 1
    rows = [row for row in read_rows(path, "features") if row["feature"] == "n_citations"]
    assert [(row["system"], row["value"], bool(row["reason"])) for row in rows] == [
        ("s", None, True), ("t", 1, False), ("u", 0, False)
    ]  # fmt: skip
