"""Every chart of every section of every page on the bundled arenas, drawn by a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import browser
import pytest
from browser import Opened, show

from mirage import store
from mirage.explorer.kit.entries import HOME, PAGES

pytestmark = pytest.mark.browser

Start = Callable[..., Opened]
CHARTS = """() => [...document.querySelectorAll("[data-testid=stPlotlyChart]")].map((box) => {
  const layers = box.querySelectorAll(".main-svg :is(.trace, .points)")
  return [box.getAttribute("aria-label") ?? box.textContent.slice(0, 80), layers.length,
    box.querySelectorAll(".main-svg :is(.trace, .points) path").length]
})"""
"""Of every chart: its name, its traces, and the marks in it."""


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with browser.chromium() as start:
        yield start


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.server(MIRAGE_HOME=str(tmp_path_factory.mktemp("home")), MIRAGE_AHEAD="0") as url:
        yield url


def charts(page: Any) -> list[list[Any]]:
    """Return what `CHARTS` says of the page once all of them are drawn, or after a while."""
    for _ in range(40):
        found: list[list[Any]] = page.evaluate(CHARTS)
        if all(marks for *_, marks in found):
            break
        page.wait_for_timeout(250)
    return found


@pytest.mark.parametrize("arena", sorted(store.bundled_arenas()))
def test_every_chart_of_every_section_is_drawn(start: Start, url: str, arena: str) -> None:
    opened = start()
    page = show(opened, f"{url}/?arena={arena}")
    total = 0
    for entry in PAGES:
        if entry.name != HOME:
            page.locator("[data-testid=stSidebarNav]").get_by_role("link", name=entry.title, exact=True).click()
            page.get_by_role("heading", level=1, name=entry.title, exact=True).wait_for()
            opened.settle()
        group = page.get_by_role("radiogroup", name="Section")
        sections = group.get_by_role("radio").all_inner_texts() if group.count() else [""]
        for k, section in enumerate(sections):
            if k:  # the first is open
                group.get_by_role("radio", name=section, exact=True).click()
                opened.settle()
            for name, traces, marks in charts(page):
                assert traces, (entry.name, section, name)
                assert marks, (entry.name, section, name)
                total += 1
            assert opened.heard == ([], [], []), (entry.name, section)
    assert total > (0 if arena == "published" else 5)
    page.close()
