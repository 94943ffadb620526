"""The sample files: those that come with the program are sound, and whatever a reviewer may break is named."""

from __future__ import annotations

import copy
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io.sources.sample import read_sample
from mirage.text.answers import citations, cited_ids, compose_answer, parse_answer
from mirage.text.languages import LANGUAGES

SOURCE = ROOT / "data" / "sample" / "source"
ENGLISH: dict[str, Any] = json.loads((SOURCE / "en.json").read_text(encoding="utf-8"))


def save(folder: Path, data: Any, name: str = "en.json") -> Path:
    folder.mkdir(exist_ok=True)
    text = data if isinstance(data, str) else json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def refused(folder: Path, change: Callable[[dict[str, Any]], None]) -> str:
    """What is said about the English file after a change."""
    data = copy.deepcopy(ENGLISH)
    change(data)
    with pytest.raises(BadInput) as error:
        read_sample(save(folder, data))
    return str(error.value)


def first(data: dict[str, Any]) -> dict[str, Any]:
    return data["questions"][0]


# --- what comes with the program


def test_the_sample_holds_all_18_languages_with_labels_and_references() -> None:
    tables = read_sample(SOURCE)
    for name, table in tables.items():
        schema.validate(name, table)
    queries, passages, answers = (tables[name].to_pylist() for name in ("queries", "passages", "answers"))
    for code in LANGUAGES:
        subsets = [q["subset"] for q in queries if q["language"] == code]
        assert subsets == ["relevant"] * 8 + ["non_relevant"] * 2
        assert sum(a["language"] == code for a in answers) == 10
    assert {(a["system"], a["status"], a["template"]) for a in answers} == {("reference", "ok", "rag")}
    positions: dict[tuple[str, str], list[int]] = {}
    for passage in passages:
        positions.setdefault((passage["language"], passage["query_id"]), []).append(passage["position"])
        assert passage["passage_id"] == f"{passage['query_id']}#{passage['position'] - 1}"
    assert set(map(tuple, positions.values())) == {tuple(range(1, 9))}


def test_every_reference_is_read_back_with_its_citations_all_of_relevant_passages() -> None:
    tables = read_sample(SOURCE)
    by_query: dict[str, list[dict[str, Any]]] = {}
    for passage in tables["passages"].to_pylist():
        by_query.setdefault(passage["query_id"], []).append(passage)
    subset = dict(zip(tables["queries"]["query_id"].to_pylist(), tables["queries"]["subset"].to_pylist(), strict=True))
    for answer in tables["answers"].to_pylist():
        parsed = parse_answer(answer["text"])
        assert parsed.reason
        assert parsed.answer
        assert compose_answer(parsed.reason, parsed.answer) == answer["text"]
        passages = by_query[answer["query_id"]]
        relevant = {p["passage_id"] for p in passages if p["relevant"]}
        for part in (parsed.reason, parsed.answer):
            mentions = citations(part, [p["passage_id"] for p in passages], numbered=False)
            assert all(m.known for m in mentions)
            assert set(cited_ids(mentions)) <= relevant
            assert bool(mentions) == (subset[answer["query_id"]] == "relevant")


# --- what a reviewer may break


