"""What the Features page shows: means by language and over them, and how a feature goes with the ratings."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import small_arena
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from test_charts_hallucination import checked

from mirage import schema, store
from mirage.charts import features as charts
from mirage.features import FEATURES, FeatureMean, over_languages
from mirage.sources.simulated import simulate
from mirage.views import features as views


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    """A simulated arena in which eleven features follow a known quality."""
    made = simulate(systems=12, queries=30, languages=["ar", "en", "te"], seed=5)
    return store.write(tmp_path_factory.mktemp("a") / "sim", made.tables, label="simulated", made_by="a test")


def mean(language: str, value: float | None, error: float | None, n: int, total: int = 10) -> FeatureMean:
    return FeatureMean(language, "s", "length", value, None, None, n, total, error)


# Over languages


def test_the_mean_over_languages_counts_each_alike_and_adds_their_errors() -> None:
    (both,) = over_languages([mean("en", 2.0, 0.3, 9), mean("fi", 6.0, 0.4, 10)])
    assert (both.language, both.mean, both.n, both.total) == ("all", 4.0, 19, 20)
    assert both.error == pytest.approx(math.hypot(0.3, 0.4) / 2)
    # Satterthwaite by hand: 0.25^2 / (0.3^4 / 8 + 0.4^4 / 9).
    margin = stats.t.ppf(0.975, 0.25**2 / (0.0081 / 8 + 0.0256 / 9)) * 0.25
    assert both.low == pytest.approx(4 - margin)
    assert both.high == pytest.approx(4 + margin)


def test_the_mean_over_one_language_is_that_of_the_language(arena: store.Arena) -> None:
    alone = views.of_language(arena, "en")
    for one, joint in zip(sorted(alone, key=lambda m: (m.system, m.feature)), over_languages(alone), strict=True):
        assert (joint.mean, joint.n, joint.total) == (one.mean, one.n, one.total)
        assert (joint.low, joint.high) == pytest.approx((one.low, one.high))


def test_a_language_without_a_value_is_left_out_and_lowers_the_coverage_pitfall_19() -> None:
    (both,) = over_languages([mean("en", 2.0, 0.3, 9), mean("fi", None, None, 0)])
    assert (both.mean, both.coverage) == (2.0, 9 / 20)
    assert both.low is not None
    (none,) = over_languages([mean("en", None, None, 0), mean("fi", None, None, 0)])
    assert (none.mean, none.low, none.high, none.error) == (None, None, None, None)


def test_a_language_of_one_answer_leaves_the_mean_without_an_interval() -> None:
    (both,) = over_languages([mean("en", 2.0, 0.3, 9), mean("fi", 4.0, None, 1)])
    assert (both.mean, both.low, both.error) == (3.0, None, None)


def test_equal_values_have_an_interval_of_no_width() -> None:
    (both,) = over_languages([mean("en", 2.0, 0.0, 9), mean("fi", 4.0, 0.0, 9)])
    assert (both.low, both.high) == (3.0, 3.0)


# The overview


def test_the_overview_has_every_feature_system_and_language(arena: store.Arena) -> None:
    shown = views.overview(arena, ("ar", "en", "te"))
    assert set(shown.features) <= set(FEATURES)
    assert list(shown.features) == [name for name in FEATURES if name in shown.features]
    assert (len(shown.features), len(shown.systems), shown.replies) == (11, 12, 12 * 90)
    assert {len(rows) for rows in shown.by_feature.values()} == {36}
    assert shown.matrix.column_names == ["system", *shown.features]
    assert len(shown.everything) == 11 * 12 * 4
    over = shown.over["support_entailment"].to_pylist()
    assert {row["languages"] for row in over} == {3}
    assert all(0.8 < row["coverage"] < 1 for row in over)


def test_the_best_system_of_a_feature_comes_first_as_its_direction_says(arena: store.Arena) -> None:
    shown = views.overview(arena, ("en",))
    high = shown.over["citation_MAP@10"]["mean"].to_pylist()
    low = shown.over["english_language"]["mean"].to_pylist()
    assert high == sorted(high, reverse=True)
    assert low == sorted(low)


def test_a_feature_without_any_value_is_not_listed_and_a_system_without_one_is_null(tmp_path: Path) -> None:
    rows = [
        schema.Feature("en", f"q{i}", system, feature, value, None if value is not None else "nothing is cited")
        for i in range(3)
        for system, feature, value in (
            ("a", "length", 10.0 + i),
            ("b", "length", None),
            ("a", "support_entailment", None),
            ("a", "own_measure", 1.0),
        )
    ]
    made = store.write(
        tmp_path / "a", {"features": schema.from_rows("features", rows)}, label="simulated", made_by="a test"
    )
    shown = views.overview(made, ("en",))
    assert shown.features == ("length", "own_measure")
    assert shown.matrix.to_pylist() == [
        {"system": "a", "length": 11.0, "own_measure": 1.0},
        {"system": "b", "length": None, "own_measure": None},
    ]
    assert shown.over["length"].to_pylist()[1]["coverage"] == 0


# What goes with the rating


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9).map(np.array),
    seed=st.integers(0, 3),
)
def test_tau_and_its_draws_are_scipys(rows: np.ndarray, seed: int) -> None:
    first, second = rows[:, :1].T.astype(float), rows[:, 1:].T.astype(float)
    found = views.taus(first, second, draws=5)[0]
    drawn = np.random.default_rng(views.SEED).multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=5)
    for value, counts in zip(found, [np.ones(len(rows), dtype=int), *drawn], strict=True):
        expected = stats.kendalltau(np.repeat(first[0], counts), np.repeat(second[0], counts)).statistic
        assert value == pytest.approx(expected, nan_ok=True)


def test_features_go_with_the_ratings_as_they_were_simulated(arena: store.Arena) -> None:
    found = {(r.feature, r.language): r for r in views.relations(arena, "judge", "both", ("ar", "en", "te"))}
    assert len(found) == 11 * 4
    strong, contrary = found["answer_overlap_score", "all"], found["english_language", "all"]
    assert strong.tau is not None
    assert contrary.tau is not None
    assert strong.tau > 0.4
    assert strong.clear
    assert contrary.tau < 0
    assert (strong.systems, strong.languages) == (12, 3)
    one = found["answer_overlap_score", "en"]
    assert one.low is not None
    assert one.high is not None
    assert one.tau is not None
    assert -1 <= one.low < one.tau < one.high <= 1
    taus = [found["answer_overlap_score", code].tau for code in ("ar", "en", "te")]
    assert strong.tau == pytest.approx(np.mean([tau for tau in taus if tau is not None]))


def test_the_interval_of_tau_covers_what_it_says() -> None:
    """Nominal 95%; normal pairs whose tau is 0.5, 12 systems."""
    rng = np.random.default_rng(7)
    rho = math.sin(math.pi * 0.5 / 2)
    x = rng.normal(size=(400, 12))
    y = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=x.shape)
    draws = views.taus(x, y)[:, 1:]
    low, high = np.nanquantile(draws, [0.025, 0.975], axis=1)
    assert 0.9 < ((low <= 0.5) & (high >= 0.5)).mean() < 0.995


def test_few_or_equal_systems_have_no_interval_and_say_why(tmp_path: Path) -> None:
    rows = [
        schema.Feature("en", f"q{i}", system, feature, value, None)
        for i in range(8)
        for k, system in enumerate(small_arena.SYSTEMS)
        for feature, value in (("length", 10.0 + k), ("n_citations", 2.0))
    ]
    tables = {"features": schema.from_rows("features", rows), "judgments": small_arena.judgments(languages=("en",))}
    made = store.write(tmp_path / "a", tables, label="simulated", made_by="a test")
    found = {r.feature: r for r in views.relations(made, "judge-x", "both", ("en",))}
    assert found["length"].tau is not None
    assert (found["length"].low, found["length"].clear, found["length"].systems) == (None, False, 4)
    assert "fewer than 5" in found["length"].reason
    assert (found["n_citations"].tau, found["n_citations"].reason) == (None, "all systems have the same value")


def test_a_language_without_a_rating_is_left_out(tmp_path: Path) -> None:
    made = simulate(systems=6, queries=5, languages=["ar", "en"], seed=5)
    judged = made.tables["judgments"].filter(
        [code == "en" for code in made.tables["judgments"]["language"].to_pylist()]
    )
    tables = {**made.tables, "judgments": judged}
    arena = store.write(tmp_path / "a", tables, label="simulated", made_by="a test")
    assert {r.language for r in views.relations(arena, "judge", "both", ("ar", "en"))} == {"en"}
    assert views.relations(arena, "judge", "both", ("ar",)) == ()


# The figures


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_figures_are_sound_and_every_dot_leads_on(arena: store.Arena, mode: str) -> None:
    shown = views.overview(arena, ("ar", "en", "te"))
    for chosen in ((), ("sim-02", "sim-05")):
        figure = charts.panel(
            shown.by_feature["support_entailment"],
            feature="support_entailment",
            languages=shown.languages,
            chosen=chosen,
            mode=mode,  # type: ignore[arg-type]  # one of the two
        )
        checked(figure)
        dots = [point for trace in figure["data"] for point in trace.get("customdata", ())]
        assert sorted(dots) == sorted([s, c] for s in shown.systems for c in shown.languages)
        said = [text for trace in figure["data"] for text in trace.get("text", ())]
        assert all("n = " in text and "%" in text for text in said)
        assert len([t for t in figure["data"] if t["mode"] == "lines"]) == 1 + len(chosen)
    rows = views.relations(arena, "judge", "both", ("ar", "en", "te"))
    cells = charts.relation_map(rows, features=shown.features, languages=("all", "ar", "en", "te"), mode=mode)  # type: ignore[arg-type]
    checked(cells)
    assert sum(len(trace["x"]) for trace in cells["data"]) == 11 * 4
    checked(charts.relation_whiskers([r for r in rows if r.feature == "answer_bleu"], mode=mode))  # type: ignore[arg-type]


def test_a_systems_name_is_no_markup_in_a_figure() -> None:
    row = FeatureMean("en", "<b>x</b>&", "length", 1.0, None, None, 1, 1)
    assert "&lt;b&gt;x&lt;/b&gt;&amp;" in charts.hover(row, "other")


@pytest.mark.parametrize(
    ("value", "written"), [(None, "–"), (0.5, "0.5"), (-0.1234, "−0.123"), (161.4, "161"), (12345.6, "12,346")]
)
def test_a_value_is_written_with_the_digits_that_count(value: float | None, written: str) -> None:
    assert charts.write(value) == written
