"""Words and sentences in 18 languages: marks belong to letters, unspaced scripts need no spaces, nothing is lost."""

import itertools
import unicodedata

import pytest
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st
from text_cases import TWO_SENTENCES

from mirage.text.languages import LANGUAGES
from mirage.text.segmentation import sentences, terms, words


def cut(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


@pytest.mark.parametrize("code", LANGUAGES)
def test_two_sentences_are_two(code: str) -> None:
    pair = TWO_SENTENCES[code]
    glue = "" if code in ("ja", "zh") else " "
    assert cut(glue.join(pair), code) == list(pair)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_line_break_ends_a_sentence_and_white_space_belongs_to_none(code: str) -> None:
    first, second = TWO_SENTENCES[code]
    assert cut(f"  {first}\r\n\n\t{second} \n", code) == [first, second]
    assert cut(" \n\n ", code) == []


@given(text=st.text(max_size=80), code=st.sampled_from(sorted(LANGUAGES)))
def test_sentences_cover_all_that_is_not_white_space(text: str, code: str) -> None:
    spans = sentences(text, code)
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())


def test_thai_is_not_cut_around_figures_and_abbreviations() -> None:
    assert cut("กรุงเทพฯ เป็นเมืองหลวงมาตั้งแต่ พ.ศ. 2325 และมีประชากรมาก", "th") == [
        "กรุงเทพฯ เป็นเมืองหลวงมาตั้งแต่ พ.ศ. 2325 และมีประชากรมาก"
    ]


@pytest.mark.parametrize(*read_table("words"))
def test_words_keep_their_marks_and_unspaced_scripts_give_characters(text: str, expected: list[str]) -> None:
    assert words(text) == [unicodedata.normalize("NFKC", word) for word in expected]


def test_invisible_characters_and_presentation_forms_do_not_part_equal_words() -> None:
    assert words("co\u00adoperate \ufeffｄａｔａ") == words("cooperate data")
    assert words("র\u200d্যাব") == words("র্যাব")


def test_terms_of_unspaced_scripts_are_pairs() -> None:
    assert terms("長江の源 GDP") == ["長江", "江の", "の源", "gdp"]
    assert terms("水") == ["水"]
    assert terms("Il fiume lungo") == words("Il fiume lungo")
    assert terms("ที่ราบ") == ["ที่ร", "รา", "าบ"]


@given(st.text(max_size=60))
def test_terms_and_words_of_the_same_text_hold_the_same_characters(text: str) -> None:
    assert set("".join(terms(text))) == set("".join(words(text)))
