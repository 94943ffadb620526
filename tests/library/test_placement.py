"""Placing a new system: the update, what a battle tells, the choice, and whether the stated probabilities hold."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from benchmarks.place import Course, course
from benchmarks.simulated import BY_QUERY, simulate_arena
from mirage.battles.counts import Battles
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.bootstrap import rate
from mirage.ranking.place import sequential

NAMES = ("a", "b", "c", "d")


def battles(seed: int = 1, *, systems: int = 8, queries: int = 60, language: str = "en") -> Battles:
    simulation = simulate_arena(systems=systems, queries=queries, languages=[language], seed=seed)
    return from_judgments(simulation.tables["judgments"], judge="judge")[language]


def known(theta: tuple[float, ...], *, sd: float = 1e-4, noise: sequential.Noise | None = None) -> sequential.Field:
    """A field whose ratings are as good as known."""
    return sequential.Field(
        "en",
        NAMES[: len(theta)],
        np.array(theta),
        np.eye(len(theta)) * sd**2,
        noise or sequential.Noise(1.0, 0.0),
        100,
    )


def room(queries: int, systems: int) -> sequential.CandidatePool:
    return sequential.CandidatePool(
        tuple(f"q{k:02}" for k in range(queries)),
        np.ones((queries, systems), dtype=bool),
        np.zeros((queries, systems), dtype=bool),
    )


# --- what is known before --------------------------------------------------------------------------------------------


def test_the_field_has_the_ratings_of_the_ranking_and_the_spread_of_its_bootstrap() -> None:
    tally = battles(systems=12, queries=100)
    field = sequential.field("en", tally)
    ranked = rate({"en": tally}, draws=400, seed=0).languages["en"]
    assert np.abs(field.theta - ranked.theta).max() < 0.02
    centre = np.eye(12) - 1 / 12
    errors = np.sqrt(np.diag(centre @ field.covariance @ centre))
    bootstrap_errors = ranked.draws.std(axis=0)
    assert errors.mean() == pytest.approx(bootstrap_errors.mean(), rel=0.2)


def test_what_queries_share_is_found_in_the_battles() -> None:
    variances = [sequential.field("en", battles(seed, systems=12, queries=100)).noise.between for seed in range(4)]
    # Ties and the bend of the logistic shrink what a verdict shows of the variance between queries.
    assert 0.3 * BY_QUERY**2 < np.mean(variances) < BY_QUERY**2
    rng = np.random.default_rng(5)
    shuffled = battles(4, systems=12, queries=100)
    wins, ties = shuffled.wins.copy(), shuffled.ties.copy()
    for i, j in itertools.combinations(range(12), 2):
        order = rng.permutation(100)
        wins[:, i, j], wins[:, j, i] = wins[order, i, j], wins[order, j, i]
        ties[:, i, j] = ties[:, j, i] = ties[order, i, j]
    apart = Battles(shuffled.systems, shuffled.queries, wins, ties, shuffled.strata, shuffled.referee, shuffled.skill)
    assert sequential.field("en", apart).noise.between < 0.1 * BY_QUERY**2


def test_an_undefeated_system_has_a_finite_rating_and_a_wide_interval() -> None:
    """pitfall 34: one estimator, finite."""
    wins = np.zeros((10, 3, 3), dtype=np.uint8)
    wins[:, 0, 1:] = 1
    wins[::2, 1, 2] = 1
    wins[1::2, 2, 1] = 1
    field = sequential.field(
        "en",
        Battles(
            NAMES[:3], tuple("0123456789"), wins, np.zeros_like(wins), np.zeros(10, dtype=np.intp), "judge", "both"
        ),
    )
    sd = np.sqrt(np.diag(field.covariance))
    assert 1 < field.theta[0] < 10
    assert sd[0] > sd[1]


def test_a_field_of_one_system_or_no_battle_is_refused() -> None:
    with pytest.raises(NotEnoughData, match=r"no battle .* in en"):
        sequential.field("en", battles().subset(["sim-01"]))


# --- the update ------------------------------------------------------------------------------------------------------


def test_one_won_battle_moves_the_rating_as_the_integral_says() -> None:
    """Laplace's approximation against numerical integration of the exact posterior."""
    start = sequential.start([known((0.0, 0.0))], sequential.Prior([0.2], [0.6]))
    fought = [sequential.BattleResult(q, 0, y) for q, y in enumerate([1, 1, 0, 1, 0.5, 1])]
    after = start.after(fought)

    def density(t: float) -> float:
        up, down = math.log1p(math.exp(-t)), math.log1p(math.exp(t))
        return math.exp(-((t - 0.2) ** 2) / 0.72 - 4.5 * up - 1.5 * down)

    whole, _ = quad(density, -6, 6)
    mean = quad(lambda t: t * density(t), -6, 6)[0] / whole
    sd = math.sqrt(quad(lambda t: (t - mean) ** 2 * density(t), -6, 6)[0] / whole)
    assert after.mean[0, -1] == pytest.approx(mean, abs=0.02)
    assert math.sqrt(after.covariance[-1, -1]) == pytest.approx(sd, rel=0.03)
    assert after.n == 6


