"""The Surrogate page: predictions under ratings, regressors side by side, and the way on from a system."""

from __future__ import annotations

from functools import partial

import pytest
from conftest import ROOT

import pages
from mirage.ranking.surrogate.regressors import CHEAP
from mirage.store.arena import open_arena
from mirage.views.surrogate import SurrogateChoice, printed_surrogate, surrogate_view
from pages import page_text

opened = partial(pages.open_page, "surrogate")


def test_the_bundled_arena_shows_at_once_how_far_features_predict() -> None:
    page = opened(arena="nomiracl")
    view = surrogate_view(open_arena(ROOT / "data" / "nomiracl"))
    assert page.selectbox(key="regressor").value == view.chosen
    assert page.segmented_control(key="section").options == ["Regressors", "By language", "Importance"]
    (regressors,) = (frame.value for frame in page.dataframe)
    assert len(regressors) == len(CHEAP)
    assert "Outside the training range: 1 system." in page_text(page)
    assert "verdicts on average" not in page_text(page), "labels need no calls of a judge"
    page = opened(arena="nomiracl", section="Importance")
    importances, ablation = (frame.value for frame in page.dataframe)
    assert len(importances) == 5
    assert list(ablation["features"])[:2] == ["All features", "Without LLM-as-judge"]
    assert "no LLM graded a feature" in page_text(page)
    (printed,) = (frame.value for frame in opened(arena="nomiracl", section="By language").dataframe)
    assert len(printed) == 16
    assert printed["printed_tau"].between(0.8, 1).all()


def test_the_link_holds_regressor_and_language_with_the_papers_figures() -> None:
    page = opened(arena="nomiracl", regressor="linear", scope="te", skill="abstain")
    assert page.selectbox(key="regressor").value == "linear"
    regressors = page.dataframe[0].value.set_index("name")
    arena = open_arena(ROOT / "data" / "nomiracl")
    view = surrogate_view(arena, SurrogateChoice("relevance", "abstain"))
    assert regressors.loc["Linear regression", "tau"] == pytest.approx(view.quality_row("linear", "te")["tau"])
    figures = printed_surrogate(arena)
    assert regressors.loc["Linear regression", "printed"] == figures.r2["te", "holdout", "Linear Regression"]
    assert view.conclude("linear", "te") in page_text(page)


def test_languages_picked_in_the_sidebar_narrow_the_page() -> None:
    page = opened(arena="nomiracl", languages=["sw", "yo"], section="By language")
    assert page.selectbox(key="scope").value == "sw"
    assert list(page.dataframe[0].value["name"]) == ["Swahili", "Yoruba"]
    other_page = opened(arena="nomiracl", languages="bn")
    assert "No predictions in the selected languages" in page_text(other_page)


def test_the_calls_that_a_prediction_saves_are_those_of_the_arena() -> None:
    arena = open_arena(ROOT / "data" / "sample")
    # Every verdict is on two systems.
    verdicts = arena.read("judgments", columns=["judge"])["judge"].to_pylist().count("heuristic")
    calls = round(2 * verdicts / len(set(arena.read("answers", columns=["system"])["system"].to_pylist())))
    assert f"took {calls:,} verdicts on average" in page_text(opened(arena="sample", judge="heuristic"))
