"""Where an answer went wrong: each rule, NoMIRACL's two subsets, and planted failures found within their intervals."""

import numpy as np
import pytest
from golden.cases import read_table

from mirage.schema import Outcome, Subset
from mirage.stages.retrieve.attribution import (
    CAUSES,
    Attribution,
    Cause,
    attribute,
    cause_shares,
)
from mirage.text.languages import LANGUAGES

Given = tuple[Outcome, tuple[str, ...], tuple[str, ...]]
"""Outcome of an answer, the passages shown, and those cited."""


def answer(outcome: Outcome = "answered", shown: tuple[str, ...] = ("a", "b"), cited: tuple[str, ...] = ()) -> Given:
    return outcome, shown, cited


@pytest.mark.parametrize(*read_table("causes"))
def test_the_first_rule_that_fits_is_the_cause(given: Given, grades: dict[str, int], cause: Cause | None) -> None:
    found, evidence = attribute(*given, grades)
    assert found == cause
    assert evidence


@pytest.mark.parametrize(
    ("subset", "outcome", "cause"),
    [
        ("relevant", "answered", "right"),
        ("relevant", "abstained", "ignored"),
        ("non_relevant", "answered", "unsupported"),
        ("non_relevant", "abstained", "right_refusal"),
    ],
)
def test_nomiracl_is_the_case_of_two_subsets(subset: Subset, outcome: Outcome, cause: Cause) -> None:
    labels = {"a": 0, "b": 0} if subset == "non_relevant" else {}
    assert attribute(*answer(outcome), labels, subset=subset)[0] == cause


def test_only_a_high_grade_counts_where_it_is_asked_for() -> None:
    assert attribute(*answer(), {"a": 1, "c": 3}, relevant_from=2)[0] == "not_retrieved"


def test_passages_without_a_label_are_said() -> None:
    _, evidence = attribute(*answer(), {"c": 1, "a": 0})
    assert "1 of them have no label" in evidence


def planted(rng: np.random.Generator, code: str, n: int, rates: dict[str, float]) -> list[Attribution]:
    """Answers of one system to n queries with one relevant passage each; some failures planted."""
    rows = []
    for k in range(n):
        shown = ("x", "y") if rng.random() < rates["dropped"] else ("x", "gold")
        ignores = rng.random() < rates["ignored"]
        cited = ("x",) if ignores and rng.random() < 0.5 else ("gold",) if "gold" in shown else ("x",)
        outcome = "abstained" if ignores and cited != ("x",) else "answered"
        rows.append(Attribution(code, f"q{k}", "s", *attribute(outcome, shown, cited, {"gold": 1, "x": 0})))
    return rows


def test_planted_failures_are_found_within_their_intervals_in_all_languages() -> None:
    rates = {"dropped": 0.2, "ignored": 0.15}
    truth = {"not_retrieved": 0.2, "ignored": 0.8 * 0.15, "right": 0.8 * 0.85}
    inside = {"language": [], "all": []}
    for seed in range(120):
        rng = np.random.default_rng(seed)
        rows = [row for code in LANGUAGES for row in planted(rng, code, 60, rates)]
        for share in cause_shares(rows):
            if share.cause not in truth:
                continue
            kind = "all" if share.language == "all" else "language"
            inside[kind].append(share.low <= truth[share.cause] <= share.high)
    assert len(inside["language"]) == 120 * len(LANGUAGES) * 3
    # Wilson's interval with 60 queries covers a little more or less by the lattice of its counts.
    assert 0.93 <= np.mean(inside["language"]) <= 0.97
    assert 0.92 <= np.mean(inside["all"]) <= 0.98


def test_shares_add_up_and_answers_without_a_cause_are_left_out() -> None:
    rng = np.random.default_rng(0)
    rows = [row for code in ("en", "sw") for row in planted(rng, code, 40, {"dropped": 0.3, "ignored": 0.3})]
    nothing = Attribution("en", "q99", "s", None, "the answer is unparsed")
    shares = cause_shares([*rows, nothing])
    for code in ("en", "sw", "all"):
        of_code = [share for share in shares if share.language == code]
        assert [share.cause for share in of_code] == list(CAUSES)
        assert sum(share.share for share in of_code) == pytest.approx(1)
        assert {share.n for share in of_code} == {40}, "both languages ask the same 40 queries"
