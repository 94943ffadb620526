"""The retrievers of an arena on Hallucination > Errors: measured, and named where nothing can be measured."""

from pathlib import Path

import pytest
import small_arena
import whole_systems
from arena_writer import write_arena
from streamlit.testing.v1 import AppTest

import pages
from mirage import schema
from mirage.errors import NotEnoughData
from mirage.store.arena import Arena
from mirage.views.retrieval import retrieval_view
from pages import page_text


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    return whole_systems.write(module_path / "whole")[0]


def open_page(monkeypatch: pytest.MonkeyPatch, path: Path, **params: str) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(path))
    return pages.open_page("hallucination", arena=path.name, **params)


def test_an_arena_without_a_retriever_has_no_such_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(monkeypatch, small_arena.write(tmp_path).path, section="Errors")
    assert "Retrievers" not in page_text(app)


def test_without_labels_the_reason_stands_there(arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passages = arena.read("passages")
    unlabelled = schema.from_columns(
        "passages", {name: passages[name] for name in passages.column_names if name != "relevant"}
    )
    tables = {name: arena.read(name) for name in ("queries", "retrieved")}
    bare = write_arena(tmp_path / "bare", {**tables, "passages": unlabelled})
    with pytest.raises(NotEnoughData):
        retrieval_view(bare)
    assert "Not measured" in page_text(open_page(monkeypatch, bare.path))


def test_a_run_alone_is_measured_on_a_page_that_lacks_all_else(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {name: arena.read(name) for name in ("queries", "passages", "retrieved")}
    write_arena(tmp_path / "run", tables)
    app = open_page(monkeypatch, tmp_path / "run")
    assert any("retriever" in frame.value.columns for frame in app.dataframe)
