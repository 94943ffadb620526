"""The nuggets of the sample: those that come with the program are sound, and whatever a reviewer may break is named."""

from __future__ import annotations

import copy
import json
import shutil
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import ROOT

from mirage.errors import BadInput, UnknownName
from mirage.io.sources.sample import read_sample
from mirage.io.sources.sample_nuggets import NUGGETS, SampleNugget, read_nuggets
from mirage.pipeline.sample import build_sample
from mirage.text.languages import LANGUAGES, language
from mirage.text.segmentation import terms

SOURCE = ROOT / "data" / "sample" / "source"
ENGLISH: dict[str, Any] = json.loads((SOURCE / NUGGETS / "en.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def passages() -> pa.Table:
    return read_sample(SOURCE)["passages"]


@pytest.fixture(scope="module")
def shipped(passages: pa.Table) -> tuple[SampleNugget, ...]:
    return read_nuggets(SOURCE / NUGGETS, passages)


def save(folder: Path, data: Any, name: str = "en.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = data if isinstance(data, str) else json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def first(data: dict[str, Any]) -> dict[str, Any]:
    return data["nuggets"][0]


def of(data: dict[str, Any], query_id: str) -> list[dict[str, Any]]:
    return [nugget for nugget in data["nuggets"] if nugget["query_id"] == query_id]


def add(data: dict[str, Any], query_id: str, passage_id: str, text: str) -> None:
    """One more nugget of a query, sound but for what the arguments break."""
    nugget = {"query_id": query_id, "nugget_id": f"{query_id}-n9", "importance": "okay"}
    data["nuggets"].append(nugget | {"passage_id": passage_id, "text": text})


# --- what comes with the program


def test_every_query_with_relevant_passages_has_nuggets_and_no_other(
    shipped: tuple[SampleNugget, ...], passages: pa.Table
) -> None:
    relevant = {row["query_id"] for row in passages.to_pylist() if row["relevant"]}
    count = Counter(nugget.query_id for nugget in shipped)
    assert set(count) == relevant
    assert len(relevant) == 8 * len(LANGUAGES)
    assert set(count.values()) <= {2, 3, 4}
    assert {nugget.query_id for nugget in shipped if nugget.importance == "vital"} == relevant
    assert list(dict.fromkeys(nugget.language for nugget in shipped)) == sorted(LANGUAGES)


def test_ids_are_unique_and_count_the_nuggets_of_their_query(shipped: tuple[SampleNugget, ...]) -> None:
    seen: Counter[str] = Counter()
    for nugget in shipped:
        seen[nugget.query_id] += 1
        assert nugget.nugget_id == f"{nugget.query_id}-n{seen[nugget.query_id]}"


@pytest.mark.parametrize("code", LANGUAGES)
def test_at_least_half_of_the_terms_of_a_nugget_stand_in_its_passage(
    code: str, shipped: tuple[SampleNugget, ...], passages: pa.Table
) -> None:
    texts = {row["passage_id"]: set(terms(row["text"])) for row in passages.to_pylist() if row["language"] == code}
    shares = []
    for nugget in (nugget for nugget in shipped if nugget.language == code):
        shared = [term in texts[nugget.passage_id] for term in terms(nugget.text)]
        shares.append(sum(shared) / len(shared))
        assert shares[-1] >= 0.5, (nugget.nugget_id, nugget.text)
    assert sum(shares) / len(shares) >= 0.8


def test_a_nugget_is_written_in_the_script_of_its_language(shipped: tuple[SampleNugget, ...]) -> None:
    for nugget in shipped:
        letters = [unicodedata.name(letter, "").split()[0] for letter in nugget.text if letter.isalpha()]
        latin = letters.count("LATIN") / len(letters)
        assert latin == 1 if language(nugget.language).script == "Latn" else latin <= 0.5, nugget


def test_a_language_may_have_no_file(tmp_path: Path, passages: pa.Table) -> None:
    nuggets = read_nuggets(save(tmp_path, ENGLISH), passages)
    assert {nugget.language for nugget in nuggets} == {"en"}
    assert [nugget.nugget_id for nugget in nuggets] == [nugget["nugget_id"] for nugget in ENGLISH["nuggets"]]


# --- what a reviewer may break


def refused(folder: Path, passages: pa.Table, change: Callable[[dict[str, Any]], object]) -> str:
    """What the reader says about the English file after a change."""
    data = copy.deepcopy(ENGLISH)
    change(data)
    with pytest.raises(BadInput) as error:
        read_nuggets(save(folder, data), passages)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("licence"), "the fields are"),
        (lambda d: d.update(licence="CC-BY-4.0"), "licence is 'CC-BY-4.0'"),
        (lambda d: d.update(language="fi"), "the file's name says 'en'"),
        (lambda d: d.update(nuggets={}), "nuggets is {}"),
        (lambda d: d["nuggets"].append("no object"), "is no object"),
        (lambda d: d["nuggets"].append({"nugget_id": 7}), "the fields are"),
        (lambda d: first(d).update(extra=1), "en-01-n1: the fields are"),
        (lambda d: first(d).update(text=7), "en-01-n1: text is 7"),
        (lambda d: first(d).update(text=""), "en-01-n1: text is ''"),
        (lambda d: first(d).update(nugget_id="en-02-n1"), "not en-01-n and a number"),
        (lambda d: first(d).update(nugget_id="en-01-n01"), "not en-01-n and a number"),
        (lambda d: first(d).update(nugget_id="en-01-n2"), "en-01-n2: nugget_id occurs 2 times"),
        (lambda d: first(d).update(text=of(d, "en-01")[1]["text"]), "text occurs 2 times"),
        (lambda d: first(d).update(importance="good"), "importance is 'good'"),
        (lambda d: first(d).update(passage_id="en-01#0"), "en-01#0 is no relevant passage of en-01"),
        (lambda d: first(d).update(passage_id="en-02#1"), "en-02#1 is no relevant passage of en-01"),
        (lambda d: first(d).update(passage_id="en-01#99"), "en-01#99 is no relevant passage of en-01"),
        (lambda d: first(d).update(text="The River Murray."), "3 words, not 4 to 15"),
        (lambda d: first(d).update(text="so " * 15 + "long"), "16 words, not 4 to 15"),
        (lambda d: first(d).update(text=first(d)["text"] + " "), "white space around it"),
        (lambda d: first(d).update(text="It is at <b>Goolwa</b> there."), "markup"),
        (lambda d: first(d).update(text="It is at Goolwa [en-01#3]."), "the text cites"),
        (lambda d: [d["nuggets"].remove(nugget) for nugget in of(d, "en-01")[1:]], "there are 1 nuggets, not 2 to 4"),
        (lambda d: [d["nuggets"].remove(nugget) for nugget in of(d, "en-01")], "there are 0 nuggets, not 2 to 4"),
        (lambda d: add(d, "en-03", "en-03#4", "The thumb has two phalanges."), "there are 5 nuggets, not 2 to 4"),
        (lambda d: [nugget.update(importance="okay") for nugget in of(d, "en-01")], "en-01: no nugget is vital"),
        (lambda d: add(d, "en-09", "en-09#0", "Nothing answers this query."), "no query with relevant passages"),
        (lambda d: add(d, "fi-01", "fi-01#2", "This query is in Finnish."), "no query with relevant passages"),
    ],
)
def test_what_breaks_the_form_is_named(
    tmp_path: Path, passages: pa.Table, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    assert message in refused(tmp_path, passages, change)


def test_the_place_of_a_mistake_is_file_and_line(tmp_path: Path, passages: pa.Table) -> None:
    message = refused(tmp_path, passages, lambda data: data["nuggets"][4].update(text="Too short."))
    line = int(message.split("en.json:")[1].split(":")[0])
    nugget_id = ENGLISH["nuggets"][4]["nugget_id"]
    assert f'"{nugget_id}"' in (tmp_path / "en.json").read_text(encoding="utf-8").split("\n")[line - 1]
    assert "sample_nuggets.py" in message


def test_unspaced_languages_are_measured_in_characters(tmp_path: Path, passages: pa.Table) -> None:
    data = json.loads((SOURCE / NUGGETS / "ja.json").read_text(encoding="utf-8"))
    first(data)["text"] = "短い文。"
    with pytest.raises(BadInput, match="4 characters, not 8 to 45"):
        read_nuggets(save(tmp_path, data, "ja.json"), passages)


def test_the_layout_and_the_normal_form_are_kept(tmp_path: Path, passages: pa.Table) -> None:
    text = (SOURCE / NUGGETS / "yo.json").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="layout"):
        read_nuggets(save(tmp_path / "a", json.dumps(json.loads(text), ensure_ascii=False), "yo.json"), passages)
    with pytest.raises(BadInput, match="normal form C"):
        read_nuggets(save(tmp_path / "b", unicodedata.normalize("NFD", text), "yo.json"), passages)


def test_a_file_that_is_no_json_or_no_language_and_an_empty_folder_are_refused(
    tmp_path: Path, passages: pa.Table
) -> None:
    with pytest.raises(BadInput, match="not JSON"):
        read_nuggets(save(tmp_path / "a", "{"), passages)
    with pytest.raises(UnknownName, match="xx"):
        read_nuggets(save(tmp_path / "b", ENGLISH, "xx.json"), passages)
    (tmp_path / "c").mkdir()
    with pytest.raises(BadInput, match="no file of nuggets"):
        read_nuggets(tmp_path / "c", passages)
    with pytest.raises(BadInput, match="no folder"):
        read_nuggets(tmp_path / "d", passages)


def test_the_sample_is_not_built_beside_nuggets_that_are_wrong(tmp_path: Path) -> None:
    shutil.copy(SOURCE / "en.json", tmp_path / "en.json")
    data = copy.deepcopy(ENGLISH)
    first(data)["importance"] = "good"
    save(tmp_path / NUGGETS, data)
    with pytest.raises(BadInput, match="importance is 'good'"):
        build_sample(tmp_path)
