"""Taking answers apart: reason and answer, citations."""

import gzip
import itertools
import json
import re
from pathlib import Path

import pytest
from golden.cases import read_golden, read_table
from hypothesis import given, settings
from hypothesis import strategies as st

from mirage.text.answers import citations, cited_ids, parse_answer, strip_markup

IDS = tuple(f"{n}#{n % 3}" for n in range(12, 22))


def labels(text: str, ids: tuple[str, ...] = IDS, *, numbered: bool = True) -> list[tuple[str, str | None]]:
    return [(citation.label, citation.passage_id) for citation in citations(text, ids, numbered=numbered)]


def known(text: str) -> list[int]:
    """Positions cited in an answer to a numbered prompt, each mention."""
    return [IDS.index(passage_id) + 1 for _, passage_id in labels(text) if passage_id]


# --- reason and answer


@pytest.mark.parametrize(*read_table("reasons"))
def test_markers_in_any_spelling_split_reason_and_answer(text: str, reason: str | None, answer: str | None) -> None:
    parsed = parse_answer(text)
    assert (parsed.reason, parsed.answer, parsed.markers) == (reason, answer, True)


@pytest.mark.parametrize(
    "text", ["Paris.", "The answer: 42", "Answers vary.", "#answers are many", "No reason given", ""]
)
def test_without_markers_the_whole_text_is_the_answer_and_it_says_so(text: str) -> None:
    parsed = parse_answer(text)
    assert (parsed.reason, parsed.answer, parsed.markers) == (None, text, False)


def test_blank_lines_are_kept_in_both_parts_pitfall_17() -> None:
    parsed = parse_answer("##Reason: first\n\nsecond [1]\n\n\nthird\n\n##Answer: one\n\ntwo\n")
    assert parsed.reason == "first\n\nsecond [1]\n\n\nthird"
    assert parsed.answer == "one\n\ntwo"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["Reason", "answer", "##", "#", "**", ":", " ", "\n", "\n\n", "so", "."]), max_size=25))
def test_spans_point_at_the_parts_in_the_raw_answer(pieces: list[str]) -> None:
    text = "".join(pieces)
    parsed = parse_answer(text)
    for part, span in ((parsed.reason, parsed.reason_span), (parsed.answer, parsed.answer_span)):
        assert (part is None) == (span is None)
        assert span is None or text[slice(*span)] == part == part.strip()
    if not parsed.markers:
        assert parsed.answer == text.strip()


# --- citations


@pytest.mark.parametrize(*read_table("cited_ids"))
def test_ids_in_brackets_several_to_a_bracket_and_with_a_word_pitfall_16(text: str, expected: list[str]) -> None:
    for numbered in (False, True):
        assert labels(text, numbered=numbered) == [(i, i) for i in expected]


def test_golden_numbers_cite_positions_where_the_prompt_numbered_the_passages() -> None:
    """In every language and spelling; a list of sources at the end and what is not certain cite nothing."""
    cases = read_golden("citations")
    expected = {case["text"]: (case["positions"], case["mentions"], case["why"]) for case in cases}
    found = {case["text"]: (known(case["text"]), len(labels(case["text"])), case["why"]) for case in cases}
    assert found == expected


@pytest.mark.parametrize("file", ["citations.jsonl", "turn4/12-citation-forms/cited.jsonl"])
def test_citations_of_the_field_are_found(shared: Path, file: str) -> None:
    lines = (shared / "field" / file).read_text("utf-8").splitlines()
    for case in map(json.loads, lines):
        assert list(cited_ids(citations(case["text"], ["p1", "p2", "p3"], numbered=True))) == case["right"]


@pytest.mark.parametrize(
    "text",
    [
        "É assim [Fonte 2].",
        "È così [Documento 2].",
        "Tak jest [Źródło 2].",
        "Böyle [Kaynak 2].",
        "Це так [Джерело 2].",
        "Đúng vậy [Nguồn 2].",
        "Det er [Kilde 2].",
        "[Källa 2] säger så.",
        "Έτσι είναι [Πηγή: 2].",
        "כך זה [מקור 2].",
        "Așa este [Sursa nr. 2, Sursa 2].",
        "ასეა [წყარო 2].",
    ],
)
def test_words_of_other_languages_cite(text: str) -> None:
    assert cited_ids(citations(text, ["p1", "p2", "p3"], numbered=True)) == ("p2",)


def test_an_id_that_looks_like_a_word_and_a_number_stays_an_id() -> None:
    ids = ("doc-1", "doc-2", "source_3")
    mentions = citations("[doc-2] [doc-1, source_3]", ids, numbered=False)
    assert cited_ids(mentions) == ("doc-2", "doc-1", "source_3")


