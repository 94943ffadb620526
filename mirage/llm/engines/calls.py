"""Distributed calls: every worker has its own client and ledger; all share rates and budget.

A reply is committed to its worker's ledger as it arrives, and sent to the arena's. The loss of a worker, its machine or
the driver costs at most the pending calls: another worker takes over its tasks with the replies so far; a restarted
driver collects the replies from the workers' ledgers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mirage import llm, store
from mirage.llm import engine_vllm
from mirage.llm.batch import Batch, OnReply
from mirage.llm.client import ask
from mirage.llm.engines.desk import CallDesk, DeskGate
from mirage.llm.engines.tasks import Desk, Executor, Place, Task, Work
from mirage.store import worker_ledgers

_TURNS = 64
"""Calls per task and concurrent call: many, so that few workers wait for their last calls."""
_SHARES = 4
"""Minimum number of tasks per worker, if there are enough calls."""


@dataclass(frozen=True, slots=True)
class _Order:
    """Settings shared by all workers."""

    run: str
    model: llm.ChatModel
    again: str | None


@dataclass(frozen=True, slots=True)
class _Caller:
    """A worker ready to make calls."""

    order: _Order
    worker: str
    desk: Desk
    ledger: store.Ledger
    rng: np.random.Generator
    engine: engine_vllm.Engine | None
    """The model, if the worker has loaded it."""


def complete_on(
    conversations: Sequence[llm.Messages],
    model: llm.ChatModel,
    *,
    executor: Executor,
    ledger: store.Ledger,
    on_reply: OnReply | None = None,
    again: str | None = None,
    earlier: Sequence[str | None] = (),
    accepted: bool = False,
) -> list[llm.Reply | None]:
    """Get a reply to every conversation, like `llm.complete`, with several workers.

    Args:
        conversations: the conversations.
        model: the model; without a service each worker loads it with vLLM. Rates and budget are those of all workers
            together; other limits, including concurrency, hold per worker.
        executor: runs the workers.
        ledger: cache of replies, besides the workers' own ledgers.
        on_reply: called with the number of a conversation and its reply.
        again: name of a repetition.
        earlier: repetitions whose replies also count.
        accepted: whether the service is known to accept such requests.

    Raises:
        Unreachable: if the service rejects every call, a model cannot be loaded, or the workers cannot be reached.
        BadInput: if another run of the same arena is active, or workers have another version.
        ArenaError: if a ledger cannot be written.
    """
    limits = model.limits
    batch = Batch(conversations, model.settings, ledger, on_reply, again, earlier)
    if not batch.open:
        return batch.replies
    taking = _Driver(batch)
    run = worker_ledgers.run_name(ledger.path)
    for stored in executor.everywhere(worker_ledgers.worker_replies, run, list(batch.open)):
        for key, record in sorted(stored.items()):
            taking.take(llm.Reply(key=key, attempts=0, **record))
    order = _Order(run, model, again)
    work = Work(
        f"calls {run}",
        partial(_load, order),
        _call,
        desk=partial(CallDesk, limits, accepted or batch.proven or taking.any),
        beat=taking.drain,
        stop=partial(_stop, grace=limits.grace),
    )
    size = _size(len(batch.open), limits.concurrency, executor.workers)
    for _, replies in executor.run(work, taking.tasks(size)):
        taking.end(replies)
    if taking.gave_up is not None:
        batch.settle_rest(taking.gave_up)
    executor.everywhere(worker_ledgers.drop_worker_ledgers, run)
    return batch.replies


def _stop(desk: Desk, grace: float) -> float:
    """Stop starting calls; return the grace period for pending calls."""
    desk.tell("stop")
    return grace


def _size(calls: int, concurrency: int, workers: int) -> int:
    """Return the number of calls per task."""
    return max(1, min(_TURNS * concurrency, -(-calls // (_SHARES * workers))))


class _Driver:
    """The driver's side: open conversations, and settling replies."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._refused = False
        self._ended: list[str] = []
        self.any = False
        """Whether a reply has come."""
        self.gave_up: str | None = None
        """Why a worker makes no more calls, where too many failed."""

    def take(self, reply: llm.Reply) -> None:
        """Settle a reply, if it is the first to its conversation."""
        number = self._batch.open.get(reply.key)
        if number is None or self._batch.replies[number] is not None:
            return
        if reply.status == "api_error":
            self._batch.settle(reply)
        else:
            self.any = True
            self._batch.keep(reply)

    def end(self, replies: Mapping[str, llm.Reply | None]) -> None:
        """Settle the results of a task, by key; None for a call that was not made."""
        for reply in replies.values():
            if reply is None:
                self._refused = True
            elif reply.status == "api_error" and not reply.attempts:
                self.gave_up = reply.reason
            else:
                self.take(reply)
        self._ended.extend(replies)

    def drain(self, desk: Desk) -> None:
        """Settle the replies collected by the desk."""
        for reply in desk.ask("drain"):
            self.take(reply)
        if self._ended:
            desk.tell("forget", self._ended)
            self._ended = []

    def tasks(self, size: int) -> Iterator[Task]:
        """Yield open conversations as tasks, until the budget is reached or a worker gives up."""
        keys = [key for key, number in self._batch.open.items() if self._batch.replies[number] is None]
        for start in range(0, len(keys), size):
            if self._refused or self.gave_up is not None:
                return
            part = keys[start : start + size]
            yield Task(str(start), [(key, self._batch.conversations[self._batch.open[key]]) for key in part])


def _load(order: _Order, place: Place) -> _Caller:
    """Prepare a worker: open its ledger, and load its model if it has one."""
    if place.desk is None:
        raise TypeError("calls need a desk")
    ledger = worker_ledgers.worker_ledger(order.run, place.worker)
    engine = engine_vllm.load(order.model) if order.model.endpoint is None else None
    return _Caller(order, place.worker, place.desk, ledger, np.random.default_rng(), engine)


def _call(caller: _Caller, task: Task) -> dict[str, llm.Reply | None]:
    """Make the open calls of a task, and return every reply by key."""
    order = caller.order
    keys = [key for key, _ in task.rows]
    known, accepted = caller.desk.ask("begin", caller.worker, keys)
    replies: dict[str, llm.Reply | None] = dict.fromkeys(keys) | {reply.key: reply for reply in known}
    open_ = [(key, messages) for key, messages in task.rows if replies[key] is None]

    def tell(_: int, reply: llm.Reply) -> None:
        if reply.status != "api_error":
            caller.desk.tell("keep", reply)

    messages, model = [messages for _, messages in open_], order.model
    if model.endpoint is None:
        fresh = engine_vllm.complete_local(
            messages, model, ledger=caller.ledger, engine=caller.engine, on_reply=tell, again=order.again
        )
    else:
        batch = Batch(messages, model.settings, caller.ledger, tell, order.again)
        gate = DeskGate(caller.desk, caller.worker, model.limits)
        fresh = ask(batch, endpoint=model.endpoint, limits=model.limits, rng=caller.rng, accepted=accepted, gate=gate)
    return replies | {key: reply for (key, _), reply in zip(open_, fresh, strict=True)}
