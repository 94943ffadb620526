"""What the Leaderboard, its report and `mirage rank` make of ends without a bound, of a reference, and of designs."""

import csv
import io
import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import odd_arena
import pyarrow as pa
import pytest
from board_cases import board_of
from commands import mirage
from odd_arena import RARE, UNBEATEN, WINLESS

import pages
from mirage.explorer.kit.table import Col, interval_images
from mirage.publish.charts import leaderboard as charts
from mirage.ranking.board import rank_arena
from mirage.ranking.compare.comparing import compare_ratings
from mirage.ranking.judges import VerdictJudge
from mirage.ranking.settings import RankSettings
from mirage.store.arena import Arena, open_arena
from mirage.views.board import BoardView
from pages import page_text


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    return odd_arena.write(module_path / "odd").path.parent


@pytest.fixture(scope="module")
def odd(folder: Path) -> Arena:
    return open_arena(folder / "odd")


@pytest.fixture(scope="module")
def board(odd: Arena) -> BoardView:
    return board_of(odd, VerdictJudge("gpt-4o"), ("en",))


def by_system(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["system"]: row for row in rows}


# The board


def test_a_win_rate_is_the_expected_share_against_the_average_or_the_reference(board: BoardView) -> None:
    for reference in (None, "sim-05"):
        for logits, rate in zip(
            board.shown_rows(reference).to_pylist(), board.shown_rows(reference, "win-rate").to_pylist(), strict=True
        ):
            assert rate["rating"] == pytest.approx(1 / (1 + math.exp(-logits["rating"])))
            assert (rate["low"] is None) == (logits["low"] is None)
    assert by_system(board.shown_rows("sim-05", "win-rate").to_pylist())["sim-05"]["rating"] == 0.5


def test_every_door_makes_one_statement_about_a_rank_and_a_pair_pitfall_164(odd: Arena, board: BoardView) -> None:
    ranking = rank_arena(odd, VerdictJudge("gpt-4o"), RankSettings(languages=("en",))).ranking
    page, table = (by_system(rows) for rows in (board.shown_rows().to_pylist(), ranking.table().to_pylist()))
    names = ("rank", "rank_low", "rank_high", "best")
    assert {s: [row[name] for name in names] for s, row in page.items()} == {
        s: [row[name] for name in names] for s, row in table.items()
    }
    for first in page:
        for second in page.keys() - {first}:
            row = compare_ratings(ranking, first, second, moved=0).overall
            excludes = (row.low is not None and row.low > 0) or (row.high is not None and row.high < 0)
            assert excludes == (row.p <= 0.05)
        better = ranking.tests["en"].better
        k = ranking.tests["en"].systems.index(first)
        signs = (better[k].astype(int) - better[:, k]).tolist()
        signs.pop(k)
        assert (page[first]["rank_low"], page[first]["rank_high"]) == (1 + signs.count(-1), len(page) - signs.count(1))


def test_the_download_holds_the_differences_of_every_language(odd: Arena) -> None:
    board = board_of(odd, VerdictJudge("gpt-4o"), ("en", "sw"))
    table = board.all_rows(RARE).to_pylist()
    for row in table:
        ranked = row["language"] == "en"
        assert (row["difference"] is not None) == ranked, "the rare system is ranked in English alone"


# Charts, tables, report


def ends(figure: dict[str, Any], system: str) -> tuple[float, float, float]:
    for trace in figure["data"]:
        for k, (name, *_) in enumerate(trace["customdata"]):
            if name == system and "error_x" in trace:
                return trace["x"][k], trace["error_x"]["arrayminus"][k], trace["error_x"]["array"][k]
    raise AssertionError(system)


def test_a_whisker_without_a_bound_runs_to_the_edge_and_says_so(board: BoardView, mode: Any) -> None:
    figure = charts.whiskers(board.shown_rows().to_pylist())
    json.dumps(figure, allow_nan=False)
    low, high = figure["layout"]["xaxis"]["range"]
    value, down, up = ends(figure, UNBEATEN)
    assert value + up > high
    assert value - down > low
    value, down, up = ends(figure, WINLESS)
    assert value - down < low
    assert value + up < high
    hovers = [text for trace in figure["data"] for text in trace["text"]]
    assert any(UNBEATEN in text and "no upper bound" in text for text in hovers)
    assert any(WINLESS in text and "no lower bound" in text for text in hovers)


