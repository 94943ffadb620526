"""The view of the surrogate: every door says the same, from stored predictions, and refits only what differs."""

import json
from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pytest
from commands import mirage
from conftest import ROOT

import pages
from benchmarks.simulated import simulate_arena
from mirage import open_arena
from mirage.pipeline.recompute import recompute
from mirage.ranking.judges import VerdictJudge
from mirage.ranking.surrogate.importance import importances
from mirage.ranking.surrogate.regressors import CHEAP
from mirage.ranking.surrogate.stage import ABLATIONS, store_predictions
from mirage.ranking.surrogate.training import training
from mirage.store import writing
from mirage.store.arena import Arena
from mirage.store.writing import Provenance
from mirage.text.numbers import FORMATS
from mirage.views.surrogate import SurrogateChoice, predicted_judges, printed_surrogate, surrogate_view
from pages import page_text

opened = partial(pages.open_page, "surrogate")
NAMES = ("forest", "linear", "ridge")


@pytest.fixture(scope="module")
def own(module_path: Path) -> Arena:
    """Seven systems of which the last has features and no verdict, predicted also by a regressor of the paper."""
    tables = dict(simulate_arena(systems=7, queries=20, languages=["en", "sw"], seed=11).tables)
    verdicts = tables["judgments"]
    new = max(verdicts["system_b"].to_pylist())
    with_new = pc.or_(pc.equal(verdicts["system_a"], new), pc.equal(verdicts["system_b"], new))
    tables["judgments"] = verdicts.filter(pc.invert(with_new))
    arena = writing.write(module_path / "judged", tables, made_by="a test", label="simulated")
    return store_predictions(arena, VerdictJudge("judge"), regressors=NAMES)


def ranked(arena: str, *options: str) -> tuple[list[dict[str, object]], str]:
    """Return the rows and the remarks of `mirage rank surrogate`."""
    done = mirage("rank", "surrogate", arena, *options, "--format", "json")
    return json.loads(done.stdout), done.stderr


BUNDLED = [("nomiracl", "relevance", "both"), ("nomiracl", "relevance", "abstain"), ("sample", "heuristic", "both")]


@pytest.mark.parametrize(("name", "judge", "skill"), BUNDLED)
def test_every_door_says_the_same(name: str, judge: str, skill: str) -> None:
    arena = open_arena(ROOT / "data" / name)
    view = surrogate_view(arena, SurrogateChoice(judge, skill))  # type: ignore[arg-type]
    assert view.stored
    rows, remarks = ranked(name, "--judge", judge, "--skill", skill)
    assert rows == view.summary.to_pylist()
    assert view.conclusion in remarks
    page = opened(arena=name, judge=judge, skill=skill, section="Paper")
    assert view.conclusion in page_text(page)
    assert "without asking the judge" in page_text(page)
    shown = page.dataframe[0].value
    for (_, line), row in zip(shown.iterrows(), view.summary.to_pylist(), strict=True):
        assert [line[key] for key in ("tau", "rmse")] == pytest.approx([row[key] for key in ("tau", "rmse")])
        assert (line["r2"] == pytest.approx(row["r2"])) == (row["r2"] >= 0), "below 0 the value has no scale"
        assert line["name"].endswith("(for new systems)") == row["chosen"]
    assert f"n = {view.count_systems('all')}" in page_text(page)


def test_the_first_judge_is_the_default_of_every_door() -> None:
    arena = open_arena("sample")
    view = surrogate_view(arena)
    assert view.judge == predicted_judges(arena)[0][0]
    assert ranked("sample")[0] == view.summary.to_pylist()
    assert view.conclusion in page_text(opened(arena="sample"))


def test_an_own_arena_prints_what_is_stored_and_fits_what_differs(own: Arena) -> None:
    stored = surrogate_view(own)
    assert (stored.judge, stored.regressors, stored.seed) == ("judge", NAMES, 0)
    assert ranked(str(own.path))[0] == stored.summary.to_pylist()
    fitted = surrogate_view(own, SurrogateChoice("judge", languages=("en",)))
    assert (fitted.stored, fitted.regressors, fitted.languages) == (False, CHEAP, ("en",))
    rows, remarks = ranked(str(own.path), "--languages", "en", "--regressor", "ridge")
    view = surrogate_view(own, SurrogateChoice("judge", languages=("en",), regressors=("ridge",)))
    assert rows == view.summary.to_pylist()
    assert view.conclusion in remarks
    ridge = next(row for row in fitted.quality_of("ridge"))
    assert view.quality_row("ridge", "en") == ridge
    assert FORMATS["probability"].write(ridge["tau"]) in view.conclusion


def test_points_go_down_by_rating_and_end_with_the_new_system(own: Arena) -> None:
    view = surrogate_view(own)
    judged = [point.judged for point in view.points("ridge", "en")]
    assert judged[-1] is None
    assert judged[:-1] == sorted((value for value in judged if value is not None), reverse=True)
    assert len(judged) == 7
    assert not len(view.intervals), "the arena has no ratings"


def test_importances_are_those_of_the_regressor_for_new_systems(own: Arena) -> None:
    view = surrogate_view(own)
    rows = view.importances.to_pylist()
    seen = training(own.read("features"), own.read("judgments"), VerdictJudge("judge"))
    found = [(row.feature, row.rise, row.low, row.high, row.systems) for row in importances(seen, view.chosen)]
    names = ("features", "value", "low", "high", "systems")
    assert [tuple(row[name] for name in names) for row in rows if row["kind"] == "permutation"] == found
    ablated = [row for row in rows if row["kind"] == "ablation"]
    assert list(dict.fromkeys(row["features"] for row in ablated)) == list(ABLATIONS)
    taus = {row["language"]: row["tau"] for row in view.quality_of(view.chosen)}
    assert {row["language"]: row["value"] for row in ablated if row["features"] == ABLATIONS[0]} == pytest.approx(taus)


