"""What a click costs: CPU of the explorer a page, as a ratio to a bare Streamlit page in the same run.

The bare page has one table and one chart. Its server and the explorer take the same clicks one after the other, and the
CPU is that of their processes alone. A click on what is on a page runs the page's own part; one in the sidebar, and a
page that is opened, run all of it.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from websockets.asyncio.client import connect

from benchmarks import bare
from benchmarks.harness import Row
from benchmarks.load import Browser, server
from mirage.explorer.kit.page_list import HOME, PAGES

RUNS, TURNS, CLICKS, WARM = 5, 6, 10, 4
"""Runs, turns of a run, clicks a turn, and clicks before the first."""
KINDS = {"CPU of a click": "at most 1.8", "CPU of opening it": ""}
"""What is clicked: what is on a page, which runs the page's own part; what runs all of it. With what is aimed at."""


def cpu(process: int) -> float:
    """CPU seconds of a process so far, by its own clock (POSIX `clock_getcpuclockid`)."""
    return time.clock_gettime((~process << 3) | 2)


async def costs(bare_url: str, bare_process: int, url: str, process: int, page: str) -> list[tuple[float, ...]]:
    """CPU milliseconds of a click in every run: of the bare page and of each of `KINDS`, by turns."""

    def reach(address: str) -> connect:
        return connect(f"ws://{address}/_stcore/stream", subprotocols=["streamlit"], max_size=None)  # type: ignore[list-item]

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
    """CPU a click, page by page, beside the bare page with the explorer's settings; and that page with Streamlit's."""
    with TemporaryDirectory() as folder:
        script = bare.page(Path(folder))
        with bare.served(script) as (bare_url, bare_process):
            with server(Path(folder)) as (url, process):
                rows = []
                for entry in PAGES:
                    runs = asyncio.run(costs(bare_url, bare_process, url, process.pid, entry.name))
                    rows += [
                        _row(f"{kind}: {entry.title}", runs, k, KINDS[kind]) for k, kind in enumerate(KINDS, start=1)
                    ]
            with bare.served(script, Path(folder)) as (own_url, own_process):
                runs = asyncio.run(costs(bare_url, bare_process, own_url, own_process, HOME))
                rows.append(_row("CPU of a click: the bare page with Streamlit's own settings", runs, 2, ""))
        return rows


def _row(what: str, runs: Sequence[tuple[float, ...]], side: int, target: str) -> Row:
    plain, ours = (statistics.median(run[k] for run in runs) for k in (0, side))
    ratios = sorted(run[side] / run[0] for run in runs)
    ratio = f"{ratios[RUNS // 2]:.1f} times, {ratios[-1]:.1f} in the worst of {RUNS} runs"
    return Row(what, f"{ours:.1f} ms", f"bare page {plain:.1f} ms", ratio, target)


def run() -> list[Row]:
    """Measure a click on every page."""
    return clicks()
