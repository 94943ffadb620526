"""Ratings with Jeffreys' prior: against a general optimiser, at the edges, and by simulation with another generator."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_cases import battles, maximum, ratings, simulate
from scipy.optimize import minimize
from scipy.stats import beta

from benchmarks import coverage
from mirage.battles.counts import Battles, pool_battles
from mirage.battles.verdict_rows import from_judgments
from mirage.ranking.bootstrap import rate
from mirage.ranking.by_query import by_query
from mirage.ranking.fit import RIDGE, Likelihood, PairCounts
from mirage.ranking.jeffreys import bias_reduced


def reference(first: Any, second: Any, systems: int, phi: float) -> Any:
    """The maximum of log-likelihood + phi / 2 log det information, by a general optimiser; the first rating is 0."""
    i, j = np.triu_indices(systems, 1)
    design = np.zeros((len(i), systems))
    design[np.arange(len(i)), i], design[np.arange(len(i)), j] = 1, -1
    design = design[:, 1:]

    def loss(x: Any) -> float:
        d = design @ x
        p = 1 / (1 + np.exp(-d))
        information = design.T @ (((first + second) * p * (1 - p))[:, None] * design)
        value = -(first * np.logaddexp(0, -d)).sum() - (second * np.logaddexp(0, d)).sum()
        return float(-value - phi / 2 * np.linalg.slogdet(information)[1])

    x = np.r_[0, minimize(loss, np.zeros(systems - 1), method="BFGS", options={"gtol": 1e-9}).x]
    return x - x.mean()


def test_with_many_systems_the_estimate_solves_the_penalised_equations() -> None:
    """By the definition: points minus expected points, with half the leverage more on each side of a pair, are 0."""
    rng = np.random.default_rng(5)
    s, (i, j) = 90, np.triu_indices(90, 1)
    met = rng.random(len(i)) < 0.08
    first, second = (np.where(met, rng.integers(0, 4, len(i)), 0).astype(float) for _ in range(2))
    for phi in (1.0, 2.5):
        x, _ = bias_reduced(Likelihood(PairCounts(first[None], second[None], None, s), 1e-9), dispersion=phi)
        chance = 1 / (1 + np.exp(x[0, j] - x[0, i]))
        information = (first + second) * chance * (1 - chance)
        design = np.zeros((len(i), s))
        design[np.arange(len(i)), i], design[np.arange(len(i)), j] = 1, -1
        inverse = np.linalg.pinv(design.T @ (information[:, None] * design), rcond=1e-10)
        leverage = information * ((design @ inverse) * design).sum(axis=1)
        assert leverage.sum() == pytest.approx(s - 1)
        score = first - (first + second) * chance + phi * leverage * (0.5 - chance)
        assert np.abs(design.T @ score).max() < 1e-7


@pytest.mark.parametrize("phi", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_is_the_maximum_of_the_penalised_likelihood(seed: int, phi: float) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 6, (2, 10)).astype(float)
    if seed == 3:
        second[:4] = 0  # the first system never lost
    x, prior = bias_reduced(Likelihood(PairCounts(first[None], second[None], None, 5), 1e-12), dispersion=phi)
    np.testing.assert_allclose(x[0], reference(first, second, 5, phi), atol=2e-5)
    # The leverages of all pairs sum to the number of parameters.
    assert 2 * prior.added.sum() / phi == pytest.approx(4)
    assert prior.shape.sum() == pytest.approx(2)


@given(st.integers(0, 40), st.integers(1, 40))
@settings(max_examples=30)
def test_two_systems_have_the_log_odds_with_half_a_battle_more_for_each(wins: int, losses: int) -> None:
    x, _ = bias_reduced(Likelihood(PairCounts(np.array([[wins]]), np.array([[losses]]), None, 2), 1e-12))
    assert x[0, 0] - x[0, 1] == pytest.approx(np.log((wins + 0.5) / (losses + 0.5)), abs=1e-6)


@pytest.mark.parametrize("wins", [0, 1, 7, 30])
def test_the_draws_of_independent_battles_of_two_systems_are_the_posterior(wins: int) -> None:
    """One battle a query: the draws of P(first wins) are Beta(wins + 1/2, losses + 1/2) (Brown, Cai, DasGupta)."""
    n = 30
    counts = np.zeros((n, 2, 2))
    counts[:wins, 0, 1] = 1
    counts[wins:, 1, 0] = 1
    row = ratings(battles(counts), draws=20_000)
    p = 1 / (1 + np.exp(row.draws[:, 1] - row.draws[:, 0]))
    posterior = beta(wins + 0.5, n - wins + 0.5)
    # Independent battles have the dispersion 1, also where all have the same outcome.
    laid = by_query(battles(counts), ties="half", penalty="jeffreys", ridge=RIDGE)
    scale = laid.prior.dispersion
    assert 1 <= scale < 1.1
    np.testing.assert_allclose(np.quantile(p, [0.05, 0.5, 0.95]), posterior.ppf([0.05, 0.5, 0.95]), atol=0.02)


@pytest.mark.parametrize("tie", [0.9, 0.95, 0.98])
def test_ties_do_not_thin_out_the_prior_pitfall_125(tie: float) -> None:
    layout = by_query(simulate(125, queries=50, tie=tie), ties="half", penalty="jeffreys", ridge=RIDGE)
    assert layout.prior.dispersion >= 1


def lose_all(battles: Battles, system: int) -> Battles:
    wins, ties = battles.wins.copy(), battles.ties.copy()
    wins[:, system, :], ties[:, system, :], ties[:, :, system] = 0, 0, 0
    wins[:, :, system] = 1
    wins[:, system, system] = 0
    return replace(battles, wins=wins, ties=ties)


def test_a_system_that_loses_all_moves_nobody_else_and_its_own_end_is_open() -> None:
    battles = simulate(3)
    with_it = lose_all(battles, 6)
    row = ratings(with_it, draws=400)
    rest = ratings(with_it.subset([s for s in battles.systems if s != "s06"]), draws=400)
    others = [k for k in range(8) if k != 6]
    gap, gap_without = (ranking.theta - ranking.theta[0] for ranking in (row, rest))
    np.testing.assert_allclose(gap[others], gap_without, atol=0.01)
    low, high = row.interval()
    assert low[6] == -np.inf
    assert np.isfinite(high[6])
    assert np.isfinite(low[others]).all()
    assert np.isfinite(high[others]).all()
    assert -9 < row.theta[6] < -4
    # A difference between others does not know of it; a difference to it is open on the side that it is.
    value, low, high = row.differences("s00")
    np.testing.assert_allclose((high - low)[1], np.ptp(rest.differences("s00")[1:, 1]), rtol=0.15)
    assert low[6] == -np.inf
    value, low, high = row.differences("s06")
    assert np.isposinf(np.delete(high, 6)).all()
    assert (value[6], low[6], high[6]) == (0, 0, 0)
    table = rate({"en": with_it}, draws=50).table().to_pylist()
    assert [(r["low"] is None, r["bounded"]) for r in table if r["system"] == "s06"] == [(True, False)]


def own_ids(battles: Battles, language: int) -> Battles:
    """The battles on queries that no other language has."""
    return replace(battles, queries=tuple(f"{language}-{query}" for query in battles.queries))


def test_one_lucky_language_does_not_move_the_joint_row() -> None:
    """The sixth-best of 8 wins every battle of one of 18 languages: no rank moves that the interval does not hold."""
    by_language = {f"l{k:02}": own_ids(simulate(460 + k, queries=20, tie=0.1, spread=0), k) for k in range(18)}
    plain = rate(by_language, draws=200)
    before = plain.languages["all"]
    battles = by_language["l07"]
    wins, ties = battles.wins.copy(), battles.ties.copy()
    wins[:, 5, :], wins[:, :, 5], ties[:, 5, :], ties[:, :, 5] = 1, 0, 0, 0
    wins[:, 5, 5] = 0
    ranking = rate(by_language | {"l07": replace(battles, wins=wins, ties=ties)}, draws=200)
    after = ranking.languages["all"]
    ranked = ranking.tests["all"]
    low, high = ranked.rank_ranges[:, [ranked.systems.index(system) for system in after.systems]]
    assert (low <= before.ranks()).all()
    assert (before.ranks() <= high).all()
    # The others move together, by an eighth of what the mean of all moves by.
    moved = np.delete(after.theta - before.theta, 5)
    assert (np.abs(moved) < 0.1).all()
    assert np.ptp(moved) < 0.02
    assert (np.abs(after.ranks() - before.ranks()) <= 2).all()
    # Nothing bounds its mean from above, and nobody else's is open.
    assert np.isfinite(after.interval()[0, 5])
    assert after.unbounded == {"s05": "above"}
    assert np.isposinf(after.interval()[1, 5])
    assert np.isfinite(np.delete(after.interval(), 5, axis=1)).all()
    assert low[5] == 1
    # The open one hides no test of the others.
    tests, rest = ranking.tests["all"], [system for system in before.systems if system != "s05"]
    separated = [tests.are_separated(a, b) for a in rest for b in rest if a < b]
    separated_before = [plain.tests["all"].are_separated(a, b) for a in rest for b in rest if a < b]
    assert sum(separated) >= sum(separated_before)


@pytest.mark.parametrize(
    ("design", "arenas"), [("few-queries", 100), ("far", 100), ("ten-battles", 80), ("star", 50), ("query-effects", 80)]
)
def test_intervals_hold_the_truth_in_95_percent_of_arenas(design: str, arenas: int) -> None:
    """Designs of `python -m benchmarks coverage`, fewer arenas: 95% and 3 times the simulation's error, the S systems
    of an arena taken as half as many independent ones.
    """
    inside = [coverage.DESIGNS[design].run(np.random.default_rng([7, k])) for k in range(arenas)]
    error = np.sqrt(0.05 * 0.95 / (np.size(inside) / 2))
    assert abs(np.mean(inside) - 0.95) < 0.015 + 3 * error


def test_soft_verdicts_count_by_their_points() -> None:
    """A judge that gives 0.8 of every battle to the better is rated as 4 wins of 5, hard verdicts as ever."""
    rows = [
        {"language": "en", "query_id": f"q{q}", "judge": "j", "system_a": "a", "system_b": "b", "verdict": "A"}
        for q in range(40)
    ]
    hard = pa.Table.from_pylist(rows)
    soft = hard.append_column("points", pa.array([0.8] * 40))
    mixed = hard.append_column("points", pa.array([0.8, None] * 20))
    (soft_battles,) = from_judgments(soft, judge="j").values()
    theta = maximum(soft_battles).theta
    assert theta[0] - theta[1] == pytest.approx(np.log(4), abs=1e-4)
    assert ratings(soft_battles).unbounded == {}
    (mixed_battles,) = from_judgments(mixed, judge="j").values()
    assert mixed_battles.points.sum(axis=0)[0, 1] == pytest.approx(0.8 * 20 + 20)
    (plain,) = from_judgments(hard, judge="j").values()
    assert plain.points is None
    assert ratings(plain).unbounded == {"a": "above", "b": "below"}
    assert (soft_battles.record() == plain.record()).all()
    pooled = pool_battles([soft_battles, plain], judge="pooled")
    assert pooled.points[:, 0, 1] == pytest.approx(1.8)
