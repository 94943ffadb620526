"""Many readers at once on the bundled arenas: a real server, and clients that speak Streamlit's own protocol.

A client opens the page's WebSocket, sends what a browser sends when its reader clicks (`BackMsg`), and reads what comes
until the script is done (`ForwardMsg`), so that the time is that of the server and the wire, without a browser's
drawing. 50 readers walk through the pages, each thinking two seconds in between: on a server with nothing stored, on
one whose child computes ahead meanwhile, on one that was started again, and on a bare Streamlit app.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect

from benchmarks import bare
from benchmarks.harness import Row
from mirage.explorer.kit.page_list import HOME, PAGES
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena

ROOT = Path(__file__).resolve().parents[1]
SESSIONS, THINK, SECONDS, SEED = 50, 2.0, 40, 2024
"""Readers at once, seconds that each thinks between two clicks (on average), seconds of the test, seed of the walk."""
ARENAS = ("nomiracl", "people", "sample", "published")
"""Bundled arenas; every reader stays in one."""
WORDS = ("the", "1748", "в году", "العالم", "東京", "রক্ত", "తెలుగు", "มีการ")
"""What readers look for."""


@dataclass
class Tally:
    """What the readers met."""

    taken: dict[str, list[float]] = field(default_factory=dict)
    """Milliseconds of every click by the page it led to."""
    first: list[float] = field(default_factory=list)
    """Milliseconds of every reader's first page."""
    errors: list[str] = field(default_factory=list)
    """Exceptions shown, broken connections, scripts that did not finish."""

    @property
    def all(self) -> list[float]:
        """Every click."""
        return sorted(milliseconds for times in self.taken.values() for milliseconds in times)

    @property
    def late(self) -> float:
        """95th percentile of every click."""
        return statistics.quantiles(self.all, n=20)[-1]


@contextmanager
def server(home: Path, *, ahead: bool = False) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the explorer on the bundled arenas.

    Args:
        home: the data folder.
        ahead: whether a child computes ahead, as with `mirage app`.

    Yields:
        Its address, and the process.
    """
    program = "mirage/explorer/server.py" if ahead else "app.py"
    command = ["-m", "streamlit", "run", program, "--server.headless=true"]
    with bare.running(command, "--server.port", ROOT, os.environ | {"MIRAGE_HOME": str(home)}) as started:
        yield started


def memory(process: subprocess.Popen[bytes]) -> tuple[float, float]:
    """Memory of a process in MB: now, and at most so far."""
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines()
    memory_sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return int(memory_sizes["VmRSS"]) / 1024, int(memory_sizes["VmHWM"]) / 1024


@dataclass
class Browser:
    """One browser's side of a connection: it keeps large messages, and is sent their hashes when they come again."""

    link: ClientConnection
    fragment: str = ""
    """The part of the page that runs again by itself; empty where there is none."""
    kept: set[str] = field(default_factory=set)
    """Hashes of the large messages of the last run."""

    async def click(self, page: str, query: str, *, inside: bool = False) -> str:
        """Ask for a page as a browser does.

        Args:
            page: its name.
            query: what stands in the address.
            inside: what was clicked is on the page, so that its part runs again without the frame.

        Returns:
            What went wrong, empty if nothing.
        """
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        request = BackMsg()
        request.rerun_script.query_string = query
        request.rerun_script.page_name = "" if page == HOME else page
        request.rerun_script.fragment_id = self.fragment if inside else ""
        request.rerun_script.cached_message_hashes.extend(self.kept)
        await self.link.send(request.SerializeToString())
        wrong, fragment = "", ""
        kept: set[str] = set()
        async for raw in self.link:
            message = ForwardMsg()
            message.ParseFromString(raw)
            kind = message.WhichOneof("type")
            if kind == "ref_hash" or message.metadata.cacheable:
                kept.add(message.ref_hash or message.hash)
            # The page's part comes before parts of it.
            fragment = fragment or message.delta.fragment_id
            if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
                wrong = message.delta.new_element.exception.message or "an exception"
            elif kind == "page_not_found":
                wrong = f"no page {page}"
            # A page that is opened by its link may run twice: what the first run found goes into the address.
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self.fragment, self.kept = fragment, kept
                return wrong
        return "the connection was closed"


