"""The Features page: panels, tables, what goes with the rating, links and clicks, what is missing."""

from functools import partial
from pathlib import Path

import pytest
import small_arena
from arena_writer import write_arena
from streamlit.testing.v1 import AppTest

import pages
from benchmarks.simulated import simulate_arena
from mirage import open_arena, schema
from mirage.explorer.features import charts
from mirage.store.arena import Arena
from mirage.views.features import feature_title, features_view, tau_text
from mirage.views.query import OF_LANGUAGE
from pages import conclusion, figures, page_text


def write(folder: Path, name: str, *tables: str) -> Arena:
    """A simulated arena of 6 systems with texts for the answers."""
    simulated = dict(simulate_arena(systems=6, queries=12, languages=["ar", "en", "te"], seed=5).tables)
    keys = simulated["features"].group_by(["language", "query_id", "system"]).aggregate([]).to_pylist()
    simulated["answers"] = schema.from_rows(
        "answers",
        [schema.Answer(**key, text="An answer.", status="ok", template=None, reason=None, call=None) for key in keys],
    )
    selection = {table: simulated[table] for table in tables or simulated}
    return write_arena(folder / name, selection, title=f"The {name} arena", label="simulated")


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    write(module_path, "simulated")
    write(module_path, "unrated", "queries", "features")
    small_arena.write(module_path, "bare", tables=("outcomes",))
    return module_path


open_page = partial(pages.open_page, "features", arena="simulated")


def panel_names(page: AppTest) -> list[str]:
    """The titles over the panels, and what stands beside them."""
    return [note["text"] for note in figures(page)["panels"]["layout"]["annotations"]]


def drawn_systems(page: AppTest) -> set[str]:
    """The systems that marks of the panels lead to."""
    return {click[0] for trace in figures(page)["panels"]["data"] for click in trace.get("customdata", ())}


def test_the_page_has_a_panel_for_every_feature(arenas: Path) -> None:
    page = open_page(panel="all")
    assert "216 answers of 6 systems in 3 languages, 11 features." in page_text(page)
    assert set(figures(page)) == {"panels"}
    names = panel_names(page)
    assert len(names) == 11
    assert any("0 to 1, probability, higher is better" in name for name in names)
    assert any("1 to 5, grade, higher is better" in name for name in names)


def test_at_first_the_features_that_go_with_the_rating_are_drawn(arenas: Path) -> None:
    page = open_page()
    view = features_view(open_arena(arenas / "simulated"))
    best, *_ = view.related
    assert not {row.feature for row in view.related} & set(OF_LANGUAGE)
    titles_ = [name.split("</b>")[0].removeprefix("<b>") for name in panel_names(page)]
    assert titles_ == [feature_title(row.feature) for row in view.related[:3]]
    said = f"{titles_[0]} correlates with the rating by judge (tau {tau_text(best.tau)}, "
    assert conclusion(page).startswith(said)
    focus, _ = view.ends_of_ranking(())
    assert drawn_systems(page) == set(focus)
    assert len(focus) == 2
    assert drawn_systems(open_page(systems=["sim-05", "sim-01"])) == {"sim-05", "sim-01"}


def test_language_features_of_fixed_formulas_are_left_out() -> None:
    page = open_page(arena="nomiracl")
    assert page.segmented_control(key="section").value == "Means", "where no feature goes with the rating"
    assert "Language features are left out: most answers are fixed English formulas." in page_text(page)
    assert "88,469 answers of 11 systems" in page_text(page), "missing answers do not count"
    assert not set(OF_LANGUAGE) & {name.removesuffix("_interval") for name in page.dataframe[0].value.columns}


def test_the_ends_of_the_ranking_are_ranked_and_what_does_not_differ_is_not_drawn() -> None:
    arena = open_arena("nomiracl")
    shown = features_view(arena)
    ends, about = shown.ends_of_ranking(())
    assert (ends, shown.judge in about) == (("gpt-4-azure", "llama-2-7b-chat"), True)
    flat = [name for name in shown.features if not charts.is_telling(shown.by_feature[name], name)]
    assert flat == ["n_unknown_citations"]


@pytest.mark.parametrize(("section", "shown", "tables"), [("Means", set(), 1), ("Correlation", {"relation_map"}, 0)])
def test_a_section_draws_its_own_alone(arenas: Path, section: str, shown: set[str], tables: int) -> None:
    page = open_page(section=section)
    assert set(figures(page)) == shown
    assert len(page.dataframe) == tables
    assert all(len(frame.value.columns) <= 2 + 6 for frame in page.dataframe), "the mark, the system, six features"


def test_every_state_is_in_the_link(arenas: Path) -> None:
    page = open_page(
        languages=["en", "te"],
        features=["length", "fluency_score", "answer_bleu"],
        systems=["sim-02"],
    )
    assert len(panel_names(page)) == 2
    assert list(figures(page)["panels"]["layout"]["xaxis"]["ticktext"]) == ["English", "Telugu"]
    assert drawn_systems(page) == {"sim-02"}
    assert "Unknown value in the link" in page_text(page)  # length is not measured in this arena
    assert "144 answers of 6 systems in 2 languages" in page_text(page)


def test_an_arena_without_ratings_shows_the_rest(arenas: Path) -> None:
    page = open_page(arena="unrated", panel="all")
    assert len(panel_names(page)) == 11
    page = open_page(arena="unrated", section="Correlation")
    assert "No ratings in this arena yet" in page_text(page)
    assert not figures(page)
