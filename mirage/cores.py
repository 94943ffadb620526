"""Processes of this machine, as many as it has cores."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Map = Callable[..., Iterator[Any]]
"""Applies a function to batches, in their order, as `map` does."""


def available() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_starting = threading.Lock()


class _Process(SpawnProcess):
    """A process that does not import the program that runs, as Python's own do."""

    def start(self) -> None:
        with _starting:
            program = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = program


class _Context(SpawnContext):
    """Where such processes come from."""

    Process = _Process


@contextmanager
def pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes; whatever ends the work before it is done, also ends them at once.

    Every process is started anew, so none inherits a lock or a thread, and none runs the program that was started: it
    may be a page, or a script without a guard. Functions and values must be picklable, and the functions of a module.
    Ctrl-C is for this process alone.

    Args:
        processes: how many processes, from 1.
    """
    from concurrent.futures import ProcessPoolExecutor

    executor = ProcessPoolExecutor(processes, _Context(), initializer=_prepare)
    try:
        yield executor
    except BaseException:
        for process in list((executor._processes or {}).values()):
            process.kill()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def on_cores(processes: int) -> Iterator[Map]:
    """Give a `map` that works in several processes (`pool`), or Python's own for one.

    Args:
        processes: how many processes, from 1.
    """
    if processes <= 1:
        yield map
        return
    with pool(processes) as executor:
        yield executor.map


def _prepare() -> None:
    """Prepare a process of a pool: Ctrl-C is not for it, and it ends with the process that started it, however that
    ended; else it could wait for ever for a lock that a killed one held.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
