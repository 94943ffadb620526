"""Compute the views that pages open with before a reader asks for them: the child process of `mirage app`.

    python -m mirage.views.warm

It goes through the arenas that the explorer lists, at low priority. Its standard input is a pipe from its parent, and
it ends when the pipe does, however the parent ended. No reader waits for it: it computes without a lock.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from mirage import store
from mirage.errors import MirageError
from mirage.stats.label_errors import QueryLabels
from mirage.store import Arena, home
from mirage.store.cache_files import one_at_a_time
from mirage.store.labels import has_automatic_labels
from mirage.views.cache import without_waiting
from mirage.views.exam import exam_view, pairs_view
from mirage.views.features import features_view
from mirage.views.rates import RateChoice, published_arena, rates_view


def default_views(arena: Arena) -> Iterator[Callable[[], object]]:
    """Yield calls of the views that the pages of an arena open with."""
    if "outcomes" in arena.tables:
        labels = QueryLabels(has_automatic_labels(arena))
        yield partial(rates_view, arena, RateChoice(), labels, published_arena(arena))
    if "features" in arena.tables:
        yield partial(features_view, arena)
    if "judgments" in arena.tables:
        yield partial(exam_view, arena)
        yield partial(pairs_view, arena)


def warm(arena: Arena) -> None:
    """Store the views that the pages of an arena open with; one that has too little data is left to its page."""
    with without_waiting():
        for view in default_views(arena):
            with suppress(MirageError):
                view()


def main() -> None:
    """Warm all arenas, one process of several servers at a time."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(19)
    with one_at_a_time("warm", patience=-1):
        for path in home.all_arenas()[0].values():
            with suppress(MirageError):
                warm(store.open_arena(path))


def _end_with_parent() -> None:
    while sys.stdin.buffer.read(1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
