"""Pages take turns: the server computes a few at a time, and the others wait.

Python runs one thread at a time. If fifty readers click at once, fifty threads hand that right to each other with every
element they draw, and the last page is done when all are. In turn, each is done after its own time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2
"""Pages computed at a time: a second one uses the processor while the first reads a file or multiplies matrices."""
PATIENCE = 1.0
"""Seconds after which a page runs out of turn, so that a few slow pages cannot stop all others."""

_turns = threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, at most `PATIENCE` seconds, and keep it until the block ends."""
    taken = _turns.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if taken:
            _turns.release()
