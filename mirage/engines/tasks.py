"""A piece of work, and doing it here. What does it elsewhere has the same two methods.

    work = Work("measure", load=load, run=run)
    for key, result in Local().run(work, [Task("0", rows), Task("1", more)]):
        ...

Functions and rows must be picklable: functions of a module, not of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


class Desk(Protocol):
    """What the workers of one piece of work share: an object that stands in one place, and is spoken to from all."""

    def ask(self, method: str, *values: Any) -> Any:
        """Call a method, and wait for its result."""

    def tell(self, method: str, *values: Any) -> None:
        """Call a method without waiting."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some rows, to be worked on at once by one worker."""

    key: str
    """Tells it from the others."""
    rows: Any
    """What it is done on."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker is."""

    worker: str
    """Its name. A worker that takes the place of a lost one has the same."""
    desk: Desk | None
    """What it shares with the others; None if the work has nothing of the kind."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with tasks. A task is done at least once: a lost worker's is given to another."""

    name: str
    """Two of one name are not done at once on a cluster."""
    load: Callable[[Place], Any]
    """Gives what a worker needs for all tasks; called once a worker."""
    run: Callable[[Any, Task], Any]
    """Does one task, with what was loaded."""
    desk: Callable[[], Any] | None = None
    """Makes what the workers share; None for nothing."""
    beat: Callable[[Desk], None] | None = None
    """Called here again and again while work goes on, and once more when it ends, whatever ends it."""
    stop: Callable[[Desk], float] | None = None
    """Called here on the first Ctrl-C; returns the seconds that the workers get to end."""


def nothing(_place: Place) -> None:
    """What a worker loads for work on the rows of its tasks alone."""


class Executor(Protocol):
    """Does work somewhere."""

    @property
    def workers(self) -> int:
        """How many tasks are done at once."""

    @property
    def loads_models(self) -> bool:
        """Whether each worker is to load the models that it needs; if not, work that needs one is done elsewhere."""

    def run(self, work: Work, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Do tasks; yields the key and the result of each, once, in the order in which they end.

        Tasks are taken from the iterable as workers get free.

        Raises:
            MirageError: what the work raises, or if workers cannot be had or are lost again and again.
        """

    def everywhere(self, function: Callable[..., Any], *values: Any) -> list[Any]:
        """Call a function once on every machine; returns the results."""


@dataclass(frozen=True, slots=True)
class OwnDesk:
    """A desk in this process."""

    shared: Any

    def ask(self, method: str, *values: Any) -> Any:
        """Call a method."""
        return getattr(self.shared, method)(*values)

    def tell(self, method: str, *values: Any) -> None:
        """Call a method."""
        self.ask(method, *values)


@dataclass(frozen=True, slots=True)
class Local:
    """Does work in this process, task by task."""

    workers: int = 1
    loads_models: ClassVar[bool] = True

    def run(self, work: Work, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Do tasks, in their order."""
        desk = OwnDesk(work.desk()) if work.desk is not None else None
        loaded = work.load(Place("0", desk))
        try:
            for task in tasks:
                yield task.key, work.run(loaded, task)
                if work.beat is not None and desk is not None:
                    work.beat(desk)
        finally:
            if work.beat is not None and desk is not None:
                work.beat(desk)

    def everywhere(self, function: Callable[..., Any], *values: Any) -> list[Any]:
        """Call a function here."""
        return [function(*values)]
