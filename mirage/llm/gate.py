"""Who says when a request may begin, and whether there is money for it: for a program alone, or for many together."""

from __future__ import annotations

import asyncio
import math
from typing import Protocol

from mirage.llm.calls import Limits
from mirage.llm.pace import Pace


class Gate(Protocol):
    """Rates and budget of a run."""

    async def turn(self, tokens: int) -> tuple[float, float]:
        """Take the next place for a request of so many tokens.

        Returns:
            When it begins and until when the place holds, by the running loop's clock.
        """

    async def reserve(self, most: float) -> bool:
        """Set money aside for a call that costs so much at most; waits while others may leave enough of theirs.

        Returns:
            Whether the call may be made.
        """

    async def settle(self, most: float, price: float) -> None:
        """Give back what was set aside for a call, less its price."""


class OwnGate:
    """Rates and budget of one `complete` alone."""

    def __init__(self, limits: Limits) -> None:
        self._budget = limits.budget
        self._requests, self._tokens = Pace(limits.requests_per_minute), Pace(limits.tokens_per_minute)
        self._spent = self._reserved = 0.0
        self._open = 0
        self._freed = asyncio.Event()

    async def turn(self, tokens: int) -> tuple[float, float]:
        """Take the next place; it holds for ever."""
        now = asyncio.get_running_loop().time()
        return max(self._requests.book(1, now), self._tokens.book(tokens, now)), math.inf

    async def reserve(self, most: float) -> bool:
        """Set money aside."""
        while self._budget is not None and self._spent + self._reserved + most > self._budget:
            if not self._open:
                return False
            self._freed.clear()
            await self._freed.wait()
        self._reserved += most
        self._open += 1
        return True

    async def settle(self, most: float, price: float) -> None:
        """Give it back."""
        self._open -= 1
        self._reserved -= most
        self._spent += price
        self._freed.set()
