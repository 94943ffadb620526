"""A live arena: what choosing pairs by numbers of votes saves, and how long after the service a reader sees a token.

Pairs: votes until every rating is known to a half-width, by the Fisher information of a Bradley-Terry model at the
truth. Tokens: a service on this machine streams at a known pace and notes when it sent each first token; readers speak
Streamlit's protocol, and note when the page that holds it has come.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from websockets.asyncio.client import connect

from benchmarks.harness import Row
from benchmarks.load import ROOT, server
from mirage.people.ask.pairs import Pair, choose_pair, ordered

HALF_WIDTH, SYSTEMS, DRAWS, SO_FAR = 0.5, 6, 20, 300
READERS, TOKENS, GAP, LEAVERS, ALONE = 20, 100, 0.05, 5, 5
Chooser = Callable[[Sequence[str], Sequence[Pair], np.random.Generator], Pair]


def _fewest(systems: Sequence[str], votes: Sequence[Pair], rng: np.random.Generator) -> Pair:
    return choose_pair(systems, votes, rng=rng)


def _random(systems: Sequence[str], _votes: Sequence[Pair], rng: np.random.Generator) -> Pair:
    first, second = rng.choice(len(systems), 2, replace=False)
    return systems[first], systems[second]


CHOOSERS: dict[str, Chooser] = {"fewest votes first": _fewest, "random pairs": _random}


def votes_needed(choose: Chooser, *, joins_after: int, rng: np.random.Generator) -> int:
    """Return the number of votes, after the last system has joined, until every rating is known to `HALF_WIDTH`.

    Args:
        choose: chooses the next pair.
        joins_after: votes among the others before the last system joins; 0 if all begin together.
        rng: source of the choices.
    """
    names = [f"s{k}" for k in range(SYSTEMS)]
    theta = np.linspace(-1, 1, SYSTEMS)
    place = {name: k for k, name in enumerate(names)}
    votes: list[Pair] = []
    information = np.zeros((SYSTEMS, SYSTEMS))
    while True:
        present = names if len(votes) >= joins_after else names[1:]
        if len(votes) >= joins_after and _widest(information) <= HALF_WIDTH:
            return len(votes) - joins_after
        pair = ordered(*choose(present, votes, rng))
        votes.append(pair)
        i, j = place[pair[0]], place[pair[1]]
        p = 1 / (1 + np.exp(theta[j] - theta[i]))
        information[[i, j], [i, j]] += p * (1 - p)
        information[[i, j], [j, i]] -= p * (1 - p)


def _widest(information: np.ndarray[Any, Any]) -> float:
    """Return the widest 95% half-width of a rating centred on the mean of all."""
    n = len(information)
    if np.linalg.matrix_rank(information) < n - 1:
        return np.inf
    return float(1.96 * np.sqrt(np.diag(np.linalg.pinv(information)).max()))


def pairs(draws: int = DRAWS) -> list[tuple[str, list[float]]]:
    """Return each case with the mean number of votes by chooser, in the order of `CHOOSERS`."""
    rows = []
    for what, joins in ((f"all {SYSTEMS} begin together", 0), (f"one joins after {SO_FAR} votes", SO_FAR)):
        means = []
        for choose in CHOOSERS.values():
            seeds = np.random.SeedSequence(0).spawn(draws)
            runs = [votes_needed(choose, joins_after=joins, rng=np.random.default_rng(seed)) for seed in seeds]
            means.append(statistics.mean(runs))
        rows.append((what, means))
    return rows


@dataclass
class Seen:
    """Times at which a reader saw the answers to one question."""

    asked: float = 0.0
    """When the button was pressed."""
    first: float = 0.0
    """When a page with the first token had come."""
    whole: float = 0.0
    """When both answers had come."""
    number: int = 0
    """The reader."""
    error: str = ""


class Reader:
    """One reader's connection to the page."""

    def __init__(self, link: Any, number: int) -> None:
        self.link, self.number = link, number
        self.ids: dict[str, str] = {}
        self.fragment = self.page = ""
        self.values: dict[str, Any] = {}

    async def send(self, *, press: str = "", seen: Seen | None = None) -> None:
        """Ask for a run and read it to its end."""
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        request = BackMsg()
        request.rerun_script.query_string = "arena=board"
        request.rerun_script.page_name = "ask"
        request.rerun_script.page_script_hash = self.page
        request.rerun_script.fragment_id = self.fragment if self.values else ""
        for name, value in self.values.items():
            state = request.rerun_script.widget_states.widgets.add(id=self.ids[name])
            setattr(state, "bool_value" if isinstance(value, bool) else "string_value", value)
        if press:
            request.rerun_script.widget_states.widgets.add(id=self.ids[press], trigger_value=True)
        await self.link.send(request.SerializeToString())
        async for raw in self.link:
            message = ForwardMsg()
            message.ParseFromString(raw)
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self.page = message.navigation.page_script_hash
            elif kind == "delta":
                self._read(message, seen)
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return

    def _read(self, message: Any, seen: Seen | None) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind in ("button", "checkbox", "text_area", "selectbox"):
            name = getattr(element, kind).label.split(":")[0]
            self.ids.setdefault(name, getattr(element, kind).id)
            if name == "Your question":
                self.fragment = message.delta.fragment_id
        elif seen is not None and kind == "html":
            if not seen.first and "token0" in element.html.body:
                seen.first = time.time()
            if element.html.body.count(f"token{TOKENS - 1}") >= 2:
                seen.whole = time.time()
        elif seen is not None and kind in ("alert", "exception"):
            seen.error = str(element)[:200]

    async def ask(self, question: str) -> Seen:
        """Ask a question and wait for both answers."""
        seen = Seen(asked=time.time(), number=self.number)
        self.values = {"I agree": True, "Your question": question}
        await self.send(press="Ask", seen=seen)
        return seen


