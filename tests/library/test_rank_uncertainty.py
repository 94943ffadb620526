"""Tests of pairs, analytic intervals, and coverage, by simulations with known truth.

The truth of a simulation is what the ratings of very many queries come to, not the strengths that verdicts were drawn
with: queries differ, so that the two differ by a common factor.
"""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import choix
import numpy as np
import pytest
from rank_cases import battles, ratings, simulate
from scipy import stats

import mirage
from mirage.battles.counts import Battles
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking.board import remarks
from mirage.ranking.bootstrap import rate
from mirage.ranking.pair_tests import BoardTests, sign_flip_p, step_down
from mirage.ranking.records import ALPHA


def unequal(seed: Any, theta: Any, n: int, *, share: float = 0.3, miss: float = 0.1) -> Battles:
    """An arena whose pairs meet on 15 to 45% of the queries, and where some systems miss up to 20% of them."""
    theta = np.asarray(theta, dtype=float)
    s = len(theta)
    rng, design = np.random.default_rng(seed), np.random.default_rng(s)
    i, j = np.triu_indices(s, 1)
    strength = theta + rng.normal(0, 0.6, (n, s))
    p = 1 / (1 + np.exp(strength[:, j] - strength[:, i]))
    tied = rng.random(p.shape) < 0.15
    first = (rng.random(p.shape) < p) & ~tied
    meet = design.uniform(share / 2, min(1.0, 1.5 * share), len(i)) if share < 1 else np.ones(len(i))
    present = rng.random((n, s)) >= design.permutation(miss * np.linspace(0, 2, s))
    mask = (rng.random(p.shape) < meet) & present[:, i] & present[:, j]
    wins, ties = np.zeros((n, s, s), np.uint8), np.zeros((n, s, s), np.uint8)
    wins[:, i, j], wins[:, j, i] = first & mask, ~first & ~tied & mask
    ties[:, i, j] = ties[:, j, i] = tied & mask
    return battles(wins, ties)


def complete(seed: Any, theta: Any, n: int) -> Battles:
    return unequal(seed, theta, n, share=1.0, miss=0.0)


def named(part: Battles, language: int) -> Battles:
    """The same battles on queries of this language alone."""
    return replace(part, queries=tuple(f"l{language:02}-{query}" for query in part.queries))


def board_tests(*parts: Battles, **options: Any) -> BoardTests:
    ranking = rate({f"l{k:02}": part for k, part in enumerate(parts)}, draws=1, **options)
    return ranking.tests["all" if len(parts) > 1 else "l00"]


# Tests of pairs


def test_where_all_pairs_meet_the_test_is_the_score_test_of_points() -> None:
    """The sum of the points over its deviation around 0, half a step nearer to 0."""
    arena = simulate(1, systems=9, queries=80)
    tests = board_tests(arena)
    points = (arena.wins + arena.ties / 2).sum(axis=2)
    for a in range(9):
        for b in range(a):
            x, y = (arena.systems.index(tests.systems[k]) for k in (a, b))
            gap = points[:, x] - points[:, y]
            score = np.abs(gap.sum()) - np.abs(gap[gap != 0]).min()
            expected = np.sign(gap.sum()) * score / np.sqrt((gap**2).sum() * 80 / 79)
            assert tests.z[a, b] == pytest.approx(expected, abs=1e-5)
            assert tests.p[a, b] == pytest.approx(2 * stats.norm.sf(abs(expected)), rel=1e-4, abs=1e-12)


def two_systems(n: int, won: int, tied: int = 0) -> Battles:
    """One battle of two systems on each query."""
    wins, ties = np.zeros((n, 2, 2), np.uint8), np.zeros((n, 2, 2), np.uint8)
    wins[:won, 0, 1] = wins[won : n - tied, 1, 0] = 1
    ties[n - tied :, 0, 1] = ties[n - tied :, 1, 0] = 1
    return battles(wins, ties)


@pytest.mark.parametrize(
    ("n", "won", "tied"), [(7, 6, 0), (7, 7, 0), (30, 13, 13), (20, 15, 0), (19, 15, 0), (12, 2, 0)]
)
def test_one_battle_a_query_gives_the_exact_binomial_test_pitfall_182(n: int, won: int, tied: int) -> None:
    tests = board_tests(two_systems(n, won, tied))
    assert tests.p[0, 1] == pytest.approx(stats.binomtest(won, n - tied).pvalue)


