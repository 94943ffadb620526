"""Risk against coverage: against a reference, and by simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import mirage as run
from commands import rows as printed
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as some

import mirage
from mirage import schema, store
from mirage.errors import BadInput, MirageError
from mirage.stages.abstain import curve, risk_coverage, signals

EXACT = 1e-9
SAMPLE = ROOT / "data" / "sample"


def expected_area(signal: list[float], loss: list[float]) -> float:
    """The area by its definition, answer by answer; those with equal signals have the mean loss of their run."""
    ordered = sorted(zip(signal, loss, strict=True), key=lambda pair: -pair[0])
    runs: dict[float, list[float]] = {}
    for strength, lost in ordered:
        runs.setdefault(strength, []).append(lost)
    total, risks = 0.0, []
    for k, (strength, _) in enumerate(ordered, 1):
        total += sum(runs[strength]) / len(runs[strength])
        risks.append(total / k)
    return sum(risks) / len(risks)


@settings(max_examples=60)
@given(some.lists(some.tuples(some.integers(0, 8), some.sampled_from([0.0, 0.25, 1.0])), min_size=20, max_size=60))
def test_the_area_is_that_of_its_definition(pairs: list[tuple[int, float]]) -> None:
    signal, loss = [float(strength) for strength, _ in pairs], [lost for _, lost in pairs]
    drawn = curve(np.array(signal), np.array(loss), draws=2)
    if len(set(signal)) == 1:
        assert (drawn.area, drawn.points, drawn.reason) == (None, (), "constant signal")
        return
    assert drawn.area == pytest.approx(expected_area(signal, loss), abs=EXACT)
    assert drawn.points[-1].risk == pytest.approx(sum(loss) / len(loss), abs=EXACT)


def test_the_curve_is_the_false_discovery_rate_of_the_ranking() -> None:
    from sklearn.metrics import precision_recall_curve

    rng = np.random.default_rng(3)
    loss = rng.integers(0, 2, 40).astype(float)
    signal = rng.permutation(40).astype(float)
    precision, _, thresholds = precision_recall_curve(1 - loss, signal)
    reference = {float((signal >= t).mean()): 1 - p for p, t in zip(precision, thresholds, strict=False)}
    points = {point.coverage: point.risk for point in curve(signal, loss, draws=2).points}
    for coverage, risk in points.items():
        assert risk == pytest.approx(reference[coverage], abs=EXACT)


def test_noise_gives_a_flat_curve_and_a_good_signal_a_falling_one() -> None:
    rng = np.random.default_rng(5)
    loss = (rng.random(4000) < 0.3).astype(float)
    flat = curve(rng.random(4000), loss, draws=50)
    assert all(abs(point.risk - 0.3) < 0.06 for point in flat.points[1:])
    assert flat.area == pytest.approx(0.3, abs=0.03)
    sharp = curve(rng.random(4000) - loss, loss, draws=50)
    assert sharp.points[0].risk == 0
    assert sharp.area == pytest.approx(expected_area((-loss).tolist(), loss.tolist()), abs=EXACT)


@pytest.mark.parametrize(
    ("signal", "loss", "reason"),
    [
        ([], [], "no answers"),
        ([1.0], [0.0], "too few queries"),
        ([2.0] * 30, [0.0, 1.0] * 15, "constant signal"),
    ],
)
def test_what_tells_nothing_has_a_reason(signal: list[float], loss: list[float], reason: str) -> None:
    assert curve(np.array(signal), np.array(loss)).reason == reason


def test_the_band_of_a_curve_without_a_mistake_is_still_one() -> None:
    last = curve(np.arange(200.0), np.zeros(200), draws=20).points[-1]
    assert last.low == 0
    assert last.high is not None
    assert 0.01 < last.high < 0.03


@pytest.mark.parametrize(("signal", "loss"), [(np.full(30, np.nan), 0), (np.arange(30.0), 2)])
def test_what_is_no_signal_or_loss_is_refused(signal: Any, loss: float) -> None:
    with pytest.raises(BadInput):
        curve(signal, np.full(30, float(loss)))


def logistic(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Signals and losses of a known truth."""
    rng = np.random.Generator(np.random.MT19937(seed))
    x = rng.normal(size=n)
    return x, (rng.random(n) < 1 / (1 + np.exp(1 + 1.5 * x))).astype(float)