def test_battles_in_two_steps_of_ten_queries_tell_more_than_ten_on_one() -> None:
    """pitfall 36: battles on one query are not independent."""
    noise = sequential.Noise(1.0, 0.5)
    start = sequential.start([known((0.0, 0.0, 0.0), noise=noise)], sequential.Prior([0.0], [1.0]))
    same = start.after([sequential.BattleResult("q", k % 3, 1.0) for k in range(10)])
    apart = start.after([sequential.BattleResult(f"q{k}", k % 3, 1.0) for k in range(10)])
    single = start.after([sequential.BattleResult("q", 0, 1.0)])
    sd = [math.sqrt(state.covariance[-1, -1]) for state in (apart, same, single)]
    assert sd[0] < sd[1] < sd[2]
    assert apart.mean[0, -1] > same.mean[0, -1] > single.mean[0, -1]


@given(st.integers(1, 40), st.floats(0.0, 2.0), st.floats(0.3, 1.5))
@settings(max_examples=50, deadline=None)
def test_a_further_battle_on_a_query_tells_at_least_nothing_at_most_the_first(
    n: int, between: float, dispersion: float
) -> None:
    noise = sequential.Noise(dispersion, between)
    information = noise.information(np.arange(1, n + 2), 0.25 * np.arange(1, n + 2))
    steps = np.diff(np.concatenate([[0.0], information]))
    assert (steps > 0).all()
    assert (steps <= steps[0] + 1e-12).all()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0])), max_size=20))
@settings(max_examples=50, deadline=None)
def test_a_won_battle_more_never_lowers_the_rating(rows: list[tuple[int, int, float]]) -> None:
    """pitfall 38, for a battle on a query of its own."""
    start = sequential.start(
        [known((1.0, 0.3, -0.2, -1.1), sd=0.2, noise=sequential.Noise(0.9, 0.3))], sequential.Prior([0.1], [0.8])
    )
    fought = [sequential.BattleResult(q, j, y) for q, j, y in rows]
    before = start.after(fought).joint()[0][-1]
    assert start.after([*fought, sequential.BattleResult("new", 1, 1.0)]).joint()[0][-1] > before
    assert start.after([*fought, sequential.BattleResult("new", 1, 0.0)]).joint()[0][-1] < before


def test_a_battle_tells_of_another_language_as_far_as_their_errors_correlate() -> None:
    fields = [known((0.5, -0.5)), known((0.5, -0.5))]
    moved = []
    for correlation in (0.0, 0.5, 0.9):
        start = sequential.start(fields, sequential.Prior([0.0, 0.0], [1.0, 1.0], correlation))
        moved.append(float(start.after([sequential.BattleResult("q", 0, 1.0, 0)]).mean[1, -1]))
    assert moved[0] == pytest.approx(0, abs=1e-9)
    assert moved[0] < moved[1] < moved[2]


def test_a_prior_that_does_not_fit_the_languages_is_refused() -> None:
    with pytest.raises(BadInput, match="a prior with means"):
        sequential.start([known((0.0, 0.0))], sequential.Prior([0.0, 0.0], [1.0, 1.0]))
    with pytest.raises(BadInput, match="different systems"):
        sequential.start([known((0.0, 0.0)), known((0.0, 0.0, 0.0))], sequential.Prior([0.0, 0.0], [1.0, 1.0]))


# --- probabilities ---------------------------------------------------------------------------------------------------


def test_probabilities_of_tiers_are_those_between_the_boundaries() -> None:
    start = sequential.start([known((2.0, 1.0, 0.0, -3.0))], sequential.Prior([0.5], [0.5]))
    now = sequential.posterior_standing(start, [["b", "a"], ["c"], ["d"]])
    # Boundaries at 0.5, midway between b and c, and at -1.5.
    assert now.tier_probabilities == pytest.approx([0.5, 0.5, 0.0], abs=1e-3)
    assert now.rank_probabilities.sum() == pytest.approx(1)
    assert now.rank_probabilities[2] == pytest.approx(0.6826, abs=0.03)
    assert now.above == pytest.approx([0.0013, 0.1587, 0.8413, 1.0], abs=1e-3)
    assert (now.low, now.high) == pytest.approx((0.5 - 0.98, 0.5 + 0.98), abs=1e-3)
    assert now.rank_interval() == (2, 4)
    assert now.tier_interval() == (1, 2)