@pytest.mark.parametrize("n", [*range(5, 41), 64, 100, 400])
def test_pitfall_182_equal_systems_are_separated_in_at_most_5_percent(n: int) -> None:
    """The size by enumeration of every number of wins."""
    first = next(won for won in range(n // 2, n + 1) if won == n or board_tests(two_systems(n, won)).p[0, 1] <= ALPHA)
    size = 2 * stats.binom.sf(first - 1, n, 0.5) if board_tests(two_systems(n, first)).p[0, 1] <= ALPHA else 0.0
    assert size <= 0.05 + (n > 20) * 0.001


def test_flipped_signs_are_counted_for_unequal_scores() -> None:
    rng = np.random.default_rng(4)
    for n in (1, 2, 5, 12):
        scores = rng.normal(size=n)
        sums = np.array([[1 - 2 * (k >> bit & 1) for bit in range(n)] for k in range(2**n)]) @ scores
        assert sign_flip_p(scores) == pytest.approx(np.mean(np.abs(sums) >= abs(scores.sum()) - 1e-9))


def test_pitfall_164_an_interval_excludes_0_where_its_test_does() -> None:
    """Two to five systems, 5 to 60 queries, complete or sparse, some near the edge of the test."""
    edges = 0
    for k in range(60):
        rng = np.random.default_rng((9, k))
        systems, n = int(rng.integers(2, 6)), int(rng.integers(5, 61))
        arena = unequal((9, k), rng.normal(0, 0.6, systems), n, share=float(rng.choice([0.5, 1.0])))
        ranking = rate({"en": arena}, draws=100)
        tests, raw = ranking.tests["en"], ranking.languages["en"]
        for first, second in ((a, b) for a in raw.systems for b in raw.systems if a < b):
            gap = ranking.difference(first, second)
            excludes = (gap.low is not None and gap.low > 0) or (gap.high is not None and gap.high < 0)
            assert excludes == tests.are_separated(first, second), (k, first, second)
            edges += (raw.differences(second, system=first)[1:, 0].tolist()) != [gap.low, gap.high]
    assert edges, "some ends follow the test"


def test_the_ranks_left_open_are_those_of_the_tests_definition_22() -> None:
    for seed in range(3):
        ranking = rate({"en": simulate(seed, systems=9, queries=60)}, draws=5)
        tests = ranking.tests["en"]
        rows = {row["system"]: row for row in ranking.table().to_pylist()}
        tied = [system for system, row in rows.items() if row["rank_low"] == 1]
        for system, row in rows.items():
            apart = [other for other in rows if tests.are_separated(system, other)]
            ahead = [other for other in apart if rows[other]["rating"] > row["rating"]]
            assert (row["rank_low"], row["rank_high"]) == (1 + len(ahead), 9 - len(apart) + len(ahead))
            assert (row["rank_low"], row["rank_high"]) == tests.rank_range(system)
            assert row["best"] == (None if system not in tied else "tied" if len(tied) > 1 else "best")
            assert set(tests.tied_with(system)) == rows.keys() - {system, *apart}


@pytest.mark.parametrize("seed", range(20))
def test_twins_are_never_separated(seed: int) -> None:
    """One system under two names: no query tells them apart, whatever is left of rounding."""
    arena = simulate(seed, systems=7, queries=60)
    order = np.array([*range(7), 2])
    wins, ties = arena.wins[:, order][:, :, order].copy(), arena.ties[:, order][:, :, order].copy()
    ties[:, 2, 7] = ties[:, 7, 2] = 1
    tests = board_tests(battles(wins, ties))
    assert not tests.are_separated("s02", "s07")
    assert tests.differing[tests.index_of("s02", "s07")] == 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.4, 1 / 3])
def test_systems_with_equal_graded_points_are_never_separated(share: float) -> None:
    """Two systems take one share of the points from a third, written once from its side and once from theirs."""
    sides = [("x", "third", "B", share), ("x", "y", "tie", 0.5), ("third", "y", "A", 1 - share)]
    names = ("query_id", "system_a", "system_b", "verdict", "points")
    rows = [dict(zip(names, (f"q{k}", *side), strict=True)) for k in range(12) for side in sides]
    tests = mirage.rank(rows, draws=10).tests["und"]
    assert tests.differing[tests.index_of("x", "y")] == 0
    assert tests.are_separated("x", "third")
    assert not tests.are_separated("x", "y")
    assert tests.stepped, "all pairs meet on the same queries"


