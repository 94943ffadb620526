"""Adaptive judging: the design, its estimate and its stopping rule, on boards with known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from adaptive_cases import board, judge_on
from hypothesis import given, settings
from hypothesis import strategies as st

import mirage
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.adaptive import AdaptiveSettings, Goal, begin, estimate, populate, sequential_p
from mirage.ranking.adaptive.spending import spent

# --- the battles, in random order -------------------------------------------------------------------------------------


def answered(systems: str, queries: int) -> dict[str, dict[str, list[str]]]:
    return {code: {f"q{k}": list(systems) for k in range(queries)} for code in ("en", "sw")}


@given(queries=st.integers(1, 12), systems=st.integers(2, 6), seed=st.integers(0, 9))
def test_each_pair_has_its_battles_of_a_language_in_an_order_of_its_own(queries: int, systems: int, seed: int) -> None:
    population = populate(answered("abcdef"[:systems], queries), seed=seed)
    assert population.n == 2 * queries * systems * (systems - 1) // 2
    for cell in range(len(population.sizes)):
        assert sorted(population.place[population.cell == cell]) == list(range(queries))


def test_the_order_of_two_systems_does_not_depend_on_others() -> None:
    few, many = populate(answered("ab", 20)), populate(answered("abc", 20))
    assert many.place[many.pair == 0].tolist() == few.place.tolist()
    assert populate(answered("ab", 20), seed=1).place.tolist() != few.place.tolist()


def test_a_query_is_as_likely_to_come_first_as_any_other() -> None:
    firsts = np.zeros(5)
    for seed in range(400):
        population = populate(answered("ab", 5), seed=seed)
        firsts[population.row[(population.cell == 0) & (population.place == 0)]] += 1
    assert firsts.min() > 400 / 5 - 4 * np.sqrt(400 * 0.2 * 0.8)


def test_only_systems_that_answer_in_every_language_battle() -> None:
    systems = {"en": {"q": ["a", "b", "c"]}, "sw": {"q": ["a", "b"]}}
    assert populate(systems).systems == ("a", "b")
    with pytest.raises(NotEnoughData):
        populate({"en": {"q": ["a", "b"]}, "sw": {"q": ["b", "c"]}})


# --- the estimate -----------------------------------------------------------------------------------------------------


def test_weights_give_what_all_battles_would_give_where_bradley_terry_fails() -> None:
    """Half of the pairs are judged four times as often, and favour one side beyond Bradley-Terry."""
    errors, plain = [], []
    for seed in range(10):
        on = board([1, 0.5, 0, -0.5, -1], queries=400, languages=1, seed=seed, off=1.0)
        counts = np.where(np.arange(10) % 2, 320, 80)
        some = np.where(on.population.judged(counts), on.points, np.nan)
        full = estimate(on.population, on.points).theta
        errors.append(estimate(on.population, some).theta - full)
        pairs = on.population.pair
        unweighted = [(pairs == k) & on.population.judged(counts) for k in range(10)]
        wins = {k: on.points[mask].sum() for k, mask in enumerate(unweighted)}
        plain.append(_fit({k: (wins[k], counts[k] - wins[k]) for k in range(10)}, 5) - full)
    error, bias = np.abs(np.mean(errors, axis=0)).max(), np.abs(np.mean(plain, axis=0)).max()
    assert error < 0.06
    assert bias > 2 * error


def _fit(wins: dict[int, tuple[float, float]], n: int) -> np.ndarray:
    """Bradley-Terry by minorisation: slow, and no code of the program."""
    i, j = np.triu_indices(n, 1)
    strength = np.ones(n)
    for _ in range(500):
        won, met = np.zeros(n), np.zeros(n)
        for k, (up, down) in wins.items():
            a, b = i[k], j[k]
            won[a], won[b] = won[a] + up, won[b] + down
            for one in (a, b):
                met[one] += (up + down) / (strength[a] + strength[b])
        strength = won / met
        strength /= np.exp(np.log(strength).mean())
    return np.log(strength)


def test_with_every_battle_judged_the_ratings_are_those_of_an_ordinary_ranking() -> None:
    on = board([0.8, 0.1, -0.9], queries=60, languages=1, seed=3)
    names, i, j = on.population.systems, *np.triu_indices(3, 1)
    rows = [
        {"query_id": f"{row}", "system_a": names[i[pair]], "system_b": names[j[pair]], "verdict": "A" if won else "B"}
        for row, pair, won in zip(on.population.row, on.population.pair, on.points, strict=True)
    ]
    table = mirage.rank(pd.DataFrame(rows), draws=200).table().to_pandas().set_index("system").loc[list(names)]
    rated = estimate(on.population, on.points)
    assert rated.theta == pytest.approx(table["rating"].to_numpy(), abs=0.02)
    assert np.ptp(rated.interval(), axis=0) == pytest.approx((table["high"] - table["low"]).to_numpy(), rel=0.25)


def test_a_system_that_hardly_ever_loses_has_a_wide_interval() -> None:
    """The prior's points decide how far ahead it is, and count as drawn: few battles say little on that."""
    lost = np.zeros(240)
    lost[[3, 90]] = 1.0
    widths = {}
    for name, points in (("ahead", 1 - lost), ("even", np.tile([1.0, 0.0], 120))):
        population = populate({"en": {f"q{k}": list("ab") for k in range(240)}})
        rated = estimate(population, points)
        assert (np.diag(rated.covariance) >= np.diag(rated.of_queries) - 1e-12).all()
        widths[name] = float(np.diag(rated.covariance)[0] / np.diag(rated.of_queries)[0])
    assert widths["ahead"] > 1.1
    assert widths["even"] == pytest.approx(1.0, abs=1e-3)


