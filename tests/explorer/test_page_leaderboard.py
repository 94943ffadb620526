"""The Leaderboard's what-ifs on the page: offered where they mean something, kept in the link, told what they move."""

from functools import partial
from pathlib import Path

import pytest
from arena_writer import write_arena
from board_cases import board_of
from streamlit.testing.v1 import AppTest

import pages
from benchmarks.simulated import simulate_arena
from mirage import open_arena
from mirage.ranking.facts import SystemFacts
from mirage.ranking.judges import LabelJudge
from mirage.views import system_cards as cards
from pages import figures, page_text, read_tables


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    simulation = simulate_arena(
        systems=5, queries=15, languages=["en", "sw"], seed=5, judges=("gpt-4o", "llama-3"), orders=2
    )
    write_arena(module_path / "two", dict(simulation.tables))
    single = simulate_arena(systems=4, queries=10, languages=["en"], seed=6)
    write_arena(module_path / "single", dict(single.tables))
    return module_path


open_page = partial(pages.open_page, "leaderboard")


def keys(app: AppTest) -> set[str]:
    groups = (app.selectbox, app.multiselect, app.get("button_group"))
    return {str(widget.key) for group in groups for widget in group if widget.key}


def test_a_link_restores_every_choice_and_says_what_it_moves(arenas: Path) -> None:
    link = {"judge": "pooled", "own": "left-out", "without": "OpenAI", "control": "language", "arena": "two"}
    app = open_page(**link)
    assert "Compared with the default ranking" in page_text(app)
    assert app.session_state["without"] == "OpenAI"
    assert "1,200 verdicts by 2 judges on 5 systems" in page_text(app)


def test_makers_of_judges_are_offered_for_a_pool_alone(arenas: Path) -> None:
    assert "without" in keys(open_page(arena="two", judge="pooled"))
    assert "without" not in keys(open_page(arena="two", judge="gpt-4o"))


def test_style_is_not_offered_with_ties_by_a_model(arenas: Path) -> None:
    assert "control" in keys(open_page(arena="two", judge="gpt-4o"))
    app = open_page(arena="two", judge="gpt-4o", ties="davidson", control="language")
    assert "control" not in keys(app)


def test_a_choice_that_leaves_no_battle_is_answered_with_the_plain_ranking(arenas: Path) -> None:
    app = open_page(arena="single", battles="consistent")
    assert "no battle is left to rate" in page_text(app)
    assert len(app.dataframe) == 1


def test_the_first_screen_says_what_is_measured_on_how_much_and_of_when() -> None:
    words = page_text(open_page(arena="nomiracl"))
    assert "Does it know when it cannot answer? Truth is not checked." in words
    assert "88,469 real answers of 11 systems (released 2022 to 2024) to 8,045 queries in 17 languages" in words


@pytest.mark.parametrize("page", ["judges", "answers"])
def test_what_the_bundled_arena_lacks_is_one_click_away_in_the_sample(page: str) -> None:
    app = pages.open_page(page, arena="nomiracl")
    app.button(key="open_other").click().run()
    assert not app.exception
    assert app.session_state["arena"] == "sample"
    assert "open_other" not in {button.key for button in app.button}


def test_who_made_a_system_and_when_is_in_the_table_where_it_is_known() -> None:
    app = open_page(arena="nomiracl")
    (board,) = (frame.value for frame in app.dataframe if "rating" in frame.value.columns)
    first = board.set_index("system").loc["aya-101"]
    assert first["failed"] > 0, "failed answers take the place of the maker"
    assert first["rating"] == pytest.approx(48.2, abs=0.05), "a win rate in percent"
    every = open_page(arena="nomiracl", columns="all").dataframe[0].value
    first = every.set_index("system").loc["aya-101"]
    assert (first["organisation"], first["licence"], first["released"]) == ("Cohere", "Apache-2.0", "2024-02")
    assert "price_out" not in every.columns, "no system has a known price"
    assert {"best", "wins"} <= set(every.columns) - set(board.columns)


def drawer(app: AppTest) -> list[list[dict[str, str]]]:
    """The tables on the chosen system."""
    heads = ("Language", "Against", "Error")
    return [rows for rows in read_tables(app) if next(iter(rows[0])) in heads]


def test_a_system_of_the_link_shows_its_ratings_opponents_and_errors() -> None:
    app = open_page(arena="nomiracl", system="aya-101")
    ratings, opponents, errors = drawer(app)
    assert ratings[0]["Language"] == "All languages"
    assert {row["Language"] for row in ratings} >= {"Arabic", "Telugu"}
    assert (ratings[0]["Rank"], ratings[0]["Win rate"]) == ("6 (5–6)", "48.2%")
    assert len(opponents) == 6
    assert all(int(row["n"].replace(",", "")) > 0 for row in (*opponents, *errors))
    assert len(errors) == 2
    assert "leaderboard?system=gpt-4-azure&amp;arena=nomiracl" in pages.html(app)
    one = open_page(arena="nomiracl", system="aya-101", languages="te")
    assert len(drawer(one)) == 2, "the only language is in the table above"


def test_without_a_choice_or_with_an_unknown_system_none_is_shown() -> None:
    assert not drawer(open_page(arena="nomiracl"))
    app = open_page(arena="nomiracl", system="nobody")
    assert "Unknown value in the link" in page_text(app)
    assert not drawer(app)


def test_systems_whose_rank_interval_begins_at_1_are_marked() -> None:
    table = open_page(arena="nomiracl", columns="all").dataframe[0].value.set_index("system")
    assert [name for name, mark in table["best"].items() if mark in ("best", "tied")] == ["gpt-4-azure"]
    link = {"arena": "nomiracl", "languages": "de", "columns": "all"}
    tied = open_page(**link).dataframe[0].value.set_index("system")
    german = board_of(open_arena("nomiracl"), LabelJudge(), ("de",))
    begins = {row["system"] for row in german.rows.to_pylist() if row["rank_low"] == 1}
    assert len(begins) > 1
    assert {name for name, mark in tied["best"].items() if mark == "tied"} == begins


def test_prices_are_drawn_and_behind_columns_where_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "price" not in open_page(arena="nomiracl", columns="all").dataframe[0].value
    monkeypatch.setattr(
        cards, "system_facts", lambda _, names: {name: SystemFacts(float(k), None) for k, name in enumerate(names)}
    )
    table = open_page(arena="nomiracl", columns="all").dataframe[0].value
    assert "price" in table
    assert "seconds" not in table
    app = open_page(arena="nomiracl", section="Chart")
    assert "price" not in app.dataframe[0].value
    _, figure = figures(app).values()
    assert len(figure["data"]) == len(table)
