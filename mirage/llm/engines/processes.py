"""Execution in several processes of this machine, for CPU-bound work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput
from mirage.store.cores import pool

if TYPE_CHECKING:
    from concurrent.futures import Future

_LOG = logging.getLogger(__name__)
_LOSSES = 3
"""Maximum consecutive losses of workers without a finished task."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Runs work in processes of this machine (`mirage.store.cores.pool`).

    Functions and tasks must be picklable; functions must be defined at module level.
    """

    workers: int

    def run(self, work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Run a function on each task, taken as workers become free; those of a killed process are repeated by another.

        Yields:
            Number and result of each task, in order of completion.

        Raises:
            BadInput: if processes are killed repeatedly.
            MirageError: raised by the function.
        """
        from concurrent.futures.process import BrokenProcessPool

        waiting = enumerate(tasks)
        open_: dict[int, Any] = {}
        losses = 0
        while losses < _LOSSES:
            try:
                for number, result in self._until_lost(work, waiting, open_):
                    losses = 0
                    yield number, result
                return
            except BrokenProcessPool:
                losses += 1
                _LOG.warning("A worker process was killed; its work is repeated.")
        raise BadInput(
            f"worker processes were killed {_LOSSES} times in a row",
            do="the memory may be too small: reduce --workers, or use --engine local",
        )

    def _until_lost(
        self, work: Callable[[Any], Any], waiting: Iterator[tuple[int, Any]], open_: dict[int, Any]
    ) -> Iterator[tuple[int, Any]]:
        """Run the open and waiting tasks until a process is lost."""
        from concurrent.futures import FIRST_COMPLETED, wait

        with pool(self.workers) as executor:
            futures: dict[Future[Any], int] = {executor.submit(work, task): number for number, task in open_.items()}
            while True:
                for number, task in islice(waiting, max(0, 2 * self.workers - len(futures))):
                    open_[number] = task
                    futures[executor.submit(work, task)] = number
                if not futures:
                    return
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    result, number = future.result(), futures.pop(future)
                    del open_[number]
                    yield number, result
