"""Languages of texts: close relatives stand back for the usual language, brief texts take one of their set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mirage.io.imports.formats import import_file
from mirage.text.detection import RELATIVES, detect, detect_set
from mirage.text.languages import LANGUAGES

MANDARIN = ["2017年杭州地铁开通了几条线？", "上海到苏州的高铁要多长时间？", "这座桥是哪一年建成的？"]
CANTONESE = "呢度係邊度呀？我想去尖沙咀食飯，你知唔知點去？"


def test_a_relative_competes_only_where_it_is_named() -> None:
    assert {detect(text) for text in MANDARIN} == {"zh"}
    assert detect(CANTONESE) == "zh"
    assert detect(CANTONESE, ["yue"]) == "yue"
    assert detect("Perdana Menteri Malaysia yang pertama ialah Tunku Abdul Rahman.") == "id"
    assert detect("Perdana Menteri Malaysia yang pertama ialah Tunku Abdul Rahman.", ["ms"]) == "ms"


def test_the_usual_languages_are_no_relatives() -> None:
    assert not RELATIVES.keys() & LANGUAGES.keys()
    assert not RELATIVES.keys() & set(RELATIVES.values())


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["Capital of Mali?", "Mount Everest height", "who won 2018 world cup", "Why does rain fall?"], "en"),
        (["Wer war Goethe?", "Wo liegt Bonn?", "In welchem Jahr wurde der Westfälische Friede geschlossen?"], "de"),
        (["Siapa dia?", "Di mana ibu kota Jepang?", "Siapa presiden pertama Indonesia dan kapan ia lahir?"], "id"),
    ],
)
def test_brief_texts_take_the_language_of_their_set(texts: list[str], code: str) -> None:
    assert detect_set(texts) == [code] * len(texts)


def test_a_text_that_is_surely_in_no_language_of_the_set_keeps_its_own() -> None:
    texts = [
        "In which year was the Treaty of Westphalia signed?",
        "How far away from the earth is the moon?",
        "東京タワー",
    ]
    assert detect_set(texts) == ["en", "en", "ja"]


def test_brief_texts_take_a_language_that_is_named_beside_them() -> None:
    assert detect_set(["Hvem var Ibsen?", "Hvor ligger Bergen?"], {"nn": 5}) == ["nn", "nn"]
    assert detect_set([], {"nn": 5}) == []


def test_ordinary_mandarin_is_imported_as_one_language(shared: Path, tmp_path: Path) -> None:
    arena = import_file(shared / "field" / "wuu-queries.jsonl", tmp_path / "arena").arena
    assert list(arena.languages("queries")) == ["zh"]


def test_a_relative_that_the_file_names_is_detected_in_its_other_records(tmp_path: Path) -> None:
    rows = [
        {"question": "佢係邊個嚟㗎？點解咁多人識佢？", "language": "yue"},
        {"question": CANTONESE},
        {"question": CANTONESE + "我哋聽日去。"},
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(json.dumps({**row, "answer": "x", "model": "m"}) + "\n" for row in rows))
    arena = import_file(path, tmp_path / "arena").arena
    assert list(arena.languages("queries")) == ["yue"]
