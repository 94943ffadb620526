"""What Features, Answers, Nuggets, Surrogate and Judges come to, each in a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT

from mirage import schema, store
from mirage.battles.referee import Referee
from mirage.explorer.answers import data as answers
from mirage.explorer.features import data as of_features
from mirage.explorer.kit import conclusions as page_conclusions
from mirage.explorer.nuggets.data import NuggetMatrix, NuggetRow


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


def bank(*nuggets: tuple[str, dict[str, str]]) -> NuggetMatrix:
    """Nuggets by importance, and for each what was assigned to each system."""
    rows = []
    for k, (importance, cells) in enumerate(nuggets):
        key: dict[str, Any] = {"language": "en", "query_id": "q", "nugget_id": f"n{k}"}
        nugget = schema.Nugget(**key, text=f"fact {k}", importance=importance, passage_id=None, author="a test")  # type: ignore[arg-type]  # as below
        rest: dict[str, Any] = {"quote": None, "reason": None, "call": None}
        rows.append(
            NuggetRow(
                nugget,
                {
                    name: schema.NuggetAssignment(**key, system=name, assigner="terms", assignment=value, **rest)  # type: ignore[arg-type]  # a word of the test
                    for name, value in cells.items()
                },
            )
        )
    systems = sorted({name for row in rows for name in row.assignments})
    return NuggetMatrix(tuple(rows), tuple(systems), "terms" if systems else None)


def test_the_systems_that_state_every_vital_nugget_are_counted() -> None:
    yes, half, no = "support", "partial_support", "not_support"
    shown = bank(
        ("vital", {"a": yes, "b": yes, "c": no, "d": yes}),
        ("vital", {"a": yes, "b": half, "c": no, "d": no}),
        ("okay", {"a": no, "b": no, "c": no, "d": no}),
    )
    sentence = page_conclusions.of_nuggets(shown)
    assert "1 of 4 systems (a) states all 2 vital nuggets" in sentence
    assert "(1 system): “\u2068fact 1\u2069”" in sentence
    assert "terms" in sentence
    alone = page_conclusions.of_nuggets(bank(("okay", {"a": yes, "b": no, "c": yes})))
    assert "2 of 3 systems (a, c) state the nugget" in alone
    assert "Least" not in alone
    assert "No answers have been assigned" in page_conclusions.of_nuggets(bank(("vital", {})))
    assert page_conclusions.of_nuggets(None) == ""