def test_nothing_is_settled_by_a_surrogate_alone() -> None:
    start = sequential.start([known((2.0, -2.0))], sequential.Prior([2.5], [0.1]))
    assert sequential.posterior_standing(start, [["a"], ["b"]]).tier_probabilities.max() > 0.99
    assert not sequential.posterior_standing(start, [["a"], ["b"]]).settled
    after = start.after([sequential.BattleResult(q, 0, 1.0) for q in range(sequential.LEAST)])
    assert sequential.posterior_standing(after, [["a"], ["b"]]).settled


def test_tiers_that_leave_out_a_system_are_refused() -> None:
    start = sequential.start([known((0.0, 0.0))], sequential.Prior([0.0], [1.0]))
    with pytest.raises(BadInput, match="every system of the arena once"):
        sequential.posterior_standing(start, [["a"]])


# --- the choice ------------------------------------------------------------------------------------------------------


def test_the_choice_is_the_same_for_the_same_seed_and_never_names_a_battle_twice() -> None:
    start = sequential.start([sequential.field("en", battles())], sequential.Prior([0.0], [0.7]))
    twice = [sequential.choose_battles(start, [room(4, 8)], n=40, seed=seed) for seed in (3, 3, 4)]
    assert twice[0] == twice[1] != twice[2]
    assert len(twice[0]) == 32, "there are no more"
    assert len({(battle.query, battle.opponent) for battle in twice[0]}) == 32
    with pytest.raises(BadInput):
        sequential.choose_battles(start, [room(4, 8)], n=-1)


def test_the_choice_does_not_depend_on_what_is_known_and_goes_on_where_it_was() -> None:
    rooms, named = room(30, 4), []
    for mean in (-2.0, 0.0, 2.0):
        state = sequential.start([known((1.0, 0.5, -0.5, -1.0), sd=0.1)], sequential.Prior([mean], [0.5]))
        chosen = sequential.choose_battles(state, [rooms], n=10, seed=9)
        named += [(battle.query, battle.opponent) for battle in chosen]
        for battle in chosen:
            rooms.tried[battle.query, battle.opponent], rooms.open[battle.query, battle.opponent] = True, False
    whole = sequential.choose_battles(state, [room(30, 4)], n=30, seed=9)
    assert named == [(battle.query, battle.opponent) for battle in whole]


def test_the_choice_is_random() -> None:
    state = sequential.start([known((4.0, 0.2, -0.2, -4.0))], sequential.Prior([0.0], [0.5]))
    chosen = sequential.choose_battles(state, [room(50, 4)], n=100)
    assert np.bincount([battle.opponent for battle in chosen], minlength=4).min() > 12


def test_fewer_battles_are_needed_where_tiers_are_far_apart() -> None:
    tiers = [["a"], ["b"], ["c"], ["d"]]
    wide = sequential.start([known((3.0, 1.0, -1.0, -3.0))], sequential.Prior([1.0], [0.5]))
    narrow = sequential.start([known((0.9, 0.3, -0.3, -0.9))], sequential.Prior([0.3], [0.5]))
    far, near = (sequential.horizon(state, tiers, [room(100, 4)]) for state in (wide, narrow))
    assert far.low is not None
    assert far.median is not None
    assert far.low <= far.median
    assert near.median is None or near.median > far.median
    assert far.most == 400


def test_one_tier_alone_is_placed_by_its_rating() -> None:
    state = sequential.start([known((0.1, -0.1))], sequential.Prior([0.0], [1.0]))
    chosen = sequential.choose_battles(state, [room(10, 2)], n=12)
    assert len(chosen) == 12
    assert sequential.horizon(state, [["a", "b"]], [room(10, 2)]).median == sequential.LEAST


# --- with known truth ------------------------------------------------------------------------------------------------

SEEDS = range(200, 224)


@cache
def courses() -> tuple[Course, ...]:
    return tuple(course(seed, systems=8, queries=60, batch=15) for seed in SEEDS)


def test_a_tier_is_settled_with_fewer_battles_than_all_pairs() -> None:
    assert np.median([run.battles if run.settled else run.all for run in courses()]) < 0.6 * courses()[0].all


def test_what_is_called_settled_at_95_percent_is_right_at_least_nine_times_in_ten() -> None:
    runs = courses()
    settled = [run for run in runs if run.settled]
    assert len(settled) > len(runs) / 2
    assert np.mean([run.right for run in settled]) >= 0.9
    assert np.mean([run.inside for run in runs]) >= 0.9