def test_the_place_of_a_mistake_is_file_and_line(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        first(data)["passages"][2]["text"] = "Too short."

    message = refused(tmp_path / "s", change)
    line = int(message.split("en.json:")[1].split(":")[0])
    assert '"en-01#2"' in (tmp_path / "s" / "en.json").read_text(encoding="utf-8").split("\n")[line - 1]
    assert "2 words, not 25 to 70" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("licence"), "the fields are"),
        (lambda d: d.update(licence="CC-BY-4.0"), "licence is 'CC-BY-4.0'"),
        (lambda d: d.update(language="fi"), "the file's name says 'en'"),
        (lambda d: d.update(questions={}), "questions is {}"),
        (lambda d: d["questions"].pop(), "there are 9 queries"),
        (lambda d: d["questions"].__setitem__(3, "no object"), "is no object"),
        (lambda d: first(d).update(extra=1), "extra"),
        (lambda d: first(d).update(query_id="en-1"), "query_id is 'en-1'"),
        (lambda d: first(d).update(question=""), "question is ''"),
        (lambda d: first(d).update(question=7), "question is 7"),
        (lambda d: first(d).update(question=d["questions"][1]["question"]), "occurs twice"),
        (lambda d: first(d).update(answer=first(d)["answer"] + " "), "white space around it"),
        (lambda d: first(d).update(reason=first(d)["reason"] + " See https://example.org"), "a link"),
        (lambda d: first(d).update(question="Where  is it?"), "two spaces"),
        (lambda d: first(d).update(question="Where is <b>it</b>?"), "markup"),
        (lambda d: first(d)["passages"].pop(), "there are 7 passages"),
        (lambda d: first(d)["passages"][0].pop("title"), "en-01#0: the fields are"),
        (lambda d: first(d)["passages"][0].update(passage_id="en-01#9"), "passage_id is 'en-01#9'"),
        (lambda d: first(d)["passages"][0].update(relevant=1), "relevant is 1"),
        (lambda d: first(d)["passages"][0].update(title=first(d)["passages"][1]["title"]), "the same title"),
        (lambda d: first(d)["passages"][0].update(text=first(d)["passages"][1]["text"]), "occurs twice"),
        (lambda d: [p.update(relevant=False) for p in first(d)["passages"]], "0 passages are relevant"),
        (lambda d: [p.update(relevant=True) for p in first(d)["passages"]], "8 passages are relevant"),
        (lambda d: d["questions"][8]["passages"][0].update(relevant=True), "no passage of this query may be"),
        (lambda d: d["questions"][9].update(answer="It is so [en-10#1]."), "nothing may be cited"),
        (lambda d: first(d).update(reason="No citation."), "the reason cites nothing"),
        (lambda d: first(d).update(answer="It is so [en-01#3]."), "not the same"),
        (lambda d: first(d).update(reason="So [en-01#0].", answer="So [en-01#0]."), "not a relevant passage: en-01#0"),
        (
            lambda d: first(d).update(reason="So [en-01 #3].", answer="So [en-01 #3]."),
            "not a relevant passage: en-01 #",
        ),
    ],
)
def test_what_breaks_the_form_is_named(tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str) -> None:
    assert message in refused(tmp_path / "s", change)


def test_unspaced_languages_are_measured_in_characters(tmp_path: Path) -> None:
    data = json.loads((SOURCE / "ja.json").read_text(encoding="utf-8"))
    data["questions"][0]["passages"][0]["text"] = "短い文。"
    with pytest.raises(BadInput, match="4 characters, not 60 to 180"):
        read_sample(save(tmp_path / "s", data, "ja.json"))


def test_the_layout_and_the_normal_form_are_kept_so_that_a_change_shows_as_one_line(tmp_path: Path) -> None:
    text = (SOURCE / "yo.json").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="layout"):
        read_sample(save(tmp_path / "a", json.dumps(json.loads(text), ensure_ascii=False), "yo.json"))
    with pytest.raises(BadInput, match="normal form C"):
        read_sample(save(tmp_path / "b", unicodedata.normalize("NFD", text), "yo.json"))


def test_ten_mistakes_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        for query in data["questions"][:2]:
            for passage in query["passages"]:
                passage["title"] += " "

    message = refused(tmp_path / "s", change)
    assert "16 things" in message
    assert message.count("white space around it") == 10
    assert "and 6 more" in message


def test_a_file_that_is_no_json_or_no_language_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not JSON"):
        read_sample(save(tmp_path / "a", "{"))
    with pytest.raises(UnknownName, match="xx"):
        read_sample(save(tmp_path / "b", ENGLISH, "xx.json"))
    (tmp_path / "c").mkdir()
    with pytest.raises(BadInput, match="no sample file"):
        read_sample(tmp_path / "c")
    with pytest.raises(BadInput, match="no folder"):
        read_sample(tmp_path / "d")
