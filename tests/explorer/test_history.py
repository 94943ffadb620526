"""Back and the address: one press leads to the page before, the choice is still there, and no key comes twice."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from browser import Opened, show


@pytest.mark.browser
def test_one_press_of_back_leads_to_the_page_before_with_its_choice(start: Callable[..., Opened], url: str) -> None:
    opened = start()
    page = show(opened, f"{url}/?arena=sample&languages=te")
    page.wait_for_selector("[data-testid=stDataFrame] canvas")
    opened.settle()
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 120, box["y"] + 105)
    for label, title in (("Hallucination and error rates", "Hallucination"), ("Read its answers", "Answers")):
        page.get_by_text(label).first.click()
        page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=title)
        opened.settle()
        pairs = parse_qs(urlsplit(page.url).query)
        assert all(len(values) == len(set(values)) for values in pairs.values()), page.url
        page.go_back()
        page.wait_for_function("document.querySelector('h1')?.innerText === 'Leaderboard'")
        opened.settle()
        page.get_by_text("Hallucination and error rates").first.wait_for()
