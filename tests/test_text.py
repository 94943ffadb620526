"""Words and sentences in 18 languages: marks belong to letters, unspaced scripts need no spaces, nothing is lost."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.languages import LANGUAGES
from mirage.text import sentences, terms, words

TWO_SENTENCES = {
    "ar": ("يقع الجسر في شمال المدينة.", "وقد بني قبل مئة عام."),
    "bn": ("সেতুটি শহরের উত্তরে অবস্থিত।", "এটি একশো বছর আগে তৈরি হয়েছিল।"),
    "de": ("Die Brücke liegt im Norden der Stadt.", "Sie wurde vor hundert Jahren gebaut."),
    "en": ("The bridge lies north of St. Mary's.", "It was built a hundred years ago."),
    "es": ("El puente está al norte de la ciudad.", "Se construyó hace cien años."),
    "fa": ("این پل در شمال شهر است.", "آن را صد سال پیش ساختند."),
    "fi": ("Silta sijaitsee kaupungin pohjoispuolella.", "Se rakennettiin sata vuotta sitten."),
    "fr": ("Le pont se trouve au nord de la ville.", "Il fut construit il y a cent ans."),
    "hi": ("यह पुल नगर के उत्तर में है।", "इसे सौ वर्ष पहले बनाया गया था।"),
    "id": ("Jembatan itu terletak di utara kota.", "Jembatan itu dibangun seratus tahun lalu."),
    "ja": ("その橋は町の北にあります。", "百年前に造られました。"),
    "ko": ("그 다리는 도시의 북쪽에 있다.", "백 년 전에 지어졌다."),
    "ru": ("Мост находится на севере города.", "Его построили сто лет назад."),
    "sw": ("Daraja hilo liko kaskazini mwa mji.", "Lilijengwa miaka mia moja iliyopita."),
    "te": ("ఆ వంతెన పట్టణానికి ఉత్తరాన ఉంది.", "దానిని వంద సంవత్సరాల క్రితం నిర్మించారు."),
    "th": ("สะพานแห่งนี้ตั้งอยู่ทางทิศเหนือของเมือง", "สร้างขึ้นเมื่อหนึ่งร้อยปีที่แล้ว"),
    "yo": ("Afárá náà wà ní àríwá ìlú.", "Wọ́n kọ́ ọ ní ọgọ́rùn-ún ọdún sẹ́yìn."),
    "zh": ("这座桥位于城市的北部。", "它建于一百年前。"),
}


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The town's 3.5 km [a#1]!", ["the", "town", "s", "3", "5", "km", "a", "1"]),
        ("हिन्दी में क़िला", ["हिन्दी", "में", "क़िला"]),
        ("Wọ́n kọ́ ẹ̀kọ́", ["wọ́n", "kọ́", "ẹ̀kọ́"]),
        ("東京はＪＲ 3 番", ["東", "京", "は", "jr", "3", "番"]),
        ("ที่ GPU", ["ที่", "gpu"]),
        ("한국어를 쓴다", ["한국어를", "쓴다"]),
        ("Straße", ["strasse"]),
        ("", []),
    ],
)
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
