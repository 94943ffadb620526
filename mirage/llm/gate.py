"""Rates and budget of a run: when its next request may start, and whether the budget allows it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from mirage.llm.calls import Limits


@dataclass
class Pace:
    """Spaces out requests so that a rate is never exceeded, not even in the first minute.

    A token bucket that starts full would allow twice the rate in its first minute, and could not pass a call larger
    than the bucket.
    """

    per_minute: float | None
    """The rate, in requests or tokens; None for no limit."""
    free: float = 0.0
    """Start of the next free slot, in seconds of the caller's clock."""

    def book(self, amount: float, now: float) -> float:
        """Book the next slot for a request of this size; return its start."""
        if self.per_minute is None:
            return now
        begins = max(now, self.free)
        self.free = begins + 60 * amount / self.per_minute
        return begins


class Gate:
    """Rates and budget of one run of calls.

    Args:
        limits: the rates and the budget.
        paces: paces of requests and of tokens that outlast the run; None for new ones.
    """

    def __init__(self, limits: Limits, paces: tuple[Pace, Pace] | None = None) -> None:
        self._budget = limits.budget
        self._requests, self._tokens = paces or (Pace(limits.requests_per_minute), Pace(limits.tokens_per_minute))
        self._spent = self._reserved = 0.0
        self._open = 0
        self._freed = asyncio.Event()

    def book(self, tokens: int) -> float:
        """Book the next slot for a request with this many tokens; return its start, by the running loop's clock."""
        now = asyncio.get_running_loop().time()
        return max(self._requests.book(1, now), self._tokens.book(tokens, now))

    async def reserve(self, most: float) -> bool:
        """Reserve budget for a call's maximum cost, waiting while others may release enough.

        Returns:
            Whether the call may be made.
        """
        while self._budget is not None and self._spent + self._reserved + most > self._budget:
            if not self._open:
                return False
            self._freed.clear()
            await self._freed.wait()
        self._reserved += most
        self._open += 1
        return True

    def settle(self, most: float, price: float) -> None:
        """Release a reservation and book the price."""
        self._open -= 1
        self._reserved -= most
        self._spent += price
        self._freed.set()
