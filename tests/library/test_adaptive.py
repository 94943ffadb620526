"""Judging in rounds: the order of the battles and the stopping rule, on boards with known truth."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from adaptive_cases import board, judge_on
from hypothesis import given
from hypothesis import strategies as st

import mirage
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.adaptive import AdaptiveSettings, AdaptiveState, random_order, sequential_p, spent

# --- the battles, in random order -------------------------------------------------------------------------------------


def answered(systems: str, queries: int) -> dict[str, dict[str, list[str]]]:
    return {code: {f"q{k}": list(systems) for k in range(queries)} for code in ("en", "sw")}


@given(queries=st.integers(1, 12), systems=st.integers(2, 6), seed=st.integers(0, 9), share=st.floats(0, 1))
def test_the_first_battles_are_the_same_share_of_every_language_and_pair(
    queries: int, systems: int, seed: int, share: float
) -> None:
    order = random_order(answered("abcdef"[:systems], queries), seed=seed)
    assert len(set(order.battles)) == len(order.battles) == queries * systems * (systems - 1)
    assert set(order.possible.values()) == {queries}
    judged = Counter((code, *pair) for code, _, *pair in order.battles[: round(share * len(order.battles))])
    counts = [judged[cell] for cell in order.possible]
    assert max(counts) - min(counts) <= 1


def test_the_order_of_two_systems_does_not_depend_on_others() -> None:
    def of_two(systems: str, seed: int = 0) -> list[str]:
        battles = random_order(answered(systems, 20), seed=seed).battles
        return [query for code, query, *pair in battles if (code, *pair) == ("en", "a", "b")]

    assert of_two("ab") == of_two("abc") != of_two("ab", seed=1)


def test_a_query_is_as_likely_to_come_first_as_any_other() -> None:
    firsts = Counter(
        next(query for code, query, *_ in random_order(answered("ab", 5), seed=seed).battles if code == "en")
        for seed in range(400)
    )
    assert min(firsts[f"q{k}"] for k in range(5)) > 400 / 5 - 4 * np.sqrt(400 * 0.2 * 0.8)


def test_only_systems_that_answer_in_every_language_battle() -> None:
    systems = {"en": {"q": ["a", "b", "c"]}, "sw": {"q": ["a", "b"]}}
    assert sorted(random_order(systems).battles) == [("en", "q", "a", "b"), ("sw", "q", "a", "b")]
    with pytest.raises(NotEnoughData):
        random_order({"en": {"q": ["a", "b"]}, "sw": {"q": ["b", "c"]}})


# --- the stopping rule ------------------------------------------------------------------------------------------------


def test_one_round_spends_all_at_once() -> None:
    p = np.array([1e-12, 1e-3, 0.05, 0.7])
    assert sequential_p(p, 1, 1) == pytest.approx(p, rel=1e-3)


@given(level=st.floats(1e-6, 0.2), rounds=st.integers(1, 12))
def test_the_rounds_spend_the_level_and_no_more(level: float, rounds: int) -> None:
    shares = [float(spent(np.array([level]), k / rounds)[0]) for k in range(rounds + 1)]
    own = np.diff(shares)
    assert shares[-1] == pytest.approx(level)
    assert (np.diff(own) > -1e-12).all() or rounds < 3 or own[-1] > own[0]
    for k, part in enumerate(own, 1):
        if part > 1e-250:
            assert sequential_p(np.array([part]), k, rounds)[0] == pytest.approx(level, rel=0.02)


def test_a_test_repeated_after_every_round_errs_no_more_often_than_its_level() -> None:
    rng = np.random.default_rng(5)
    steps = rng.normal(size=(20_000, 8))
    z = np.cumsum(steps, axis=1) / np.sqrt(np.arange(1, 9))
    from scipy.special import ndtr

    p = 2 * ndtr(-np.abs(z))
    sequential = np.min([sequential_p(p[:, k], k + 1, 8) for k in range(8)], axis=0)
    assert (p.min(axis=1) <= 0.05).mean() > 0.15
    assert 0.015 < (sequential <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 20_000)


def test_rounds_beyond_the_planned_ones_spend_nothing() -> None:
    assert sequential_p(np.array([1e-9]), 4, 3) == pytest.approx([1.0])


# --- the goals --------------------------------------------------------------------------------------------------------


def test_intervals_hold_the_truth_and_equal_systems_stay_together() -> None:
    """50 boards, half of the systems equal: 93 to 97% in the long run, here within three standard errors."""
    truth = [0.7, 0.7, 0.0, 0.0, -0.7, -0.7]
    covered, apart = [], 0
    for seed in range(50):
        on = board(truth, queries=30, languages=2, seed=seed)
        state = judge_on(on, AdaptiveSettings("separated", rounds=5), 0.5)
        assert state.row is not None
        low, high = state.row.interval()
        covered.append(((low <= on.theta) & (on.theta <= high)).mean())
        i, j = np.triu_indices(6, 1)
        apart += bool(state.separated[on.theta[i] == on.theta[j]].any())
    assert np.mean(covered) > 0.95 - 3 * np.std(covered) / np.sqrt(50) - 0.02
    assert apart <= 7  # 50 times 5% and three standard errors


def test_judging_stops_when_the_rest_cannot_be_separated() -> None:
    state = judge_on(board([2.0, 2.0, -2.0, -2.0], queries=100, seed=1), AdaptiveSettings("separated", rounds=10))
    assert state.reached
    assert state.number < 10
    assert state.rank_ranges.tolist() == [[1, 1, 3, 3], [2, 2, 4, 4]]
    assert not state.open.any()


@pytest.mark.parametrize(("theta", "until"), [([2.0, 1.9, 0.0, -0.1, -0.2], "top:2"), ([1.0, -1.0], "separated")])
def test_a_goal_is_reached_with_a_part_of_the_battles(theta: list[float], until: str) -> None:
    state = judge_on(board(theta, queries=200, seed=4), AdaptiveSettings(until, rounds=10))
    assert state.reached
    assert state.judged <= 0.5 * state.possible


@pytest.mark.parametrize("until", ["separated", "top:1"])
def test_battles_that_all_agree_reach_every_goal(until: str) -> None:
    """Without any difference between queries the variance is 0: no number may be divided by it."""
    state = judge_on(board([900.0, 0.0, -900.0], queries=20, seed=1), AdaptiveSettings(until, rounds=5))
    assert state.reached
    assert state.separated.all()


@pytest.mark.parametrize("text", ["", "best", "top", "top:0", "top:-1", "top:x", "top:01", "3", "separated:1"])
def test_a_goal_that_is_none_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadInput, match="top:K"):
        AdaptiveSettings(text)


def test_as_many_best_systems_as_there_are_is_refused() -> None:
    with pytest.raises(BadInput, match="K below 3"):
        AdaptiveState(AdaptiveSettings("top:3"), ("a", "b", "c"), 9)


# --- rankings weight by the inclusion probability ---------------------------------------------------------------------


def rows(inclusion: bool, twice: bool) -> pd.DataFrame:
    """Battles of three systems; half of those of one pair were chosen, or stand for themselves twice."""
    rng = np.random.default_rng(8)
    verdicts = []
    for query in range(60):
        for a, b, p in (("x", "y", 0.7), ("x", "z", 0.8), ("y", "z", 0.6)):
            verdict = "A" if rng.random() < p else "B"
            if (a, b) == ("x", "y") and query % 2:
                continue
            row = {"query_id": f"q{query}", "system_a": a, "system_b": b, "verdict": verdict, "judge": "j"}
            if inclusion:
                row["inclusion"] = 0.5 if (a, b) == ("x", "y") else 1.0
            verdicts += [row] * (2 if twice and (a, b) == ("x", "y") else 1)
    return pd.DataFrame(verdicts)


def test_a_verdict_with_inclusion_one_half_counts_twice() -> None:
    def ratings(frame: pd.DataFrame) -> list[float]:
        return [float(r) for r in mirage.rank(frame, draws=50, penalty="none").table()["rating"].to_pylist()]

    weighted = ratings(rows(inclusion=True, twice=False))
    assert weighted == pytest.approx(ratings(rows(inclusion=False, twice=True)), abs=1e-5)
    assert weighted != pytest.approx(ratings(rows(inclusion=False, twice=False)), abs=1e-3)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.5])
def test_an_inclusion_probability_out_of_range_is_refused(value: float) -> None:
    frame = rows(inclusion=True, twice=False)
    frame.loc[0, "inclusion"] = value
    with pytest.raises(BadInput, match="inclusion"):
        mirage.rank(frame, draws=50)
