"""What a reader waits for in a real browser: the first page of a server that has just been started, the way from page
to page, and a vote; each beside a bare Streamlit app of two pages, with a table and a chart by Plotly each.

The first page is that of the bundled arena `nomiracl`, with `mirage app`; every other page is timed in one of the
bundled arenas. The first page has no chart, so the first page with one that a reader opens also loads Plotly into the
browser, and its row says so; in the bare app the first page does.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import bare
from benchmarks.harness import Row
from benchmarks.load import ROOT, server
from mirage.explorer.kit.page_list import PAGES

STARTS, VOTES, ROUNDS, FIRST = 5, 20, 9, 3
"""Cold starts; votes; rounds through the pages after the first; servers that are asked for first visits."""
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARENAS = {
    "nomiracl": ("Hallucination", "Features"),
    "people": ("Judges",),
    "sample": ("Battle", "Answers", "Spot check", "Your system", "Surrogate", "Methods"),
}
"""The other pages timed, by arena."""
EVERYWHERE = "Compare"
"""The page that is timed in every arena, as the Leaderboard is."""
_DRAWN = """title => [...document.querySelectorAll("h1")].some(({ textContent }) => textContent.trim() === title)
  && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning"
  && !document.querySelector("[data-testid=stSkeleton]")
  && [...document.querySelectorAll("[data-testid=stDataFrame]")].every((table) => table.querySelector("canvas"))
  && [...document.querySelectorAll("[data-testid=stPlotlyChart]")].every((chart) => chart.querySelector(".main-svg"))"""
_PLOTLY = "performance.getEntriesByType('resource').some(({ name }) => name.toLowerCase().includes('plotly'))"
_DONE = "[data-testid=stApp][data-test-script-state=notRunning]"


def drawn(page: Any, title: str) -> None:
    """Wait until a page's heading is there, its script is done, nothing is left to be drawn, tables and charts
    included, and the browser has painted that.

    The browser looks at little, once a frame: to look through a whole page would be time of the benchmark's own.
    """
    page.wait_for_function(_DRAWN, arg=title)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


@contextmanager
def launched(home: Path) -> Iterator[tuple[str]]:
    """Run `mirage app`, as the README says, and yield its address as soon as it answers."""
    # Wherever bytecode is not written, every start would compile the explorer anew.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with bare.running(["-m", "mirage", "app"], "--port", ROOT, env | {"MIRAGE_HOME": str(home)}) as (address, _):
        yield (address,)


def cold(start: Callable[[], Any], serve: Callable[[], AbstractContextManager[Any]], query: str, title: str) -> float:
    """Seconds from the start of a server until its first page is there with its table, and the charts it has."""
    began = time.perf_counter()
    with serve() as (url, *_):
        page = start()
        page.goto(f"http://{url}/{query}")
        page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
        drawn(page, title)
        taken = time.perf_counter() - began
        page.context.close()
        return taken


def changes(page: Any, titles: Sequence[str]) -> dict[str, float]:
    """Seconds from a click in the sidebar until the page is drawn, by its name."""
    taken = {}
    for title in titles:
        link = page.locator("[data-testid=stSidebarNav]").get_by_role("link", name=title, exact=True)
        began = time.perf_counter()
        link.click()
        drawn(page, title)
        taken[title] = time.perf_counter() - began
    return taken


@dataclass(frozen=True)
class Visits:
    """First visits to the pages of a server, and what a page change of the bare app took beside them."""

    seconds: dict[str, float]
    """By the page's name."""
    loads: str
    """The page that loaded Plotly into the browser; empty if none did."""
    plain: float
    """Median seconds of the bare app's changes, half of them just before the visits, half just after."""


def first_visits(start: Callable[[], Any], home: Path, arena: str, titles: Sequence[str], plain: Any) -> Visits:
    """Open every page of an arena for the first time, straight after the first page; `plain` is the bare app's."""
    before = changes(plain, bare.TITLES[::-1]), changes(plain, bare.TITLES[::-1])
    with server(home) as (url, _):
        page = start()
        page.goto(f"http://{url}/?arena={arena}")
        drawn(page, PAGES[0].title)
        taken, loads = dict[str, float](), ""
        for title in titles:
            taken |= changes(page, [title])
            loads = loads or (title if page.evaluate(_PLOTLY) else "")
        page.context.close()
    after = changes(plain, bare.TITLES[::-1]), changes(plain, bare.TITLES[::-1])
    return Visits(taken, loads, statistics.median(seconds for part in (*before, *after) for seconds in part.values()))