@pytest.mark.parametrize(
    ("systems", "n", "arenas"), [(8, 30, 120), (3, 10, 100), (8, 5, 60)], ids=["usual", "separable", "few"]
)
def test_of_equal_systems_any_two_are_separated_in_5_percent_of_arenas_at_most(
    systems: int, n: int, arenas: int
) -> None:
    """Unequal battles, arenas with seeds (1, systems, k); 5% and three times the simulation's error.

    With 3 systems x 10 queries a test of fitted differences separates in a third of them.
    """
    wrong = 0
    for k in range(arenas):
        arena = unequal((1, systems, k), np.zeros(systems), n)
        wrong += bool((board_tests(arena).adjusted <= ALPHA).any())
    assert wrong / arenas <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / arenas)


def test_of_equal_systems_any_two_are_separated_in_5_percent_of_joint_rows_at_most() -> None:
    """Seeds (2, k, language); systems that differ within each language and are equal over all. More than 8 of 50 have a
    chance of 0.1% at 5%.
    """
    wrong = 0
    for k in range(50):
        lean = np.linspace(-0.5, 0.5, 6)
        parts = [unequal((2, k, language), sign * lean, 20, share=0.6) for language, sign in enumerate((1, -1, 1, -1))]
        wrong += bool((board_tests(*parts).adjusted <= ALPHA).any())
    assert wrong <= 8


def test_equal_systems_of_small_languages_are_separated_in_5_percent_at_most() -> None:
    """Seeds (6, k, language); 12 languages of 3 queries. More than 6 of 30 have a chance of 0.1% at 5%."""
    wrong = 0
    for k in range(30):
        parts = [named(complete((6, k, language), np.zeros(5), 3), language) for language in range(12)]
        wrong += bool((board_tests(*parts).adjusted <= ALPHA).any())
    assert wrong <= 6


def test_a_loss_on_every_decided_query_is_as_clear_as_by_the_sign_test() -> None:
    """Two of 10 queries decide in most of 18 languages, and are a stratum of their own, which hardly ever varies."""
    parts = []
    for language in range(18):
        wins, ties = np.zeros((10, 4, 4), np.uint8), np.ones((10, 4, 4), np.uint8)
        wins[: 2 + (language == 0), 1:, 0] = 1
        if language < 6:
            wins[[0, 9], 1 + language % 3, 1 + (language + 1) % 3] = 1
        ties -= np.maximum(wins, wins.transpose(0, 2, 1)) | np.eye(4, dtype=np.uint8)
        strata = np.repeat([0, 1], [2 + (language == 0), 8 - (language == 0)])
        parts.append(named(replace(battles(wins, ties), strata=strata), language))
    tests = board_tests(*parts)
    exact = 2.0**-36  # two-sided, of 37 queries
    for name in ("s01", "s02", "s03"):
        p = tests.p[tests.index_of("s00", name)]
        assert exact < p < 1e-6
        assert tests.are_separated("s00", name)


def test_separated_systems_are_found() -> None:
    """Strengths 3 logits apart over 8 systems: of the pairs at least two ranks apart most are separated."""
    results = [board_tests(complete((3, k), np.linspace(1.5, -1.5, 8), 60)) for k in range(10)]
    share = np.mean(
        [[t.are_separated(f"s{a:02}", f"s{b:02}") for a in range(8) for b in range(a - 1)] for t in results]
    )
    assert share > 0.9


def test_the_joint_test_of_one_language_and_its_translation_is_its_test_pitfall_123() -> None:
    """The same ids in both: what a translation says again is not said twice."""
    arena = unequal(5, np.linspace(1, -1, 6), 60)
    alone, twice = board_tests(arena), board_tests(arena, arena)
    for name in ("z", "differing", "rank_ranges"):
        np.testing.assert_allclose(getattr(twice, name), getattr(alone, name), rtol=1e-5)
    assert twice.n_queries == 60


def test_pitfall_36_duplicating_battles_within_their_query_separates_nothing_more() -> None:
    arena = unequal(6, np.linspace(1, -1, 6), 60)
    twice = replace(arena, wins=2 * arena.wins, ties=2 * arena.ties)
    np.testing.assert_allclose(board_tests(twice).z, board_tests(arena).z, atol=1e-5)


def test_an_undefeated_system_is_separated_by_a_finite_test_pitfall_34() -> None:
    arena = simulate(9)
    wins, ties = arena.wins.copy(), arena.ties.copy()
    wins[:, 3, :] += wins[:, :, 3] + ties[:, 3, :]
    wins[:, :, 3] = ties[:, 3, :] = ties[:, :, 3] = 0
    tests = board_tests(replace(arena, wins=wins, ties=ties))
    assert tests.systems[0] == "s03"
    assert tests.rank_range("s03") == (1, 1)
    assert np.isfinite(tests.z).all()


