"""The view of the features: means by language and over them, how they go with the ratings, and its page."""

import math
from pathlib import Path

import numpy as np
import pytest
import small_arena
from arena_writer import write_arena
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.simulated import simulate_arena
from mirage import schema
from mirage.ranking.judges import VerdictJudge
from mirage.stages.features.families import FEATURES
from mirage.stages.features.means import FeatureMean, over_languages
from mirage.stages.features.relations import DRAWS, SEED, rank_taus
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena
from mirage.views.features import FeatureChoice, features_view
from pages import conclusion, open_page, page_text


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    """A simulated arena in which eleven features follow a known quality."""
    simulation = simulate_arena(systems=12, queries=30, languages=["ar", "en", "te"], seed=5)
    return write_arena(module_path / "sim", simulation.tables, label="simulated")


def mean(language: str, value: float | None, error: float | None, n: int, total: int = 10) -> FeatureMean:
    return FeatureMean(language, "s", "length", value, None, None, n, total, error)


NONE = schema.from_rows("features", [])
"""No row: nothing shows that languages share a query."""


# Over languages


def test_the_mean_over_languages_counts_each_alike_and_adds_their_errors() -> None:
    (joint,) = over_languages([mean("en", 2.0, 0.3, 9), mean("fi", 6.0, 0.4, 10)], NONE)
    assert (joint.language, joint.mean, joint.n, joint.total) == ("all", 4.0, 19, 20)
    assert joint.error == pytest.approx(math.hypot(0.3, 0.4) / 2)
    # Satterthwaite by hand: 0.25^2 / (0.3^4 / 8 + 0.4^4 / 9).
    margin = stats.t.ppf(0.975, 0.25**2 / (0.0081 / 8 + 0.0256 / 9)) * 0.25
    assert joint.low == pytest.approx(4 - margin)
    assert joint.high == pytest.approx(4 + margin)


def test_a_language_without_a_value_is_left_out_and_lowers_the_coverage_pitfall_19() -> None:
    (joint,) = over_languages([mean("en", 2.0, 0.3, 9), mean("fi", None, None, 0)], NONE)
    assert (joint.mean, joint.coverage) == (2.0, 9 / 20)
    assert joint.low is not None
    (none,) = over_languages([mean("en", None, None, 0), mean("fi", None, None, 0)], NONE)
    assert (none.mean, none.low, none.high, none.error) == (None, None, None, None)


def test_a_language_of_one_answer_leaves_the_mean_without_an_interval() -> None:
    (joint,) = over_languages([mean("en", 2.0, 0.3, 9), mean("fi", 4.0, None, 1)], NONE)
    assert (joint.mean, joint.low, joint.error) == (3.0, None, None)


def test_equal_values_without_bounds_have_no_interval_pitfall_127() -> None:
    (joint,) = over_languages([mean("en", 2.0, 0.0, 9), mean("fi", 4.0, 0.0, 9)], NONE)
    assert (joint.mean, joint.low, joint.high) == (3.0, None, None)


# The overview


def test_the_overview_has_every_feature_system_and_language(arena: Arena) -> None:
    overview = features_view(arena)
    assert set(overview.features) <= set(FEATURES)
    assert list(overview.features) == [name for name in FEATURES if name in overview.features]
    assert (len(overview.features), len(overview.systems), overview.answers) == (11, 12, 12 * 90)
    assert {len(rows) for rows in overview.by_feature.values()} == {36}
    assert len(overview.everything) == 11 * 12 * 4
    over = overview.over["support_entailment"].to_pylist()
    assert {row["languages"] for row in over} == {3}
    assert all(0.8 < row["coverage"] < 1 for row in over)


def test_the_best_system_of_a_feature_comes_first_as_its_direction_says(arena: Arena) -> None:
    overview = features_view(arena, FeatureChoice(("en",)))
    high = overview.over["citation_MAP@10"]["mean"].to_pylist()
    low = overview.over["english_language"]["mean"].to_pylist()
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
    arena = write_arena(tmp_path / "a", {"features": rows}, label="simulated")
    overview = features_view(arena, FeatureChoice(("en",)))
    assert overview.features == ("length", "own_measure")
    assert overview.over["length"].select(["system", "mean"]).to_pylist() == [
        {"system": "a", "mean": 11.0},
        {"system": "b", "mean": None},
    ]
    assert overview.over["own_measure"]["system"].to_pylist() == ["a"]
    assert overview.over["length"].to_pylist()[1]["coverage"] == 0


