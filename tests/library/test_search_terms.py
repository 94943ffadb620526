"""BM25 finds a word in the forms in which people type it: a case or more for each script."""

import unicodedata

import pytest

from mirage.stages.retrieve.bm25 import Bm25
from mirage.text.languages import LANGUAGES
from mirage.text.segmentation import search_terms

OTHERS = [
    "Ein Text über ganz andere Dinge.",
    "完全不同的一段话",
    "전혀 다른 이야기",
    "نص آخر تماما",
    "यह कुछ और है",
    "อีกเรื่องหนึ่ง",
]
FOUND = [
    tuple(line.split(" | "))
    for line in """
zh | 火 | 森林里的火烧了三天
zh | 火山 | 那座火山很高
ja | 犬 | 犬が庭で寝ている
ja | ｶﾒﾗ | カメラを買った
ja | XYZ 1999 | ＸＹＺ社の１９９９年度報告
th | ๑๒ | ห้องหมายเลข 12 อยู่ชั้นบน
th | ช้าง | ฝูงช้างเดินข้ามแม่น้ำ
ko | 제주 | 제주에서는 귤이 난다
ko | 강아지 | 강아지를 데려왔다
ko | 물 | 물은 차갑다
ar | جامعة | تأسست الجَامِعَةُ جَامِعَة قديما
ar | الاسكندريه | تقع الإسكندرية على البحر
ar | ٤٢ | الغرفة 42 في الطابق العلوي
fa | کتابخانه ملی | كتابخانه ملي تهران
fa | ۱۳۵۷ | در سال 1357 رخ داد
tr | izmir | İzmir deniz kıyısındadır
tr | IRMAK | uzun bir ırmak akar
he | שלום | שָׁלוֹם לכולם
hi | जमीन | वह ज़मीन उपजाऊ है
hi | २०१५ | यह 2015 में बना
bn | ২০১৫ | এটি 2015 সালে তৈরি
te | ౨౦౧౫ | ఇది 2015 లో జరిగింది
de | GROSSE | Die große Halle
de | Munchen | Der Zug nach München
fr | ecole | Une école de village
es | cancion | Una canción muy antigua
fi | jarvi | Syvä järvi metsässä
yo | oko | Ọkọ̀ náà wà ní èbúté
ru | елка | Высокая ёлка во дворе
en | naive | A naïve approach
sw | DARAJA | daraja la zamani
id | ｊｅｍｂａｔａｎ | Jembatan tua itu
""".strip().splitlines()
]


@pytest.mark.parametrize(("code", "query", "text"), FOUND, ids=lambda value: value if value in LANGUAGES else None)
def test_a_passage_is_found_by_the_forms_in_which_its_words_are_typed(code: str, query: str, text: str) -> None:
    texts = [*OTHERS, text]
    index = Bm25(texts)
    for form in ("NFC", "NFD"):
        hits = index.search(unicodedata.normalize(form, query), 3)
        assert hits, code
        assert hits[0][0] == len(OTHERS)


def test_letters_that_make_another_word_are_kept_apart() -> None:
    assert search_terms("май") != search_terms("маи")
    assert search_terms("ড়") != search_terms("ড")
    assert search_terms("カ") != search_terms("ガ")
    assert search_terms("กา") != search_terms("ก้า")


def test_a_character_amid_longer_text_finds_no_more_than_it_should() -> None:
    index = Bm25(["水力发电", "土地改革"])
    assert [row for row, _ in index.search("水", 5)] == [0]
    assert [row for row, _ in index.search("火", 5)] == []
