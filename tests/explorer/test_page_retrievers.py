"""The retrievers of an arena on the Leaderboard: measured, drawn, and named where nothing can be measured."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go
import pytest
import whole_systems
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

import mirage
from mirage import schema, store
from mirage.explorer.leaderboard import retrieval as views
from mirage.explorer.leaderboard.retrieval_chart import recall_curves
from mirage.explorer.leaderboard.retrieval_section import HELP
from mirage.publish.charts.palette import Mode
from mirage.stages.retrieve.measures import MEASURES
from pages import page_text


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    return whole_systems.write(tmp_path_factory.mktemp("retrievers") / "whole")[0]


def open_page(monkeypatch: pytest.MonkeyPatch, path: Path, **params: str) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(path))
    app = AppTest.from_file(ROOT / "pages" / "leaderboard.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": path.name, **params})
    return app.run()


def test_the_table_has_what_python_gives(arena: store.Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(monkeypatch, arena.path, retrieval_in="sw")
    assert not app.exception
    (table,) = (frame.value for frame in app.dataframe if "retriever" in frame.value.columns)
    assert list(table["retriever"]) == ["dense", "bm25", "given"], "who did not have to retrieve comes last"
    rows = mirage.retrieval_measures(arena).to_pandas()
    for retriever in ("dense", "bm25"):
        own = rows[(rows.language == "sw") & (rows.retriever == retriever)].set_index("measure")
        for measure in MEASURES:
            shown = table.set_index("retriever").loc[retriever, measure]
            assert shown == pytest.approx(own.loc[measure, "mean"])
    assert set(HELP) == set(MEASURES)


def test_systems_stand_beside_the_retriever_that_served_them(arena: store.Arena) -> None:
    shown = views.retrieval(arena, ("en", "sw"))
    assert shown is not None
    assert shown.systems["bm25"] == ("strong+bm25", "weak+bm25")


def test_an_arena_without_a_retriever_has_no_such_section(monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.bundled_arenas()["nomiracl"]
    assert views.retrieval(store.open_arena(path), ("en",)) is None


def test_without_labels_the_reason_stands_there(arena: store.Arena, tmp_path: Path) -> None:
    passages = arena.read("passages")
    unlabelled = schema.from_columns(
        "passages", {name: passages[name] for name in passages.column_names if name != "relevant"}
    )
    tables = {name: arena.read(name) for name in ("queries", "retrieved")}
    bare = store.write(tmp_path / "bare", {**tables, "passages": unlabelled}, made_by="a test")
    shown = views.retrieval(bare, ("en", "sw"))
    assert shown is not None
    assert shown.reason


def test_a_run_alone_is_measured_on_a_page_that_lacks_all_else(
    arena: store.Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {name: arena.read(name) for name in ("queries", "passages", "retrieved")}
    store.write(tmp_path / "run", tables, made_by="a test")
    app = open_page(monkeypatch, tmp_path / "run")
    assert not app.exception
    assert any("retriever" in frame.value.columns for frame in app.dataframe)
    assert "dense ranks best" in page_text(app)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_curves_rise_and_say_their_intervals(arena: store.Arena, mode: Mode) -> None:
    shown = views.retrieval(arena, ("en", "sw"))
    assert shown is not None
    rows = schema.from_rows(type(shown.means[0]), [row for row in shown.means if row.language == "all"]).to_pylist()
    figure = recall_curves(rows, retrievers=shown.retrievers, cutoffs=views.CURVE, mode=mode)
    go.Figure(figure)
    assert [trace["name"] for trace in figure["data"]] == list(shown.retrievers)
    for trace in figure["data"]:
        assert list(trace["y"]) == sorted(trace["y"])
        assert all("95%" in hover for hover in trace["hovertext"])