# What goes with the rating


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9).map(np.array),
    seed=st.integers(0, 3),
)
def test_tau_and_its_draws_are_scipys(rows: np.ndarray, seed: int) -> None:
    first, second = rows[:, :1].T.astype(float), rows[:, 1:].T.astype(float)
    taus = rank_taus(first, second)[0, :6]
    resamples = np.random.default_rng(SEED).multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=DRAWS)[:5]
    for value, counts in zip(taus, [np.ones(len(rows), dtype=int), *resamples], strict=True):
        expected = stats.kendalltau(np.repeat(first[0], counts), np.repeat(second[0], counts)).statistic
        assert value == pytest.approx(expected, nan_ok=True)


def test_features_go_with_the_ratings_as_they_were_simulated(arena: Arena) -> None:
    view = features_view(arena, FeatureChoice(judge=VerdictJudge("judge")))
    relations = {(row.feature, row.language): row for row in view.correlations}
    assert len(relations) == 11 * 4
    strong, contrary = relations["answer_overlap_score", "all"], relations["english_language", "all"]
    assert contrary.tau is not None
    assert strong.tau > 0.4
    assert strong.clear
    assert contrary.tau < 0
    assert (strong.systems, strong.languages) == (12, 3)
    relation = relations["answer_overlap_score", "en"]
    assert -1 <= relation.low < relation.tau < relation.high <= 1
    taus = [relations["answer_overlap_score", code].tau for code in ("ar", "en", "te")]
    assert strong.tau == pytest.approx(np.mean([tau for tau in taus if tau is not None]))


def test_the_interval_of_tau_covers_what_it_says() -> None:
    """Nominal 95%; normal pairs whose tau is 0.5, 12 systems."""
    rng = np.random.default_rng(7)
    rho = math.sin(math.pi * 0.5 / 2)
    x = rng.normal(size=(400, 12))
    y = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=x.shape)
    draws = rank_taus(x, y)[:, 1:]
    low, high = np.nanquantile(draws, [0.025, 0.975], axis=1)
    assert 0.9 < ((low <= 0.5) & (high >= 0.5)).mean() < 0.995


def test_few_or_equal_systems_have_no_interval_and_say_why(tmp_path: Path) -> None:
    rows = [
        schema.Feature("en", f"q{i}", system, feature, value, None)
        for i in range(8)
        for k, system in enumerate(small_arena.SYSTEMS)
        for feature, value in (("length", 10.0 + k), ("n_citations", 2.0))
    ]
    tables = {"features": rows, "judgments": small_arena.judgments(languages=("en",))}
    arena = write_arena(tmp_path / "a", tables, label="simulated")
    relations = {
        row.feature: row for row in features_view(arena, FeatureChoice(judge=VerdictJudge("judge-x"))).correlations
    }
    assert relations["length"].tau is not None
    assert (relations["length"].low, relations["length"].clear, relations["length"].systems) == (None, False, 4)
    assert "fewer than 5" in relations["length"].reason
    assert (relations["n_citations"].tau, relations["n_citations"].reason) == (None, "all systems have the same value")


# Its door


@pytest.mark.parametrize("name", ["nomiracl", "sample", "sample-across", "sim"])
def test_the_page_shows_the_view(arena: Arena, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path.parent))
    shown = open_arena(arenas.bundled_arenas().get(name, arena.path))
    view = features_view(shown)
    first = view.related[0].feature
    page = open_page("features", arena=name, section="Means", feature=first)
    assert conclusion(page) == view.conclusion
    assert f"{view.answers:,} answers of {len(view.systems)} systems" in page_text(page)
    assert all(remark in page_text(page) for remark in view.remarks)
    (table,) = page.dataframe
    rows = view.over[first].to_pylist()
    assert table.value["system"].tolist() == [row["system"] for row in rows]
    assert table.value["n"].tolist() == [row["n"] for row in rows]
    means = [math.nan if row["mean"] is None else row["mean"] for row in rows]
    assert table.value["mean"].tolist() == pytest.approx(means, nan_ok=True)
    joint = [row for row in view.everything.to_pylist() if (row["language"], row["feature"]) == ("all", first)]
    assert {row["system"]: row["low"] for row in rows} == {row["system"]: row["low"] for row in joint}
