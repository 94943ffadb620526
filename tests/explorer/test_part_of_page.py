"""A click on a page runs the page's own part: what the explorer sends then, and when it must send all again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import small_arena
from browser import Opened, show

pytestmark = pytest.mark.browser

FRAME = {"navigation", "logo"}
"""Messages that come with every whole run, and with no other."""


class Ear:
    """What the explorer sent since it was last emptied."""

    def __init__(self, opened: Opened) -> None:
        self.kinds: set[str] = set()
        self.fragments: set[str] = set()
        opened.page.on("websocket", lambda link: link.on("framereceived", self._hear))

    def _hear(self, raw: bytes | str) -> None:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        if isinstance(raw, bytes):
            message = ForwardMsg.FromString(raw)
            self.kinds.add(str(message.WhichOneof("type")))
            if message.WhichOneof("type") == "delta":
                self.fragments.add(message.delta.fragment_id)

    def empty(self) -> None:
        self.kinds.clear()
        self.fragments.clear()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One arena that stays as it is, and one that a test replaces."""
    folder = tmp_path_factory.mktemp("arenas")
    for name in ("small", "replaced"):
        small_arena.write(folder, name)
    return folder


@pytest.fixture
def opened(start: Callable[..., Opened], url: str) -> Iterator[Opened]:
    opened = start()
    yield opened
    assert opened.heard == ([], [], [])
    opened.page.close()


def skill(opened: Opened, name: str) -> None:
    """Pick a skill on the Leaderboard, and wait for what comes of it."""
    opened.page.get_by_role("radio", name=name, exact=True).click()
    opened.settle()


def summary(page: Any) -> str:
    text: str = page.locator(".mg-summary").inner_text()
    return text


def test_a_click_on_a_page_sends_that_page_without_its_frame(opened: Opened, url: str) -> None:
    ear = Ear(opened)
    page = show(opened, f"{url}/?arena=small")
    assert ear.kinds >= FRAME
    before = summary(page)
    ear.empty()
    skill(opened, "unanswerable")
    assert not ear.kinds & FRAME
    assert len(ear.fragments) == 1
    assert "" not in ear.fragments
    assert summary(page) != before
    assert parse_qs(urlsplit(page.url).query)["skill"] == ["abstain"]
    ear.empty()
    page.get_by_role("link", name="Methods", exact=True).click()
    opened.settle()
    assert ear.kinds >= FRAME


def test_a_click_finds_an_arena_that_was_replaced(opened: Opened, url: str, folder: Path) -> None:
    ear = Ear(opened)
    page = show(opened, f"{url}/?arena=replaced")
    tables = page.locator(".st-key-frame_contents")
    before = tables.inner_text()
    small_arena.write(folder, "replaced", tables=("outcomes", "judgments"), seed=9)
    ear.empty()
    skill(opened, "unanswerable")
    assert ear.kinds >= FRAME, "all ran again"
    assert tables.inner_text() != before


def test_a_browser_keeps_the_frame_from_page_to_page(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/?arena=small")
    # Not Share: where a page comes in several pieces, as on a busy machine, a popover may be mounted again.
    kept = ".st-key-frame_head, .st-key-frame_watch, [data-testid=stSidebar] .st-key-arena"
    style = "style:not([data-emotion])"
    mark = "nodes => nodes.map(node => { node.dataset.seen = 'yes' }).length"
    marked = page.locator(kept).evaluate_all(mark)
    assert marked >= 3
    assert page.locator(style).evaluate_all(f"nodes => ({mark})(nodes.filter(n => n.textContent.includes('.mg-page')))")
    for title in ("Methods", "Hallucination"):
        page.get_by_role("link", name=title, exact=True).click()
        page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
        opened.settle()
        assert page.locator(":is(" + kept + ")[data-seen]").count() == marked
        assert page.locator("style[data-seen]").count() == 1
        assert page.locator(".st-key-frame_head .mg-page").count() == 1


def test_what_is_downloaded_after_a_click_is_what_the_click_left(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/?arena=small")
    skill(opened, "unanswerable")
    skill(opened, "answerable")
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="JSON", exact=True).click()
    facts = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))["about"]
    assert facts["skill"] == "answer"
    assert facts["languages"] == sorted(facts["languages"])
