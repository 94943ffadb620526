"""The headings of an answer: what splits it into reason and answer, in 18 languages, and that no text is lost by it."""

import itertools
import unicodedata
from typing import Any

import pytest
from golden.cases import read_golden
from hypothesis import given, settings
from hypothesis import strategies as st

from mirage.text.answers import parse_answer, strip_markup
from mirage.text.headings import _HEADING, ANSWER, REASON, headings
from mirage.text.languages import LANGUAGES

FORMS = (
    "##{}: x", "## {} : x", "##{}：x", "# {}\nx", "### **{}**\nx", "**{}:** x", "so.**{}**: x", "**{}**\nx", "{}: x",
    "  {}：x", "【{}】x", "＃＃{}：x",
)  # fmt: skip


@pytest.mark.parametrize("case", read_golden("headings"), ids=lambda case: case["text"][:30])
def test_an_answer_is_split_at_its_headings_and_nowhere_else(case: dict[str, Any]) -> None:
    parsed = parse_answer(case["text"])
    preamble = None if parsed.preamble_span is None else case["text"][slice(*parsed.preamble_span)]
    assert (preamble, parsed.reason, parsed.answer, parsed.markers) == (
        case["preamble"],
        case["reason"],
        case["answer"],
        case["headings"],
    )


def test_every_language_has_headings_for_both_parts() -> None:
    assert set(REASON) == set(ANSWER) == set(LANGUAGES)
    assert all(len(set(words)) == len(words) >= 2 for table in (REASON, ANSWER) for words in table.values())
    of = [{w.casefold() for words in table.values() for w in words} for table in (REASON, ANSWER)]
    assert not of[0] & of[1]


@pytest.mark.parametrize("kind", ["reason", "answer"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_heading_is_read_in_every_language_and_spelling(language: str, kind: str) -> None:
    for words in (REASON if kind == "reason" else ANSWER)[language]:
        for form in FORMS:
            for spelt in {words, words.upper(), unicodedata.normalize("NFD", words)}:
                text = form.format(spelt)
                (heading,) = headings(text)
                assert (heading.kind, text[heading.end :].strip()) == (kind, "x"), (text, heading)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_in_running_text_are_no_headings(language: str) -> None:
    for words in (*REASON[language], *ANSWER[language]):
        for form in ("So the {} x", "So the {}, x", "x: {}", "x {}\nx", "#{}x x", "x ##{} x", "## {} x x", "**{}** x"):
            assert headings(form.format(words)) == [], form.format(words)


_PIECES = [
    *("##", "#", "**", "__", "【", "】", ":", "：", " ", "\n", "\n\n", "so", ".", "[1]", "。"),
    *("Reason", "Answer", "Final Answer", "理由", "答案", "Begründung", "Respuesta", "Ìdáhùn", "คำตอบ"),
]


@settings(max_examples=400)
@given(st.one_of(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join), st.text(max_size=60)))
def test_splitting_an_answer_loses_no_text(text: str) -> None:
    parsed = parse_answer(text)
    spans = sorted(s for s in (parsed.preamble_span, parsed.reason_span, parsed.answer_span) if s)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    begin, rest = 0, ""
    for start, end in [*spans, (len(text), len(text))]:
        rest += text[begin:start]
        begin = end
    # What stands between the parts is one heading each, and white space. A heading is short.
    left_out = "".join(rest.split())
    assert len(left_out) <= 2 * 40
    if not parsed.markers:
        assert left_out == ""
    for mark in "#＃*_【】:：﹕":
        left_out = left_out.replace(mark, "")
    words = {
        unicodedata.normalize("NFC", w).casefold().replace(" ", "")
        for t in (REASON, ANSWER)
        for ws in t.values()
        for w in ws
    }
    left_out = unicodedata.normalize("NFC", left_out).casefold()
    assert left_out in {"", *words} | {a + b for a in words for b in words}


def test_headings_are_no_words_of_the_answer() -> None:
    assert strip_markup("##理由：因为 **答案：**巴黎").split() == ["因为", "巴黎"]
    assert strip_markup("##Begründung: darum\n##Antwort: Paris").split() == ["darum", "Paris"]


@settings(max_examples=400)
@given(
    st.lists(
        st.sampled_from((*"#＃*_【】:：x\n ", "##", "**", "__", "Reason", "ANSWER", "理由", "Jibu")),
        max_size=14,
    ).map("".join)
)
def test_headings_are_those_of_the_whole_pattern(text: str) -> None:
    """They are looked for only where they can begin."""
    assert [(heading.start, heading.end) for heading in headings(text)] == [
        match.span() for match in _HEADING.finditer(text)
    ]
