"""Languages of texts: close relatives stand back for the usual language, brief texts take one of their set."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from commands import write_jsonl
from golden.cases import read_golden, read_table

from mirage.errors import BadInput
from mirage.io.imports.formats import import_file
from mirage.text.detection import RELATIVES, detect, detect_set
from mirage.text.languages import LANGUAGES

MANDARIN = ["2017年杭州地铁开通了几条线？", "上海到苏州的高铁要多长时间？", "这座桥是哪一年建成的？"]
ENGLISH = [
    "When was the harbour wall built, and who paid for the works?",
    "How high is the lighthouse above the sea?",
    "Which birds nest on the mole in spring?",
]
CANTONESE = "呢度係邊度呀？我想去尖沙咀食飯，你知唔知點去？"


def codes(texts: Sequence[str], named: Mapping[str, int] | None = None) -> list[str | None]:
    return [found.code for found in detect_set(texts, named)]


def test_a_relative_competes_only_where_it_is_named() -> None:
    assert {detect(text) for text in MANDARIN} == {"zh"}
    assert detect(CANTONESE) == "zh"
    assert detect(CANTONESE, ["yue"]) == "yue"
    assert detect("Perdana Menteri Malaysia yang pertama ialah Tunku Abdul Rahman.") == "id"
    assert detect("Perdana Menteri Malaysia yang pertama ialah Tunku Abdul Rahman.", ["ms"]) == "ms"


def test_the_usual_languages_are_no_relatives() -> None:
    assert not RELATIVES.keys() & LANGUAGES.keys()
    assert not RELATIVES.keys() & set(RELATIVES.values())


@pytest.mark.parametrize(*read_table("brief_texts"))
def test_brief_texts_take_the_language_of_their_set(texts: list[str], code: str) -> None:
    assert codes(texts) == [code] * len(texts)


def test_a_text_that_is_surely_in_no_language_of_the_set_keeps_its_own() -> None:
    texts = [
        "In which year was the Treaty of Westphalia signed?",
        "How far away from the earth is the moon?",
        "東京タワー",
    ]
    assert codes(texts) == ["en", "en", "ja"]


def test_brief_texts_take_a_language_that_is_named_beside_them() -> None:
    assert codes(["Hvem var Ibsen?", "Hvor ligger Bergen?"], {"nn": 5}) == ["nn", "nn"]
    assert codes([], {"nn": 5}) == []


def test_a_set_without_a_usual_language_has_none() -> None:
    assert codes(["NASA", "ᚠᚢᚦ", "?"]) == [None] * 3


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
    write_jsonl(path, *({**row, "answer": "x", "model": "m"} for row in rows))
    arena = import_file(path, tmp_path / "arena").arena
    assert list(arena.languages("queries")) == ["yue"]


SAID = "The harbour wall was raised twice after the storms of the last century, and the town paid."


@pytest.mark.parametrize(*read_table("quoted_texts"))
def test_quoted_text_does_not_tell_a_language(texts: Sequence[str], code: str) -> None:
    assert codes(texts) == [code] * len(texts)


@pytest.mark.parametrize(*read_table("usual_languages"))
def test_a_usual_language_is_taken_only_in_its_script(text: str, code: str | None) -> None:
    assert codes([*ENGLISH, text])[-1] == code


def test_short_texts_in_another_script_are_told_together() -> None:
    assert codes([*ENGLISH, "Сколько лет маяку?", "Когда построили стену порта?"])[-2:] == ["ru", "ru"]


@pytest.mark.parametrize(*read_table("relatives_of_one_source"))
def test_close_relatives_of_one_source_are_one_language(texts: Sequence[str], code: str) -> None:
    assert codes(texts) == [code] * len(texts)


RELATED = {case["language"]: (case["question"], case["names"].split()) for case in read_golden("relatives")}


@pytest.mark.parametrize(
    "pair", ["hi mr", "hi ne", "ne mr", "no da", "cs sk", "id ms", "pt gl", "zh yue"], ids=lambda pair: pair
)
def test_two_close_relatives_of_one_file_are_two_languages(pair: str) -> None:
    texts = {code: [RELATED[code][0].format(name) for name in RELATED[code][1]] for code in pair.split()}
    both = [text for of_code in texts.values() for text in of_code]
    assert set(codes(both)) == set(texts)
    wanted = [code for code, of_code in texts.items() for _ in of_code]
    assert sum(map(str.__eq__, map(str, codes(both)), wanted)) >= 0.75 * len(both)
    for code, of_code in texts.items():
        assert set(codes(of_code)) == {code}


def test_a_few_texts_in_a_close_relative_are_folded_and_named() -> None:
    texts = [RELATED["cs"][0].format(name) for name in RELATED["cs"][1]]
    *_, found = detect_set([*texts, RELATED["sk"][0].format("hrad")])
    assert found == ("cs", "sk")


def test_a_close_relative_that_is_named_competes() -> None:
    texts = ["यो शहरको क्षेत्रफल कति छ?", "इस नगर का क्षेत्रफल कितना है?"]
    assert codes(texts, {"hi": 1, "ne": 1}) == ["ne", "hi"]
    assert codes(texts, {"hi": 1}) == ["hi", "hi"]


def test_a_stray_query_joins_its_file_and_is_named(shared: Path, tmp_path: Path) -> None:
    rows = [f"Missä kaupungissa {n} majakka sijaitsee ja milloin se rakennettiin?" for n in range(20)]
    questions = [*rows, "Missä Rüdiger von der Goltz syntyi?"]
    path = write_jsonl(tmp_path / "fi.jsonl", *({"question": q, "answer": "x", "model": "m"} for q in questions))
    result = import_file(path, tmp_path / "arena")
    assert list(result.arena.languages("queries")) == ["fi"]
    assert "German" in result.summary.guessed["language of stray queries"]


@pytest.mark.parametrize(
    ("file", "languages"),
    [
        ("02-quoted-language/ja", ["ja"]),
        ("03-short-other-script/en-ru", ["en", "ru"]),
        ("15-close-relative/hi", ["hi"]),
    ],
)
def test_languages_of_the_field(shared: Path, tmp_path: Path, file: str, languages: list[str]) -> None:
    arena = import_file(shared / "field" / "turn4" / f"{file}.jsonl", tmp_path / "arena").arena
    assert list(arena.languages("queries")) == languages


def test_relatives_of_the_field(shared: Path, tmp_path: Path) -> None:
    result = import_file(shared / "field" / "turn5" / "18-relatives-erased" / "hi-mr.jsonl", tmp_path / "arena")
    found = result.arena.read("queries", columns=["language"])["language"].to_pylist()
    assert (found.count("hi"), found.count("mr")) == (24, 24)
    assert "close relatives" in result.summary.guessed["close languages"]


@pytest.mark.parametrize("given", [True, False])
def test_answers_tell_close_relatives_with_short_questions_apart(tmp_path: Path, *, given: bool) -> None:
    rows = read_golden("short_questions")
    if not given:
        rows = [{name: value for name, value in row.items() if name != "language"} for row in rows]
    result = import_file(write_jsonl(tmp_path / "in.jsonl", *rows), tmp_path / "arena")
    found = result.arena.read("queries", columns=["language"])["language"].to_pylist()
    assert min(found.count("ms"), found.count("id")) >= (6 if given else 5)
    assert given or "Indonesian and Malay" in result.summary.guessed["close languages"]


def test_a_short_query_in_another_script_is_asked_for(tmp_path: Path) -> None:
    rows = [{"question": q, "answer": "It is five years old.", "model": "m"} for q in (*ENGLISH, "Ху?")]
    path = write_jsonl(tmp_path / "in.jsonl", *rows)
    with pytest.raises(BadInput) as refused:
        import_file(path, tmp_path / "arena")
    assert refused.value.where.endswith(":4")
