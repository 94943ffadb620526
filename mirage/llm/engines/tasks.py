"""Units of work, and what executors have in common.

    work = Work("measure", load=load, run=run)
    for key, result in executor.run(work, [Task("0", rows), Task("1", more)]):
        ...

Functions and rows must be picklable; functions must be defined at module level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Task:
    """Rows to process at once by one worker."""

    key: str
    """Unique key of the task."""
    rows: Any
    """Input of the task."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work to do on tasks. Every task runs at least once: a lost worker's task is given to another."""

    name: str
    """Name of the work."""
    load: Callable[[], Any]
    """Loads a worker's state for all tasks; called once per worker."""
    run: Callable[[Any, Task], Any]
    """Runs one task with the loaded state."""
    grace: float = 0.0
    """Seconds for pending tasks to finish after the first Ctrl-C."""


def nothing() -> None:
    """Load no state, for work that only needs the rows of its tasks."""


class Executor(Protocol):
    """Runs work somewhere."""

    @property
    def workers(self) -> int:
        """Number of parallel tasks."""

    @property
    def loads_models(self) -> bool:
        """True if workers may load models; otherwise work with models runs elsewhere."""

    def run(self, work: Work, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Run tasks, and yield key and result of each, once, in order of completion.

        Tasks are taken from the iterable as workers become free.

        Raises:
            MirageError: raised by the work, or if workers are not available or are lost repeatedly.
        """
