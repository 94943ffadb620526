"""The form of the labelled free RAG answers: enough lines, known values, no overlap, the right script."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT

LABELS = ROOT / "tests" / "golden" / "outcomes_rag"
# Lines a language by letter of the ids.
ID_LETTERS = {"dev": {"d": 46, "h": 46, "k": 46, "p": 12, "q": 12, "r": 10}, "held": {"m": 46}}
HALVES = tuple(ID_LETTERS)
LANGUAGES = ["ar", "bn", "de", "en", "es", "fa", "fi", "fr", "hi", "id", "ja", "ko", "ru", "sw", "te", "th", "yo", "zh"]
FIELDS = {"id", "query", "answer", "right", "kind"}
# In texts without spaces between words a shared run is counted in characters.
UNSPACED = {"ja", "th", "zh"}
SHARED_WORDS = 8
SHARED_CHARACTERS = 20
KINDS = {
    "answered": {
        "answered_short",
        "answered_long",
        "answered_list",
        "answered_table_or_markdown",
        "answered_gap_beside",
        "answered_hedged",
        "answered_partly",
        "answered_negative_fact",
    },
    "abstained": {
        "abstained_short",
        "abstained_documents",
        "abstained_dontknow",
        "abstained_apology",
        "abstained_restating",
        "abstained_offer",
        "abstained_long",
    },
    "clarification": {"clarification"},
}
SCRIPTS = {
    "ar": {"ARABIC"},
    "bn": {"BENGALI"},
    "fa": {"ARABIC"},
    "hi": {"DEVANAGARI"},
    "ja": {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    "ko": {"HANGUL"},
    "ru": {"CYRILLIC"},
    "te": {"TELUGU"},
    "th": {"THAI"},
    "zh": {"CJK"},
}
PERSIAN_LETTERS = "پچژگکی"


def read_labels(half: str, language: str) -> list[dict[str, str]]:
    text = Path(LABELS / half / f"{language}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def runs_of(text: str, language: str) -> set[str]:
    text = re.sub(r"\[[^\]]*\]", "", text.casefold())
    if language in UNSPACED:
        parts, length, joint = list("".join(text.split())), SHARED_CHARACTERS, ""
    else:
        parts, length, joint = [w.strip(".,;:!?।؟،؛«»\"'()*-") for w in text.split()], SHARED_WORDS, " "
    return {joint.join(parts[n : n + length]) for n in range(len(parts) - length + 1)}


def scripts_of(text: str) -> Counter[str]:
    return Counter(unicodedata.name(c, "").split()[0] for c in text if c.isalpha())


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_one_file_a_language(half: str) -> None:
    assert sorted(p.stem for p in (LABELS / half).iterdir()) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("half", HALVES)
def test_each_file_has_all_lines_with_known_values(half: str, language: str) -> None:
    rows = read_labels(half, language)
    counts = ID_LETTERS[half].items()
    ids = [f"{language}-{letter}{n:02d}" for letter, count in counts for n in range(1, count + 1)]
    assert [r["id"] for r in rows] == ids
    for row in rows:
        assert set(row) == FIELDS
        assert row["query"].strip()
        assert row["answer"].strip()
        assert row["kind"] in KINDS[row["right"]], row["id"]
    assert {r["kind"] for r in rows} == set().union(*KINDS.values())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("half", HALVES)
def test_each_file_has_all_outcomes_in_sensible_shares(half: str, language: str) -> None:
    rows = read_labels(half, language)
    outcomes = Counter(r["right"] for r in rows)
    shares = {outcome: count / len(rows) for outcome, count in outcomes.items()}
    assert 0.45 <= shares["answered"] <= 0.65
    assert 0.25 <= shares["abstained"] <= 0.45
    assert 0.05 <= shares["clarification"] <= 0.15


def test_no_answer_and_no_query_stands_twice() -> None:
    rows = [r for half in HALVES for language in LANGUAGES for r in read_labels(half, language)]
    for field in ("answer", "query"):
        seen = Counter((r["id"][:2], " ".join(r[field].casefold().split())) for r in rows)
        assert [text for text, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("half", HALVES)
def test_all_languages_have_the_same_counts_of_kinds(half: str) -> None:
    counts = [Counter(r["kind"] for r in read_labels(half, language)) for language in LANGUAGES]
    assert all(count == counts[0] for count in counts)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("field", ["answer", "query"])
def test_the_halves_share_no_long_run(language: str, field: str) -> None:
    known, held = (
        {run for row in read_labels(half, language) for run in runs_of(row[field], language)} for half in HALVES
    )
    assert known & held == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("half", HALVES)
def test_each_line_is_in_the_script_of_its_language(half: str, language: str) -> None:
    expected = SCRIPTS.get(language, {"LATIN"})
    for row in read_labels(half, language):
        text = row["query"] + " " + row["answer"]
        assert unicodedata.normalize("NFC", text) == text, row["id"]
        counts = scripts_of(text)
        assert set(counts) <= expected | {"LATIN", "MODIFIER"}, (row["id"], counts)
        assert sum(counts[script] for script in expected) > counts.total() / 2, (row["id"], counts)


def test_japanese_has_kana_and_persian_has_its_own_letters() -> None:
    for half in HALVES:
        japanese = [r["query"] + r["answer"] for r in read_labels(half, "ja")]
        assert all(scripts_of(text)["HIRAGANA"] for text in japanese)
        persian = [r["query"] for r in read_labels(half, "fa")]
        assert all(any(letter in text for letter in PERSIAN_LETTERS) for text in persian)


def test_yoruba_stands_with_and_without_tone_marks() -> None:
    for half in HALVES:
        plain = sum(r["query"].isascii() for r in read_labels(half, "yo"))
        assert 0 < plain < len(read_labels(half, "yo")) / 2