def test_a_handful_of_queries_separates_nothing_however_one_sided() -> None:
    wins = np.zeros((5, 2, 2))
    wins[:, 0, 1] = 1
    tests = board_tests(battles(wins))
    assert tests.p[0, 1] == pytest.approx(2.0**-4)
    assert tests.few
    assert tests.rank_ranges.tolist() == [[1, 1], [2, 2]]
    assert board_tests(battles(np.repeat(wins, 2, axis=0))).rank_ranges.tolist() == [[1, 2], [1, 2]]


def test_systems_that_never_differ_are_all_tied() -> None:
    ties = np.ones((20, 3, 3)) - np.eye(3)
    tests = board_tests(battles(np.zeros((20, 3, 3)), ties))
    assert tests.rank_ranges.tolist() == [[1] * 3, [3] * 3]
    assert (tests.p == 1).all()


def test_more_than_64_systems_are_tested_by_their_fitted_differences() -> None:
    arena = complete(10, np.linspace(1.5, -1.5, 66), 40)
    few = [f"s{k:02}" for k in range(60)]
    many, fewer = board_tests(arena), board_tests(arena.subset(few))
    a, b = many.index_of("s10", "s14"), fewer.index_of("s10", "s14")
    assert many.z[a] == pytest.approx(fewer.z[b], rel=0.15)
    assert many.are_separated("s00", "s65")


def test_pitfall_44_without_battles_no_score_test_and_no_test_of_an_unknown_system() -> None:
    ranking = rate({"en": simulate(1)}, draws=1)
    with pytest.raises(NotEnoughData, match="battles"):
        replace(ranking, battles={}).by_query  # noqa: B018  # computed when read
    with pytest.raises(UnknownName, match="s07"):
        ranking.tests["en"].are_separated("s00", "s77")


# Intervals


def test_moves_of_queries_have_the_covariance_of_leaving_each_query_out() -> None:
    """The jackknife over queries, refitted by choix."""
    arena = unequal(30, np.linspace(1, -1, 7), 100, share=0.7)
    points = (arena.wins + arena.ties / 2).astype(float)
    estimates = []
    for q in range(100):
        theta = choix.ilsr_pairwise_dense(points.sum(axis=0) - points[q], alpha=0, tol=1e-11)
        estimates.append(theta - theta.mean())
    around = np.array(estimates) - np.mean(estimates, axis=0)
    jackknife = 99 / 100 * around.T @ around
    sandwich = 100 * np.cov(rate({"en": arena}, draws=1).by_query["en"].moves.T)
    np.testing.assert_allclose(sandwich, jackknife, atol=0.03 * np.abs(jackknife).max())


@cache
def truth(systems: int, share: float, n: int = 20_000) -> Any:
    theta = np.linspace(1.5, -1.5, systems)
    miss = 0.0 if share == 1 else 0.1
    fits = [ratings(unequal((40, k), theta, n, share=share, miss=miss), draws=1).theta for k in range(2)]
    return np.mean(fits, axis=0)


@pytest.mark.parametrize("drawn", [200, 5], ids=["bootstrap", "sandwich"])
def test_pitfall_37_95_percent_intervals_cover_with_unequal_battles(
    monkeypatch: pytest.MonkeyPatch, drawn: int
) -> None:
    """60 arenas with seeds (41, k), ties, pairs that meet on few queries, missed queries."""
    monkeypatch.setattr("mirage.ranking.bootstrap.DRAWN", drawn)
    inside = []
    for k in range(60):
        arena = unequal((41, k), np.linspace(1.5, -1.5, 19), 100)
        low, high = rate({"en": arena}, draws=200, seed=k).languages["en"].interval()
        inside.append((low <= truth(19, 0.3)) & (truth(19, 0.3) <= high))
    assert 0.93 < np.mean(inside) < 0.98


