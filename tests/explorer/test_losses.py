"""Where answers are lost: the causes of a whole arena, what retrieval costs, the picture, the way to the answers."""

from pathlib import Path

import plotly.graph_objects as go
import pytest
import whole_systems
from arena_writer import write_arena

from mirage import open_arena
from mirage.explorer.hallucination import charts
from mirage.publish.charts.palette import Mode
from mirage.stages.retrieve.attribution import CAUSES
from mirage.store.arena import Arena
from mirage.views import causes as attribution
from mirage.views import query_search as answers
from mirage.views.causes import CauseChoice, causes_view
from mirage.views.query import query_view


@pytest.fixture(scope="module")
def planted(module_path: Path) -> tuple[Arena, whole_systems.Planted]:
    return whole_systems.write(module_path / "whole")


def test_every_answer_has_the_cause_that_was_planted(planted: tuple[Arena, whole_systems.Planted]) -> None:
    arena, truth = planted
    entries = attribution.by_answer(arena, "strict")
    assert {key: entry.cause for key, entry in entries.items()} == truth
    assert set(truth.values()) == set(CAUSES)
    for key in list(truth)[:20]:
        assert attribution.of_query(arena, key[:2], "strict")[key[2]] == entries[key], "one query by itself"


def test_what_no_retriever_brought_is_lost_by_no_one_else(planted: tuple[Arena, whole_systems.Planted]) -> None:
    arena, _ = planted
    lost = causes_view(arena, CauseChoice(("en", "sw")))
    not_retrieved = {
        row["system"]: row["share"]
        for row in lost.shares.to_pylist()
        if (row["cause"], row["language"]) == ("not_retrieved", "all")
    }
    assert not_retrieved["strong+bm25"] == not_retrieved["weak+bm25"] > not_retrieved["strong+dense"]
    assert lost.systems[0] == "strong+dense"


def test_nomiracl_has_no_retriever_to_blame() -> None:
    arena = open_arena("nomiracl")
    lost = causes_view(arena, CauseChoice(("en", "sw")))
    assert len(lost.systems) == 11
    assert all(row["k"] == 0 for row in lost.shares.to_pylist() if row["cause"] == "not_retrieved")


def test_the_bars_show_each_cause_by_its_share_and_lead_to_it(
    planted: tuple[Arena, whole_systems.Planted], mode: Mode
) -> None:
    lost = causes_view(planted[0], CauseChoice(("en", "sw")))
    rows = [row for row in lost.shares.to_pylist() if row["language"] == "all"]
    figure = charts.cause_shares(rows, systems=lost.systems)
    go.Figure(figure)
    assert {trace["customdata"][0][1] for trace in figure["data"]} == {row["cause"] for row in rows if row["k"]}
    assert [sum(shares) for shares in zip(*(trace["x"] for trace in figure["data"]), strict=True)] == pytest.approx(
        [1] * len(lost.systems)
    )


def test_the_answers_of_a_cause_can_be_looked_for(planted: tuple[Arena, whole_systems.Planted]) -> None:
    arena, truth = planted
    search = answers.AnswerFilter(systems=("weak+bm25",), cause="ignored")
    keys = {key[:2] for key, cause in truth.items() if key[2] == "weak+bm25" and cause == "ignored"}
    selection = answers.find_queries(arena, search)
    assert set(selection.keys) == keys
    assert selection.answers == len(keys)
    key = next(iter(sorted(keys)))
    (view,) = (view for view in query_view(arena, key, "strict").answers if view.system == "weak+bm25")
    assert view.cause.cause == "ignored"


def test_an_arena_without_labels_says_so(tmp_path: Path) -> None:
    arena, _ = whole_systems.write(tmp_path / "a", queries=4)
    tables = {name: arena.read(name) for name in ("queries", "answers", "outcomes")}
    bare = write_arena(tmp_path / "bare", tables)
    lost = causes_view(bare, CauseChoice(("en", "sw")))
    # What the subset says is all that is known: no retriever can be blamed.
    assert all(row["k"] == 0 for row in lost.shares.to_pylist() if row["cause"] == "not_retrieved")
