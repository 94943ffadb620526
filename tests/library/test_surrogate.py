"""The surrogate judge: what it may see, what it predicts, how sure it is, and what it refuses to say."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import r2_score

from benchmarks.simulated import SimulatedArena, simulate_arena
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.judges import VerdictJudge
from mirage.ranking.surrogate import evaluate
from mirage.ranking.surrogate.data import Training, fit_parts
from mirage.ranking.surrogate.evaluate import compare_regressors, leave_one_out
from mirage.ranking.surrogate.quality import HeldOut, HeldOutLanguage, paired_test, r2, tau_parts
from mirage.ranking.surrogate.range import distances
from mirage.ranking.surrogate.regressors import REGRESSORS, predict
from mirage.ranking.surrogate.training import training

CODES = ["en", "sw", "zh"]
JUDGE = VerdictJudge("judge")
FAST = ("linear", "svr", "ridge", "answers")


@pytest.fixture(scope="module")
def simulation() -> SimulatedArena:
    return simulate_arena(systems=8, queries=40, languages=CODES, seed=11)


@pytest.fixture(scope="module")
def seen(simulation: SimulatedArena) -> Training:
    return join(simulation.tables["features"], simulation.tables["judgments"])


def join(features: pa.Table, judgments: pa.Table) -> Training:
    return training(features, judgments, JUDGE)


def changed(table: pa.Table, column: str, new: list[object]) -> pa.Table:
    index = table.schema.get_field_index(column)
    return table.set_column(index, table.schema.field(index), pa.array(new, table.schema.field(index).type))


def without_value(features: pa.Table, language: str, system: str, feature: str, *, value: float | None) -> pa.Table:
    """One feature of a system in a language set to a value, or to null with a reason."""
    rows = features.to_pylist()
    hit = [(r["language"], r["system"], r["feature"]) == (language, system, feature) for r in rows]
    values = [value if h else r["value"] for r, h in zip(rows, hit, strict=True)]
    reasons = [("lost" if value is None else None) if h else r["reason"] for r, h in zip(rows, hit, strict=True)]
    return changed(changed(features, "value", values), "reason", reasons)


# --- what a fit may see -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAST)
def test_a_systems_own_verdicts_do_not_change_its_prediction(
    simulation: SimulatedArena, seen: Training, name: str
) -> None:
    rows = simulation.tables["judgments"].to_pylist()
    rng = np.random.default_rng(0)
    verdicts = [
        str(rng.choice(["A", "B", "tie"])) if "sim-03" in (r["system_a"], r["system_b"]) else r["verdict"] for r in rows
    ]
    other = join(simulation.tables["features"], changed(simulation.tables["judgments"], "verdict", verdicts))
    first, second = (predict(data, name, out=["sim-03"]) for data in (seen, other))
    for code in CODES:
        index = seen.languages[code].systems.index("sim-03")
        assert (
            abs(seen.languages[code].ratings(frozenset())[index] - other.languages[code].ratings(frozenset())[index])
            > 0.01
        )
        assert first[code][index] == pytest.approx(second[code][index], abs=1e-7)


def test_ratings_without_a_system_are_those_of_a_ranking_of_the_others(
    simulation: SimulatedArena, seen: Training
) -> None:
    rows = [
        r
        for r in simulation.tables["judgments"].to_pylist()
        if not {"sim-01", "sim-02"} & {r["system_a"], r["system_b"]}
    ]
    alone = join(
        simulation.tables["features"], pa.Table.from_pylist(rows, schema=simulation.tables["judgments"].schema)
    )
    for code in CODES:
        whole = seen.languages[code].ratings(frozenset({"sim-01", "sim-02"}))
        np.testing.assert_allclose(whole, alone.languages[code].ratings(frozenset()), atol=1e-6)
        assert np.isnan(whole[:2]).all()
        assert np.nansum(whole) == pytest.approx(0, abs=1e-9)


# --- missing values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAST)
def test_a_missing_feature_is_left_out_and_never_a_zero_pitfall_19(simulation: SimulatedArena, name: str) -> None:
    features = simulation.tables["features"]
    lost = join(without_value(features, "en", "sim-04", "fluency_score", value=None), simulation.tables["judgments"])
    zero = join(without_value(features, "en", "sim-04", "fluency_score", value=0.0), simulation.tables["judgments"])
    assert lost.unused_features() == {"fluency_score": {"en": ("sim-04",)}}
    column = lost.features.index("fluency_score")
    assert np.isnan(lost.languages["en"].means[3, column])
    assert lost.languages["en"].coverage[3, column] == 0
    predicted, wrong = (predict(data, name, out=["sim-04"]) for data in (lost, zero))
    assert np.isfinite(predicted["en"]).all()
    assert abs(predicted["en"][3] - wrong["en"][3]) > 0.01
    # A feature that one system lacks is used for none of that language, and in the other languages as ever.
    (part,) = (p for p in fit_parts(lost, ["sim-04"]) if p.language.code == "en")
    assert part.use.sum() == len(lost.features) - 1
    (part,) = (p for p in fit_parts(lost, ["sim-04"]) if p.language.code == "sw")
    assert part.use.all()


def test_means_are_over_the_queries_with_a_value(seen: Training) -> None:
    language = seen.languages["sw"]
    f = seen.features.index("support_neutral")
    measured = np.isfinite(language.values[:, 2, f])
    assert 0 < measured.mean() < 1
    assert language.means[2, f] == pytest.approx(language.values[measured, 2, f].mean())
    assert language.coverage[2, f] == measured.mean()


# --- predictions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ridge", "answers"])
def test_left_out_systems_are_found_where_they_are(simulation: SimulatedArena, seen: Training, name: str) -> None:
    left_out = leave_one_out(seen, name)
    for code in CODES:
        of = left_out.languages[code]
        truth = np.array([simulation.theta[code][s] for s in of.systems])
        assert kendalltau(of.predicted, truth).statistic > 0.6
    by_language = [q for q in left_out.quality() if q.language != "all"]
    assert np.mean([q.r2 for q in by_language]) > 0.7


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_every_regressor_fits_and_the_same_seed_gives_the_same_numbers_pitfall_39(seen: Training, name: str) -> None:
    few = Training(seen.features, {code: seen.languages[code] for code in ("en", "sw")})
    first, second = (predict(few, name, out=["sim-01"], seed=4) for _ in range(2))
    assert list(first) == ["en", "sw"]
    for code in first:
        assert np.isfinite(first[code]).all()
        assert np.ptp(first[code]) > 0
        np.testing.assert_array_equal(first[code], second[code])


def test_ratings_that_the_data_does_not_bound_are_not_learnt_from(simulation: SimulatedArena) -> None:
    rows = simulation.tables["judgments"].to_pylist()
    verdicts = ["A" if r["system_a"] == "sim-06" else "B" if r["system_b"] == "sim-06" else r["verdict"] for r in rows]
    won = join(simulation.tables["features"], changed(simulation.tables["judgments"], "verdict", verdicts))
    language = won.languages["en"]
    assert not language.rated[5]
    assert language.rated.sum() == 7
    assert np.abs(language.ratings(frozenset())[language.rated]).max() < 5


# --- how good, and how sure -------------------------------------------------------------------------------------------


def test_r2_of_one_held_out_system_is_refused_pitfall_40() -> None:
    with pytest.raises(NotEnoughData, match="R2 of 1 held-out system is not defined"):
        r2(np.array([0.1]), np.array([0.2]))
    with pytest.raises(NotEnoughData, match="all ratings are equal"):
        r2(np.array([0.1, 0.2]), np.array([0.3, 0.3]))
    rng = np.random.default_rng(0)
    p, y = rng.normal(size=9), rng.normal(size=9)
    assert r2(p, y) == pytest.approx(r2_score(y, p))


def test_prediction_intervals_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "combinations", lambda *_: ())  # pairs have no interval
    hits: list[float] = []
    for seed in range(12):
        tables = simulate_arena(systems=10, queries=30, languages=["en", "sw"], seed=500 + seed).tables
        left_out = leave_one_out(join(tables["features"], tables["judgments"]), "ridge")
        hits += [q.covered for q in left_out.quality() if q.language != "all" and q.covered is not None]
    # 240 predictions, 10 to an arena; 95% are meant.
    assert len(hits) == 24
    assert 0.90 <= np.mean(hits) <= 0.99


def test_regressors_are_compared_on_the_same_systems_and_the_last_is_for_new_ones(seen: Training) -> None:
    choice = compare_regressors(seen, ["ridge", "linear", "svr"])
    assert list(choice) == ["linear", "svr", "ridge"]
    for held_out in choice.values():
        assert [(q.language, q.systems) for q in held_out.quality()] == [(c, 8) for c in [*sorted(CODES), "all"]]


def held(predicted: dict[str, np.ndarray], true: dict[str, np.ndarray]) -> HeldOut:
    """Predictions that do not depend on whom else is left out."""
    languages = {}
    for code, p in predicted.items():
        parts = tau_parts(np.repeat(p[:, None], len(p), axis=1), true[code])
        systems = tuple(f"s{k:02}" for k in range(len(p)))
        languages[code] = HeldOutLanguage(systems, p, p, p, true[code], parts, parts)
    return HeldOut("r", languages)


def p_value(first: HeldOut, second: HeldOut) -> float:
    test = paired_test(first, second)
    return test.p


def test_a_paired_test_knows_a_better_regressor_and_seldom_rejects_equals() -> None:
    def noisy(rng: np.random.Generator, true: dict[str, np.ndarray], sd: float) -> HeldOut:
        return held({code: y + rng.normal(0, sd, len(y)) for code, y in true.items()}, true)

    rng = np.random.default_rng(2)
    true = {code: rng.normal(size=12) for code in CODES}
    good, bad = noisy(rng, true, 0.2), noisy(rng, true, 2)
    assert p_value(good, bad) < 0.05
    assert p_value(good, good) == 1
    rejected = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        true = {"en": rng.normal(size=9)}
        rejected.append(p_value(noisy(rng, true, 1), noisy(rng, true, 1)) < 0.05)
    assert np.mean(rejected) < 0.09


@pytest.mark.parametrize("name", ["ridge", "answers"])
def test_a_feature_that_hardly_differs_does_not_throw_a_system_far_away(simulation: SimulatedArena, name: str) -> None:
    rows = simulation.tables["features"].to_pylist()
    rng = np.random.default_rng(5)
    values = [r["value"] for r in rows]
    for k, r in enumerate(rows):
        if r["feature"] == "english_language":
            values[k] = 1.0 if r["system"] == "sim-02" else 1e-5 * rng.random()
    far = join(changed(simulation.tables["features"], "value", values), simulation.tables["judgments"])
    assert "english_language" in distances(far, "sim-02")["en"].outside
    for code, predicted in predict(far, name, out=["sim-02"]).items():
        assert abs(predicted[far.languages[code].systems.index("sim-02")]) < 5


# --- what it refuses --------------------------------------------------------------------------------------------------


def test_what_is_unknown_or_too_little_is_refused(simulation: SimulatedArena, seen: Training) -> None:
    with pytest.raises(UnknownName, match="regressor"):
        predict(seen, "forrest")
    with pytest.raises(UnknownName, match="system"):
        predict(seen, "ridge", out=["nobody"])
    with pytest.raises(UnknownName, match="feature"):
        seen.select_features(["no such"])
    with pytest.raises(BadInput, match="every rated system is left out"):
        predict(seen, "ridge", out=seen.systems)
    with pytest.raises(NotEnoughData, match="no language has 3 rated systems"):
        predict(seen, "ridge", out=seen.systems[:6])
