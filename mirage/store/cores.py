"""Process pools on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Map = Callable[..., Iterator[Any]]
"""Applies a function to batches in order, as `map` does."""


def available() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; an exception inside the block kills them at once.

    The processes are spawned, so they inherit no lock and no thread. Functions must belong to an importable module and
    values must be picklable; a script that starts a pool needs the guard `if __name__ == "__main__":`. The processes
    ignore Ctrl-C.

    Args:
        processes: number of processes, from 1.
    """
    from concurrent.futures import ProcessPoolExecutor

    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(processes, context, initializer=_prepare)
    try:
        yield executor
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def on_cores(processes: int) -> Iterator[Map]:
    """Yield a `map` over several processes (`pool`), or the built-in `map` for a single process.

    Args:
        processes: number of processes, from 1.
    """
    if processes <= 1:
        yield map
        return
    with pool(processes) as executor:
        yield executor.map


def _prepare() -> None:
    """Ignore Ctrl-C in a worker and end it with its parent: otherwise it could wait forever for a lock that a killed
    parent held.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