def test_intervals_hold_the_truth_and_equal_systems_stay_together() -> None:
    """50 boards, half of the systems equal: 93 to 97% in the long run, here within three standard errors."""
    truth = [0.7, 0.7, 0.0, 0.0, -0.7, -0.7]
    covered, apart = [], 0
    for seed in range(50):
        on = board(truth, queries=30, languages=2, seed=seed)
        state = judge_on(on, AdaptiveSettings("separated", rounds=5), 0.5)
        assert state.rated is not None
        low, high = state.rated.interval()
        covered.append(((low <= on.theta) & (on.theta <= high)).mean())
        i, j = np.triu_indices(6, 1)
        apart += bool(state.separated[on.theta[i] == on.theta[j]].any())
    assert np.mean(covered) > 0.95 - 3 * np.std(covered) / np.sqrt(50) - 0.02
    assert apart <= 7  # 50 times 5% and three standard errors


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


# --- the choice -------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 99), n=st.integers(1, 400), until=st.sampled_from(["separated", "top:1", "width:0.3"]))
def test_a_round_adds_as_many_battles_as_asked_for_and_takes_none_back(seed: int, n: int, until: str) -> None:
    on = board([0.5, 0.4, -0.9], queries=20, seed=seed)
    state = begin(on.population, AdaptiveSettings(until, rounds=4, seed=seed))
    for _ in range(3):
        before, counts = state.counts, state.choose(n)
        assert (counts >= before).all()
        assert (counts <= on.population.sizes).all()
        assert abs(counts.sum() - min(before.sum() + n, on.population.n)) <= 1
        if counts.sum() == 0:
            return
        state = state.after(np.where(on.population.judged(counts), on.points, np.nan))


