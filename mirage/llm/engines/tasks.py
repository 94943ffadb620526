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


class Desk(Protocol):
    """Central state shared by the workers of one piece of work."""

    def ask(self, method: str, *values: Any) -> Any:
        """Call a method and wait for its result."""

    def tell(self, method: str, *values: Any) -> None:
        """Call a method without waiting."""


@dataclass(frozen=True, slots=True)
class Task:
    """Rows to process at once by one worker."""

    key: str
    """Unique key of the task."""
    rows: Any
    """Input of the task."""


@dataclass(frozen=True, slots=True)
class Place:
    """Environment of a worker."""

    worker: str
    """Name of the worker; a replacement of a lost worker has the same."""
    desk: Desk | None
    """Shared state; None if the work has none."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work to do on tasks. Every task runs at least once: a lost worker's task is given to another."""

    name: str
    """Name; a cluster does not run two of one name at once."""
    load: Callable[[Place], Any]
    """Loads a worker's state for all tasks; called once per worker."""
    run: Callable[[Any, Task], Any]
    """Runs one task with the loaded state."""
    desk: Callable[[], Any] | None = None
    """Creates the shared state; None for none."""
    beat: Callable[[Desk], None] | None = None
    """Called here periodically during the work, and once more when it ends for any reason."""
    stop: Callable[[Desk], float] | None = None
    """Called here on the first Ctrl-C; returns the workers' grace period in seconds."""


def nothing(_place: Place) -> None:
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

    def everywhere(self, function: Callable[..., Any], *values: Any) -> list[Any]:
        """Call a function once on every machine, and return the results."""
