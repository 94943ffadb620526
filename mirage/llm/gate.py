"""Gates that decide when a request may start, and whether the budget allows it, for one program or several."""

from __future__ import annotations

import asyncio
import math
from typing import Protocol

from mirage.llm.calls import Limits
from mirage.llm.pace import Pace


class Gate(Protocol):
    """Rates and budget of a run."""

    async def turn(self, tokens: int) -> tuple[float, float]:
        """Book the next slot for a request with this many tokens.

        Returns:
            Its start and its expiry, by the running loop's clock.
        """

    async def reserve(self, most: float) -> bool:
        """Reserve budget for a call's maximum cost, waiting while others may release enough.

        Returns:
            Whether the call may be made.
        """

    async def settle(self, most: float, price: float) -> None:
        """Release a reservation and book the price."""


class OwnGate:
    """Rates and budget of a single `complete`."""

    def __init__(self, limits: Limits) -> None:
        self._budget = limits.budget
        self._requests, self._tokens = Pace(limits.requests_per_minute), Pace(limits.tokens_per_minute)
        self._spent = self._reserved = 0.0
        self._open = 0
        self._freed = asyncio.Event()

    async def turn(self, tokens: int) -> tuple[float, float]:
        """Book the next slot, which does not expire."""
        now = asyncio.get_running_loop().time()
        return max(self._requests.book(1, now), self._tokens.book(tokens, now)), math.inf

    async def reserve(self, most: float) -> bool:
        """Reserve budget."""
        while self._budget is not None and self._spent + self._reserved + most > self._budget:
            if not self._open:
                return False
            self._freed.clear()
            await self._freed.wait()
        self._reserved += most
        self._open += 1
        return True

    async def settle(self, most: float, price: float) -> None:
        """Release the reservation."""
        self._open -= 1
        self._reserved -= most
        self._spent += price
        self._freed.set()
