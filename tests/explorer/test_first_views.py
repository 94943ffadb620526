"""Views that come computed with the bundled arenas: they are what is computed, and belong to one version."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from mirage import store
from mirage.explorer.judges import data as judges
from mirage.store.shipped import shipped


def test_what_is_kept_is_what_is_computed_for_each_bundled_arena_with_judges() -> None:
    arenas = [store.open_arena(path) for path in store.bundled().values()]
    judged = [arena for arena in arenas if {"judgments", "features"} <= set(arena.tables)]
    assert judged
    kept = {arena.name: store.first_view(arena, judges.LENGTH_SLOPES) for arena in judged}
    files = store.list_files(shipped() / "data" / "views", "*")
    assert len(files) == len(judged), "one file for each, and none of another version"
    for arena in judged:
        table = kept[arena.name]
        assert table is not None, f"make sample writes the view of {arena.name}"
        computed = judges.length_slopes(arena)
        assert table.schema.equals(computed.schema)
        for old, new in zip(table.to_pylist(), computed.to_pylist(), strict=True):
            # Draws are in single precision, whose last digits are those of the machine.
            assert old == {name: pytest.approx(v, abs=1e-3) if isinstance(v, float) else v for name, v in new.items()}


def test_a_part_of_an_arena_and_a_changed_one_are_computed() -> None:
    arena = store.open_arena(store.bundled()["sample"])
    assert store.first_view(replace(arena, tags=(("domain", "finance"),)), judges.LENGTH_SLOPES) is None
    assert store.first_view(replace(arena, version="0" * 64), judges.LENGTH_SLOPES) is None
    assert store.first_view(arena, "another_view") is None


def test_views_are_written_in_the_place_of_all_that_were_kept(tmp_path: Path) -> None:
    shutil.copytree(shipped() / "data" / "views", tmp_path / "data" / "views")
    arena = store.open_arena(store.bundled()["sample"])
    changed = replace(arena, version="1" * 64)
    rows = store.first_view(arena, judges.LENGTH_SLOPES)
    assert rows is not None
    with patch("mirage.store.first_views.shipped", lambda: tmp_path):
        (file,) = store.write_first_views(judges.LENGTH_SLOPES, [(changed, rows)])
        again = store.first_view(changed, judges.LENGTH_SLOPES)
        assert store.first_view(arena, judges.LENGTH_SLOPES) is None
    assert again is not None
    assert again.equals(rows)
    assert store.list_files(tmp_path / "data" / "views", "*") == [file]
