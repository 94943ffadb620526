"""Taking answers apart: reason and answer, citations."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirage.text.answers import citations, cited_ids, parse_answer, strip_markup
from mirage.text.languages import LANGUAGES

IDS = tuple(f"{n}#{n % 3}" for n in range(12, 22))


def labels(text: str, ids: tuple[str, ...] = IDS, *, numbered: bool = True) -> list[tuple[str, str | None]]:
    return [(citation.label, citation.passage_id) for citation in citations(text, ids, numbered=numbered)]


def known(text: str) -> list[int]:
    """Positions cited in an answer to a numbered prompt, each mention."""
    return [IDS.index(passage_id) + 1 for _, passage_id in labels(text) if passage_id]


# --- reason and answer


@pytest.mark.parametrize(
    ("text", "reason", "answer"),
    [
        ("##Reason: because ##Answer: yes", "because", "yes"),
        ("## reason : because\n## ANSWER: yes", "because", "yes"),
        ("Reason: because\nAnswer: yes", "because", "yes"),
        ("REASON:because\n  answer :yes", "because", "yes"),
        ("**Reason:** because\n\n**Answer**: yes", "because", "yes"),
        ("# Reason\nbecause\n# Answer\nyes", "because", "yes"),
        ("### Reasoning: because\n### Answer: yes", "because", "yes"),
        ("##Reason：因为\n##Answer：是", "因为", "是"),
        ("Reason: because. Answer: yes", "because.", "yes"),
        ("##Answer: yes ##Reason: because", "because", "yes"),
        ("Because.\n##Answer: yes", "Because.", "yes"),
        ("##Answer: yes", None, "yes"),
        ("##Reason: because, and the answer is cut", "because, and the answer is cut", None),
        ("##Reason: the answer: is quoted here\n##Answer: yes", "the answer: is quoted here", "yes"),
        ("##Reason: ##Answer: yes", "", "yes"),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so [12#0, 14#2]", ["12#0", "14#2"]),
        ("so [Doc 12#0]", ["12#0"]),
        ("so [doc12#0] and [Document: 14#2]", ["12#0", "14#2"]),
        ("so [12#0][14#2]", ["12#0", "14#2"]),
        ("so [12#0; 14#2 and 13#1]", ["12#0", "14#2", "13#1"]),
        ("so 【12#0】 and ［14#2］", ["12#0", "14#2"]),
        ("so [as 12#0 says]", ["12#0"]),
        ("so [[12#0]]", ["12#0"]),
        ("so [12#0\n, 14#2]", ["12#0", "14#2"]),
    ],
)
def test_ids_in_brackets_several_to_a_bracket_and_with_a_word_pitfall_16(text: str, expected: list[str]) -> None:
    for numbered in (False, True):
        assert labels(text, numbered=numbered) == [(i, i) for i in expected]


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("present in [1].", [1]),
        ("in [1][2] and [3]", [1, 2, 3]),
        ("in [1, 3 and 10]", [1, 3, 10]),
        ("in [1-3]", [1, 2, 3]),
        ("in [2–4, 7-8]", [2, 3, 4, 7, 8]),
        ("in [Context 3, Context 5]", [3, 5]),
        ("in 【2】", [2]),
        ("in [১, ২] und [३] y [٤]", [1, 2, 3, 4]),
        ("context [4] says", [4]),
        ("Context 4 says", [4]),
        ("in contexts 1, 2, and 9 of them", [1, 2, 9]),
        ("in contexts 1, 2 and 9.", [1, 2, 9]),
        ("(contexts 1, 4, 6)", [1, 4, 6]),
        ("contexts 1-3 and 7 describe it", [1, 2, 3, 7]),
        ("en el contexto 2 se dice", [2]),
        ("dans le contexte 7:", [7]),
        ("в контексте 2 сказано", [2]),
        ("passage #3", [3]),
        ("[present in context 4, context 5]", [4, 5]),
    ],
)
def test_numbers_mean_positions_where_the_prompt_numbered_the_passages(text: str, positions: list[int]) -> None:
    assert known(text) == positions


_IN_EVERY_LANGUAGE = """
ar | [المستند ٢] | [مصدر 2] | [السياق: 2]
bn | [নথি ২] | [সূত্র ২] | [অনুচ্ছেদ 2]
de | [Dokument 2] | [Quelle: 2] | [Dokument Nr. 2]
en | [Source: 2] | [citation:2] | [Excerpt 2]
es | [Documento 2] | [Fuente 2] | [pasaje n.º 2]
fa | [سند ۲] | [منبع ۲] | [متن 2]
fi | [Lähde 2] | [lähteessä 2] | [asiakirjassa 2]
fr | [Référence 2] | [extrait 2] | [contexte n° 2]
hi | [दस्तावेज़ २] | [स्रोत 2] | [संदर्भ: 2]
id | [Dokumen 2] | [Sumber: 2] | [rujukan 2]
ja | [文書2] | [出典2] | 【資料２】
ko | [문서 2] | [출처: 2] | [2번 문서]
ru | [Документ 2] | [источнике 2] | [отрывок 2]
sw | [Hati 2] | [Chanzo 2] | [muktadha 2]
te | [పత్రం ౨] | [మూలం 2] | [సందర్భం 2]
th | [เอกสารที่ ๒] | [แหล่งที่มา 2] | [บริบท 2]
yo | [ìwé 2] | [orísun 2] | [ìtọ́kasí 2]
zh | [文档2] | [来源：2] | [第2篇文档]
"""
IN_EVERY_LANGUAGE = {
    code: forms for code, *forms in (line.split(" | ") for line in _IN_EVERY_LANGUAGE.strip().splitlines())
}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_number_with_a_word_for_a_passage_cites_in_every_language(code: str) -> None:
    for text in IN_EVERY_LANGUAGE[code]:
        assert known(f"x {text}.") == [2], text


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("x【1†source】, y【2†L3-L5】", [1, 2]),
        ("x [^1][^2].", [1, 2]),
        ("x [²]", [2]),
        (r"x \[1\]", [1]),
        ("[Dokumente 1 und 3]", [1, 3]),
        ("[Sumber: 1; Sumber: 3]", [1, 3]),
        ("[1和2]", [1, 2]),
        ("[資料1、資料3]", [1, 3]),
        ("[Quellen: 1–3]", [1, 2, 3]),
        ("[منبع ۱ و ۲]", [1, 2]),
    ],
)
def test_lists_ranges_footnotes_and_native_digits_cite(text: str, positions: list[int]) -> None:
    assert known(text) == positions


@pytest.mark.parametrize("file", ["citations.jsonl", "turn4/12-citation-forms/cited.jsonl"])
def test_citations_of_the_field_are_found(shared: Path, file: str) -> None:
    lines = (shared / "field" / file).read_text(encoding="utf-8").splitlines()
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


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("Built in 1911.¹", [1]),
        ("The wall was built² and painted³.", [2, 3]),
        ("Built.¹² Long.¹⁻³", [1, 2, 1, 2, 3]),
        ("1911年に建てられました。¹", [1]),
        ("यह 1911 में बना था।²", [2]),
        ("Built.<sup>1</sup><sup>3</sup> Long.<sup>1, 2</sup> Old.<sup>[2]</sup>", [1, 3, 1, 2, 2]),
        ("Built in 1911<sup>1</sup>; red <sup class='n'><a href='#2'>[2]</a></sup>, big<sup>(3)</sup>.", [1, 2, 3]),
        ("Det er [Kilde 2 og 3] eller [Kilder 1, 3]", [2, 3, 1, 3]),
        ("so [S1], [S2, S3] and [#1]", [1, 2, 3, 1]),
        ("so [source_2], [doc-1] and [Chunk #3]", [2, 1, 3]),
        ("so [Source 1: file.pdf] and [Source 2: mole.pdf, page 3]", [1, 2]),
        ("so [1: a.pdf; 2: b.pdf], [Quelle 3: Hafen, S. 3]", [1, 2, 3]),
        ("so [2, p. 3], [1, pp. 3-4; 3, p. 9] and [1、3ページ]", [2, 1, 3, 1]),
        ("so [1, S. 3], [2, стр. 4], [3, p. 7] и [1, §2]", [1, 2, 3, 1]),
    ],
)
def test_raised_labelled_and_annotated_numbers_cite(text: str, positions: list[int]) -> None:
    assert known(text) == positions


@pytest.mark.parametrize(
    "heading",
    [
        "Sources:",
        "**References**",
        "## 参考文献",
        "Quellen",
        "Источники:",
        "المراجع:",
        "Fuentes:",
        "참고 문헌",
        "संदर्भ:",
    ],
)
def test_a_list_of_sources_at_the_end_cites_nothing(heading: str) -> None:
    assert known(f"It is old [2].\n\n{heading}\n[1] mole.pdf\n[2] map.pdf\n[3] list.pdf") == [2]
    assert known(f"It is old [2].\n\n{heading}\n\n1. [1] mole.pdf\n\n2. [2] map.pdf\n") == [2]
    assert known(f"It is old [2].\n\n{heading}\n[1] mole.pdf\n\nAnd it is long [3].") == [2, 1, 3]
    assert known(f"It is old.\n\n{heading}\n[2] map.pdf") == [2]


def test_other_lists_of_sources_cite_nothing() -> None:
    assert known("It is old [2].\n\nSources: [1], [2], [3]") == [2]
    assert known("It is old [^2].\n\n[^1]: mole\n[^2]: map\n") == [2]
    assert known("Sources differ [1]. The sources [2] say so.") == [1, 2]
    every = "".join(f"[{n}] file{n}.pdf\n" for n in range(1, len(IDS) + 1))
    assert known(f"It is old.\n\nReferences:\n{every}") == []


@pytest.mark.parametrize(
    "text",
    [
        "12 m², 10² km, 5 m<sup>2</sup>, x³, 10<sup>3</sup>, Fe²⁺, 10⁻², ¹⁄₂, (a+b)²",
        "[S1] Introduction",
        "see section [S1] and step [#2]",
        "It ranked [#1] in 2019.",
        "see [Figur 2], [Kapitel 3], [May 2], [Schritt 1] and [Part 1]",
        "[3: a note] [16:9] [2020: plan] [Q2: results] [Figure 2: map.pdf]",
        "[S11] [#0] [11, p. 3]",
        "[2 documents] [Figure 2] [Table 3] x² (1) [3 Quellen]",
        "in 2019 (3) or [2019]",
        "context 2019",
        "context 10% of it",
        "in the context 3.5 of",
        "the first context",
        "[9 times] [Q1] [] [ ] [...] [A]",
        "cut off at context [1",
        "subcontext 3",
    ],
)
def test_what_is_not_certain_is_not_a_citation(text: str) -> None:
    assert labels(text) == []


def test_a_count_after_a_comma_is_no_citation() -> None:
    assert known("in context 3, 5 people are named") == [3]


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
