"""Execution in several processes of this machine, for CPU-bound work."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mirage.errors import BadInput
from mirage.store.cores import pool

_LOG = logging.getLogger(__name__)
_LOSSES = 3
"""Maximum consecutive losses of workers without a finished task."""
_AHEAD = 3
"""Tasks per worker that are begun or wait for their result to be taken."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Runs work in processes of this machine (`mirage.store.cores.pool`).

    Functions and tasks must be picklable; functions must be defined at module level.
    """

    workers: int

    def run(self, work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        """Run a function on each task, taken a few ahead; those of a killed process are repeated by another.

        Yields:
            The result of each task, in order.

        Raises:
            BadInput: if processes are killed repeatedly.
            MirageError: raised by the function.
        """
        from concurrent.futures.process import BrokenProcessPool

        waiting, losses = iter(tasks), 0
        begun: deque[Any] = deque()
        while losses < _LOSSES:
            try:
                with pool(self.workers) as executor:
                    futures = deque(executor.submit(work, task) for task in begun)
                    while True:
                        for task in islice(waiting, _AHEAD * self.workers - len(begun)):
                            begun.append(task)
                            futures.append(executor.submit(work, task))
                        if not futures:
                            return
                        result = futures.popleft().result()
                        begun.popleft()
                        losses = 0
                        yield result
            except BrokenProcessPool:
                losses += 1
                _LOG.warning("A worker process was killed; its work is repeated.")
        raise BadInput(
            f"worker processes were killed {_LOSSES} times in a row",
            do="the memory may be too small: reduce --workers, or use --engine local",
        )
