"""Calls distributed over a Ray cluster: workers ask chunks of conversations, and the driver alone writes the ledger.

A lost worker is restarted, on another machine if needed, and asks its chunk again. A killed driver loses the replies of
the chunks under way.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mirage.errors import BadInput, MirageError, Unreachable
from mirage.llm.asking import Replies, ask
from mirage.llm.batch import Batch
from mirage.llm.calls import ChatModel, Limits
from mirage.llm.client import Gate, Pace, complete
from mirage.llm.completion import Messages, prompt_tokens
from mirage.store.extras import extra
from mirage.store.ledger import lock_ledger, scratch_ledger

TURNS = 8
"""Calls per chunk and concurrent call: these are asked again if a worker is lost."""
_SHARES = 4
"""Minimum number of chunks per worker, if there are enough calls."""
_LATE = 3.0
"""Maximum delay in seconds between the start of a request and its arrival at the service: requests are spaced wider
accordingly, so that the service sees the rate in every minute.
"""
_NAMESPACE = "mirage"
_BEAT = 0.1
"""Polling interval for results, in seconds."""
_KNOCK = 10.0
"""Connection timeout of a cluster in seconds."""
_LIGHT = 0.01
"""Cores that Ray reserves per worker: almost none, so that all workers fit if a machine is lost. The user sets their
number.
"""


class Chunk(NamedTuple):
    """Conversations for one worker."""

    key: str
    conversations: Sequence[Messages]
    again: str | None
    """The repetition of these calls."""
    accepted: bool
    """Whether the service is known to accept such requests."""
    budget: float | None
    """Maximum spending."""


def complete_on(batch: Batch, model: ChatModel, cluster: Cluster) -> None:
    """Get the replies to the open conversations of a batch, like `mirage.llm.client.complete`, with several workers.

    Args:
        batch: the conversations; this process alone writes their ledger.
        model: the model. Rates and budget are those of all workers together; other limits, including concurrency,
            hold per worker.
        cluster: runs the workers.

    Raises:
        Unreachable: if the service rejects every call, or the workers cannot be reached.
        BadInput: if another run of the same arena is active, or workers have another version.
        ArenaError: if the ledger cannot be written.
    """
    limits, run = model.limits, _Run(batch, model.limits, cluster.workers)
    shared = share_rates(model, cluster.workers)
    active = "another run of this arena is active on the cluster"
    with lock_ledger(batch.ledger.path, 0, BadInput(active, do="wait until it is done, then rerun the command")):
        while run.goes_on():
            for key, replies in cluster.run(shared, run.chunks(limits.concurrency * TURNS)):
                run.take(key, replies)
    if isinstance(run.over, Unreachable):
        raise run.over
    if run.over is not None:
        batch.settle_rest(run.over)


def share_rates(model: ChatModel, workers: int) -> ChatModel:
    """Return the model with a worker's share of the rates, so that no minute has more calls than allowed.

    Raises:
        BadInput: if a worker would have less than one request per minute.
    """
    limits, spacing = model.limits, 60 / (60 + _LATE)
    requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
    if requests is not None and requests < workers:
        raise BadInput(f"{requests:g} requests per minute are too few for {workers} workers", do="reduce --workers")
    # A whole number of requests per minute, since any part of one may fall into the same minute.
    requests, tokens = requests and requests // workers * spacing, tokens and tokens / workers * spacing
    return replace(model, limits=replace(limits, requests_per_minute=requests, tokens_per_minute=tokens))


class _Run:
    """The driver's side: chunks of the open conversations, and what remains of the budget."""

    def __init__(self, batch: Batch, limits: Limits, workers: int) -> None:
        self._batch, self._limits, self._workers = batch, limits, workers
        self._reserved: dict[str, float] = {}
        self._left = limits.budget
        self._replied = True
        """Whether a reply came since the last round: what a chunk did not spend is then there for others."""
        self.over: Unreachable | str | None = None
        """Why no more calls are made: the service's rejection, or the reason of too many failed calls."""

    def goes_on(self) -> bool:
        """Return whether to begin a round of calls."""
        replied, self._replied = self._replied, False
        return replied and bool(self._batch.pending()) and self.over is None

    def chunks(self, most: int) -> Iterator[Chunk]:
        """Yield the open conversations in chunks of at most `most`, with a budget for each, until the run ends or the
        budget is reached.
        """
        numbers = list(self._batch.pending().values())
        size = max(1, min(most, -(-len(numbers) // (_SHARES * self._workers))))
        for start in range(0, len(numbers), size):
            part = [self._batch.conversations[number] for number in numbers[start : start + size]]
            key, budget = str(start), None
            if self._left is not None:
                longest = self._batch.settings.max_tokens
                prices = [self._limits.cost(prompt_tokens(messages), longest) or 0.0 for messages in part]
                # A share of what is left, so that all workers have some, but enough for several calls.
                budget = min(sum(prices), self._left, max(self._left / self._workers, 2 * max(prices)))
                if budget < min(prices):
                    return
                self._left -= budget
                self._reserved[key] = budget
            if self.over is not None:
                return
            yield Chunk(key, part, self._batch.again, self._batch.accepted, budget)

    def take(self, key: str, replies: Replies) -> None:
        """Settle the replies of a chunk."""
        if self._left is not None:
            self._left += self._reserved.pop(key) - (replies.cost.money or 0.0)
        self.over = self.over or replies.stopped
        for reply in filter(None, replies.by_number):
            if reply.given_up:
                self.over = self.over or reply.reason
            elif self._batch.waits_for(reply.key):
                self._replied = True
                self._batch.take(reply)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Runs workers on the machines of a Ray cluster.

    Args:
        workers: their number.
        address: `HOST:PORT` of the cluster; None for RAY_ADDRESS, else a local one.
    """

    workers: int
    address: str | None = None

    def run(self, model: ChatModel, chunks: Iterable[Chunk]) -> Iterator[tuple[str, Replies]]:
        """Ask chunks, taken as workers become free; yield key and replies of each, once, in order of completion. On the
        first Ctrl-C or an error, pending chunks get time to finish.

        Raises:
            Unreachable: if there is no cluster, or it is lost.
            BadInput: if a machine has another version.
            MirageError: raised by a worker.
        """
        with _convert_ray_errors():
            ray = self._connect()
            worker = ray.remote(Worker).options(
                num_cpus=_LIGHT, scheduling_strategy="SPREAD", max_restarts=-1, max_task_retries=-1
            )
            actors = [worker.remote(model, version()) for _ in range(self.workers)]
        try:
            yield from _results(actors, iter(chunks), model.limits.grace)
        finally:
            for actor in actors:
                with suppress(Exception):  # the cluster may be gone
                    ray.kill(actor)

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


def version() -> str:
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
def _convert_ray_errors() -> Iterator[None]:
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


class Worker:
    """Makes calls on one machine of the cluster, at a pace that outlasts a chunk."""

    def __init__(self, model: ChatModel, driver_version: str) -> None:
        self._model, self._version = model, driver_version
        requests, tokens = Pace(model.limits.requests_per_minute), Pace(model.limits.tokens_per_minute)
        requests.book(1, time.monotonic())  # a lost predecessor may just have sent one
        self._paces = requests, tokens

    def run(self, chunk: Chunk) -> tuple[str, Replies]:
        """Ask a chunk; replies received before the service ends the run are among the result."""
        if self._version != version():
            raise BadInput(
                f"a machine of the cluster has mirage {version()}, the one that started the run {self._version}",
                do="install the same version on every machine, then start Ray there again",
            )
        model = replace(self._model, limits=replace(self._model.limits, budget=chunk.budget))

        def engine(batch: Batch) -> None:
            complete(batch, model, gate=Gate(model.limits, self._paces))

        with scratch_ledger() as ledger:
            conversations, again, accepted = chunk.conversations, chunk.again, chunk.accepted
            return chunk.key, ask(conversations, model, ledger, engine=engine, again=again, accepted=accepted)


def _results(actors: list[Any], waiting: Iterator[Chunk], grace: float) -> Iterator[tuple[str, Replies]]:
    """Feed chunks to free actors, and yield the results as they arrive. On a stop, pending ones get time to finish."""
    from ray.util import ActorPool

    pool, error, end = ActorPool(actors), None, float("inf")
    while time.monotonic() < end:
        try:
            with _convert_ray_errors():
                while pool.has_free() and (chunk := next(waiting, None)) is not None:
                    pool.submit(lambda actor, value: actor.run.remote(value), chunk)
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
    if error is not None:
        raise error
