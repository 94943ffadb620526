"""What is computed ahead is what the pages open with."""

import shutil
from pathlib import Path

import pytest

from mirage.explorer.kit.page_list import PAGES
from mirage.store import arena as arenas
from mirage.store.arena import open_arena
from mirage.store.cache_files import cache_folder
from mirage.views.warm import warm
from pages import open_page


@pytest.mark.parametrize("name", ["sample-across", "published"])
def test_the_pages_of_a_warmed_arena_compute_no_view(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path))
    # A copy that no other test has opened, so that nothing of it is in memory.
    arena = open_arena(shutil.copytree(arenas.bundled_arenas()[name], tmp_path / "copies" / name))
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path / "copies"))
    warm(arena)
    stored = set(cache_folder().glob("*"))
    assert stored
    for entry in PAGES:
        if entry.is_offered(arena):
            open_page(entry.name, arena=name)
            assert set(cache_folder().glob("*")) <= stored, entry.name
