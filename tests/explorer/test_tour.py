"""The guided tour: behind a button, in the browser alone, and gone once it is dismissed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import browser
import pytest
from browser import Opened, show
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage.explorer.kit import PAGES
from mirage.explorer.kit.tour import CARD as ID
from mirage.explorer.kit.tour import STEPS

CARD = f"#{ID}"


def test_five_steps_lead_to_pages_that_are_there() -> None:
    assert len(STEPS) == 5
    assert {page for page, _, _ in STEPS} <= {entry.name for entry in PAGES}
    assert STEPS[0][0] == PAGES[0].name


def test_every_page_has_the_tour_and_none_opens_it() -> None:
    app = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE)
    app.run()
    assert not app.exception
    assert [element.proto.component_name for element in app.sidebar.get("bidi_component")] == ["mirage_tour"]


# In a real browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.server(MIRAGE_HOME=str(tmp_path_factory.mktemp("home"))) as url:
        yield url


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[..., Opened]]:
    with browser.chromium() as start:
        yield start


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_it_leads_from_page_to_page_and_is_dismissed(
    url: str, start: Callable[..., Opened], width: int, scheme: str
) -> None:
    opened = start(width=width, scheme=scheme)
    page = show(opened, url)
    card = page.locator(CARD)
    assert card.count() == 0
    if width < 600:
        page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Take the tour").click()
    titles = {entry.name: entry.title for entry in PAGES}
    for step, (name, title, _) in enumerate(STEPS):
        page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=titles[name])
        opened.settle()
        assert title in card.locator("strong").inner_text()
        box = card.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        if step < len(STEPS) - 1:
            card.locator(".main").click()
    card.locator(".back").click()
    assert STEPS[-2][1] in card.locator("strong").inner_text()
    page.keyboard.press("Escape")
    assert card.count() == 0
    assert opened.heard == ([], [], [])
