"""What a click costs: CPU of the explorer a page, as a ratio to a bare Streamlit page in the same run.

The bare page has one table and one chart. Its server and the explorer take the same clicks one after the other, and the
CPU is that of their processes alone. A click on what is on a page runs the page's own part; one in the sidebar, and a
page that is opened, run all of it. Every page is also opened by a link for the first time after a restart, when what it
shows is stored; and the Leaderboard with languages that nobody has chosen before.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from websockets.asyncio.client import connect

from benchmarks import bare
from benchmarks.harness import Row
from benchmarks.load import Browser, server
from mirage.explorer.kit.page_list import HOME, PAGES
from mirage.store import arena
from mirage.store.arena import open_arena

RUNS, TURNS, CLICKS, WARM, RESTARTS = 5, 6, 10, 4, 3
"""Runs, turns of a run, clicks a turn, clicks before the first, and restarts of a server."""
KINDS = {"CPU of a click": "at most 1.8", "CPU of opening it": ""}
"""What is clicked: what is on a page, which runs the page's own part; what runs all of it. With what is aimed at."""


def cpu(process: int) -> float:
    """CPU seconds of a process so far, by its own clock (POSIX `clock_getcpuclockid`)."""
    return time.clock_gettime((~process << 3) | 2)


def reach(address: str) -> connect:
    """Connect to a server as a browser does."""
    return connect(f"ws://{address}/_stcore/stream", subprotocols=["streamlit"], max_size=None)  # type: ignore[list-item]


async def costs(bare_url: str, bare_process: int, url: str, process: int, page: str) -> list[tuple[float, ...]]:
    """CPU milliseconds of a click in every run: of the bare page and of each of `KINDS`, by turns."""
    async with reach(bare_url) as plain, reach(url) as first, reach(url) as second:
        sides = [
            (Browser(plain), bare_process, HOME, "", False),
            (Browser(first), process, page, "arena=sample", True),
            (Browser(second), process, page, "arena=sample", False),
        ]

        async def turn(side: int, clicks: int) -> float:
            browser, clock, name, query, inside = sides[side]
            began = cpu(clock)
            for _ in range(clicks):
                if wrong := await browser.click(name, query, inside=inside and bool(browser.fragment)):
                    raise RuntimeError(f"{page}: {wrong}")
            return cpu(clock) - began

        for side in range(len(sides)):
            await turn(side, WARM)
        runs = []
        for _ in range(RUNS):
            taken = [0.0] * len(sides)
            for _ in range(TURNS):
                for side in range(len(sides)):
                    taken[side] += await turn(side, CLICKS)
            runs.append(tuple(1000 * seconds / (TURNS * CLICKS) for seconds in taken))
        return runs


def clicks() -> list[Row]:
    """CPU a click, page by page, beside the bare page."""
    with TemporaryDirectory() as folder:
        script = bare.page(Path(folder))
        with bare.served(script) as (bare_url, bare_process), server(Path(folder)) as (url, process):
            rows = []
            for entry in PAGES:
                runs = asyncio.run(costs(bare_url, bare_process, url, process.pid, entry.name))
                rows += [_row(f"{kind}: {entry.title}", runs, k, KINDS[kind]) for k, kind in enumerate(KINDS, start=1)]
        return rows


async def opened(url: str, process: int, visits: Iterable[tuple[str, str]]) -> list[float]:
    """CPU milliseconds of opening pages one after the other in one session, each with what stands in the address."""
    taken = []
    async with reach(url) as link:
        browser = Browser(link)
        for page, query in visits:
            began = cpu(process)
            if wrong := await browser.click(page, query):
                raise RuntimeError(f"{page}: {wrong}")
            taken.append(1000 * (cpu(process) - began))
    return taken


def followed(url: str, process: int, links: Iterable[tuple[str, str]]) -> list[float]:
    """CPU milliseconds of following links, each in its own session, since a session keeps its first arena."""
    return [asyncio.run(opened(url, process, [link]))[0] for link in links]


def first_visits() -> list[Row]:
    """Open all pages of every arena after the first page of a server started again, which is of another arena."""
    rows = []
    with TemporaryDirectory() as folder:
        with bare.served(bare.page(Path(folder))) as (url, process):
            plain = statistics.median(followed(url, process, [(HOME, "")] * CLICKS))
        for name, path in arena.bundled_arenas().items():
            pages = [entry.name for entry in PAGES if entry.is_offered(open_arena(path))]
            other = "sample" if name == "published" else "published"
            visits = [(HOME, f"arena={other}"), *((page, f"arena={name}") for page in pages)]
            runs = []
            for _ in range(1 + RESTARTS):
                with server(Path(folder)) as (url, started):
                    runs.append(followed(url, started.pid, visits)[1:])
            worst, page = max((taken, page) for run in runs[1:] for taken, page in zip(run, pages, strict=True))
            what = f"CPU of the first visit to a page of {name}, worst of {len(pages)} pages and {RESTARTS} restarts"
            nothing = f"nothing stored: {max(runs[0]):.0f} ms"
            rows.append(Row(f"{what}: {page}", f"{worst:.0f} ms", nothing, _times(worst, plain), "under 600 ms"))
        codes = open_arena(arena.bundled_arenas()["nomiracl"]).languages("outcomes")
        chosen = [f"languages={a}&languages={b}" for a, b in combinations(codes, 2)]
        with server(Path(folder)) as (url, started):
            choices = chosen[:: len(chosen) // 30]
            visits = [(HOME, "arena=nomiracl"), *((HOME, f"arena=nomiracl&{query}") for query in choices)]
            median = statistics.median(asyncio.run(opened(url, started.pid, visits))[WARM:])
    what = "CPU of a new choice of two languages on the Leaderboard"
    return [*rows, Row(what, f"{median:.0f} ms", f"bare page {plain:.1f} ms", _times(median, plain), "under 60 ms")]


def _times(ours: float, plain: float) -> str:
    return f"{ours / plain:.1f} times"


def _row(what: str, runs: Sequence[tuple[float, ...]], side: int, target: str) -> Row:
    plain, ours = (statistics.median(run[k] for run in runs) for k in (0, side))
    ratios = sorted(run[side] / run[0] for run in runs)
    ratio = f"{ratios[RUNS // 2]:.1f} times, {ratios[-1]:.1f} in the worst of {RUNS} runs"
    return Row(what, f"{ours:.1f} ms", f"bare page {plain:.1f} ms", ratio, target)


def run() -> list[Row]:
    """Measure a click on every page, first visits, and choices of languages."""
    return [*clicks(), *first_visits()]