def test_a_score_is_a_signal_and_all_raters_count(tmp_path: Path) -> None:
    rows = [("sw", f"q{k}", "careful") for k in range(80)]
    outcomes = [
        schema.OutcomeRow(
            *key, "strict", "non_relevant", "answered" if k % 2 else "abstained", "x", None, None, k % 2 == 0
        )
        for k, key in enumerate(rows)
    ]
    scores = [
        schema.Score(
            *key,
            measure="grade",
            rater=rater,
            value=float(-(k % 2) + by),
            low=None,
            high=None,
            person=False,
            reason=None,
        )
        for k, key in enumerate(rows[1:], start=1)
        for rater, by in (("first", 0), ("second", k % 3))
    ]
    tables = {"outcomes": schema.from_rows("outcomes", outcomes), "scores": schema.from_rows("scores", scores)}
    arena = store.write(tmp_path / "a", tables, made_by="a test")
    assert signals(arena) == ("grade",)
    found = risk_coverage(arena, "grade", loss="wrong", draws=20)
    mean = [-(k % 2) + (k % 3) / 2 for k in range(1, 80)]
    wanted = expected_area(mean, [float(k % 2) for k in range(1, 80)])
    assert found["sw", "careful"].area == pytest.approx(wanted, abs=EXACT)
    assert found["sw", "careful"].n == 79, "an answer without a signal is left out"


def test_a_feature_orders_the_answers_of_an_arena(tmp_path: Path) -> None:
    whole = store.open_arena(ROOT / "data" / "nomiracl")
    small = {name: whole.read(name, languages=["sw"]) for name in ("queries", "outcomes", "features")}
    arena = store.write(tmp_path / "a", small, made_by="a test")
    found = {row["system"]: row for row in mirage.risk_coverage(arena, "length").table.to_pylist()}
    rates = mirage.rates(arena, systems=["Orca-2-7b"]).to_pandas().query("language == 'sw'").set_index("subset")
    row = found["Orca-2-7b"]
    assert row["n"] == rates["answered"].sum()
    assert row["risk"] == pytest.approx(rates["answered"]["non_relevant"] / row["n"])
    wrong = mirage.risk_coverage(arena, "length", loss="wrong").table.to_pylist()
    assert next(row for row in wrong if row["system"] == "Orca-2-7b")["n"] > row["n"], "abstentions can be wrong too"
    for row in printed(run("report", "risk", arena.path, "--signal", "length", "--format", "csv")):
        assert (float(row["area"]) if row["area"] else None) == found[row["system"]]["area"]


@pytest.mark.parametrize(
    ("signal", "options"),
    [("lenght", {}), ("length", {"loss": "hallucinations"}), ("length", {"languages": ("xx",)})],
)
def test_a_name_that_is_not_there_is_refused(signal: str, options: dict[str, Any]) -> None:
    with pytest.raises(MirageError):
        risk_coverage(mirage.open_arena(SAMPLE), signal, **options)


def test_bands_hold_the_truth_as_often_as_they_say() -> None:
    signal, loss = logistic(400_000, 10**6)
    truth = curve(signal, loss, draws=2)
    held = np.zeros((3, 1_000))
    for seed in range(1_000):
        drawn = curve(*logistic(300, seed), draws=200)
        for place, k in enumerate((7, 13)):
            point = drawn.points[k]
            assert point.low is not None
            assert point.high is not None
            held[place, seed] = point.low <= truth.points[k].risk <= point.high
        assert drawn.area_low is not None
        assert drawn.area_high is not None
        assert truth.area is not None
        held[2, seed] = drawn.area_low <= truth.area <= drawn.area_high
    assert ((held.mean(axis=1) > 0.93) & (held.mean(axis=1) < 0.97)).all(), held.mean(axis=1)


def test_all_languages_together_are_one_population() -> None:
    arena = store.open_arena(SAMPLE)
    rows = risk_coverage(arena, "length", loss="wrong", draws=50)
    for system in {system for _, system in rows}:
        parts = [each.n for (language, name), each in rows.items() if name == system and language != "all"]
        assert rows["all", system].n == sum(parts)
    alone = risk_coverage(arena, "length", loss="wrong", draws=50, languages=["sw"])
    assert {language for language, _ in alone} == {"sw"}
