"""Nuggets against systems on the pages Answers and Battle: what is assigned, by whom, and nothing of it as markup."""

from pathlib import Path

import pytest
import whole_systems
from arena_writer import write_arena

from mirage import schema
from mirage.stages.nuggets.terms import TERMS
from mirage.store.arena import Arena
from mirage.views.query import of_systems, query_view
from pages import headings, open_page

HOSTILE = "<script>alert(1)</script> & \u202e"
KEY = ("en", "q001")
SYSTEMS = ("strong+bm25", "weak+bm25")


def nugget(nugget_id: str, importance: schema.NuggetImportance = "okay") -> schema.Nugget:
    return schema.Nugget(*KEY, nugget_id, f"{HOSTILE} {nugget_id}", importance, "d1#0", HOSTILE)


def assigned(
    nugget_id: str, assigner: str, assignment: schema.Assignment | None, system: str = SYSTEMS[0]
) -> schema.NuggetAssignment:
    quote, reason = (HOSTILE, None) if assignment else (None, "the reply could not be read")
    return schema.NuggetAssignment(*KEY, system, nugget_id, assigner, assignment, quote, reason, None)


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    arena, _ = whole_systems.write(module_path / "whole", queries=4)
    rows = [
        assigned("n1", "model", "support"),
        assigned("n2", "model", "partial_support"),
        assigned("n3", "model", None),
        assigned("n1", "model", "not_support", SYSTEMS[1]),
        *(assigned(name, TERMS, "not_support", system) for name in ("n1", "n2", "n3") for system in SYSTEMS),
    ]
    tables = {
        "nuggets": [nugget("n1"), nugget("n2", "vital"), nugget("n3")],
        "nugget_assignments": rows,
    }
    return write_arena(arena.path, tables)


def test_vital_nuggets_come_first_and_a_model_counts_before_the_floor(arena: Arena) -> None:
    query = query_view(arena, KEY)
    shown = query.nuggets
    assert shown is not None
    assert [row.nugget.nugget_id for row in shown.rows] == ["n2", "n1", "n3"]
    assert shown.assigner == "model"
    assert shown.systems == SYSTEMS
    by_id = {row.nugget.nugget_id: row.assignments for row in shown.rows}
    assert by_id["n1"][SYSTEMS[0]].assignment == "support"
    assert by_id["n3"][SYSTEMS[0]].assignment is None
    assert SYSTEMS[1] not in by_id["n2"]
    of_two = of_systems(query, (SYSTEMS[1],)).nuggets
    assert of_two.systems == (SYSTEMS[1],)
    assert query_view(arena, ("en", "q002")).nuggets is None


@pytest.mark.parametrize(
    ("page", "params"),
    [
        ("answers", {"query": "en:q001"}),
        ("battle", {"query": "en:q001", "a": SYSTEMS[0], "b": SYSTEMS[1]}),
    ],
)
def test_the_matrix_is_on_the_page_of_a_query(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, page: str, params: dict[str, str]
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path))
    assert "3 nuggets, 1 vital" in headings(open_page(page, arena="whole", **params))


def test_a_bank_without_assignments_names_the_command(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {name: arena.read(name) for name in ("queries", "passages", "answers", "outcomes", "nuggets")}
    write_arena(tmp_path / "bank", tables)
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path / "bank"))
    app = open_page("answers", arena="bank", query="en:q001")
    assert any("mirage measure nuggets" in code.value for code in app.code)
