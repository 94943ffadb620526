"""The 18 languages: codes, names and directions, and what is said of one that is not among them."""

from __future__ import annotations

import pytest

from mirage.errors import UnknownName
from mirage.languages import LANGUAGES, language


def test_there_are_the_eighteen_languages_of_miracl_in_the_order_of_their_codes() -> None:
    assert " ".join(LANGUAGES) == "ar bn de en es fa fi fr hi id ja ko ru sw te th yo zh"
    assert all(code == known.code for code, known in LANGUAGES.items())


def test_arabic_and_persian_run_right_to_left_and_three_languages_have_no_spaces() -> None:
    assert [c for c, known in LANGUAGES.items() if known.direction == "rtl"] == ["ar", "fa"]
    assert [c for c, known in LANGUAGES.items() if not known.spaced] == ["ja", "th", "zh"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_is_found_by_its_code_and_by_the_name_nomiracl_uses(code: str) -> None:
    known = LANGUAGES[code]
    assert language(code) is known
    assert language(known.nomiracl_name) is known


def test_pitfall_44_an_unknown_language_is_refused_with_the_nearest_and_the_place() -> None:
    with pytest.raises(UnknownName, match="there is no language 'xx'") as caught:
        language("xx", where="questions.csv:7")
    assert caught.value.where == "questions.csv:7"
    with pytest.raises(UnknownName) as caught:
        language("swa")
    assert "sw" in caught.value.nearest