def test_the_joint_interval_covers_where_each_language_has_few_queries() -> None:
    """10 languages x 10 queries x 8 systems, 20 arenas with seeds (42, k, language): what each language is off by, that
    of the maximum of the likelihood too, does not average out over languages.
    """
    expected, inside = truth(8, 1.0), []
    error = {"jeffreys": [], "none": []}
    for k in range(20):
        parts = {f"l{language}": complete((42, k, language), np.linspace(1.5, -1.5, 8), 10) for language in range(10)}
        joint = rate(parts, draws=200, seed=k).languages["all"]
        low, high = joint.interval()
        inside.append((low <= expected) & (expected <= high))
        plain = rate(parts, draws=1, penalty="none").languages["all"]
        for penalty, row in (("jeffreys", joint), ("none", plain)):
            error[penalty].append(float((row.theta - expected) @ np.sign(expected)))
    assert np.mean(inside) > 0.93
    assert np.mean(error["none"]) > 2 * abs(np.mean(error["jeffreys"]))


@pytest.mark.parametrize("n", [5, 10, 20])
def test_intervals_of_few_queries_cover_pitfall_220(n: int) -> None:
    """8 systems, 60 arenas with seeds (43, n, k)."""
    expected, inside = truth(8, 1.0), []
    for k in range(60):
        row = ratings(complete((43, n, k), np.linspace(1.5, -1.5, 8), n), draws=200, seed=k)
        low, high = row.interval()
        inside.append((low <= expected) & (expected <= high))
        assert (low <= row.theta).all()
        assert (row.theta <= high).all()
    assert np.mean(inside) > 0.94


def test_a_rating_without_a_bound_says_on_which_side() -> None:
    arena = simulate(9)
    wins, ties = arena.wins.copy(), arena.ties.copy()
    for system, (took, gave) in ((3, (1, 0)), (5, (0, 1))):
        wins[:, system, :], wins[:, :, system] = took, gave
        ties[:, system, :] = ties[:, :, system] = 0
    wins[:, 3, 3] = wins[:, 5, 5] = wins[:, 5, 3] = 0
    wins[:, 3, 5] = 1
    ranking = rate({"en": replace(arena, wins=wins, ties=ties)}, draws=20)
    assert ranking.languages["en"].unbounded == {"s03": "above", "s05": "below"}
    (line,) = [line for line in remarks(ranking) if "no upper bound" in line]
    assert "s03 (en: no upper bound), s05 (en: no lower bound)" in line
    both = rate({"ar": replace(arena, wins=wins, ties=ties), "en": arena}, draws=20)
    # A mean of which one language has no end has none either, and only there.
    assert both.languages["all"].unbounded == {"s03": "above", "s05": "below"}
    assert set(both.languages["all"].bounded) == {"s00", "s01", "s02", "s04", "s06", "s07"}
    assert not {"s03", "s05"} & set(both.languages["all"].bounded)
    apart = np.zeros((1, 4, 4))
    apart[0, 0, 1] = apart[0, 1, 0] = apart[0, 2, 3] = apart[0, 3, 2] = 1
    assert set(ratings(battles(apart)).unbounded.values()) == {"both"}


@pytest.mark.parametrize("systems", [2, 3])
@pytest.mark.parametrize(("n", "share"), [(20, 0.03), (20, 0.1), (60, 0.05)])
def test_intervals_cover_where_hardly_any_query_differs_pitfall_216(systems: int, n: int, share: float) -> None:
    """One system is wrong on a few queries, and the others on none."""

    def arena(wrong: np.ndarray) -> Battles:
        wins = np.zeros((len(wrong), systems, systems), np.uint8)
        wins[:, 1:, 0] = wrong[:, None]
        return battles(wins, 1 - np.maximum(wins, wins.transpose(0, 2, 1)) - np.eye(systems, dtype=np.uint8))

    true = rate({"en": arena(np.arange(2000) < 2000 * share)}, draws=1).difference("s00", "s01").value
    inside = []
    for k in range(40):
        gap = rate({"en": arena(np.random.default_rng((44, n, k)).random(n) < share)}, draws=200).difference(
            "s00", "s01"
        )
        inside.append((gap.low is None or gap.low <= true) and (gap.high is None or true <= gap.high))
    assert np.mean(inside) > 0.94


def adjusted(points: np.ndarray) -> np.ndarray:
    return np.minimum(1.25 * step_down(points), 1)


@pytest.mark.parametrize(("systems", "n"), [(3, 8), (3, 12), (4, 12), (6, 8), (6, 15)])
def test_equal_systems_are_separated_in_5_percent_where_another_wins_pitfall_218(systems: int, n: int) -> None:
    """One system is right on every query, and one of the others, at random."""
    rng, wrong = np.random.default_rng((45, systems, n)), 0
    first, times = np.triu_indices(systems, 1)[0], 300
    for _ in range(times):
        points = np.zeros((n, systems))
        points[:, 0] = points[np.arange(n), rng.integers(1, systems, n)] = 1
        wrong += bool((adjusted(points)[first > 0] <= ALPHA).any())
    assert wrong / times <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / times)


