"""More systems than a chart holds are drawn a page at a time, and the page says so."""

from pathlib import Path

import pytest
import small_arena
from streamlit.testing.v1 import AppTest

from mirage.explorer.kit import chart
from mirage.store import home
from pages import notes, open_page


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An arena of four systems, of which a chart holds two."""
    path = small_arena.write(tmp_path / "arenas").path
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path))
    monkeypatch.setenv("MIRAGE_ARENAS", str(path))
    monkeypatch.setattr(chart, "ROWS", 2)
    return next(name for name, folder in home.all_arenas()[0].items() if folder == path)


def paged(page: AppTest, key: str) -> list[str]:
    """The pages that a picker offers."""
    return next(list(box.options) for box in page.selectbox if box.key == key)


@pytest.mark.parametrize(
    ("name", "key", "link"),
    [
        ("leaderboard", "drawn_ranks", {}),
        ("leaderboard", "drawn_ratings", {"section": "Chart"}),
        ("hallucination", "drawn_rates", {"section": "By language"}),
    ],
)
def test_systems_are_drawn_a_page_at_a_time_pitfall_147(arena: str, name: str, key: str, link: dict[str, str]) -> None:
    first = open_page(name, arena=arena, **link)
    assert paged(first, key) == ["1-2", "3-4"]
    assert any("1-2 of 4" in note for note in notes(first))
    second = open_page(name, arena=arena, **link, **{key: "3-4"})
    assert any("3-4 of 4" in note for note in notes(second))


def test_a_chart_of_too_many_marks_is_told_instead_of_drawn(arena: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chart, "MARKS", 1)
    page = open_page("hallucination", arena=arena)
    assert any("too large" in note for note in notes(page))
    assert page.dataframe
