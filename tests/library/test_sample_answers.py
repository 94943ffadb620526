"""The written answers of the sample: those that come with the program are sound, and errors are named."""

from __future__ import annotations

import copy
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from mirage.errors import BadInput
from mirage.io.sources.sample import read_sample
from mirage.io.sources.sample_answers import ANSWERS, WrittenAnswers, read_written
from mirage.io.sources.sample_nuggets import NUGGETS, SampleNugget, read_nuggets
from mirage.text.languages import LANGUAGES, language

SOURCE = ROOT / "data" / "sample" / "source"
ENGLISH: dict[str, Any] = json.loads((SOURCE / ANSWERS / "en.json").read_text(encoding="utf-8"))
QUERIES = [(code, f"{code}-{number:02d}") for code in LANGUAGES for number in range(1, 11)]


@pytest.fixture(scope="module")
def nuggets() -> tuple[SampleNugget, ...]:
    return read_nuggets(SOURCE / NUGGETS, read_sample(SOURCE)["passages"])


@pytest.fixture(scope="module")
def shipped(nuggets: tuple[SampleNugget, ...]) -> WrittenAnswers:
    return read_written(SOURCE / ANSWERS, QUERIES, nuggets)


def test_every_query_of_every_language_has_sentences(shipped: WrittenAnswers) -> None:
    assert set(shipped.by_query) == set(QUERIES)
    assert set(shipped.padding) == set(LANGUAGES)
    for (_, query_id), answer in shipped.by_query.items():
        assert bool(answer.facts) == (int(query_id[-2:]) <= 8)


def test_sentences_are_in_the_script_of_their_language(shipped: WrittenAnswers) -> None:
    for (code, query_id), answer in shipped.by_query.items():
        for text in (*answer.facts, answer.unsupported, *shipped.padding[code]):
            letters = [unicodedata.name(letter, "").split()[0] for letter in text if letter.isalpha()]
            latin = letters.count("LATIN") / len(letters)
            assert latin == 1 if language(code).script == "Latn" else latin <= 0.5, (query_id, text)
        names = [unicodedata.name(letter, "") for letter in answer.english if letter.isalpha()]
        assert all(name.startswith("LATIN") for name in names), query_id


def test_no_fact_is_a_copy_of_its_nugget_or_of_its_passage(
    shipped: WrittenAnswers, nuggets: tuple[SampleNugget, ...]
) -> None:
    passages = {row["passage_id"]: row["text"] for row in read_sample(SOURCE)["passages"].to_pylist()}
    for key, answer in shipped.by_query.items():
        own = [nugget for nugget in nuggets if (nugget.language, nugget.query_id) == key]
        for fact, nugget in zip(answer.facts, own, strict=True):
            assert fact != nugget.text, nugget.nugget_id
            assert fact not in passages[nugget.passage_id], nugget.nugget_id


def refused(folder: Path, nuggets: tuple[SampleNugget, ...], change: Callable[[dict[str, Any]], object]) -> str:
    """What the reader says about the English file after a change."""
    data = copy.deepcopy(ENGLISH)
    change(data)
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    (folder / "en.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_written(folder, [key for key in QUERIES if key[0] == "en"], nuggets)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data["answers"][0]["facts"].pop(), "2 facts, and 3 nuggets"),
        (lambda data: data["answers"][9]["facts"].append("One more."), "1 facts, and 0 nuggets"),
        (lambda data: data["answers"][0].update(unsupported="It does [en-01#2]."), "cites"),
        (lambda data: data["answers"][0].update(english=""), "english is ''"),
        (lambda data: data["answers"][0].update(more=1), "the fields are"),
        (lambda data: data["answers"][1]["facts"].__setitem__(0, " Spaced."), "white space"),
        (lambda data: data["answers"][1]["facts"].__setitem__(0, 3), "a sentence is 3"),
        (lambda data: data["answers"][1].update(facts=data["answers"][1]["facts"][:1] * 3), "occurs twice"),
        (lambda data: data["answers"].pop(3), "not to each query once"),
        (lambda data: data["padding"].pop(), "3 sentences of padding"),
    ],
)
def test_an_error_of_a_reviewer_is_named(
    tmp_path: Path, nuggets: tuple[SampleNugget, ...], change: Callable[[dict[str, Any]], object], said: str
) -> None:
    assert said in refused(tmp_path, nuggets, change)


def test_every_language_of_the_queries_needs_a_file(tmp_path: Path, nuggets: tuple[SampleNugget, ...]) -> None:
    with pytest.raises(BadInput, match=r"no written answers in en(.|\n)*en\.json"):
        read_written(tmp_path, [("en", "en-01")], nuggets)
