"""The choice of a system: arenas with a known optimum, what it costs, what must hold, other weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from priced_arena import RIGHT, write

import mirage
from mirage import schema, store
from mirage.battles.counts import RELEVANCE
from mirage.battles.referee import Referee
from mirage.errors import BadInput, NotEnoughData, TableMissing, UnknownName
from mirage.explorer.compare.data import ranking_by
from mirage.ranking.compare.measures import QueryMeasure, QueryValue
from mirage.ranking.decide import Requirements, choose_systems
from mirage.ranking.decide.contest import Contest
from mirage.ranking.decide.worth import draw_contests, measure_influence
from mirage.ranking.settings import DecideSettings

SIMULATED = 400
"""Arenas of a simulation: a share of 5% then has a standard error of 1.1 points."""
DRAWN = 1000


def contest_of(rng: np.random.Generator, truth: np.ndarray, n: int) -> Contest:
    """Systems on n queries whose difficulties they share."""
    values = truth + rng.gamma(2.0, 0.5, (n, 1)) + rng.standard_t(5, (n, len(truth)))
    systems = tuple(f"s{k}" for k in range(len(truth)))
    given_of = {
        system: {("en", f"q{q:03}"): QueryValue(value, "") for q, value in enumerate(values[:, k].tolist())}
        for k, system in enumerate(systems)
    }
    part = measure_influence(given_of, QueryMeasure("made up", "", "", 1, None), "en")
    assert part is not None
    return draw_contests({"made up": part}, n_draws=DRAWN, seed=int(rng.integers(2**31)))["made up"]


@pytest.mark.parametrize("truth", [[0.0] * 6, [0.3, 0.3, 0.2, 0.0, -0.5], [1.0, 0.0]], ids=["equal", "close", "far"])
def test_the_truly_best_is_among_the_contenders(truth: list[float]) -> None:
    rng = np.random.default_rng(31)
    held = [contest_of(rng, np.array(truth), 80).contenders()[0] for _ in range(SIMULATED)]
    assert np.mean(held) >= 0.95 - 3 * 0.011


@pytest.mark.parametrize("languages", [None, ("en",), ("ar", "sw")])
def test_ratings_that_are_known_already_give_the_same_choice(languages: tuple[str, ...] | None) -> None:
    arena = store.open_arena(store.bundled_arenas()["sample"])
    known = ranking_by(arena, Referee.judge("heuristic"), languages or ())
    settings = DecideSettings(judge="heuristic", languages=languages)
    again, report = choose_systems(arena, settings), choose_systems(arena, settings, ranking=known)
    assert (report.rows, report.options, report.referee) == (again.rows, again.options, again.referee)
    with pytest.raises(BadInput):
        choose_systems(arena, DecideSettings(weights={"rate": 1.0}), ranking=known)


def test_regrets_hold_what_is_truly_lost() -> None:
    rng = np.random.default_rng(32)
    truth = np.array([0.3, 0.2, 0.2, 0.0])
    held = []
    for _ in range(SIMULATED):
        _, low, high = contest_of(rng, truth, 80).regrets()
        held.append((low[2] <= 0.1 + 1e-12) and (high[2] >= 0.1))
    assert np.mean(held) >= 0.95 - 3 * 0.011


def test_the_choice_is_right_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(33)
    told, right = [], []
    for _ in range(SIMULATED):
        truth = rng.normal(0, 0.4, 5)
        contest = contest_of(rng, truth, 60)
        told.append(contest.p_right()[contest.best])
        right.append(contest.best == int(np.argmax(truth)))
    assert abs(np.mean(told) - np.mean(right)) < 0.06


def test_pitfall_126_chances_are_calibrated_in_each_tenth_for_any_spread() -> None:
    """Read as they are, draws say 0.9 where 0.68 is right. Errors of the estimates are correlated and unequal here."""
    rng = np.random.default_rng(126)
    chances_given, right = [], []
    for k in range(4 * SIMULATED):
        truth = rng.normal(0, (0.03, 0.1, 0.3, 1.0)[k % 4], 3 + k % 6)
        mixing = 0.15 * np.diag(rng.uniform(0.7, 1.4, len(truth))) + 0.1
        draws = rng.standard_normal((400, len(truth))) @ mixing.T
        worth = truth + mixing @ rng.standard_normal(len(truth))
        contest = Contest(tuple(map(str, range(len(truth)))), worth, worth + draws, 60)
        chance = contest.p_right()
        chances_given.append(chance[contest.best])
        right.append(contest.best == int(np.argmax(truth)))
    tenth = np.minimum((np.array(chances_given) * 10).astype(int), 9)
    for k in range(10):
        inside = tenth == k
        if inside.sum() >= 80:
            noise = 0.5 / np.sqrt(inside.sum())
            assert abs(np.mean(np.array(chances_given)[inside]) - np.mean(np.array(right)[inside])) <= 0.05 + 2 * noise


@pytest.mark.parametrize(("n_ahead", "excluded"), [(4, False), (12, True)])
def test_a_few_differing_queries_exclude_no_system(n_ahead: int, excluded: bool) -> None:
    """Of 180 queries the first system is right on a few more, and is never behind: draws alone would be certain."""
    right = np.ones((180, 5))
    right[:n_ahead, 1:] = 0.0
    given_of = {
        f"s{k}": {("en", f"q{q:03}"): QueryValue(value, "") for q, value in enumerate(right[:, k].tolist())}
        for k in range(5)
    }
    part = measure_influence(given_of, QueryMeasure("made up", "", "", 1, None), "en")
    assert part is not None
    contest = draw_contests({"made up": part}, n_draws=DRAWN, seed=1)["made up"]
    assert contest.contenders().tolist() == [True] + [not excluded] * 4
    assert contest.p_right()[0] <= 1 - 0.5 ** (n_ahead + 1)


def test_systems_of_equal_worth_that_rarely_differ_are_all_kept() -> None:
    rng = np.random.default_rng(36)
    held = []
    for _ in range(SIMULATED):
        right = (rng.random((100, 3)) >= 0.03).astype(float)
        given_of = {
            f"s{k}": {("en", f"q{q:03}"): QueryValue(value, "") for q, value in enumerate(right[:, k].tolist())}
            for k in range(3)
        }
        part = measure_influence(given_of, QueryMeasure("made up", "", "", 1, None), "en")
        assert part is not None
        contest = draw_contests({"made up": part}, n_draws=DRAWN, seed=int(rng.integers(2**31)))["made up"]
        held.append(contest.contenders()[0])
    assert np.mean(held) >= 0.95 - 3 * 0.011


def test_a_far_worse_system_is_told_apart() -> None:
    rng = np.random.default_rng(34)
    able = [contest_of(rng, np.array([1.0, 0.0]), 80).contenders()[1] for _ in range(100)]
    assert np.mean(able) < 0.05
    assert contest_of(rng, np.array([1.0, 0.0]), 80).contenders(margin=2.0).all()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8, unique_by=lambda s: s[0]))
def test_nobody_on_the_front_is_beaten_at_its_price(systems: list[tuple[int, int]]) -> None:
    worth, price = (np.array(column, dtype=float) for column in zip(*systems, strict=True))
    contest = Contest(tuple(map(str, range(len(worth)))), worth, worth[None].repeat(3, axis=0), 10)
    on_front, shares = contest.on_front(price[:, None])
    for k in range(len(worth)):
        beaten = ((price <= price[k]) & (worth > worth[k])).any()
        assert on_front[k] == (not beaten)
        assert shares[k] == on_front[k]


# Arenas


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    return write(tmp_path_factory.mktemp("deciding") / "arena", {"en": RIGHT, "sw": RIGHT})


TOKENS = {"tokens_in": 1000.0, "tokens_out": 100.0}


@pytest.mark.parametrize("weights", [None, {"rate": 1.0}, {"rating": 1.0, "rate": 2.0}], ids=["rating", "rate", "both"])
def test_the_known_optimum_is_chosen(arena: store.Arena, weights: dict[str, float] | None) -> None:
    report = choose_systems(arena, DecideSettings(weights=weights, **TOKENS))
    assert [row.language for row in report.rows] == ["en", "sw", "all"]
    assert {row.choice for row in report.rows} == {"cheap"}
    assert set(report.overall.contenders) == {"dear", "cheap"}
    assert report.overall.reason is None
    options = {option.facts.system: option for option in report.options}
    assert options["cheap"].facts.price == pytest.approx(1.2)
    assert options["unpriced"].facts.price is None
    assert options["unpriced"].facts.price_reason
    assert (options["cheap"].on_front, options["poor"].on_front, options["unpriced"].on_front) == (True, True, None)
    assert sum(option.p_best or 0 for option in report.options) == pytest.approx(1, abs=0.02)
    assert report.overall.p_right == pytest.approx(options["cheap"].p_best)


def test_the_worth_of_a_rate_is_the_rate(arena: store.Arena) -> None:
    report = choose_systems(arena, DecideSettings(weights={"rate": 3.0}, languages=("en",)))
    wrong = {row["system"]: [] for row in mirage.rates(arena)}  # type: ignore[var-annotated]
    for row in mirage.rates(arena, languages=["en"]):
        if row["language"] == "en" and row["subset"] in ("relevant", "non_relevant"):
            wrong[row["system"]].append(row["rate"])
    for option in report.options:
        assert option.worth == pytest.approx(1 - np.mean(wrong[option.facts.system]))
    assert report.scales == {"rate": 1.0}


def test_one_for_all_loses_where_another_is_best(tmp_path: Path) -> None:
    right = {"en": {"x": 0.9, "y": 0.5}, "sw": {"x": 0.6, "y": 0.7}}
    arena = write(tmp_path / "arena", right, 400, cards=False)
    report = choose_systems(arena, DecideSettings(weights={"rate": 1.0}))
    english, swahili, overall = report.rows
    assert (english.choice, swahili.choice, overall.choice) == ("x", "y", "x")
    assert (english.one_regret, overall.one_regret) == (0.0, 0.0)
    assert swahili.one_regret == pytest.approx(0.1, abs=0.06)
    assert swahili.one_low is not None
    assert swahili.one_high is not None
    assert swahili.one_low <= swahili.one_regret <= swahili.one_high
    assert report.one_worst is swahili
    assert report.one_regret == pytest.approx(swahili.one_regret / 2)
    assert overall.reason is not None


@pytest.mark.parametrize(
    ("wanted", "choice", "refused"),
    [
        (Requirements(budget=1.0), "poor", {"dear", "cheap", "unpriced"}),
        (Requirements(budget=5.0), "cheap", {"dear", "unpriced"}),
        (Requirements(open_weights=True), "cheap", {"dear", "unpriced"}),
        (Requirements(licences=("proprietary",)), "dear", {"cheap", "poor", "unpriced"}),
        (Requirements(seconds=1.0), None, {"dear", "cheap", "poor", "unpriced"}),
        (Requirements(context_length=9000), None, {"dear", "cheap", "poor", "unpriced"}),
    ],
)
def test_what_must_hold_leaves_the_others_out_with_a_reason(
    arena: store.Arena, wanted: Requirements, choice: str | None, refused: set[str]
) -> None:
    report = choose_systems(arena, DecideSettings(requirements=wanted, **TOKENS))
    assert report.overall.choice == choice
    assert {option.facts.system for option in report.options if option.refused} == refused
    assert (report.overall.reason is None) == (choice is not None)


def test_other_weights_choose_otherwise(tmp_path: Path) -> None:
    rng = np.random.default_rng(41)
    rows = [
        schema.Feature("en", f"q{k}", system, feature, float(value + rng.normal(0, 0.02)), None)
        for system, values in (("x", (0.9, 0.1)), ("y", (0.2, 0.8)))
        for feature, value in zip(("answer_bleu", "answer_rougeL"), values, strict=True)
        for k in range(30)
    ]
    arena = store.write(tmp_path / "arena", {"features": schema.from_rows(schema.Feature, rows)}, made_by="a test")
    names = ["feature:answer_bleu", "feature:answer_rougeL"]
    report = choose_systems(arena, DecideSettings(weights=dict.fromkeys(names, 1.0)))
    choices = {(row.measure, row.weight): row.choice for row in report.by_weight}
    assert (choices[names[0], 0.0], choices[names[0], 1.0]) == ("y", "x")
    assert (choices[names[1], 0.0], choices[names[1], 1.0]) == ("x", "y")
    assert report.scales[names[0]] == pytest.approx(0.7, abs=0.03)
    assert report.weights == dict.fromkeys(names, 0.5)


def test_tokens_and_seconds_come_from_the_ledger(tmp_path: Path) -> None:
    keys = {(system, k): f"{system}{k}" for system in ("cheap", "poor") for k in range(3)}
    answers = [
        schema.Answer("en", f"q{k}", system, "An answer.", "ok", None, None, call) for (system, k), call in keys.items()
    ]
    write(tmp_path / "arena", {"en": {"cheap": 0.8, "poor": 0.4}}, 20)
    folder = tmp_path / "arena"
    tables = {name: store.open_arena(folder).read(name) for name in ("outcomes", "systems")}
    arena = store.write(
        tmp_path / "whole", tables | {"answers": schema.from_rows(schema.Answer, answers)}, made_by="a test"
    )
    with store.Ledger(store.ledger_path(arena.path)) as ledger:
        for (_, k), call in keys.items():
            kept = {"text": "An answer.", "tokens_in": 100 * (k + 1), "tokens_out": 10}
            ledger.put(call, {"model": call}, kept | ({"seconds": float(k)} if k else {}))
    (facts,) = [o.facts for o in choose_systems(arena).options if o.facts.system == "cheap"]
    assert (facts.n_calls, facts.tokens_in, facts.tokens_out, facts.seconds) == (3, 200, 10, 1.5)
    assert facts.price == pytest.approx(0.22)


def test_the_same_seed_gives_the_same_and_the_interface_what_the_command_prints(arena: store.Arena) -> None:
    weights = {"rating": 1.0, "rate": 1.0}
    report = mirage.decide(arena, weights=weights, budget=5, **TOKENS)
    assert (
        report.rows
        == choose_systems(arena, DecideSettings(weights=weights, requirements=Requirements(5), **TOKENS)).rows
    )
    assert "cheap" in repr(report)
    assert report.to_pandas()["choice"].tolist() == ["cheap"] * 3
    assert report.systems()["system"].tolist() == [option.facts.system for option in report.options]
    words = [
        "decide",
        str(arena.path),
        "--weight",
        "rating=1",
        "--weight",
        "rate=1",
        "--budget",
        "5",
        "--format",
        "json",
    ]
    done = commands.mirage(*words, "--tokens-in", "1000", "--tokens-out", "100")
    printed: list[dict[str, Any]] = json.loads(done.stdout)
    assert [row["p_right"] for row in printed] == [row.p_right for row in report.rows]
    assert printed[-1]["contenders"] == list(report.overall.contenders)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"weights": {"rating": 0.0}}, BadInput),
        ({"weights": {}}, BadInput),
        ({"weights": {"beauty": 1.0}}, UnknownName),
        ({"weights": {"rate": 1.0}, "judge": RELEVANCE}, BadInput),
        ({"weights": {"nuggets": 1.0}}, TableMissing),
        ({"judge": "nobody"}, UnknownName),
        ({"margin": -1.0}, BadInput),
        ({"languages": ("xx",)}, UnknownName),
    ],
)
def test_what_makes_no_sense_is_refused(arena: store.Arena, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        choose_systems(arena, DecideSettings(**options))


def test_requirements_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadInput):
        Requirements(budget=-1)


def test_systems_without_a_common_measure_are_no_choice(tmp_path: Path) -> None:
    rows = [schema.Feature("en", f"q{k}", f, f, 1.0, None) for f in ("answer_bleu", "answer_rougeL") for k in range(5)]
    arena = store.write(tmp_path / "arena", {"features": schema.from_rows(schema.Feature, rows)}, made_by="a test")
    with pytest.raises(NotEnoughData):
        choose_systems(arena, DecideSettings(weights={"feature:answer_bleu": 1, "feature:answer_rougeL": 1}))