@pytest.mark.parametrize("until", ["separated", "top:1", "width:0.3"])
@pytest.mark.parametrize("points", [(0.5, 0.5, 0.5), (1, 1, 1), (1, 0.5, 0), (0, 0.5, 1)])
@pytest.mark.parametrize("n", [1, 7, 60])
def test_battles_that_all_agree_leave_a_choice(until: str, points: tuple[float, ...], n: int) -> None:
    """Without any difference between queries the variance is 0: no number may be divided by it."""
    on = board([0.5, 0.4, -0.9], queries=20, seed=1)
    agreed = np.tile(points, 40)
    state = begin(on.population, AdaptiveSettings(until, rounds=5, seed=3))
    for _ in range(4):
        before, counts = state.counts, state.choose(n)
        assert (counts >= before).all()
        assert abs(counts.sum() - min(before.sum() + n, on.population.n)) <= 1
        if counts.sum():
            state = state.after(np.where(on.population.judged(counts), agreed, np.nan))


def test_battles_go_to_the_systems_that_are_still_open() -> None:
    """The two best are close to each other and far from the others: those matter to the best one alone."""
    on = board([1.5, 1.3, 0, 0, 0, -1.5, -1.5], queries=60, seed=2)
    state = judge_on(on, AdaptiveSettings("top:1", rounds=5), 0.5)
    counts = state.counts.reshape(2, -1).sum(axis=0)
    i, j = np.triu_indices(7, 1)
    close, others = counts[(i < 2)].mean(), counts[i >= 2].mean()
    assert counts[(i == 0) & (j == 1)][0] > close > 2 * others
    assert others > 0


def test_judging_stops_when_the_rest_cannot_be_separated() -> None:
    on = board([2.0, 2.0, -2.0, -2.0], queries=100, seed=1)
    state = judge_on(on, AdaptiveSettings("separated", rounds=10))
    assert state.reached
    assert state.number < 10
    assert state.rank_ranges.tolist() == [[1, 1, 3, 3], [2, 2, 4, 4]]
    assert not state.open.any()


def test_the_k_best_are_found_with_a_part_of_the_battles() -> None:
    on = board([2.0, 1.9, 0.0, -0.1, -0.2], queries=100, seed=4)
    state = judge_on(on, AdaptiveSettings("top:2", rounds=10))
    assert state.reached
    assert state.counts.sum() < 0.5 * on.population.n


def test_intervals_become_as_narrow_as_asked_for() -> None:
    on = board([0.5, 0.0, -0.5], queries=200, seed=4)
    state = judge_on(on, AdaptiveSettings("width:0.5", rounds=10))
    assert state.reached
    assert state.widest <= 0.5
    assert state.counts.sum() < on.population.n


def test_a_costlier_pair_is_judged_less() -> None:
    on = board([0.2, 0.1, 0.0, -0.1], queries=100, seed=6)
    counts = []
    for cost in ([1.0] * 6, [9.0, *[1.0] * 5]):
        state = begin(on.population, AdaptiveSettings(rounds=4), cost=cost)
        for _ in range(2):
            judged = on.population.judged(state.choose(200))
            state = state.after(np.where(judged, on.points, np.nan))
        counts.append(state.counts.reshape(2, -1).sum(axis=0)[0])
    assert counts[1] < counts[0]


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "best", "top", "top:0", "top:-1", "top:x", "width:0", "width:nan", "separated:1"])
def test_a_goal_that_is_none_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadInput, match="top:K"):
        Goal.parse(text)


@pytest.mark.parametrize("changed", [{"rounds": 0}, {"random": 0.0}, {"random": 1.5}, {"level": 1.0}, {"until": "x"}])
def test_settings_out_of_range_are_refused(changed: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        AdaptiveSettings(**changed)  # type: ignore[arg-type]


def test_as_many_best_systems_as_there_are_is_refused() -> None:
    on = board([1.0, 0.0, -1.0])
    with pytest.raises(BadInput, match="K below 3"):
        begin(on.population, AdaptiveSettings("top:3"))
    with pytest.raises(BadInput, match="cost"):
        begin(on.population, AdaptiveSettings(), cost=[1.0, 0.0, 1.0])
    with pytest.raises(NotEnoughData):
        estimate(on.population, np.full(on.population.n, np.nan))


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
