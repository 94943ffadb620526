"""Rankings at equal style: covariates are held equal, and what is not known is counted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rank_cases import battles, judged, ratings
from scipy.optimize import minimize

from mirage import schema
from mirage.battles import verdict_rows
from mirage.battles.counts import Battles
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.board import rank_verdicts
from mirage.ranking.control import Covariates, control_style, covariates
from mirage.ranking.resample import query_weights
from mirage.ranking.settings import RankSettings


def talkative(seed: int, *, systems: int = 8, queries: int = 60, bias: float = 0.7) -> tuple[Battles, Covariates]:
    """Systems from good to bad, the worse the longer its answers; a judge that gives `bias` logits a doubling."""
    rng = np.random.default_rng(seed)
    theta, own = np.linspace(0.9, -0.9, systems), np.linspace(-1.2, 1.2, systems)
    strengths = theta + rng.normal(0, 0.5, (queries, systems))
    length = 8 + own + rng.normal(0, 0.7, (queries, systems))
    i, j = np.triu_indices(systems, 1)
    p = 1 / (1 + np.exp(strengths[:, j] - strengths[:, i] - bias * (length[:, i] - length[:, j])))
    tied = rng.random(p.shape) < 0.1
    first = (rng.random(p.shape) < p) & ~tied
    wins = np.zeros((queries, systems, systems), np.uint8)
    ties = np.zeros_like(wins)
    wins[:, i, j], wins[:, j, i] = first, ~first & ~tied
    ties[:, i, j] = ties[:, j, i] = tied
    tally = battles(wins, ties)
    return tally, Covariates(("length",), tally.systems, tally.queries, length[:, :, None])


def test_length_control_recovers_the_order_that_a_judge_of_long_answers_turns() -> None:
    """Truth from 20,000 queries (seed 0); 120 arenas with seeds 2000 to 2119."""
    tally, known = talkative(0, queries=20_000)
    large = control_style({"en": tally}, {"en": known}, draws=2)
    truth, worth = large.ranking.languages["en"].theta, large.coefficients["en"][0].value
    assert worth is not None
    assert large.ranking.languages["en"].ranks().tolist() == [*range(1, 9)]
    assert np.abs(ratings(tally, draws=2).theta).max() < 0.1, "without control the systems look equal"
    inside, uncontrolled, coefficient = [], [], []
    for seed in range(2000, 2120):
        tally, known = talkative(seed)
        result = control_style({"en": tally}, {"en": known})
        for hits, row in ((inside, result.ranking.languages["en"]), (uncontrolled, ratings(tally, draws=1000))):
            low, high = row.interval()
            hits.append((low <= truth) & (truth <= high))
        (length,) = result.coefficients["en"]
        coefficient.append(length.low <= worth <= length.high)
    assert 0.92 < np.mean(inside) < 0.98
    assert 0.90 < np.mean(coefficient) <= 1
    assert np.mean(uncontrolled) < 0.5


def firth(won: Any, lost: Any, design: Any, dispersion: float) -> NDArray[np.float64]:
    """The maximum of log-likelihood + dispersion / 2 * log det(information), by a general optimiser."""

    def loss(x: Any) -> float:
        d = design @ x
        p = 1 / (1 + np.exp(-d))
        information = (design * ((won + lost) * p * (1 - p))[:, None]).T @ design
        likelihood = -(won * np.logaddexp(0, -d) + lost * np.logaddexp(0, d)).sum()
        return -float(likelihood + dispersion / 2 * np.linalg.slogdet(information)[1])

    return np.asarray(minimize(loss, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-8}).x)


def quasi(won: Any, lost: Any, design: Any, query: Any) -> float:
    """The dispersion of the queries: tr(H^-1 J) over the number of parameters, at the estimate with dispersion 1."""
    x = firth(won, lost, design, 1.0)
    p = 1 / (1 + np.exp(-(design @ x)))
    H = (design * ((won + lost) * p * (1 - p))[:, None]).T @ design
    scores = np.array(
        [design[query == q].T @ (won * (1 - p) - lost * p)[query == q] for q in sorted(set(np.asarray(query).tolist()))]
    )
    n = len(scores)
    return float(np.trace(np.linalg.solve(H, n * np.cov(scores.T)))) / design.shape[1]


@pytest.mark.parametrize("kind", ["two covariates", "a system never wins", "the covariate decides all", "soft"])
def test_control_finds_the_maximum_that_a_general_optimiser_finds(kind: str) -> None:
    tally, known = talkative(4, systems=5, queries=25)
    i, j = np.triu_indices(5, 1)
    values = known.values
    rng = np.random.default_rng(2)
    if kind == "two covariates":
        values = np.concatenate([values, values / 2 + rng.normal(size=values.shape)], axis=2)
    if kind == "a system never wins":
        wins = tally.wins.copy()
        wins[:, :, 2] += wins[:, 2] + tally.ties[:, 2]
        wins[:, 2] = 0
        ties = tally.ties.copy()
        ties[:, 2] = ties[:, :, 2] = 0
        tally = replace(tally, wins=wins, ties=ties)
    if kind == "the covariate decides all":
        wins = np.zeros_like(tally.wins)
        longer = values[:, i, 0] > values[:, j, 0]
        wins[:, i, j], wins[:, j, i] = longer, ~longer
        tally = replace(tally, wins=wins, ties=np.zeros_like(wins))
    if kind == "soft":
        points = np.zeros(tally.wins.shape, np.float32)
        points[:, i, j] = rng.beta(2, 2, (25, 10))
        points[:, j, i] = 1 - points[:, i, j]
        tally = replace(tally, points=points)
    names = ("length", "citations")[: values.shape[2]]
    result = control_style({"en": tally}, {"en": Covariates(names, tally.systems, tally.queries, values)}, draws=2)

    query = np.repeat(np.arange(25), 10)
    points = tally.points if tally.points is not None else tally.wins + tally.ties / 2
    won, lost = (points[:, a, b].ravel().astype(float) for a, b in ((i, j), (j, i)))
    systems = np.zeros((10, 5))
    systems[range(10), i], systems[range(10), j] = 1, -1
    z = (values[:, i] - values[:, j]).reshape(250, -1)
    # Without the first system's column, which the others determine.
    scale = z.std(axis=0)
    design = np.hstack([np.tile(systems, (25, 1))[:, 1:], z / scale])
    best = firth(won, lost, design, float(np.clip(quasi(won, lost, design, query), 1, 20)))
    theta = np.array([0, *best[:4]])
    # Where nothing but the prior bounds the coefficient, the maximum is flat.
    near = {"rtol": 5e-3, "atol": 5e-3} if kind == "the covariate decides all" else {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(result.ranking.languages["en"].theta, theta - theta.mean(), **near)
    if kind == "the covariate decides all":
        (length,) = result.coefficients["en"]
        assert length.value is None
        assert "predicts every battle" in str(length.reason)
    else:
        np.testing.assert_allclose([c.value for c in result.coefficients["en"]], best[4:] / scale, **near)


def test_a_battle_whose_covariate_is_missing_is_left_out_and_counted_pitfall_19() -> None:
    tally, known = talkative(5, queries=20)
    values = known.values.copy()
    values[3, 2] = np.nan
    result = control_style({"en": tally}, {"en": replace(known, values=values)}, draws=2)
    assert result.n_missing == {"en": 7}
    assert result.n_battles == {"en": 20 * 28 - 7}
    wins = tally.wins.copy()
    wins[3, 2] = wins[3, :, 2] = 0
    ties = tally.ties.copy()
    ties[3, 2] = ties[3, :, 2] = 0
    whole = control_style({"en": replace(tally, wins=wins, ties=ties)}, {"en": known}, draws=2)
    np.testing.assert_allclose(result.ranking.languages["en"].theta, whole.ranking.languages["en"].theta, atol=1e-9)


def test_a_covariate_confounded_with_systems_has_no_coefficient_and_says_why() -> None:
    tally, known = talkative(6)
    for values in (np.zeros((60, 8, 1)), np.repeat(np.arange(8.0)[None, :, None], 60, axis=0)):
        result = control_style({"en": tally}, {"en": replace(known, values=values)}, draws=2)
        (length,) = result.coefficients["en"]
        assert length.value is None
        assert length.low is None
        assert "does not vary" in length.reason
        np.testing.assert_allclose(result.ranking.languages["en"].theta, ratings(tally, draws=2).theta, atol=1e-4)


def test_covariates_are_read_by_name_and_length_by_its_logarithm() -> None:
    data = {
        "language": ["en"] * 4,
        "query_id": ["q"] * 4,
        "system": ["x", "x", "y", "y"],
        "feature": ["length", "target_language", "length", "target_language"],
        "value": [1023.0, 0.9, 0.0, None],
        "reason": [None, None, None, "no letters"],
    }
    table = schema.from_columns("features", data)
    known = covariates(table, ("length", "language"))["en"]
    assert known.values[0, 0].tolist() == [10.0, 0.9]
    assert known.values[0, 1, 0] == 0.0
    assert np.isnan(known.values[0, 1, 1])
    with pytest.raises(UnknownName, match="length"):
        covariates(table, ("lenght",))
    with pytest.raises(NotEnoughData, match="n_citations") as refused:
        covariates(table, ("citations",))
    assert "mirage measure features" in str(refused.value)


def test_style_is_not_controlled_where_that_means_nothing() -> None:
    tally, known = talkative(8, queries=10)
    with pytest.raises(BadInput, match="davidson"):
        control_style({"en": tally}, {"en": known}, ties="davidson")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="ignore style"):
        control_style({"en": replace(tally, skill="abstain")}, {"en": known})
    with pytest.raises(BadInput, match="covariates to hold equal"):
        rank_verdicts(
            {"j": verdict_rows.verdicts(judged(("en", "q", "j", "x", "y", "A")), judge="j")},
            RankSettings(control=("length",)),
        )


def test_a_ranking_at_equal_style_keeps_the_contract_and_its_ranks_are_tested() -> None:
    tally, known = talkative(9, queries=20)
    own = {"en": tally, "sw": replace(tally, queries=tuple(f"sw-{query}" for query in tally.queries))}
    result = control_style(own, {"en": known, "sw": replace(known, queries=own["sw"].queries)}, draws=20)
    table = result.ranking.table()
    schema.validate("ratings", table)
    tests = result.ranking.tests["en"]
    for row in table.to_pylist()[: len(tests.systems)]:
        assert (row["rank_low"], row["rank_high"]) == tests.rank_range(row["system"])
    assert [c.language for c in result.coefficients["all"]] == ["all"]
    assert result.coefficients["all"][0].value == pytest.approx(result.coefficients["en"][0].value)
    again = control_style({"en": tally}, {"en": known}, draws=20).ranking.languages["en"]
    assert again.draws.tobytes() == result.ranking.languages["en"].draws.tobytes()


def uneven(seed: int, *, systems: int, queries: int, spread: float, worth: float) -> tuple[Battles, Covariates]:
    """Strengths from `spread` to -`spread`, answers of every length by every system, and a judge that gives `worth`
    logits a doubling: nothing else moves the battles, so that these are the truth.
    """
    rng = np.random.default_rng(seed)
    theta = np.linspace(spread, -spread, systems)
    length = 8 + rng.normal(0, 0.5, systems) + rng.normal(0, 0.8, (queries, systems))
    i, j = np.triu_indices(systems, 1)
    d = theta[i] - theta[j] + worth * (length[:, i] - length[:, j])
    first = rng.random(d.shape) < 1 / (1 + np.exp(-d))
    wins = np.zeros((queries, systems, systems), np.uint8)
    wins[:, i, j], wins[:, j, i] = first, ~first
    tally = battles(wins)
    return tally, Covariates(("length",), tally.systems, tally.queries, length[:, :, None])


def test_the_joint_row_at_equal_style_covers_with_few_queries_and_systems_far_apart() -> None:
    """18 languages of 8 systems and 10 queries; 12 arenas, each with seeds of its own from 10,000 on."""
    truth, inside, coefficient, away = np.linspace(3, -3, 8), [], [], []
    for seed in range(10_000, 10_012):
        languages = {f"l{k:02}": uneven(100 * seed + k, systems=8, queries=10, spread=3, worth=0.4) for k in range(18)}
        result = control_style(
            {c: tally for c, (tally, _) in languages.items()},
            {c: known for c, (_, known) in languages.items()},
            draws=200,
        )
        joint = result.ranking.languages["all"]
        low, high = joint.interval()
        inside.append((low <= truth) & (truth <= high))
        away.append(joint.theta - truth)
        (length,) = result.coefficients["all"]
        coefficient.append(length.low <= 0.4 <= length.high)
    # 95% of 96 is off by 2.2 points or a little more. Maximum likelihood with linear draws covers 68% of these.
    assert np.mean(inside) > 0.88
    assert np.mean(coefficient) > 0.8
    error = np.std(away, axis=0, ddof=1) / np.sqrt(12)
    assert (np.abs(np.mean(away, axis=0)) < 4 * error + 0.03).all(), "no rating is off for good"


def test_draws_at_a_few_points_of_style_are_those_at_every_battle(monkeypatch: pytest.MonkeyPatch) -> None:
    from mirage.ranking import cells

    tally, known = uneven(3, systems=8, queries=60, spread=2, worth=0.6)
    few = control_style({"en": tally}, {"en": known}, draws=300)
    monkeypatch.setattr(cells, "_FEW", 10**6)
    every = control_style({"en": tally}, {"en": known}, draws=300)
    a, b = few.ranking.languages["en"], every.ranking.languages["en"]
    np.testing.assert_array_equal(a.theta, b.theta)
    off = np.sqrt(((a.draws - b.draws) ** 2).mean(axis=0))
    assert (off < 0.03 * b.draws.std(axis=0)).all()
    np.testing.assert_allclose(a.interval(), b.interval(), atol=0.02 * np.ptp(b.interval(), axis=0).max())


def test_a_draw_is_the_maximum_for_its_weights() -> None:
    """Maximum likelihood with the drawn weights, by a general optimiser. So many queries leave the prior no say."""
    tally, known = uneven(5, systems=4, queries=3000, spread=2, worth=0.5)
    result = control_style({"en": tally}, {"en": known}, draws=6)
    weights = query_weights("en", tally, draws=6)
    i, j = np.triu_indices(4, 1)
    query, pair = (index.ravel() for index in np.indices((3000, 6)))
    won, lost = tally.wins[:, i, j].ravel().astype(float), tally.wins[:, j, i].ravel().astype(float)
    systems = np.zeros((6, 4))
    systems[range(6), i], systems[range(6), j] = 1, -1
    design = np.column_stack([systems[pair][:, 1:], (known.values[:, i, 0] - known.values[:, j, 0]).ravel()])
    low, high = [], []
    for b in range(6):
        weight = weights[b][query]

        def loss(y: Any, weight: Any = weight) -> float:
            d = design @ y
            return float((weight * (won * np.logaddexp(0, -d) + lost * np.logaddexp(0, d))).sum()) / 3000

        best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x
        theta = np.array([0, *best[:3]])
        low.append(theta - theta.mean())
        high.append(result.ranking.languages["en"].draws[b])
    off, sd = np.abs(np.subtract(low, high)).max(), np.std(high, axis=0).min()
    assert off < 0.25 * sd


def test_parts_that_never_met_and_a_single_query_are_rated() -> None:
    tally, known = uneven(7, systems=6, queries=30, spread=1, worth=0.5)
    wins = tally.wins.copy()
    wins[:, :3, 3:] = wins[:, 3:, :3] = 0
    apart = control_style({"en": replace(tally, wins=wins)}, {"en": known}, draws=50).ranking.languages["en"]
    assert len(apart.groups) == 2
    assert np.isfinite(apart.draws).all()
    assert np.abs(apart.draws).max() < 20
    alone, known = uneven(8, systems=4, queries=1, spread=1, worth=0.5)
    result = control_style({"en": alone}, {"en": known}, draws=50)
    assert np.isfinite(result.ranking.languages["en"].draws).all()
