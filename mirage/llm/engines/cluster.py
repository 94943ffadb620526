"""Execution on a Ray cluster: one actor per worker, fed by Ray's actor pool.

A lost worker is restarted, on another machine if needed, with its task. Shared state is an actor on the driver's
machine that exits with the driver, so that its name is free for a rerun.
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

from mirage.errors import BadInput, MirageError, Unreachable
from mirage.llm.engines.tasks import Place, Task, Work
from mirage.store.extras import extra

_LOG = logging.getLogger(__name__)
_NAMESPACE = "mirage"
_BEAT = 0.1
"""Polling interval for results, in seconds."""
_PATIENCE = 30.0
"""Seconds for the workers of a dead driver to exit, and before warning that workers wait for room."""
_KNOCK = 10.0
"""Connection timeout of a cluster in seconds."""
_LIGHT = 0.01
"""Cores that Ray reserves per worker: almost none, so that all workers fit if a machine is lost. The user sets their
number.
"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Runs work on the machines of a Ray cluster.

    Args:
        workers: number of parallel tasks.
        address: `HOST:PORT` of the cluster; None for RAY_ADDRESS, else a local one.
        gpus: GPUs per worker; two or more are on one machine.
    """

    workers: int
    address: str | None = None
    gpus: float = 0
    loads_models: ClassVar[bool] = True

    def run(self, work: Work, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Run tasks.

        Raises:
            Unreachable: if there is no cluster, or it is lost.
            BadInput: if another driver runs work of this name, a machine has another version, or none has the GPUs.
            MirageError: raised by the work.
        """
        groups: list[Any] = []
        with _translated():
            ray = self._connect()
            workers = self._room(ray)
            desk = _desk(ray, work)
            if self.gpus > 1:
                groups = [_group(ray, int(self.gpus)) for _ in range(workers)]
            # Constructor arguments are small and refer to the desk by name, so that lost workers can be restarted.
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
        """Call a function once on every live machine; results of machines lost meanwhile are missing.

        Raises:
            Unreachable: if there is no cluster.
            BadInput: if a machine has another version.
        """
        with _translated():
            ray = self._connect()
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
        """Return the number of workers the cluster has GPUs for.

        Raises:
            BadInput: if it is 0.
        """
        if not self.gpus:
            return self.workers
        gpus = [node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"]]
        room = sum(int(count // self.gpus) for count in gpus)
        if not room:
            raise BadInput(
                f"no machine of the cluster has {self.gpus:g} GPUs: the most is {max(gpus, default=0):g}",
                where=self.address or "",
                do="reduce --gpus (or tensor_parallel_size in --engine-args), or add a machine with more",
            )
        if room < self.workers:
            _LOG.warning("The cluster has GPUs for only %d workers.", room)
        return min(room, self.workers)

    def _connect(self) -> Any:
        """Connect to the cluster, check the versions of its machines, and return Ray."""
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
    """Return the scheduling options of a worker with at most one GPU."""
    return {"num_gpus": gpus, "scheduling_strategy": "SPREAD"}


def _group(ray: Any, gpus: int) -> Any:
    """Reserve several GPUs of one machine for one worker."""
    return ray.util.placement_group([{"GPU": 1, "CPU": _LIGHT}] * gpus, strategy="STRICT_PACK")


def _inside(group: Any) -> dict[str, Any]:
    """Return the scheduling options of a worker with several GPUs. It reserves none itself: vLLM's processes do."""
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy as Inside

    return {"num_gpus": 0, "scheduling_strategy": Inside(group, placement_group_capture_child_tasks=True)}


def _version() -> str:
    """Return the version of mirage on this machine."""
    # The package is above this module in the import order.
    return str(vars(sys.modules["mirage"])["__version__"])


def _nodes(ray: Any) -> list[str]:
    """Return the ids of the live machines."""
    return sorted(node["NodeID"] for node in ray.nodes() if node["Alive"])


def _need_listener(address: str) -> None:
    """Check that an address accepts connections: Ray itself retries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(error, address) from None


def _no_cluster(error: Exception, address: str) -> MirageError:
    """Return the error for a cluster that cannot be used."""
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
    """Context manager that converts Ray's errors to ours."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """Convert an error."""
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
                do="rerun the command: results so far are cached",
            ) from None


@dataclass(frozen=True, slots=True)
class _RemoteDesk:
    """A desk in an actor."""

    actor: Any

    def ask(self, method: str, *values: Any) -> Any:
        """Call a method and wait for its result."""
        import ray

        return ray.get(self.actor.call.remote(method, *values))

    def tell(self, method: str, *values: Any) -> None:
        """Call a method without waiting."""
        self.actor.call.remote(method, *values)


class _DeskActor:
    """Actor that holds a desk."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._shared = make()

    def call(self, method: str, *values: Any) -> Any:
        """Call a method of the desk."""
        return getattr(self._shared, method)(*values)


def _desk(ray: Any, work: Work) -> _RemoteDesk | None:
    """Create the desk on this machine, after the desk of a dead driver has ended."""
    if work.desk is None:
        return None
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

    # Ray may place an actor without cores on any machine, unless the node is required.
    here = On(ray.get_runtime_context().get_node_id(), soft=False)
    actor_class = ray.remote(_DeskActor).options(name=work.name, num_cpus=0, scheduling_strategy=here)
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return _RemoteDesk(actor_class.remote(work.desk))
        except ValueError:  # the name is taken
            if time.monotonic() > end:
                raise BadInput(
                    "another run of this arena is active on the cluster",
                    do="wait until it is done, then rerun the command",
                ) from None
            time.sleep(1)


class _Worker:
    """An actor that runs tasks."""

    def __init__(self, work: Work, name: str, has_desk: bool) -> None:
        import ray

        desk = _RemoteDesk(ray.get_actor(work.name, namespace=_NAMESPACE)) if has_desk else None
        self._work, self._place = work, Place(name, desk)
        self._loaded: list[Any] = []

    def ready(self) -> None:
        """Confirm that the actor is scheduled."""

    def run(self, task: Task) -> tuple[str, Any]:
        """Run a task."""
        if not self._loaded:
            self._loaded.append(self._work.load(self._place))
        return task.key, self._work.run(self._loaded[0], task)


class _Feed:
    """Feeds tasks to free actors, and collects the results."""

    def __init__(
        self, ray: Any, work: Work, waiting: Iterator[Task], actors: list[Any], desk: _RemoteDesk | None
    ) -> None:
        from ray.util import ActorPool

        self._ray, self._work, self._waiting, self._desk = ray, work, waiting, desk
        self._pool = ActorPool(actors)
        self._ready, self._look = [actor.ready.remote() for actor in actors], time.monotonic() + _PATIENCE

    def results(self) -> Iterator[tuple[str, Any]]:
        """Yield results as they arrive. On a stop, pending tasks get time to finish."""
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
        """Return the next result; None if there is none yet."""
        self._beat()
        with _translated():
            try:
                key, result = self._pool.get_next_unordered(timeout=_BEAT)
            except TimeoutError:
                return None
            return key, result

    def _fill(self) -> None:
        """Submit a task to every free actor."""
        with _translated():
            while self._pool.has_free() and (task := next(self._waiting, None)) is not None:
                self._pool.submit(lambda actor, value: actor.run.remote(value), task)

    def _beat(self) -> None:
        self._tell_who_waits()
        if self._work.beat is not None and self._desk is not None:
            with _translated():
                self._work.beat(self._desk)

    def _tell_who_waits(self) -> None:
        """Warn once about workers that are still not scheduled."""
        if time.monotonic() < self._look:
            return
        self._look = float("inf")
        _, waiting = self._ray.wait(self._ready, num_returns=len(self._ready), timeout=0)
        if waiting:
            _LOG.warning("%d of %d workers are waiting for resources of the cluster.", len(waiting), len(self._ready))
