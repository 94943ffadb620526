"""What a click costs: CPU of the explorer a page, as a ratio to a bare Streamlit page in the same run; and many readers
of two explorers behind nginx.

The bare page has one table and one chart. Its server and the explorer take the same clicks one after the other, and the
CPU is that of their processes alone.
"""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from websockets.asyncio.client import connect

from benchmarks import bare
from benchmarks.full_size import full_size
from benchmarks.harness import Row
from benchmarks.load import SECONDS, SESSIONS, click, crowd, index_in, server
from mirage import store
from mirage.deploy.replicas import find_nginx
from mirage.ui.entries import PAGES

CLICKS, RUNS = 60, 5
"""Clicks a page and run after a warm-up, and runs."""


def cpu(process: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def cost(url: str, process: int, page: str, query: str) -> float:
    """CPU milliseconds of a click on a page."""
    async with connect(f"ws://{url}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as link:  # type: ignore[list-item]
        for _ in range(3):
            await click(link, page, query)
        began = cpu(process)
        for _ in range(CLICKS):
            await click(link, page, query)
        return 1000 * (cpu(process) - began) / CLICKS


def clicks() -> list[Row]:
    """CPU a click, page by page, beside the bare page."""
    with TemporaryDirectory() as folder, bare.served(bare.page(Path(folder))) as (bare_url, bare_process):
        arena = store.open_arena(store.bundled()["sample"])
        with server(arena.path, Path(folder)) as (url, process, _):
            rows = []
            for entry in PAGES:
                pairs = []
                for _ in range(RUNS):
                    plain = asyncio.run(cost(bare_url, bare_process, "leaderboard", ""))
                    pairs.append((asyncio.run(cost(url, process.pid, entry.name, "arena=sample")), plain))
                ours, plain = (statistics.median(side) for side in zip(*pairs, strict=True))
                ratios = sorted(page / other for page, other in pairs)
                ratio = f"{ratios[RUNS // 2]:.1f} times, {ratios[-1]:.1f} in the worst of {RUNS} runs"
                what = f"CPU of a click: {entry.title}"
                rows.append(Row(what, f"{ours:.0f} ms", f"bare page {plain:.0f} ms", ratio, "at most 2"))
            return rows


def behind_nginx() -> list[Row]:
    """Many readers of two explorers, the client on the same machine."""
    if find_nginx() is None:
        return []
    arena = full_size()
    slowest, most = [], 0.0
    with TemporaryDirectory() as home, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        index_in(Path(home), arena)
        environment = os.environ | {"MIRAGE_ARENAS": str(arena.path), "MIRAGE_HOME": home}
        command = [sys.executable, "-m", "mirage", "app", "--workers", "2", "--port", str(port)]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
        try:
            for k in (1, 2):
                bare.until_ready(f"http://127.0.0.1:{port + k}/readyz", process)
            asyncio.run(crowd(f"127.0.0.1:{port}", arena, 8, 20))
            for _ in range(RUNS):
                tally = asyncio.run(crowd(f"127.0.0.1:{port}", arena, SESSIONS, SECONDS))
                slowest.append(statistics.quantiles(tally.all, n=20)[-1])
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
            most = max(_memory(int(child)) for child in children)
        finally:
            process.terminate()
            process.wait(30)
    what = f"{SESSIONS} readers of two explorers behind nginx, {RUNS} runs"
    listed = ", ".join(f"{ms:.0f}" for ms in slowest)
    return [
        Row(what, f"{max(slowest):.0f} ms 95th percentile of the worst run", f"runs: {listed} ms", "", "under 250 ms"),
        Row("memory of the larger explorer", f"{most:.0f} MB", "", "", "under 700 MB"),
    ]


def _memory(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def run() -> list[Row]:
    """Both."""
    return [*clicks(), *behind_nginx()]


if __name__ == "__main__":
    for row in run():
        print(row)
