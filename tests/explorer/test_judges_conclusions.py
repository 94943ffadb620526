"""What the page Judges comes to, in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from mirage.explorer.judges import conclusions


def flips(judge: str, value: float, low: float | None, high: float | None) -> dict[str, Any]:
    return {"judge": judge, "language": "en", "flip": value, "flip_low": low, "flip_high": high, "flip_n": 90}


@pytest.mark.parametrize(
    ("other", "alike"),
    [(flips("b", 0.5, 0.4, 0.6), False), (flips("b", 0.15, 0.1, 0.3), True), (flips("b", 0.15, None, None), True)],
)
def test_judges_whose_flips_cannot_be_told_apart_are_named(other: dict[str, Any], alike: bool) -> None:
    sentence = conclusions.of_judges([other, flips("a", 0.1, 0.05, 0.2)], "en")
    assert "n = 90" in sentence
    assert ("not significantly" in sentence) is alike
    assert conclusions.of_judges([other], "sw") == ""


def known(judge: str, value: float, low: float | None, high: float | None) -> dict[str, Any]:
    return {"judge": judge, "language": "en", "known": value, "known_low": low, "known_high": high, "known_n": 90}


@pytest.mark.parametrize(
    ("other", "alike"),
    [(known("b", 0.5, 0.4, 0.6), False), (known("b", 0.75, 0.6, 0.85), True), (known("b", 0.75, None, None), True)],
)
def test_the_judge_that_knows_most_of_the_known_answers_is_named(other: dict[str, Any], alike: bool) -> None:
    sentence = conclusions.of_known([other, known("a", 0.8, 0.7, 0.9)], "en")
    assert "a prefers the correct decision in 80.0%" in sentence
    assert "n = 90" in sentence
    assert ("not significantly" in sentence) is alike
    assert "without votes" in conclusions.of_known([other], "en")
    assert conclusions.of_known([other], "sw") == ""
    assert conclusions.of_known([{"judge": "c", "language": "en"}], "en") == ""
