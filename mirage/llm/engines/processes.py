"""Execution in several processes of this machine, for CPU-bound work."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from mirage.errors import BadInput
from mirage.llm.engines.tasks import Task, Work
from mirage.store.cores import pool

if TYPE_CHECKING:
    from concurrent.futures import Future

_LOG = logging.getLogger(__name__)
_LOSSES = 3
"""Maximum consecutive losses of workers without a finished task."""
_loaded: dict[str, Any] = {}
"""State loaded in this worker process, once."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Runs work in processes of this machine (`mirage.store.cores.pool`)."""

    workers: int
    loads_models: ClassVar[bool] = False
    """False: a model already uses all cores, and copies would multiply its memory."""

    def run(self, work: Work, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Run tasks; those of a killed process are repeated by another.

        Raises:
            BadInput: if processes are killed repeatedly.
            MirageError: raised by the work.
        """
        from concurrent.futures.process import BrokenProcessPool

        waiting = iter(tasks)
        open_: dict[str, Task] = {}
        losses = 0
        while losses < _LOSSES:
            try:
                for key, result in self._until_lost(work, waiting, open_):
                    losses = 0
                    yield key, result
                return
            except BrokenProcessPool:
                losses += 1
                _LOG.warning("A worker process was killed; its work is repeated.")
        raise BadInput(
            f"worker processes were killed {_LOSSES} times in a row",
            do="the memory may be too small: reduce --workers, or use --engine local",
        )

    def _until_lost(self, work: Work, waiting: Iterator[Task], open_: dict[str, Task]) -> Iterator[tuple[str, Any]]:
        """Run the open and waiting tasks until a process is lost."""
        from concurrent.futures import FIRST_COMPLETED, wait

        with pool(self.workers) as executor:
            futures: dict[Future[Any], str] = {executor.submit(_run, work, task): key for key, task in open_.items()}
            while True:
                for task in islice(waiting, max(0, 2 * self.workers - len(futures))):
                    open_[task.key] = task
                    futures[executor.submit(_run, work, task)] = task.key
                if not futures:
                    return
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    result, key = future.result(), futures.pop(future)
                    del open_[key]
                    yield key, result


def _run(work: Work, task: Task) -> Any:
    """Run a task, loading the work's state first if needed."""
    if work.name not in _loaded:
        _loaded[work.name] = work.load()
    return work.run(_loaded[work.name], task)
