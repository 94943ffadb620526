"""A published board in a browser, opened from disk: whole without a script, alone, readable aloud, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import browser
import pytest
from board_cases import HOSTILE, make_arena

from mirage.explorer.site.publishing import publish

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# Without `preload`, which fetches the style sheet: a page from disk may not.
RUN = """async () => (await axe.run(document, {resultTypes: ["violations"], preload: false})).violations
  .flatMap((v) => v.nodes.map((n) => [v.id, n.html.slice(0, 200), n.failureSummary]))"""
PAGES = ("index", "hallucination", "compare", "battle", "answers", "methods", "answers/en-0001", "records/index")

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("board")
    publish(make_arena(place / "arena"), place / "site", at="2026-11-26T12:00:00+00:00")
    return place / "site"


@pytest.fixture(scope="module")
def start() -> Iterator[Any]:
    with browser.chromium() as start:
        yield start


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_every_page_opens_from_disk_and_reads_aloud(site: Path, start: Any, width: int, scheme: str) -> None:
    opened = start(width=width, scheme=scheme)
    asked: list[str] = []
    opened.page.on("request", lambda request: asked.append(request.url))
    for name in PAGES:
        opened.page.goto(f"{site.as_uri()}/{name}.html")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} scrolls sideways"
        opened.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        opened.page.evaluate(AXE)
        assert opened.page.evaluate(RUN) == [], name
    assert [url for url in asked if not url.startswith((site.as_uri(), "data:"))] == []
    assert opened.errors == []
    assert opened.dialogs == []


def test_the_script_sorts_filters_and_searches(site: Path, start: Any) -> None:
    page = start().page
    page.set_default_timeout(20_000)
    page.goto(f"{site.as_uri()}/index.html")
    table = page.locator("table.sorts").first
    names = table.locator("tbody th").all_inner_texts()
    table.get_by_role("button", name="Rating").click()
    assert table.locator("tbody th").all_inner_texts() == names[::-1]
    table.locator("tbody a").first.click()
    assert page.locator("details[open] table").count() == 1
    page.goto(f"{site.as_uri()}/answers.html")
    page.get_by_label("Search the queries").fill("عربي")
    page.locator("#found a").first.click()
    assert HOSTILE in page.locator("article h2").first.inner_text()
    assert page.locator("article h2").first.get_attribute("lang") == "en"


def test_a_page_is_whole_without_a_script(site: Path, start: Any) -> None:
    context = start().page.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/index.html")
    assert "gpt-4 ranks first of 4 systems" in page.inner_text("main")
    page.click("nav >> text=Answers")
    page.click("ul.pages a >> nth=0")
    assert "The castle was built in 1902" in page.inner_text("main")
    context.close()