def test_unknown_ids_are_kept_by_their_label() -> None:
    assert labels("[99#9] [12#0, 98#1]") == [("99#9", None), ("12#0", "12#0"), ("98#1", None)]
    assert labels("[11] [0] [3-1] [9-12]") == [("11", None), ("0", None), ("3-1", None), ("9-12", None)]
    # A prompt that shows ids gives a bare number no meaning.
    assert labels("[1]", numbered=False) == [("1", None)]
    assert labels("context 1", numbered=False) == []
    assert labels("[1]", ids=()) == [("1", None)]
    assert all(not citation.known for citation in citations("[99#9] [1]", IDS, numbered=False))


def test_ids_of_any_form_are_found() -> None:
    ids = ("p1", "p10", "intro", "2024", "a.b/c(1)", "wiki:Ana Maria-3")
    text = "[p10] [intro, p1] [2024] [p2] [a.b/c(1)] [wiki:Ana Maria-3; p1] [introduction] [2023] [xp1]"
    expected = ["p10", "intro", "p1", "2024", None, "a.b/c(1)", "wiki:Ana Maria-3", "p1"]
    assert [passage_id for _, passage_id in labels(text, ids, numbered=False)] == expected


@pytest.mark.parametrize("text", ["[1234#5] [1234]", "[1234#5, 1234]", "[see 1234#5 and 1234]"])
def test_an_id_is_itself_though_it_begins_with_another(text: str) -> None:
    expected = [("1234#5", "1234#5"), ("1234", "1234")]
    assert labels(text, ("1234", "1234#5"), numbered=False) == expected


def test_citations_come_in_the_order_of_mention_each_once_pitfall_15() -> None:
    mentions = citations("[16#1] then [77#7] [12#0, 16#1], last [14#2] [12#0]", IDS, numbered=False)
    assert cited_ids(mentions) == ("16#1", "12#0", "14#2")
    assert cited_ids(mentions, unknown=True) == ("16#1", "77#7", "12#0", "14#2")


def test_the_mentions_of_one_bracket_divide_it_among_them() -> None:
    text = "a [12#0, 14#2] b"
    assert [text[citation.start : citation.end] for citation in citations(text, IDS, numbered=False)] == [
        "[12#0, ",
        "14#2]",
    ]
    text = "a [see 12#0 for it] b"
    assert [text[citation.start : citation.end] for citation in citations(text, IDS, numbered=False)] == ["12#0"]
    text = "a [2-3] b"
    assert [(citation.start, citation.end) for citation in citations(text, IDS, numbered=True)] == [(2, 7), (2, 7)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(IDS), min_size=1, max_size=8), st.sampled_from([", ", ",", "; ", " and ", "] ["]))
def test_every_list_of_ids_is_read_back(ids: list[str], separator: str) -> None:
    text = "Since [" + separator.join(ids) + "]."
    mentions = citations(text, IDS, numbered=False)
    assert [citation.passage_id for citation in mentions] == ids
    assert strip_markup(text, mentions).replace(" ", "") == "Since."


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["[", "]", "1", "12#0", "99#1", ", ", " and ", "context ", "-", "\n", "x", "【", "】"]),
        max_size=25,
    ),
    st.booleans(),
)
def test_mentions_stay_in_the_text_in_order_and_disjoint(pieces: list[str], numbered: bool) -> None:
    text = "".join(pieces)
    mentions = citations(text, IDS, numbered=numbered)
    spans = list(dict.fromkeys((citation.start, citation.end) for citation in mentions))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    for mention in mentions:
        assert mention.known == (mention.passage_id in IDS) == (mention.passage_id is not None)
        assert mention.label in text[mention.start : mention.end]


def test_a_long_bracket_is_read_in_reasonable_time() -> None:
    hostile = "[" + "1, " * 120 + "x]" + "context 1" + ", 1" * 3_000 + "[" * 3_000 + " " * 20_000 + "#" * 20_000
    assert citations(hostile, IDS, numbered=True)
    assert parse_answer(hostile).markers is False


@pytest.mark.data
def test_every_bracketed_position_of_the_published_answers_is_a_citation(shared: Path) -> None:
    seen = 0
    for subset in ("relevant", "non_relevant"):
        with gzip.open(
            shared / "nomiracl" / subset / "fi.test.vanilla_prompt.jsonl.gz", "rt", encoding="utf-8"
        ) as file:
            for line in file:
                row = json.loads(line)
                for text in filter(None, row["results"].values()):
                    mentions = citations(text, row["docids"], numbered=True)
                    expected = {row["docids"][int(n) - 1] for n in re.findall(r"\[(10|[1-9])\]", text)}
                    assert expected <= set(cited_ids(mentions))
                    seen += bool(expected)
    assert seen > 100


# --- without markup


def test_own_words_are_what_is_left_without_citations_and_markers() -> None:
    text = "##Reason: Paris [12#0, 14#2] lies there.\n##Answer: Paris [12#0]"
    assert strip_markup(text, citations(text, IDS, numbered=False)) == "Paris   lies there.\n  Paris"
    assert strip_markup(" plain text\n\nand more ") == "plain text\n\nand more"
