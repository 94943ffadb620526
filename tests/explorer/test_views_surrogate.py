"""What the Surrogate page shows of stored tables: the arithmetic of `surrogate.quality`, and nothing fitted."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow.compute as pc
import pytest
from conftest import ROOT
from sample import REGRESSORS as SAMPLED

from benchmarks.simulated import simulate_arena
from mirage import schema, store
from mirage.explorer.surrogate import data as views
from mirage.ranking.judges import Judge, VerdictJudge
from mirage.ranking.surrogate import stage as ablation
from mirage.ranking.surrogate.data import LanguageData, Training
from mirage.ranking.surrogate.importance import importances
from mirage.ranking.surrogate.regressors import REGRESSORS
from mirage.ranking.surrogate.reporting import report_on as report_on
from mirage.ranking.surrogate.stage import ABLATIONS, JUDGED_PREDICTIONS
from mirage.ranking.surrogate.training import training
from mirage.stages.stage import run

FEW = ["forest", "linear", "ridge"]
JUDGE = VerdictJudge("judge")
CODES = ["en", "sw"]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    """Seven systems of which the last has features and no verdict."""
    tables = dict(simulate_arena(systems=7, queries=20, languages=CODES, seed=11).tables)
    verdicts = tables["judgments"]
    new = sorted(set(verdicts["system_a"].to_pylist()) | set(verdicts["system_b"].to_pylist()))[-1]
    selection = pc.or_(pc.equal(verdicts["system_a"], new), pc.equal(verdicts["system_b"], new))
    tables["judgments"] = verdicts.filter(pc.invert(selection))
    path = tmp_path_factory.mktemp("views") / "judged"
    store.write(path, tables, made_by="a test", label="simulated")
    stage = JUDGED_PREDICTIONS
    return run(stage, path, made_by="a test", part="judge", judge="judge", regressors=FEW)


@pytest.fixture(scope="module")
def seen(arena: store.Arena) -> Training:
    return training(arena.read("features"), arena.read("judgments"), JUDGE)


def test_the_points_go_down_by_judged_rating_and_end_with_the_new_system(arena: store.Arena) -> None:
    points = views.predicted_points(arena, JUDGE, "ridge", "en")
    judged = [p.judged for p in points]
    assert judged[-1] is None
    assert judged[:-1] == sorted((j for j in judged if j is not None), reverse=True)
    assert len(points) == 7
    assert views.judged_ends(arena, JUDGE, "en") == {}, "the arena has no ratings"


def test_importances_are_stored_as_the_surrogate_measures_them(arena: store.Arena, seen: Training) -> None:
    weights = views.weights(arena, JUDGE)
    chosen = views.comparison_of(arena, JUDGE).chosen
    own = importances(seen, chosen)
    stored = [(row.features, row.value, row.low, row.high, row.systems) for row in weights.permuted]
    assert stored == [
        (importance.feature, importance.rise, importance.low, importance.high, importance.systems) for importance in own
    ]
    schema.validate("importances", arena.read("importances"))


def test_an_ablation_with_all_features_is_the_regressor_itself(arena: store.Arena) -> None:
    weights = views.weights(arena, JUDGE)
    chosen = views.comparison_of(arena, JUDGE).chosen
    taus = {row["language"]: row["tau"] for row in views.quality_by_language(arena, JUDGE, chosen)}
    whole = {row.language: row.value for row in weights.ablated if row.features == "All features"}
    assert whole == pytest.approx(taus)
    named = list(dict.fromkeys(row.features for row in weights.ablated))
    assert named == list(ABLATIONS)
    assert all(row.value is not None for row in weights.ablated)


def test_a_left_out_system_has_no_say_in_which_features_are_kept(seen: Training) -> None:
    system = seen.systems[0]
    features = ablation.strongest(seen, [system])
    assert len(features) == ablation.KEPT < len(seen.features)
    rows = {code: language.values.copy() for code, language in seen.languages.items()}
    for code, language in seen.languages.items():
        rows[code][:, language.systems.index(system)] *= -3.0
    moved = Training(
        seen.features,
        {
            code: LanguageData(
                code,
                language.systems,
                rows[code],
                language.weights,
                language.strata,
                language.points,
                language.ratings,
                language.offset,
            )
            for code, language in seen.languages.items()
        },
    )
    assert ablation.strongest(moved, [system]) == features


def test_a_set_of_features_that_the_arena_cannot_tell_from_all_has_the_reason() -> None:
    sets = ablation.sets(["length", "english_language", "target_language"])
    assert sets["Without LLM-as-judge"] == sets["Only LLM-as-judge"] == "no LLM graded a feature"
    assert sets["Without low-correlation"] == "none is dropped: there are only 3 features"
    graded = ablation.sets(["length", "fluency_score"])
    assert (graded["Without LLM-as-judge"], graded["Only LLM-as-judge"]) == (("length",), ("fluency_score",))


def test_the_printed_figures_are_those_of_the_paper() -> None:
    arena = store.open_arena(store.bundled_arenas()["nomiracl"])
    figures = views.printed_figures(arena)
    assert figures.tau["ar"] == 0.951
    assert figures.r2["ar", "holdout", "Random Forest"] == 0.5
    assert figures.ablation["ar", "Only LLM-as-judge"] == 0.948
    assert figures.r2_draws["ar"] == (0.916, -0.15, 0.07)
    assert figures.reference.endswith("Tables 2 to 5")


@pytest.mark.parametrize(
    ("name", "judges", "regressors"),
    [("nomiracl", {"relevance"}, REGRESSORS), ("sample", {"relevance", "heuristic"}, SAMPLED)],
)
def test_the_bundled_arenas_have_their_regressors_and_what_the_default_rests_on(
    name: str, judges: set[str], regressors: Iterable[str]
) -> None:
    arena = store.open_arena(ROOT / "data" / name)
    assert {judge for judge, _ in views.available(arena)} == judges
    for judge_name, skill in views.available(arena):
        judge = Judge.from_name(judge_name, skill=skill)
        comparison = views.comparison_of(arena, judge)
        assert {row.regressor for row in comparison.summary} == set(regressors)
        weights = views.weights(arena, judge)
        assert {row.regressor for row in weights.permuted} == {comparison.chosen}
        ends = views.judged_ends(arena, judge, "all")
        for point in views.predicted_points(arena, judge, comparison.chosen, "all"):
            low, high = ends.get(point.system, (None, None))
            assert low is None or point.judged is None or low <= point.judged
            assert high is None or point.judged is None or point.judged <= high
        assert weights.ablated