def test_an_interval_without_an_end_is_drawn_to_the_edge_only_where_asked() -> None:
    rows = pa.table({"value": [1.0, 0.0], "low": [0.5, -1.0], "high": [None, 1.0]})
    column = Col("value", "Value", "interval", low="low", high="high")
    plain, open_ = (interval_images(rows, replace(column, endless=endless))[0] for endless in (False, True))
    assert open_ is not None
    assert "rect" not in plain
    assert "rect" in open_


# The page


open_page = partial(pages.open_page, "leaderboard", arena="odd", judge="gpt-4o")


def test_a_link_restores_the_reference_and_the_scale(arenas: Path, odd: Arena) -> None:
    page = open_page(languages="en", leaderboard_against="sim-05", scale="arena")
    assert (page.session_state["leaderboard_against"], page.session_state["scale"]) == ("sim-05", "arena")
    table = page.dataframe[0].value
    values = dict(zip(table["system"], table["rating"], strict=True))
    board = board_of(odd, VerdictJudge("gpt-4o"), ("en",))
    expected = board.ranking.difference("sim-07", "sim-05", language="en").value
    assert values["sim-05"] == 0
    assert values["sim-07"] == pytest.approx(expected * 400 / math.log(10))


def test_a_reference_that_has_no_row_is_named(arenas: Path) -> None:
    page = open_page(leaderboard_against=RARE)
    assert f"there is no system '{RARE}'" in page_text(page)


@pytest.mark.parametrize("link", [{"ties": "drop"}, {"ties": "davidson"}, {"control": "language"}])
def test_every_way_to_rate_takes_a_reference(arenas: Path, link: dict[str, str]) -> None:
    page = open_page(languages="en", leaderboard_against="sim-05", scale="logit", **link)
    table = page.dataframe[0].value
    assert dict(zip(table["system"], table["rating"], strict=True))["sim-05"] == 0


# The command


def test_the_csv_of_rank_leaves_an_end_without_a_bound_empty_and_says_bounded(odd: Arena) -> None:
    result = mirage("rank", odd.path, "--judge", "gpt-4o", "--languages", "en", "--draws", 50, "--format", "csv")
    rows = by_system(list(csv.DictReader(io.StringIO(result.stdout))))
    assert (rows[UNBEATEN]["high"], rows[UNBEATEN]["bounded"]) == ("", "false")
    assert (rows[WINLESS]["low"], rows[WINLESS]["bounded"]) == ("", "false")
    assert rows["sim-05"]["bounded"] == "true"
    assert float(rows[UNBEATEN]["low"]) < float(rows[UNBEATEN]["rating"])
    assert f"{UNBEATEN} (en: no upper bound)" in result.stderr
    assert "ridge" not in result.stderr


def test_rank_adds_the_differences_to_a_reference(odd: Arena) -> None:
    command = ("rank", odd.path, "--judge", "gpt-4o", "--draws", 50, "--reference", "sim-05")
    result = mirage(*command, "--format", "json")
    ranking = rank_arena(odd, VerdictJudge("gpt-4o"), RankSettings(draws=50)).ranking
    for row in json.loads(result.stdout):
        difference = ranking.difference(row["system"], "sim-05", language=row["language"])
        assert (row["difference"], row["difference_low"], row["difference_high"]) == (
            difference.value,
            difference.low,
            difference.high,
        )
    assert "∞" in mirage(*command).stdout
    assert "there is no system 'nobody'" in mirage(*command[:-1], "nobody", code=2).stderr


# Who else reads the ends of a rating's interval


@pytest.mark.parametrize("side", ["low", "high"])
def test_an_interval_of_the_judged_rating_is_half_open_on_the_surrogates_chart(side: str) -> None:
    from mirage.explorer.surrogate.chart import ratings
    from mirage.schema import Prediction

    names = dict.fromkeys(Prediction.__dataclass_fields__)
    point = Prediction(**names | {"system": "a", "rating": 1.0, "judged": 1.5})  # type: ignore[arg-type]
    ends_ = (None, 2.0) if side == "low" else (1.0, None)
    rated, _ = ratings([point], {"a": ends_}, judge="j")["data"]
    reach = (rated["error_x"]["arrayminus"], rated["error_x"]["array"])
    assert reach == (([0], [0.5]) if side == "low" else ([0.5], [0]))
    assert ("no lower bound" if side == "low" else "no upper bound") in rated["text"][0]
