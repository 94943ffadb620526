"""The explorer's memory: what stays is not searched for garbage again and again.

A full collection walks every object there is. With tables of a large arena held, that is some hundred milliseconds in
which no session is answered, every few seconds while many readers fill the caches. What outlives one is therefore set
aside (`gc.freeze`), and looked at again only at every twentieth, so that what ended sessions leave behind goes then.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

EVERY: Final = 20
"""Full collections from one that walks everything to the next."""

_OLDEST: Final = 2
_full = count(1)


def keep() -> None:
    """Set aside what outlives full collections from now on, in this process; a second call changes nothing."""
    if _collected not in gc.callbacks:
        gc.callbacks.append(_collected)


def _collected(phase: str, info: Mapping[str, Any]) -> None:
    if info["generation"] != _OLDEST:
        return
    if phase == "start":
        if next(_full) % EVERY == 0:
            gc.unfreeze()
    else:
        gc.freeze()
