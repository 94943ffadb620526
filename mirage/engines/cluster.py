"""Work done on a Ray cluster: one actor a worker, fed by Ray's actor pool.

A lost worker is started again, on another machine if need be, and its task with it. What workers share is an actor on
the driver's machine that ends with the driver, so that a name is free again for the same command.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mirage.engines.tasks import Place, Task, Work
from mirage.errors import BadInput, MirageError, Unreachable
from mirage.extras import extra

_LOG = logging.getLogger(__name__)
_NAMESPACE = "mirage"
_BEAT = 0.1
"""Seconds between two looks at what has come."""
_PATIENCE = 30.0
"""Seconds that the workers of a driver that is gone get to end, and that workers wait for room before that is said."""
_KNOCK = 10.0
"""Seconds that a cluster gets to take a connection."""
_LIGHT = 0.01
"""Cores that Ray counts for a worker: next to none, so that all of them find a place when a machine is lost. How many
work at once is said by the user."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Does work on the machines of a Ray cluster.

    Args:
        workers: how many tasks are done at once.
        address: `HOST:PORT` of the cluster; None for the one that RAY_ADDRESS names, else one on this machine alone.
        gpus: GPUs of each worker; two and more are of one machine.
    """

    workers: int
    address: str | None = None
    gpus: float = 0
    loads_models: ClassVar[bool] = True

    def run(self, work: Work, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Do tasks.

        Raises:
            Unreachable: if there is no cluster, or it is lost.
            BadInput: if another driver does work of this name, a machine has another version, or none has the GPUs.
            MirageError: what the work raises.
        """
        groups: list[Any] = []
        with _translated():
            ray = self._connected()
            workers = self._room(ray)
            desk = _desk(ray, work)
            if self.gpus > 1:
                groups = [_group(ray, int(self.gpus)) for _ in range(workers)]
            # What they are made of is small and names the desk: a worker that is lost is made of it again.
            known = replace(work, desk=None, beat=None, stop=None)
            actor_class, again = ray.remote(_Worker), {"max_restarts": -1, "max_task_retries": -1}
            places = [_inside(group) for group in groups] or [_spread(self.gpus)] * workers
            actors = [
                actor_class.options(num_cpus=_LIGHT, **again, **place).remote(known, str(number), desk is not None)
                for number, place in enumerate(places)
            ]
        try:
            yield from _Feed(ray, work, iter(tasks), actors, desk).results()
        finally:
            for actor in [*actors, *([desk.actor] if desk is not None else [])]:
                with suppress(Exception):  # the cluster may be gone
                    ray.kill(actor)
            for group in groups:
                with suppress(Exception):
                    ray.util.remove_placement_group(group)

    def everywhere(self, function: Callable[..., Any], *values: Any) -> list[Any]:
        """Call a function once on every machine that is there; what a machine lost meanwhile had, is not in the result.

        Raises:
            Unreachable: if there is no cluster.
            BadInput: if a machine has another version.
        """
        with _translated():
            ray = self._connected()
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

            shared = [ray.put(value) for value in values]
            remote = ray.remote(function)
            results = [
                remote.options(num_cpus=_LIGHT, scheduling_strategy=On(node, soft=False)).remote(*shared)
                for node in _nodes(ray)
            ]
            answers = []
            for result in results:
                with suppress(ray.exceptions.TaskUnschedulableError, ray.exceptions.NodeDiedError):
                    answers.append(ray.get(result))
            return answers

    def _room(self, ray: Any) -> int:
        """How many workers the cluster has GPUs for.

        Raises:
            BadInput: if it is none.
        """
        if not self.gpus:
            return self.workers
        gpus = [node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"]]
        room = sum(int(count // self.gpus) for count in gpus)
        if not room:
            raise BadInput(
                f"no machine of the cluster has {self.gpus:g} GPUs: the most is {max(gpus, default=0):g}",
                where=self.address or "",
                do="give fewer with --gpus (or tensor_parallel_size of --engine-args), or join a machine with more",
            )
        if room < self.workers:
            _LOG.warning("The cluster has GPUs for %d workers; there are no more.", room)
        return min(room, self.workers)

    def _connected(self) -> Any:
        """Ray, connected to the cluster, whose machines have this version."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        with extra("ray", "--engine ray"):
            import ray
        if ray.is_initialized():
            return ray
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "namespace": _NAMESPACE}
        alone = self.address is None and not os.environ.get("RAY_ADDRESS")
        if alone:
            options |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        address = self.address or os.environ.get("RAY_ADDRESS", "")
        _need_listener(address)
        try:
            ray.init(address="local" if alone else address, **options)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise _no_cluster(error, address) from None
        for version in self.everywhere(_version):
            if version != _version():
                raise BadInput(
                    f"a machine of the cluster has mirage {version}, this one {_version()}",
                    where=self.address or "",
                    do="install the same version on every machine, then start Ray there again",
                )
        return ray


def _spread(gpus: float) -> dict[str, Any]:
    """Where a worker goes that has a GPU, a part of one or none."""
    return {"num_gpus": gpus, "scheduling_strategy": "SPREAD"}


def _group(ray: Any, gpus: int) -> Any:
    """Some GPUs of one machine, kept for one worker."""
    return ray.util.placement_group([{"GPU": 1, "CPU": _LIGHT}] * gpus, strategy="STRICT_PACK")


def _inside(group: Any) -> dict[str, Any]:
    """Where a worker with several GPUs goes. It counts none itself: vLLM starts a process for each inside the group."""
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy as Inside

    return {"num_gpus": 0, "scheduling_strategy": Inside(group, placement_group_capture_child_tasks=True)}


def _version() -> str:
    """The version of this program where it runs."""
    # The package itself lies above this module.
    return str(vars(sys.modules["mirage"])["__version__"])


def _nodes(ray: Any) -> list[str]:
    """The machines that are there, by id."""
    return sorted(node["NodeID"] for node in ray.nodes() if node["Alive"])


def _need_listener(address: str) -> None:
    """Refuse an address at which nobody listens: Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(error, address) from None


def _no_cluster(error: Exception, address: str) -> MirageError:
    """Why no cluster can be used."""
    text = " ".join(str(error).split())
    if "ersion mismatch" in text:
        return BadInput(
            f"the cluster runs another version of Ray or Python: {text[:300]}",
            where=address,
            do="install the same versions on every machine, then start Ray there again",
        )
    return Unreachable(
        f"no Ray cluster answers: {text[:300]}",
        where=address,
        do="start one: ray start --head; then give --address HOST:PORT as it prints it, or leave --address out to work "
        "on this machine alone",
    )


class _translated:  # noqa: N801  # it is used as a word of a `with`
    """Turns what Ray raises into what went wrong."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """Translate, where there is something to translate."""
        if error is None or not isinstance(error, Exception) or isinstance(error, MirageError):
            return
        import ray

        if isinstance(error, ray.exceptions.RayTaskError):
            cause = error.cause
            if isinstance(cause, ModuleNotFoundError) or "ModuleNotFoundError" in str(cause):
                raise BadInput(
                    f"a machine of the cluster lacks a package: {cause}",
                    do="install the same version of mirage, with its extras, on every machine",
                ) from None
            if isinstance(cause, Exception) and not isinstance(cause, ray.exceptions.RayError):
                raise cause from None
        if isinstance(error, ray.exceptions.RayError | ConnectionError):
            raise Unreachable(
                f"the cluster was lost: {' '.join(str(error).split())[:300]}",
                do="run the same command again: what has come is kept",
            ) from None


@dataclass(frozen=True, slots=True)
class _RemoteDesk:
    """A desk that is an actor."""

    actor: Any

    def ask(self, method: str, *values: Any) -> Any:
        """Call a method, and wait for its result."""
        import ray

        return ray.get(self.actor.call.remote(method, *values))

    def tell(self, method: str, *values: Any) -> None:
        """Call a method without waiting."""
        self.actor.call.remote(method, *values)


class _DeskActor:
    """What holds a desk."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._shared = make()

    def call(self, method: str, *values: Any) -> Any:
        """Call a method of the desk."""
        return getattr(self._shared, method)(*values)


def _desk(ray: Any, work: Work) -> _RemoteDesk | None:
    """The desk of some work, on this machine; waits while that of a driver that is gone still ends."""
    if work.desk is None:
        return None
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

    # Ray puts an actor that needs no cores on any machine, unless its place is a condition.
    here = On(ray.get_runtime_context().get_node_id(), soft=False)
    actor_class = ray.remote(_DeskActor).options(name=work.name, num_cpus=0, scheduling_strategy=here)
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return _RemoteDesk(actor_class.remote(work.desk))
        except ValueError:  # the name is taken
            if time.monotonic() > end:
                raise BadInput(
                    "another run of this arena is at work on the cluster",
                    do="wait until it is done, then run the command again",
                ) from None
            time.sleep(1)


class _Worker:
    """An actor that does tasks."""

    def __init__(self, work: Work, name: str, has_desk: bool) -> None:
        import ray

        desk = _RemoteDesk(ray.get_actor(work.name, namespace=_NAMESPACE)) if has_desk else None
        self._work, self._place = work, Place(name, desk)
        self._loaded: list[Any] = []

    def ready(self) -> None:
        """Show that there is a place for it."""

    def run(self, task: Task) -> tuple[str, Any]:
        """Do a task."""
        if not self._loaded:
            self._loaded.append(self._work.load(self._place))
        return task.key, self._work.run(self._loaded[0], task)


class _Feed:
    """Gives tasks to actors as they get free, and takes the results."""

    def __init__(
        self, ray: Any, work: Work, waiting: Iterator[Task], actors: list[Any], desk: _RemoteDesk | None
    ) -> None:
        from ray.util import ActorPool

        self._ray, self._work, self._waiting, self._desk = ray, work, waiting, desk
        self._pool = ActorPool(actors)
        self._ready, self._look = [actor.ready.remote() for actor in actors], time.monotonic() + _PATIENCE

    def results(self) -> Iterator[tuple[str, Any]]:
        """The results, as they come. When something ends all this, what is under way gets the time to end."""
        error: BaseException | None = None
        end = float("inf")
        self._fill()
        while self._pool.has_next() and time.monotonic() < end:
            try:
                result = self._next()
                if result is not None:
                    yield result
            except (MirageError, KeyboardInterrupt) as stop:
                if error is not None and isinstance(stop, KeyboardInterrupt):
                    break
                error, self._waiting = error or stop, iter(())
                seconds = self._work.stop(self._desk) if self._work.stop is not None and self._desk is not None else 0.0
                end = min(end, time.monotonic() + seconds)
            self._fill()
        self._beat()
        if error is not None:
            raise error

    def _next(self) -> tuple[str, Any] | None:
        """The next result; None if there is none yet."""
        self._beat()
        with _translated():
            try:
                key, result = self._pool.get_next_unordered(timeout=_BEAT)
            except TimeoutError:
                return None
            return key, result

    def _fill(self) -> None:
        """Give a task to everybody who is free."""
        with _translated():
            while self._pool.has_free() and (task := next(self._waiting, None)) is not None:
                self._pool.submit(lambda actor, value: actor.run.remote(value), task)

    def _beat(self) -> None:
        self._tell_who_waits()
        if self._work.beat is not None and self._desk is not None:
            with _translated():
                self._work.beat(self._desk)

    def _tell_who_waits(self) -> None:
        """Say once how many workers have no place on the cluster, when they had the time to begin."""
        if time.monotonic() < self._look:
            return
        self._look = float("inf")
        _, waiting = self._ray.wait(self._ready, num_returns=len(self._ready), timeout=0)
        if waiting:
            _LOG.warning("%d of %d workers wait for room on the cluster.", len(waiting), len(self._ready))
