"""A manifest that somebody has tampered with is an error of that one arena, whatever is in it."""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from arena_writer import make_answer, make_query
from commands import mirage
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from mirage import schema
from mirage.errors import ArenaError, MirageError
from mirage.store import arena as arenas
from mirage.store import copies, runs, writing
from mirage.store import manifest as manifests
from mirage.store.arena import open_arena, reopen
from mirage.store.runs import settings_of
from mirage.store.writing import Provenance

PATHS = [
    "queries/a\0b.parquet",
    "/etc/passwd",
    "../other/manifest.json",
    "queries/../../x",
    "x" * 300,
    "queries/" + "y" * 5000,
    "\ud800",
    "",
    ".",
    "queries",
    "manifest.json",
    "/dev/zero",
    "nul\n",
]


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    rows = {
        "queries": [make_query("en", "q0", "relevant", "Why?")],
        "answers": [make_answer("en", "q0", "one", "So.")],
    }
    tables = {name: schema.from_rows(name, part) for name, part in rows.items()}
    writing.write(tmp_path / "arenas" / "bad", tables, made_by=Provenance("a test", notes=["a note"]))
    copies.copy(open_arena(tmp_path / "arenas" / "bad"), tmp_path / "arenas" / "good")
    return tmp_path / "arenas" / "bad"


def places(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a JSON document."""
    paths = [before] if before else []
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        paths += places(part, (*before, key))
    return paths


def use(path: Path) -> None:
    """What pages and commands ask of an arena."""
    arena = open_arena(path)
    reopen(path)
    for table in arena.tables:
        arena.rows(table), arena.languages(table), arena.command(table), runs.runs(arena, table)
        arena.manifest["made"][table]["notes"].copy(), settings_of(arena, table, "heuristic")
    f"{arena.title} {arena.label} {arena.size:,}".encode()
    arenas.check(arena)


ODD = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text() | st.sampled_from(PATHS)
VALUES = st.recursive(ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_a_manifest_is_an_error_of_ours_or_none(arena: Path, data: st.DataObject) -> None:
    file = arena.parent / "good" / manifests.NAME
    whole = file.read_text("utf-8")
    manifest = json.loads(whole)
    *way, last = data.draw(st.sampled_from(places(manifest)))
    part = manifest
    for key in way:
        part = part[key]
    if data.draw(st.booleans()):
        part[last] = data.draw(VALUES)
    else:
        del part[last]
    (arena / manifests.NAME).write_text(json.dumps(manifest), "utf-8")
    with suppress(MirageError):
        use(arena)
    use(arena.parent / "good")


@pytest.mark.parametrize("name", PATHS)
def test_a_path_that_is_none_is_refused_by_every_door(arena: Path, name: str) -> None:
    manifest = json.loads((arena / manifests.NAME).read_bytes())
    manifest["tables"]["queries"][0]["path"] = name
    (arena / manifests.NAME).write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ArenaError):
        open_arena(arena)
    result = mirage("check", arena, code=2)
    assert "to do:" in result.output
    mirage("check", arena.parent / "good")


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfe\x00\xd8",
        b"[" * 100_000,
        b'{"format": 1' + b"1" * 5000 + b"}",
        b"null",
        b" " * (manifests.LARGEST + 1),
        "{}".encode("utf-16"),
    ],
    ids=["not UTF-8", "deep", "an endless number", "null", "huge", "UTF-16"],
)
def test_bytes_that_are_no_manifest_are_refused(arena: Path, raw: bytes) -> None:
    (arena / manifests.NAME).write_bytes(raw)
    with pytest.raises(ArenaError, match="manifest"):
        open_arena(arena)


def test_a_link_that_leads_to_itself_is_refused(arena: Path) -> None:
    manifest = json.loads((arena / manifests.NAME).read_bytes())
    shutil.rmtree(arena / "queries")
    (arena / "queries").symlink_to(arena / "queries")
    (arena / manifests.NAME).write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ArenaError):
        open_arena(arena)


def test_pages_show_the_other_arenas_and_name_the_bad_one(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = json.loads((arena / manifests.NAME).read_bytes())
    manifest["tables"]["queries"][0]["path"] = PATHS[0]
    (arena / manifests.NAME).write_text(json.dumps(manifest), "utf-8")
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.parent))
    monkeypatch.setattr(arenas, "bundled_arenas", dict)
    page = AppTest.from_file(ROOT / "pages" / "your_model.py", default_timeout=60).run()
    assert not page.exception
    assert page.session_state["arena"] == "good"
    assert any("bad" in warning.value for warning in page.warning)