def votes(page: Any, address: str) -> list[float]:
    """Seconds from a key until its vote is acknowledged and the next battle is there."""
    page.goto(address)
    drawn(page, "Spot check")
    # The first vote asks for a name, and is not timed.
    page.keyboard.press("1")
    name = page.get_by_placeholder("Name or pseudonym").last
    name.fill("a reader")
    name.press("Enter")
    page.get_by_text("Your votes: 1 of").wait_for()
    taken = []
    for n in range(2, VOTES + 2):
        drawn(page, "Spot check")
        page.wait_for_timeout(300)  # a reader reads
        began = time.perf_counter()
        page.keyboard.press("123"[n % 3])
        page.get_by_text(f"Your votes: {n} of").wait_for()
        page.wait_for_selector(_DONE)
        taken.append(time.perf_counter() - began)
    return taken


def presses(page: Any) -> list[float]:
    """Seconds from a press of the bare app's button until its page is drawn again."""
    taken = []
    for n in range(1, VOTES + 1):
        page.wait_for_timeout(300)
        began = time.perf_counter()
        page.get_by_role("button", name="Vote", exact=True).click()
        page.get_by_text(f"{n} of").first.wait_for()
        page.wait_for_selector(_DONE)
        taken.append(time.perf_counter() - began)
    return taken


def run() -> list[Row]:
    """Cold starts of both in turn; rounds through the pages of both; votes beside presses of a button."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        home = Path(folder)
        script = bare.app(home)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        def start() -> Any:
            return browser.new_context(viewport={"width": 1440, "height": 900}).new_page()

        starts = [
            (
                cold(start, lambda: launched(home), "?arena=nomiracl", PAGES[0].title),
                cold(start, lambda: bare.served(script), "", bare.TITLES[0]),
            )
            for _ in range(STARTS)
        ]
        with server(home) as (url, _), bare.served(script) as (bare_url, _):
            page, plain = start(), start()
            plain.goto(f"http://{bare_url}/")
            drawn(plain, bare.TITLES[0])
            changes(plain, bare.TITLES[::-1])
            visits, rounds = list[Visits](), list[tuple[dict[str, float], dict[str, float]]]()
            for name, pages in ARENAS.items():
                titles = [EVERYWHERE, *pages, PAGES[0].title]
                visits += [first_visits(start, home, name, titles, plain) for _ in range(FIRST)]
                page.goto(f"http://{url}/?arena={name}")
                drawn(page, PAGES[0].title)
                changes(page, titles)
                rounds += [(changes(page, titles), changes(plain, bare.TITLES[::-1] * 3)) for _ in range(ROUNDS)]
            voted = votes(page, f"http://{url}/spot_check?arena=sample&language=en")
            changes(plain, bare.TITLES[1:])
            pressed = presses(plain)
        browser.close()
    return [
        _row(
            f"the first page of a server just started, {STARTS} times in turn", *_columns(starts), "at most 1.25 times"
        ),
        *(
            _row(
                f"to {title}, {ROUNDS} times",
                [ours[title] for ours, _ in rounds if title in ours],
                [statistics.median(other.values()) for ours, other in rounds if title in ours],
                "at most 2 times",
                _first(title, visits),
            )
            for title in (EVERYWHERE, PAGES[0].title, *(title for pages in ARENAS.values() for title in pages))
        ),
        _row(f"a vote by key until the next battle is there, {VOTES} votes", voted, pressed, "at most 2 times"),
    ]


def _first(title: str, visits: Sequence[Visits]) -> str:
    """Describe the first visits to a page: seconds, and the ratio to a page change of the bare app."""
    there = [visit for visit in visits if title in visit.seconds]
    ratio = statistics.median(visit.seconds[title] / visit.plain for visit in there)
    loads = ", loads Plotly" if any(visit.loads == title for visit in there) else ""
    return f"first visit {statistics.median(visit.seconds[title] for visit in there):.2f} s, {ratio:.1f} times{loads}"


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [ours for ours, _ in pairs], [other for _, other in pairs]


def _row(what: str, ours: Sequence[float], other: Sequence[float], target: str, more: str = "") -> Row:
    median, plain = statistics.median(ours), statistics.median(other)
    ratio = f"{median / plain:.2f} times" + (f"; {more}" if more else "")
    return Row(
        what, f"{median:.2f} s median, {max(ours):.2f} s at most", f"bare app {plain:.2f} s median", ratio, target
    )