def walk(rng: random.Random, arena: Arena) -> Iterator[tuple[str, str]]:
    """Pages of an arena that a reader visits, for ever, with what stands in the address."""
    pages = [entry.name for entry in PAGES if entry.is_offered(arena)]
    codes = arena.languages("judgments" if "judgments" in arena.tables else "outcomes")
    while True:
        page = rng.choice(pages)
        query: list[tuple[str, str]] = [("arena", arena.name)]
        if rng.random() < 0.5:
            query += [("languages", code) for code in rng.sample(codes, min(len(codes), rng.choice([1, 1, 2, 5])))]
        if page == "answers" and rng.random() < 0.3:
            query.append(("q", rng.choice(WORDS)))
        yield page, urlencode(query)


async def reader(url: str, number: int, until: float, tally: Tally, *, plain: bool) -> None:
    """One reader from the first page to the end of the test; a bare app has one page."""
    rng = random.Random(f"{SEED}-{number}")
    arena = open_arena(arenas.bundled_arenas()[ARENAS[number % len(ARENAS)]])
    steps = repeat((HOME, "")) if plain else walk(rng, arena)
    await asyncio.sleep(rng.uniform(0, 2 * THINK))
    try:
        async with connect(f"ws://{url}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as link:
            browser = Browser(link)
            for step, (page, query) in enumerate(steps):
                began = time.perf_counter()
                wrong = await asyncio.wait_for(browser.click(page, query), 60)
                milliseconds = 1000 * (time.perf_counter() - began)
                if wrong:
                    tally.errors.append(f"{page}: {wrong}")
                if step:
                    tally.taken.setdefault(page, []).append(milliseconds)
                else:
                    tally.first.append(milliseconds)
                if time.perf_counter() > until:
                    return
                await asyncio.sleep(rng.uniform(0.5 * THINK, 1.5 * THINK))
    except (OSError, TimeoutError, RuntimeError) as error:
        tally.errors.append(f"{type(error).__name__}: {error}")


async def crowd(url: str, sessions: int, *, plain: bool = False) -> Tally:
    """All readers at once."""
    tally, until = Tally(), time.perf_counter() + SECONDS
    await asyncio.gather(*(reader(url, number, until, tally, plain=plain) for number in range(sessions)))
    return tally


def run() -> list[Row]:
    """All readers on every server; on the one that was started again two an arena come before."""
    with TemporaryDirectory() as folder:
        home, other = Path(folder, "home"), Path(folder, "other")
        with server(home) as (url, process):
            cold = asyncio.run(crowd(url, SESSIONS))
            _, cold_most = memory(process)
        with server(other, ahead=True) as (url, _):
            ahead = asyncio.run(crowd(url, SESSIONS))
        with server(home) as (url, process):
            asyncio.run(crowd(url, 2 * len(ARENAS)))
            again = asyncio.run(crowd(url, SESSIONS))
            now, most = memory(process)
        with bare.served(bare.page(Path(folder))) as (url, _):
            plain = asyncio.run(crowd(url, SESSIONS, plain=True))
    by_page = "; ".join(f"{page} {statistics.median(times):.0f}" for page, times in sorted(again.taken.items()))
    ratio = statistics.median(ahead.all) / statistics.median(cold.all)
    at_once = f"{SESSIONS} readers at once, {THINK:.0f} s between two clicks"
    return [
        Row(
            f"{at_once}, {len(again.all):,} clicks in {SECONDS} s; medians by page: {by_page} ms",
            _written(again),
            f"bare app {_written(plain)}",
            f"{again.late / plain.late:.1f} times at the 95th percentile",
            "95th percentile under 500 ms, no error",
        ),
        Row("memory of the server after that", f"{now:.0f} MB", f"at most {most:.0f} MB", "", "500 MB, at most 700 MB"),
        Row(
            f"{at_once}, nothing stored", _written(cold), f"at most {cold_most:.0f} MB", "", "no error, at most 700 MB"
        ),
        Row("the same while a child computes ahead", _written(ahead), "", f"{ratio:.2f} times", "at most 1.3 times"),
    ]


def _written(tally: Tally) -> str:
    errors = f"{len(tally.errors)} errors {tally.errors[:1]}"
    median, first = statistics.median(tally.all), statistics.median(tally.first)
    return f"{median:.0f} ms median, {tally.late:.0f} ms 95th percentile, first pages {first:.0f} ms, {errors}"
