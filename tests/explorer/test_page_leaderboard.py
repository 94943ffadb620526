"""The Leaderboard's what-ifs on the page: offered where they mean something, kept in the link, told what they move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

import pages
from benchmarks.simulated import simulate_arena
from mirage import store
from mirage.explorer.leaderboard import cards
from mirage.publish.charts import leaderboard as charts
from mirage.ranking.facts import SystemFacts
from pages import page_text, read_tables

PAGE = ROOT / "pages" / "leaderboard.py"


@pytest.fixture(scope="module")
def arenas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("whatif")
    simulation = simulate_arena(
        systems=5, queries=15, languages=["en", "sw"], seed=5, judges=("gpt-4o", "llama-3"), orders=2
    )
    store.write(root / "two", dict(simulation.tables), made_by="test")
    single = simulate_arena(systems=4, queries=10, languages=["en"], seed=6)
    store.write(root / "single", dict(single.tables), made_by="test")
    return root


def open_page(arenas: Path, monkeypatch: pytest.MonkeyPatch, **link: Any) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arenas))
    app = AppTest.from_file(PAGE, default_timeout=PATIENCE)
    app.query_params.update(link)
    return app.run()


def keys(app: AppTest) -> set[str]:
    groups = (app.selectbox, app.multiselect, app.get("button_group"))
    return {str(widget.key) for group in groups for widget in group if widget.key}


def test_a_link_restores_every_choice_and_says_what_it_moves(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = {"judge": "pooled", "own": "left-out", "without": "OpenAI", "control": "language", "arena": "two"}
    app = open_page(arenas, monkeypatch, **link)
    assert not app.exception
    assert "Compared with the default ranking" in page_text(app)
    assert "logits" in page_text(app)
    assert app.session_state["without"] == "OpenAI"
    assert "1,200 verdicts by 2 judges on 5 systems" in page_text(app)


def test_the_plain_ranking_says_nothing_of_moves(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(arenas, monkeypatch, arena="two", judge="gpt-4o")
    assert not app.exception
    assert "Compared with the default ranking" not in page_text(app)


def test_makers_of_judges_are_offered_for_a_pool_alone(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "without" in keys(open_page(arenas, monkeypatch, arena="two", judge="pooled"))
    assert "without" not in keys(open_page(arenas, monkeypatch, arena="two", judge="gpt-4o"))


def test_style_is_not_offered_with_ties_by_a_model(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "control" in keys(open_page(arenas, monkeypatch, arena="two", judge="gpt-4o"))
    app = open_page(arenas, monkeypatch, arena="two", judge="gpt-4o", ties="davidson", control="language")
    assert not app.exception
    assert "control" not in keys(app)


def test_a_choice_that_leaves_no_battle_is_answered_with_the_plain_ranking(
    arenas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(arenas, monkeypatch, arena="single", battles="consistent")
    assert not app.exception
    assert "no battle is left to rate" in page_text(app)
    assert len(app.dataframe) == 1


def test_an_unknown_choice_in_a_link_is_named_pitfall_44(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(arenas, monkeypatch, arena="two", judge="gpt-4o", ties="davison")
    assert "there is no way to count ties" in page_text(app)


def test_ranks_can_be_shown_as_lines(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(arenas, monkeypatch, arena="two", judge="gpt-4o", ranks="lines")
    assert not app.exception
    assert app.session_state["ranks"] == "lines"


def row(system: str, language: str, rank: int) -> dict[str, Any]:
    ends = {"low": -1.0, "high": 1.0, "rank_low": 1, "rank_high": 2}
    return {"system": system, "language": language, "rank": rank, "rating": 0.0, "battles": 9, **ends}


def test_a_line_a_system_is_named_at_its_end_and_gaps_stay_gaps() -> None:
    cells = [row("x", "en", 1), row("y", "en", 2), row("x", "sw", 1), row("y", "sw", 1), row("x", "ar", 1)]
    figure = charts.bumps(cells, systems=["x", "y"], mode="light")
    x, y = figure["data"]
    assert x["y"] == [1, 1, 1]
    assert y["y"] == [None, 2, 1]
    assert [a["text"] for a in figure["layout"]["annotations"]] == ["x, y"]
    assert figure["layout"]["yaxis"]["range"][0] > figure["layout"]["yaxis"]["range"][1], "the best rank is on top"


def test_the_ratings_leave_as_tables(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for link in ({"arena": "two", "judge": "pooled", "control": "language"}, {"arena": "single"}):
        app = open_page(arenas, monkeypatch, **link)
        app.session_state["frame_download"] = True
        app.run()
        assert not app.exception
        labels = [button.proto.label for button in app.get("download_button")]
        assert labels == ["CSV", "JSON", "Parquet"]


def test_the_first_screen_says_what_is_measured_on_how_much_and_of_when() -> None:
    words = page_text(pages.open_page("leaderboard"))
    assert "abstains when the passages hold no answer" in words
    assert "not whether the answer is true" in words
    assert "88,469 real answers of 11 systems (released 2022 to 2024) to 8,045 queries in 17 languages" in words


@pytest.mark.parametrize("page", ["judges", "answers", "spot_check"])
def test_what_the_bundled_arena_lacks_is_one_click_away_in_the_sample(page: str) -> None:
    app = pages.open_page(page, arena="nomiracl")
    app.button(key="open_other").click().run()
    assert not app.exception
    assert app.session_state["arena"] == "sample"
    assert "open_other" not in {button.key for button in app.button}


def test_who_made_a_system_and_when_is_in_the_table_where_it_is_known() -> None:
    app = pages.open_page("leaderboard", arena="nomiracl")
    (board,) = (frame.value for frame in app.dataframe if "rating" in frame.value.columns)
    first = board.set_index("system").loc["aya-101"]
    assert (first["organisation"], first["licence"], first["released"]) == ("Cohere", "Apache-2.0", "2024-02")
    assert "price_out" not in board.columns, "no system has a known price"
    assert "alike" not in board.columns
    every = pages.open_page("leaderboard", arena="nomiracl", columns="all")
    assert any({"alike", "wins"} <= set(frame.value.columns) for frame in every.dataframe)


def drawer(app: AppTest) -> list[list[dict[str, str]]]:
    """The tables on the chosen system."""
    heads = ("Language", "Against", "Error")
    return [rows for rows in read_tables(app) if next(iter(rows[0])) in heads]


def test_a_system_of_the_link_shows_its_ratings_opponents_and_errors() -> None:
    app = pages.open_page("leaderboard", arena="nomiracl", system="aya-101")
    ratings, opponents, errors = drawer(app)
    assert ratings[0]["Language"] == "All languages"
    assert {row["Language"] for row in ratings} >= {"Arabic", "Telugu"}
    assert (ratings[0]["Rank"], ratings[0]["95%"]) == ("5", "5–6")  # a range
    assert len(opponents) == 6
    assert all(int(row["n"].replace(",", "")) > 0 for row in (*opponents, *errors))
    assert len(errors) == 2
    assert "leaderboard?system=gpt-4-azure&amp;arena=nomiracl" in pages.html(app)
    one = pages.open_page("leaderboard", arena="nomiracl", system="aya-101", languages="te")
    assert len(drawer(one)) == 2, "the only language is in the table above"


def test_without_a_choice_or_with_an_unknown_system_none_is_shown() -> None:
    assert not drawer(pages.open_page("leaderboard", arena="nomiracl"))
    app = pages.open_page("leaderboard", arena="nomiracl", system="nobody")
    assert "Unknown value in the link" in page_text(app)
    assert not drawer(app)


def test_systems_whose_rank_interval_begins_at_1_are_marked() -> None:
    table = pages.open_page("leaderboard", arena="nomiracl").dataframe[0].value.set_index("system")
    assert [name for name, mark in table["best"].items() if mark in ("best", "tied")] == ["gpt-4-azure"]
    tied = pages.open_page("leaderboard", arena="nomiracl", languages="de").dataframe[0].value.set_index("system")
    begins = {name for name, ranks in tied["rank_span"].items() if ranks.split("–")[0] == "1"}  # a range
    assert len(begins) > 1
    assert {name for name, mark in tied["best"].items() if mark == "tied"} == begins


def test_the_win_matrix_is_in_the_order_of_the_table(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = pages.open_page("leaderboard", arena="nomiracl", section="Wins")
    (figure,) = (json.loads(found.proto.spec) for found in app.get("plotly_chart"))
    order = list(app.dataframe[0].value["system"])
    assert [label.replace("\u2060", "") for label in figure["layout"]["xaxis"]["ticktext"]] == order
    assert len(figure["data"][0]["x"]) == len(order) * (len(order) - 1)


def test_prices_are_drawn_and_behind_columns_where_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "price" not in pages.open_page("leaderboard", arena="nomiracl", columns="all").dataframe[0].value
    monkeypatch.setattr(
        cards, "system_facts", lambda _, names: {name: SystemFacts(float(k), None) for k, name in enumerate(names)}
    )
    table = pages.open_page("leaderboard", arena="nomiracl", columns="all").dataframe[0].value
    assert "price" in table
    assert "seconds" not in table
    app = pages.open_page("leaderboard", arena="nomiracl", section="Price")
    assert "price" not in app.dataframe[0].value
    (figure,) = (json.loads(found.proto.spec) for found in app.get("plotly_chart"))
    assert len(figure["data"]) == len(table)
