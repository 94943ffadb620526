"""What workers share that ask one service: the pace, the budget, and the replies on their way to the arena's ledger."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from typing import Literal

from mirage.engines.tasks import Desk
from mirage.llm import Limits, Reply
from mirage.llm.pace import Pace

HOLDS = 1.0
"""Seconds after its begin for which a place holds. Who comes later takes another."""
_LATE = 3.0
"""Seconds after its begin at which a request may reach the service at the latest: places are so much further apart that
the rate holds in every minute at the service too."""
_POLL = 0.05
"""Seconds after which a worker that waits for money asks again."""
_LOOK = 1.0
"""Seconds after which a worker without a budget looks again whether it is to stop."""


class CallDesk:
    """Stands in one place; workers speak to it one after another.

    Args:
        limits: rates and budget of all workers together.
        accepted: whether the service is known to take such requests.
        clock: seconds, by a clock that never goes back.
    """

    def __init__(self, limits: Limits, accepted: bool, clock: Callable[[], float] = time.monotonic) -> None:
        share = 60 / (60 + _LATE)
        rates = limits.requests_per_minute, limits.tokens_per_minute
        self._requests, self._tokens = (Pace(None if rate is None else rate * share) for rate in rates)
        self._budget, self._clock = limits.budget, clock
        self._accepted, self._stopped = accepted, False
        self._spent = 0.0
        self._reserved: defaultdict[str, float] = defaultdict(float)
        self._open: Counter[str] = Counter()
        self._fresh: list[Reply] = []
        self._known: dict[str, Reply] = {}

    def begin(self, worker: str, keys: Collection[str]) -> tuple[list[Reply], bool]:
        """Begin a task. If this worker was lost and is there again, the money of the calls it was at is free.

        Returns:
            The replies that have come to any of these keys, and whether the service has taken such requests.
        """
        self._reserved.pop(worker, None)
        self._open.pop(worker, None)
        return [self._known[key] for key in keys if key in self._known], self._accepted

    def keep(self, reply: Reply) -> None:
        """Take a reply, to be handed to the driver and to whoever does the task again."""
        self._fresh.append(reply)
        self._known[reply.key] = reply
        self._accepted = True

    def drain(self) -> list[Reply]:
        """The replies that have come since this was last asked."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def forget(self, keys: Collection[str]) -> None:
        """Let go of replies whose task has ended."""
        for key in keys:
            self._known.pop(key, None)

    def stop(self) -> None:
        """Let no call begin any more."""
        self._stopped = True

    def stopped(self) -> bool:
        """Whether no call may begin any more."""
        return self._stopped

    def turn(self, tokens: int) -> float:
        """Take the next place for a request of so many tokens; returns the seconds until it begins."""
        now = self._clock()
        return max(self._requests.book(1, now), self._tokens.book(tokens, now)) - now

    def reserve(self, worker: str, most: float) -> Literal["yes", "wait", "no"]:
        """Set money aside for a call; `wait` where others may leave enough of theirs."""
        if self._stopped:
            return "no"
        if self._budget is not None and self._spent + sum(self._reserved.values()) + most > self._budget:
            return "wait" if self._open.total() else "no"
        self._reserved[worker] += most
        self._open[worker] += 1
        return "yes"

    def settle(self, worker: str, most: float, price: float) -> None:
        """Give back what was set aside, less the price."""
        self._reserved[worker] -= most
        self._open[worker] -= 1
        self._spent += price


class DeskGate:
    """The rates and the budget of a desk, as a client takes them (`mirage.llm.Gate`).

    Args:
        desk: the desk.
        worker: the name of who speaks.
        limits: those of the desk. Where there is nothing to keep, calls do not wait for it.
    """

    def __init__(self, desk: Desk, worker: str, limits: Limits) -> None:
        self._desk, self._worker = desk, worker
        self._paced = (limits.requests_per_minute, limits.tokens_per_minute) != (None, None)
        self._budgeted = limits.budget is not None
        self._look, self._stopped = -math.inf, False

    async def turn(self, tokens: int) -> tuple[float, float]:
        """Take the next place.

        The desk reckons from the moment at which it was asked, which lies between the two that are seen here: the
        place begins after the later and ends after the earlier.
        """
        loop = asyncio.get_running_loop()
        if not self._paced:
            return loop.time(), math.inf
        before = loop.time()
        wait = float(await asyncio.to_thread(self._desk.ask, "turn", tokens))
        return loop.time() + wait, before + wait + HOLDS

    async def reserve(self, most: float) -> bool:
        """Set money aside; without a budget only learn whether to stop."""
        if not self._budgeted:
            now = asyncio.get_running_loop().time()
            if now >= self._look:
                self._look = now + _LOOK
                self._stopped = await asyncio.to_thread(self._desk.ask, "stopped")
            return not self._stopped
        while (word := await asyncio.to_thread(self._desk.ask, "reserve", self._worker, most)) == "wait":
            await asyncio.sleep(_POLL)
        return bool(word == "yes")

    async def settle(self, most: float, price: float) -> None:
        """Give it back, without waiting."""
        if self._budgeted:
            self._desk.tell("settle", self._worker, most, price)
