"""What Features, Answers, Nuggets, Surrogate and Judges come to, each in a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT

from mirage import store
from mirage.battles.referee import Referee
from mirage.explorer.answers import data as answers
from mirage.explorer.features import data as of_features
from mirage.explorer.kit import conclusions as page_conclusions


def test_features_name_the_clearest_correlate_of_the_rating_and_its_worst_system() -> None:
    arena = store.open_arena(ROOT / "data" / "nomiracl")
    codes = ("ar", "sw")
    sentence = page_conclusions.of_the_features(arena, codes)
    known = [
        row
        for row in of_features.relations(arena, Referee.relevance(), codes)
        if row.language == "all" and row.tau is not None
    ]
    most = max(known, key=lambda row: (row.clear, abs(row.tau or 0.0)))
    assert page_conclusions._title(most.feature) in sentence
    assert f"n = {most.systems}" in sentence
    systems = of_features.overview(arena, codes).systems
    assert any(system in sentence for system in systems) is most.clear


def test_the_answers_to_a_query_are_counted() -> None:
    arena = store.open_arena(ROOT / "data" / "sample")
    shown = answers.query_view(arena, ("ar", "ar-05"), "strict")
    sentence = page_conclusions.of_answers(shown)
    right = sum(answer.correct is True for answer in shown.answers)
    assert f"{right} of {len(shown.answers)}" in sentence
    (silent,) = (answer.system for answer in shown.answers if answer.outcome == "abstained")
    assert silent in sentence


def flips(judge: str, value: float, low: float | None, high: float | None) -> dict[str, Any]:
    return {"judge": judge, "language": "en", "flip": value, "flip_low": low, "flip_high": high, "flip_n": 90}


@pytest.mark.parametrize(
    ("other", "alike"),
    [(flips("b", 0.5, 0.4, 0.6), False), (flips("b", 0.15, 0.1, 0.3), True), (flips("b", 0.15, None, None), True)],
)
def test_judges_whose_flips_cannot_be_told_apart_are_named(other: dict[str, Any], alike: bool) -> None:
    sentence = page_conclusions.of_judges([other, flips("a", 0.1, 0.05, 0.2)], "en")
    assert "n = 90" in sentence
    assert ("not significantly" in sentence) is alike
    assert page_conclusions.of_judges([other], "sw") == ""


def known(judge: str, value: float, low: float | None, high: float | None) -> dict[str, Any]:
    return {"judge": judge, "language": "en", "known": value, "known_low": low, "known_high": high, "known_n": 90}


@pytest.mark.parametrize(
    ("other", "alike"),
    [(known("b", 0.5, 0.4, 0.6), False), (known("b", 0.75, 0.6, 0.85), True), (known("b", 0.75, None, None), True)],
)
def test_the_judge_that_knows_most_of_the_known_answers_is_named(other: dict[str, Any], alike: bool) -> None:
    sentence = page_conclusions.of_known([other, known("a", 0.8, 0.7, 0.9)], "en")
    assert "a prefers the correct decision in 80.0%" in sentence
    assert "n = 90" in sentence
    assert ("not significantly" in sentence) is alike
    assert "without votes" in page_conclusions.of_known([other], "en")
    assert page_conclusions.of_known([other], "sw") == ""
    assert page_conclusions.of_known([{"judge": "c", "language": "en"}], "en") == ""
