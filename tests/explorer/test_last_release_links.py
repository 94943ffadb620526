"""Links as release 0.1.0 wrote them open the same pages with the same choices, on an arena that it wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT

from pages import open_page

LINKS = {
    "leaderboard": {"languages": "sw", "skill": "abstain"},
    "hallucination": {"languages": "sw", "definition": "as-published", "parser": "published"},
    "battle": {"languages": "sw", "referee": "heuristic", "a": "baseline/lead", "b": "baseline/bm25"},
    "compare": {"languages": "sw", "by": "rate", "a": "baseline/lead", "b": "baseline/bm25", "margin": "0.1"},
    "decide": {"languages": "sw", "counts": "rate", "open_weights": "open", "budget": "5"},
    "answers": {"languages": "sw", "subset": "non_relevant", "outcome": "abstained", "parser": "published"},
    "features": {"languages": "sw"},
    "judges": {"languages": "sw", "measure": "tie"},
    "spot_check": {"languages": "sw"},
    "nuggets": {"languages": "sw"},
    "surrogate": {"languages": "sw"},
    "your_model": {"languages": "sw"},
    "methods": {"languages": "sw", "search": "judge"},
}


@pytest.fixture
def old_arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An explorer on the arena of that release."""
    shutil.copytree(ROOT / "tests" / "golden" / "release-0.1.0" / "arena", tmp_path / "arenas" / "arena")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path / "arenas"))
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("old_arena")
@pytest.mark.parametrize("name", LINKS)
def test_a_link_opens_its_page_with_its_choices(name: str) -> None:
    page = open_page(name, arena="arena", **LINKS[name])
    kinds = (page.selectbox, page.multiselect, page.segmented_control, page.pills, page.radio, page.text_input)
    chosen = [value for kind in kinds for element in kind for value in [element.value]]
    flat = {str(item) for value in chosen for item in (value if isinstance(value, list) else [value])}
    asked = {value for key, value in LINKS[name].items() if key not in ("margin", "budget")}
    assert asked - flat == set(), flat
