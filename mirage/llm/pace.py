"""Rates: when the next request may begin."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Pace:
    """Spaces out what is sent so that a rate is never exceeded, not even in the first minute.

    A bucket that starts full would let twice the rate through in its first minute, and could not take a call that is
    larger than the bucket.
    """

    per_minute: float | None
    """The rate, in requests or tokens; None for none."""
    free: float = 0.0
    """When the next may begin, in seconds of the caller's clock."""

    def book(self, amount: float, now: float) -> float:
        """Take the next place for a request of this size; returns when it begins."""
        if self.per_minute is None:
            return now
        begins = max(now, self.free)
        self.free = begins + 60 * amount / self.per_minute
        return begins
