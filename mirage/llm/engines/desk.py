"""Shared state of workers that call one service: rates, budget, and replies on their way to the arena's ledger."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from typing import Literal

from mirage.llm import Limits, Reply
from mirage.llm.engines.tasks import Desk
from mirage.llm.pace import Pace

HOLDS = 1.0
"""Seconds for which a booked slot is valid after its start; later requests book another."""
_LATE = 3.0
"""Maximum delay in seconds between a slot's start and the request's arrival at the service: slots are spaced wider
accordingly, so that the service sees the rate in every minute.
"""
_POLL = 0.05
"""Polling interval in seconds of a worker that waits for budget."""
_LOOK = 1.0
"""Interval in seconds at which a worker without a budget checks whether to stop."""


class CallDesk:
    """Central state, which workers access sequentially.

    Args:
        limits: rates and budget of all workers together.
        accepted: whether the service is known to accept such requests.
        clock: monotonic clock in seconds.
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
        """Begin a task; budget reserved by a lost predecessor of this worker is released.

        Returns:
            The replies received for any of these keys, and whether the service has accepted such requests.
        """
        self._reserved.pop(worker, None)
        self._open.pop(worker, None)
        return [self._known[key] for key in keys if key in self._known], self._accepted

    def keep(self, reply: Reply) -> None:
        """Take a reply, for the driver and for a repetition of the task."""
        self._fresh.append(reply)
        self._known[reply.key] = reply
        self._accepted = True

    def drain(self) -> list[Reply]:
        """Return the replies received since the last call."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def forget(self, keys: Collection[str]) -> None:
        """Drop the replies of finished tasks."""
        for key in keys:
            self._known.pop(key, None)

    def stop(self) -> None:
        """Stop starting calls."""
        self._stopped = True

    def is_stopped(self) -> bool:
        """Return whether calls may no longer start."""
        return self._stopped

    def turn(self, tokens: int) -> float:
        """Book the next slot for a request with this many tokens; return the seconds until it starts."""
        now = self._clock()
        return max(self._requests.book(1, now), self._tokens.book(tokens, now)) - now

    def reserve(self, worker: str, most: float) -> Literal["yes", "wait", "no"]:
        """Reserve budget for a call; `wait` if others may release enough."""
        if self._stopped:
            return "no"
        if self._budget is not None and self._spent + sum(self._reserved.values()) + most > self._budget:
            return "wait" if self._open.total() else "no"
        self._reserved[worker] += most
        self._open[worker] += 1
        return "yes"

    def settle(self, worker: str, most: float, price: float) -> None:
        """Release a reservation and book the price."""
        self._reserved[worker] -= most
        self._open[worker] -= 1
        self._spent += price


class DeskGate:
    """Rates and budget of a desk, as a gate for a client (`mirage.llm.Gate`).

    Args:
        desk: the desk.
        worker: name of the worker.
        limits: limits of the desk. Without rates or budget, calls do not wait for the desk.
    """

    def __init__(self, desk: Desk, worker: str, limits: Limits) -> None:
        self._desk, self._worker = desk, worker
        self._paced = (limits.requests_per_minute, limits.tokens_per_minute) != (None, None)
        self._budgeted = limits.budget is not None
        self._look, self._stopped = -math.inf, False

    async def turn(self, tokens: int) -> tuple[float, float]:
        """Book the next slot.

        The desk counts from the time of the request, which lies between the two times seen here: the slot starts after
        the later and ends after the earlier.
        """
        loop = asyncio.get_running_loop()
        if not self._paced:
            return loop.time(), math.inf
        before = loop.time()
        wait = float(await asyncio.to_thread(self._desk.ask, "turn", tokens))
        return loop.time() + wait, before + wait + HOLDS

    async def reserve(self, most: float) -> bool:
        """Reserve budget; without a budget only check whether to stop."""
        if not self._budgeted:
            now = asyncio.get_running_loop().time()
            if now >= self._look:
                self._look = now + _LOOK
                self._stopped = await asyncio.to_thread(self._desk.ask, "is_stopped")
            return not self._stopped
        while (word := await asyncio.to_thread(self._desk.ask, "reserve", self._worker, most)) == "wait":
            await asyncio.sleep(_POLL)
        return bool(word == "yes")

    async def settle(self, most: float, price: float) -> None:
        """Release the reservation, without waiting."""
        if self._budgeted:
            self._desk.tell("settle", self._worker, most, price)