@pytest.mark.parametrize("name", ["nomiracl", "sample"])
def test_the_bundled_predictions_are_of_regressors_that_agree_on_every_machine(name: str) -> None:
    arena = open_arena(ROOT / "data" / name)
    for judge, skill in predicted_judges(arena):
        view = surrogate_view(arena, SurrogateChoice(judge, skill))
        assert view.regressors == CHEAP
        assert {row["regressor"] for row in view.importances.to_pylist()} == {view.chosen}
        intervals = {(row["language"], row["system"]): row for row in view.intervals.to_pylist()}
        for point in view.points(view.chosen, "all"):
            ends = intervals.get(("all", point.system), {"low": None, "high": None})
            assert point.judged is None or ends["low"] is None or ends["low"] <= point.judged
            assert point.judged is None or ends["high"] is None or point.judged <= ends["high"]


def test_predictions_without_recorded_settings_open_and_are_a_fault_of_the_arena(own: Arena, tmp_path: Path) -> None:
    tables = {name: own.read(name) for name in own.tables}
    old = writing.write(tmp_path / "old", tables, made_by=Provenance("a test", notes=["judge: seed 7"]))
    view = surrogate_view(old)
    assert view.seed is None
    assert view.conclusion == surrogate_view(own).conclusion
    (part,) = (part for part in recompute(old) if part.subject.startswith("predictions"))
    assert "not recorded" in str(part.reason)
    assert part.mismatches


def test_the_printed_figures_are_those_of_the_paper() -> None:
    figures = printed_surrogate(open_arena("nomiracl"))
    assert figures.tau["ar"] == 0.951
    assert figures.r2["ar", "holdout", "Random Forest"] == 0.5
    assert figures.ablation["ar", "Only LLM-as-judge"] == 0.948
    assert figures.r2_draws["ar"] == (0.916, -0.15, 0.07)
    assert figures.reference.endswith("Tables 2 to 5")


# The page


def test_the_bundled_arena_shows_at_once_how_far_features_predict() -> None:
    page = opened(arena="nomiracl")
    view = surrogate_view(open_arena("nomiracl"))
    assert view.worthwhile == (view.chosen,)
    assert not [widget for widget in page.selectbox if widget.key == "regressor"], "a picker with one choice"
    assert page.segmented_control(key="section").options == ["By language", "Importance", "Paper"]
    (languages,) = (frame.value for frame in page.dataframe)
    assert set(languages.columns) == {"name", "tau", "r2", "systems"}
    assert "systems" not in opened(arena="sample").dataframe[0].value.columns, "14 in every row"
    assert "Outside the training range: 1 system." in page_text(page)
    assert "verdicts on average" not in page_text(page), "labels need no calls of a judge"
    page = opened(arena="nomiracl", section="Importance")
    importances, ablation = (frame.value for frame in page.dataframe)
    assert len(importances) == 5
    assert list(ablation["features"])[:2] == ["All features", "Without LLM-as-judge"]
    assert "no LLM graded a feature" in page_text(page)
    regressors, printed = (frame.value for frame in opened(arena="nomiracl", section="Paper").dataframe)
    assert (len(regressors), len(printed)) == (len(CHEAP), 16)
    assert printed["printed_tau"].between(0.8, 1).all()


def test_the_link_holds_regressor_and_language_and_the_paper_its_figures() -> None:
    page = opened(arena="nomiracl", scope="te", skill="abstain", section="Paper")
    regressors = page.dataframe[0].value.set_index("name")
    arena = open_arena("nomiracl")
    view = surrogate_view(arena, SurrogateChoice("relevance", "abstain"))
    assert regressors.loc["Linear regression", "tau"] == pytest.approx(view.quality_row("linear", "te")["tau"])
    figures = printed_surrogate(arena)
    assert regressors.loc["Linear regression", "printed"] == figures.r2["te", "holdout", "Linear Regression"]
    assert view.conclude(view.chosen, "te") in page_text(page)
    page = opened(arena="sample", judge="heuristic", regressor="ridge")
    assert page.selectbox(key="regressor").value == "ridge"
    assert "is no finding" in page_text(page), "the heuristic is a sum of these features"


def test_languages_picked_in_the_sidebar_narrow_the_page() -> None:
    page = opened(arena="nomiracl", languages=["sw", "yo"], section="By language")
    assert page.selectbox(key="scope").value == "sw"
    assert list(page.dataframe[0].value["name"]) == ["Swahili", "Yoruba"]
    other_page = opened(arena="nomiracl", languages="bn")
    assert "No predictions in the selected languages" in page_text(other_page)


def test_the_calls_that_a_prediction_saves_are_those_of_the_arena() -> None:
    arena = open_arena("sample")
    # Every verdict is on two systems.
    verdicts = arena.read("judgments", columns=["judge"])["judge"].to_pylist().count("heuristic")
    calls = round(2 * verdicts / len(set(arena.read("answers", columns=["system"])["system"].to_pylist())))
    assert f"took {calls:,} verdicts on average" in page_text(opened(arena="sample", judge="heuristic"))