def test_three_systems_of_which_one_wins_have_their_exact_worst_case_definition_22() -> None:
    """All results of 8 queries that the first wins with one of the others: exactly, 2^8 of them."""
    n = 8
    results = np.array(list(product([0, 1], repeat=n)))
    p = [adjusted(np.column_stack([np.ones(n), row, 1 - row]))[2] for row in results]
    assert np.mean(np.array(p) <= ALPHA) <= ALPHA


def test_ten_queries_separate_ten_systems_that_holm_leaves_tied_pitfall_218() -> None:
    found = [board_tests(complete((46, k), np.repeat([1.2, -1.2], 5), 10)) for k in range(10)]
    assert all(tests.stepped for tests in found)
    assert (
        np.mean([[t.are_separated(f"s{a:02}", f"s{b:02}") for a in range(5) for b in range(5, 10)] for t in found])
        > 0.5
    )
    sparse = board_tests(unequal(46, np.repeat([1.2, -1.2], 5), 40))
    assert not sparse.stepped


def test_the_only_pair_of_a_board_takes_its_own_test() -> None:
    rows = [{"query_id": k, "system_a": "a", "system_b": "b", "verdict": "A" if k < 15 else "B"} for k in range(20)]
    board = mirage.rank(rows, draws=100).tests["und"]
    expected = stats.binomtest(15, 20).pvalue
    assert board.adjusted[board.index_of("a", "b")] == pytest.approx(expected)
    assert mirage.compare(rows, "a", "b").overall.p == pytest.approx(expected)


def test_the_step_down_maximum_is_that_of_every_pattern_of_signs() -> None:
    """By its definition, hypothesis by hypothesis, on 6 queries of 4 systems."""
    points = np.random.default_rng(47).integers(0, 3, (6, 4)).astype(float)
    i, j = np.triu_indices(4, 1)
    gaps = points[:, i] - points[:, j]
    scale = np.sqrt(np.maximum((gaps != 0).sum(axis=0), 1))
    statistic = np.abs(gaps.sum(axis=0)) / scale
    patterns = np.array(list(product([1, -1], repeat=6)))
    flipped = np.abs(patterns @ gaps) / scale
    expected, least = np.empty(6), 0.0
    left = sorted(range(6), key=lambda pair: -statistic[pair])
    for place, pair in enumerate(left):
        least = max(least, float((flipped[:, left[place:]].max(axis=1) >= statistic[pair] - 1e-9).mean()))
        expected[pair] = least
    np.testing.assert_allclose(step_down(points), expected)


@pytest.mark.parametrize("limit", ["DRAWN", "NORMAL"])
def test_systems_too_many_for_a_fit_a_draw_are_drawn_by_the_sandwich_pitfall_147(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    theta, parts = np.linspace(1, -1, 7), {}
    for number, code in enumerate(("en", "fi")):
        # The strata differ in their mean, which is no variation between draws: both kinds must leave it out.
        first, second = unequal((31, number), 2 * theta, 60, share=0.7), unequal((32, number), -theta, 120, share=0.7)
        wins, ties = np.concatenate([first.wins, second.wins]), np.concatenate([first.ties, second.ties])
        parts[code] = battles(wins, ties, strata=np.repeat([0, 1], [60, 120]))
    fitted = rate(parts, draws=4_000)
    monkeypatch.setattr(f"mirage.ranking.bootstrap.{limit}", 5)
    ranking = rate(parts, draws=4_000)
    assert ranking.intervals == ("sandwich",)
    assert "sandwich" in ranking.method
    for code, row in ranking.languages.items():
        assert row.draws.std(axis=0) == pytest.approx(fitted.languages[code].draws.std(axis=0), rel=0.07)
        assert row.draws.mean(axis=0) == pytest.approx(row.theta, abs=0.02)
    # The intervals of a system with few wins would be too narrow.
    few, tied = parts["en"].wins.copy(), parts["en"].ties.copy()
    few[5:, 0] = tied[5:, 0] = tied[5:, :, 0] = 0
    told = rate(parts | {"en": replace(parts["en"], wins=few, ties=tied)}, draws=10).intervals
    assert told == (("sandwich",) if limit == "DRAWN" else ("draws", "sandwich"))
