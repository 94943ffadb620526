"""Execution on a Ray cluster: one actor per worker, fed by Ray's actor pool.

A lost worker is restarted, on another machine if needed, with its task.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from mirage.errors import BadInput, MirageError, Unreachable
from mirage.llm.engines.tasks import Task, Work
from mirage.store.extras import extra

_LOG = logging.getLogger(__name__)
_NAMESPACE = "mirage"
_BEAT = 0.1
"""Polling interval for results, in seconds."""
_PATIENCE = 30.0
"""Seconds before warning that workers wait for room."""
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
        gpus: GPUs per worker.
    """

    workers: int
    address: str | None = None
    gpus: float = 0
    loads_models: ClassVar[bool] = True

    def run(self, work: Work, tasks: Iterable[Task]) -> Iterator[tuple[str, Any]]:
        """Run tasks. On the first Ctrl-C or an error, pending tasks get time to finish.

        Raises:
            Unreachable: if there is no cluster, or it is lost.
            BadInput: if a machine has another version, or none has the GPUs.
            MirageError: raised by the work.
        """
        with _translated():
            ray = self._connect()
            worker = ray.remote(_Worker).options(
                num_cpus=_LIGHT,
                num_gpus=self.gpus,
                scheduling_strategy="SPREAD",
                max_restarts=-1,
                max_task_retries=-1,
            )
            actors = [worker.remote(work, _version()) for _ in range(self._room(ray))]
        try:
            yield from _results(ray, actors, iter(tasks), work.grace)
        finally:
            for actor in actors:
                with suppress(Exception):  # the cluster may be gone
                    ray.kill(actor)

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
                do="reduce --gpus, or add a machine with more",
            )
        if room < self.workers:
            _LOG.warning("The cluster has GPUs for only %d workers.", room)
        return min(room, self.workers)

    def _connect(self) -> Any:
        """Connect to the cluster and return Ray."""
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
        return ray


def _version() -> str:
    """Return the version of mirage on this machine."""
    # The package is above this module in the import order.
    return str(vars(sys.modules["mirage"])["__version__"])


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


@contextmanager
def _translated() -> Iterator[None]:
    """Convert Ray's errors to ours."""
    try:
        yield
    except MirageError:
        raise
    except Exception as error:
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
        raise


class _Worker:
    """An actor that runs tasks."""

    def __init__(self, work: Work, version: str) -> None:
        self._work, self._version = work, version
        self._loaded: list[Any] = []

    def ready(self) -> None:
        """Confirm that the actor is scheduled."""

    def run(self, task: Task) -> tuple[str, Any]:
        """Run a task."""
        if self._version != _version():
            raise BadInput(
                f"a machine of the cluster has mirage {_version()}, the one that started the run {self._version}",
                do="install the same version on every machine, then start Ray there again",
            )
        if not self._loaded:
            self._loaded.append(self._work.load())
        return task.key, self._work.run(self._loaded[0], task)


def _results(ray: Any, actors: list[Any], waiting: Iterator[Task], grace: float) -> Iterator[tuple[str, Any]]:
    """Feed tasks to free actors, and yield the results as they arrive. On a stop, pending tasks get time to finish."""
    from ray.util import ActorPool

    pool, error, end = ActorPool(actors), None, float("inf")
    scheduled, look = [actor.ready.remote() for actor in actors], time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            with _translated():
                while pool.has_free() and (task := next(waiting, None)) is not None:
                    pool.submit(lambda actor, value: actor.run.remote(value), task)
                if not pool.has_next():
                    break
                result = None
                with suppress(TimeoutError):
                    result = pool.get_next_unordered(timeout=_BEAT)
            if result is not None:
                yield result
        except (MirageError, KeyboardInterrupt) as stop:
            if error is not None and isinstance(stop, KeyboardInterrupt):
                break
            error, waiting = error or stop, iter(())
            end = min(end, time.monotonic() + grace)
        if time.monotonic() > look:
            look = float("inf")
            _, late = ray.wait(scheduled, num_returns=len(scheduled), timeout=0)
            if late:
                _LOG.warning("%d of %d workers are waiting for resources of the cluster.", len(late), len(scheduled))
    if error is not None:
        raise error
