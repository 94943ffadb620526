"""What a reader waits for in a real browser, on the arena of full size: the first page of a server that has just been
started, the way from page to page, and a vote.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.full_size import full_size
from benchmarks.harness import Row
from benchmarks.load import index_in, server
from mirage.ui.entries import PAGES

STARTS, VOTES = 3, 20
"""Cold starts; votes."""
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
_DONE = "[data-testid=stApp][data-test-script-state=notRunning]"


def drawn(page: Any, title: str) -> None:
    """Wait until a page's heading is there, its script is done and nothing is left to be drawn."""
    page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    page.wait_for_selector(_DONE)
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")


def cold(start: Callable[[], Any], arena: Path, home: Path) -> tuple[float, float]:
    """Seconds from the start of a server until the leaderboard's heading, and all of it, is there."""
    began = time.perf_counter()
    with server(arena, home) as (url, _, _):
        page = start()
        page.goto(f"http://{url}/?arena={arena.name}")
        page.get_by_role("heading", level=1, name=PAGES[0].title, exact=True).wait_for()
        heading = time.perf_counter() - began
        page.locator(".main-svg").first.wait_for()
        page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
        drawn(page, PAGES[0].title)
        taken = time.perf_counter() - began
        page.context.close()
        return heading, taken


def changes(page: Any) -> dict[str, float]:
    """Seconds from a click in the sidebar until the page is drawn, by its name."""
    taken = {}
    for entry in (*PAGES[1:], PAGES[0]):
        link = page.locator("[data-testid=stSidebarNav]").get_by_role("link", name=entry.title, exact=True)
        began = time.perf_counter()
        link.click()
        drawn(page, entry.title)
        taken[entry.title] = time.perf_counter() - began
    return taken


def votes(page: Any, address: str) -> list[float]:
    """Seconds from a key until its vote is acknowledged and the next battle is there."""
    page.goto(address)
    field = page.get_by_role("textbox", name="Your name", exact=True)
    field.fill("a reader")
    field.press("Enter")
    page.get_by_text("0 of").first.wait_for()
    taken = []
    for n in range(1, VOTES + 1):
        drawn(page, "Spot check")
        page.wait_for_timeout(300)  # a reader reads
        began = time.perf_counter()
        page.keyboard.press("123"[n % 3])
        page.get_by_text(f"{n} of").first.wait_for()
        page.wait_for_selector(_DONE)
        taken.append(time.perf_counter() - began)
    return taken


def run() -> list[Row]:
    """Cold starts, two rounds through the pages, and votes."""
    from playwright.sync_api import sync_playwright

    arena = full_size()
    with sync_playwright() as playwright, TemporaryDirectory() as home:
        index_in(Path(home), arena)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        def start() -> Any:
            return browser.new_context(viewport={"width": 1440, "height": 900}).new_page()

        starts = [cold(start, arena.path, Path(home)) for _ in range(STARTS)]
        with server(arena.path, Path(home)) as (url, _, _):
            page = start()
            page.goto(f"http://{url}/?arena={arena.name}")
            drawn(page, PAGES[0].title)
            first, again = changes(page), changes(page)
            voted = votes(page, f"http://{url}/spot_check?arena={arena.name}&language=en")
        browser.close()
    heading, whole = (statistics.median(column) for column in zip(*starts, strict=True))
    slow = sorted(again.items(), key=lambda item: -item[1])[:3]
    return [
        Row(
            f"the first page of a server just started, {STARTS} times",
            f"{whole:.1f} s median, with table and charts",
            f"its heading: {heading:.1f} s",
            "",
            "under 4 s",
        ),
        Row(
            f"from page to page, {len(again)} pages, each for the second time",
            f"{statistics.median(again.values()):.2f} s median, {max(again.values()):.2f} s at most",
            "slowest: " + ", ".join(f"{name} {taken:.2f} s" for name, taken in slow),
            f"the first time: {statistics.median(first.values()):.2f} s median, {max(first.values()):.2f} s at most",
            "under 1 s",
        ),
        Row(
            f"a vote by key until the next battle is there, {VOTES} votes",
            f"{1000 * statistics.median(voted):.0f} ms median, {1000 * max(voted):.0f} ms at most",
            "",
            "",
            "under 250 ms",
        ),
    ]
