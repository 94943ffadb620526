"""The explorer's memory: what stays is not searched for garbage again and again.

A full collection walks every object there is. With tables of a large arena held, that is some hundred milliseconds in
which no session is answered, every few seconds while many readers fill the caches. What outlives one is therefore set
aside (`gc.freeze`), and looked at again only at every twentieth, so that what ended sessions leave behind goes then.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Final

EVERY: Final = 20
"""Full collections from one that walks everything to the next."""


@dataclass
class _Collected:
    """Full collections of this process that `keep` knows of."""

    full: int = 0


_collected = _Collected()


def keep() -> None:
    """Set aside what has outlived a full collection since the last call.

    Called at the start of every run, over a callback of the collector: Python's code would then run, and threads
    change, in the middle of whatever allocates, which not all of C bears.
    """
    full = gc.get_stats()[-1]["collections"]
    if full == _collected.full:
        return
    _collected.full = full
    if full % EVERY:
        gc.freeze()
    else:
        gc.unfreeze()
