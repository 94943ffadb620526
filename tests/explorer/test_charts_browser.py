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
CHARTS = """() => {
  const drawings = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
    .map(({ shadowRoot }) => shadowRoot?.querySelector(".drawing")).filter(Boolean)
    .map((root) => {
      const field = root.querySelector(".field")
      const paths = [...field?.querySelectorAll("svg .marks path") ?? []]
      const drawn = paths.reduce((n, path) => n + path.getAttribute("d").split("M").length - 1, 0)
      const alone = field?.children.length === 1 && field.firstElementChild.tagName === "svg"
      return [root.getAttribute("aria-label"), alone, drawn, JSON.parse(root.json ?? '{"marks": []}').marks.length]
    })
  const plots = [...document.querySelectorAll("[data-testid=stPlotlyChart]")].map((box) => {
    const marks = box.querySelectorAll(".main-svg :is(.trace, .points) path").length
    return [box.getAttribute("aria-label") ?? box.textContent.slice(0, 80), marks > 0, marks, 1]
  })
  return [...drawings, ...plots]
}"""
"""Of every chart: its name, whether all of it is in one picture, marks in the picture, marks that it should have."""


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
        drawings: list[list[Any]] = page.evaluate(CHARTS)
        if all(whole and drawn >= due for _, whole, drawn, due in drawings):
            break
        page.wait_for_timeout(250)
    return drawings


@pytest.mark.parametrize("arena", sorted(store.bundled()))
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
            for name, whole, drawn, due in charts(page):
                assert whole, (entry.name, section, name)
                assert drawn >= due, (entry.name, section, name)
                assert drawn > 0, (entry.name, section, name)
                total += 1
            assert opened.heard == ([], [], []), (entry.name, section)
    assert total > (0 if arena == "published" else 5)
    page.close()
