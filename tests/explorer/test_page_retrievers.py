"""The retrievers of an arena on Hallucination > Errors: measured, and named where nothing can be measured."""

from __future__ import annotations

from pathlib import Path

import pytest
import whole_systems
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.store import arena as arenas
from mirage.store import writing
from mirage.store.arena import Arena
from mirage.views.retrieval import retrieval_view
from pages import page_text


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return whole_systems.write(tmp_path_factory.mktemp("retrievers") / "whole")[0]


def open_page(monkeypatch: pytest.MonkeyPatch, path: Path, **params: str) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(path))
    app = AppTest.from_file(ROOT / "pages" / "hallucination.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": path.name, **params})
    app.run()
    assert not app.exception
    return app


def test_an_arena_without_a_retriever_has_no_such_table(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(monkeypatch, arenas.bundled_arenas()["nomiracl"], section="Errors")
    assert "Retrievers" not in page_text(app)


def test_without_labels_the_reason_stands_there(arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passages = arena.read("passages")
    unlabelled = schema.from_columns(
        "passages", {name: passages[name] for name in passages.column_names if name != "relevant"}
    )
    tables = {name: arena.read(name) for name in ("queries", "retrieved")}
    bare = writing.write(tmp_path / "bare", {**tables, "passages": unlabelled}, made_by="a test")
    with pytest.raises(NotEnoughData):
        retrieval_view(bare)
    assert "Not measured" in page_text(open_page(monkeypatch, bare.path))


def test_a_run_alone_is_measured_on_a_page_that_lacks_all_else(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {name: arena.read(name) for name in ("queries", "passages", "retrieved")}
    writing.write(tmp_path / "run", tables, made_by="a test")
    app = open_page(monkeypatch, tmp_path / "run")
    assert any("retriever" in frame.value.columns for frame in app.dataframe)
