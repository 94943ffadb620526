"""Rate limits: when the next request may start."""

from __future__ import annotations

from dataclasses import dataclass


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