async def _crowd(address: str, n: int, tag: str) -> list[Seen]:
    """Have n readers ask at one time."""
    links = [
        connect(f"ws://{address}/_stcore/stream", subprotocols=["streamlit"], max_size=None)  # type: ignore[list-item]
        for _ in range(n)
    ]
    readers = [Reader(await link, k) for k, link in enumerate(links)]
    for reader in readers:
        await reader.send()
        await reader.send()
        reader.values = {"I agree": True}
        await reader.send()
    try:
        return list(await asyncio.gather(*(r.ask(f"Where is the river Murray, {tag} {r.number}?") for r in readers)))
    finally:
        for reader in readers:
            await reader.link.close()


def tokens() -> list[Row]:
    """Measure first tokens for one reader and for many at one time."""
    sys.path[:0] = [str(ROOT / "tests" / "fixtures")]
    from streaming_service import Script, StreamingService

    script = Script([f"token{k} " for k in range(TOKENS)], gap=GAP, first=0.3)
    rows = []
    with TemporaryDirectory() as home, StreamingService({"a": script, "b": script}) as service:
        board = Path(home) / "board"
        shutil.copytree(ROOT / "data" / "sample", board)
        systems = "".join(f"  - {{name: {n}, model: {n}, base_url: '{service.url}'}}\n" for n in "ab")
        limits = "limits: {per_reader: 1000, per_address: 10000, at_once: 100}\n"
        (board / "ask.yaml").write_text(f"consent: x\nprompt: vanilla\n{limits}systems:\n{systems}", encoding="utf-8")
        with server(board, Path(home)) as (address, _, _):
            asyncio.run(_crowd(address, 1, "warm"))
            for n, times in ((1, ALONE), (READERS, 1)):
                crowds = []
                for k in range(times):
                    before = len(service.replies)
                    seen = asyncio.run(_crowd(address, n, f"time{n}x{k}"))
                    crowds.append((seen, service.replies[before:]))
                rows.append(_row(n, crowds))
            rows.append(_leaving(address, service))
    return rows


def _row(n: int, crowds: Sequence[tuple[Sequence[Seen], Sequence[Any]]]) -> Row:
    """Compare what readers saw with what the service sent, question by question."""
    after, before, last, failed = [], [], [], []
    for seen, replies in crowds:
        sent: dict[int, list[Any]] = {}
        for reply in replies:
            text = reply.body["messages"][0]["content"]
            sent.setdefault(int(text.partition("Murray, ")[2].partition("?")[0].split()[1]), []).append(reply)
        for one in seen:
            both = sent[one.number]
            after.append(1000 * (one.first - min(reply.first for reply in both)))
            before.append(1000 * (min(reply.asked for reply in both) - one.asked))
            last.append(1000 * (one.whole - max(reply.last for reply in both)))
            failed += [] if one.whole else [one.error or "no answer"]
    load = os.getloadavg()[0]
    return Row(
        f"{n} reader{'s' if n > 1 else ''} at one time, rounds: {len(crowds)}; two answers of "
        f"{TOKENS} tokens each, {1 / GAP:.0f} a second",
        f"{statistics.median(after):.0f} ms, at most {max(after):.0f} ms from the service's first token to the reader; "
        f"{statistics.median(last):.0f} ms, at most {max(last):.0f} ms from its last",
        f"{statistics.median(before):.0f} ms, at most {max(before):.0f} ms from the button to the service",
        f"{len(after) - len(failed)} of {len(after)} whole; load of the machine {load:.1f}" + "".join(failed[:1]),
        "under 100 ms",
    )


async def _leave(address: str, after: float) -> float:
    """Have a reader ask and close the connection in the middle; return when."""
    async with connect(f"ws://{address}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as link:  # type: ignore[list-item]
        reader = Reader(link, 0)
        await reader.send()
        await reader.send()
        reader.values = {"I agree": True}
        await reader.send()
        task = asyncio.create_task(reader.ask("Where is the river Murray, leaving 0?"))
        await asyncio.sleep(after)
        left = time.time()
        task.cancel()
    return left


def _leaving(address: str, service: Any) -> Row:
    """Measure what a reader who leaves still costs."""
    seconds, tokens_after = [], []
    for k in range(LEAVERS):
        before = len(service.replies)
        left = asyncio.run(_leave(address, 1.5 + 0.2 * k))
        both = service.replies[before:]
        for reply in both:
            reply.done.wait(30)
        seconds.append(max(reply.left or 0 for reply in both) - left)
        tokens_after.append(max(sum(moment > left for moment in reply.times) for reply in both))
    return Row(
        f"{LEAVERS} readers leave in the middle",
        f"{statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s until both connections are closed",
        f"at most {max(tokens_after)} tokens of a stream of {1 / GAP:.0f} a second",
        "",
        "",
    )


def run() -> list[Row]:
    """Both."""
    rows = [
        Row(
            f"votes until every rating is known to ±{HALF_WIDTH}: {what}",
            f"{means[0]:.0f}, fewest votes first",
            f"{means[1]:.0f}, random pairs",
            f"{means[1] / means[0]:.1f}",
            "",
        )
        for what, means in pairs()
    ]
    return [*rows, *tokens()]
