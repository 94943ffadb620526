"""Distributed calls: workers ask chunks of conversations, and the driver alone writes the ledger.

A chunk of a lost worker is asked again by another. A killed driver loses the replies of the chunks under way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mirage import llm, store
from mirage.errors import BadInput, Unreachable
from mirage.llm import engine_vllm
from mirage.llm.asking import put
from mirage.llm.batch import Batch, LocalModel, OnReply, complete_loaded
from mirage.llm.calls import prompt_tokens
from mirage.llm.client import ask
from mirage.llm.engines.tasks import Executor, Task, Work
from mirage.llm.gate import Gate, Pace
from mirage.store.ledger import lock_ledger, scratch_ledger

TURNS = 8
"""Calls per chunk and concurrent call: these are asked again if a worker is lost."""
_LOADED_TURNS = 64
"""The same if the worker has loaded the model, so that its calls cost nothing."""
_SHARES = 4
"""Minimum number of chunks per worker, if there are enough calls."""
_LATE = 3.0
"""Maximum delay in seconds between the start of a request and its arrival at the service: requests are spaced wider
accordingly, so that the service sees the rate in every minute.
"""


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
        ledger: cache of replies, written by this process alone.
        on_reply: called with the number of a conversation and its reply.
        again: name of a repetition.
        earlier: repetitions whose replies also count.
        accepted: whether the service is known to accept such requests.

    Raises:
        Unreachable: if the service rejects every call, a model cannot be loaded, or the workers cannot be reached.
        BadInput: if another run of the same arena is active, or workers have another version.
        ArenaError: if the ledger cannot be written.
    """
    batch = Batch(conversations, model.settings, ledger, on_reply, again, earlier)
    limits, run = model.limits, _Run(batch, model.limits, accepted or batch.proven)
    work = Work("calls", partial(_load, share_rates(model, executor.workers), again), _call, limits.grace)
    active = "another run of this arena is active on the cluster"
    with lock_ledger(ledger.path, 0, BadInput(active, do="wait until it is done, then rerun the command")):
        turns = TURNS if model.endpoint else _LOADED_TURNS
        while run.goes_on():
            for key, replies in executor.run(work, run.chunks(turns * limits.concurrency, _SHARES * executor.workers)):
                run.take(key, replies)
    if run.stopped:
        raise run.stopped
    if run.gave_up is not None:
        batch.settle_rest(run.gave_up)
    return batch.replies


def share_rates(model: llm.ChatModel, workers: int) -> llm.ChatModel:
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

    def __init__(self, batch: Batch, limits: llm.Limits, accepted: bool) -> None:
        self._batch, self._limits, self._accepted = batch, limits, accepted
        self._reserved: dict[str, float] = {}
        self._left = limits.budget
        self._replied = True
        """Whether a reply came since the last round: what a chunk did not spend is then there for others."""
        self.stopped: Unreachable | None = None
        """Why the run ended early."""
        self.gave_up: str | None = None
        """Why a worker makes no more calls, where too many failed."""

    def _pending(self) -> list[int]:
        return [number for number in self._batch.open.values() if self._batch.replies[number] is None]

    def goes_on(self) -> bool:
        """Return whether to begin a round of calls."""
        replied, self._replied = self._replied, False
        return replied and bool(self._pending()) and not self.stopped and self.gave_up is None

    def chunks(self, most: int, n: int) -> Iterator[Task]:
        """Yield the open conversations in chunks, with a budget for each, until the run ends or the budget is reached.

        Args:
            most: maximum calls of a chunk.
            n: minimum number of chunks, if there are enough calls.
        """
        numbers = self._pending()
        size = max(1, min(most, -(-len(numbers) // n)))
        for start in range(0, len(numbers), size):
            part = [self._batch.conversations[number] for number in numbers[start : start + size]]
            budget = None
            if self._left is not None:
                longest = self._batch.settings.max_tokens
                prices = (self._limits.cost(prompt_tokens(messages), longest) or 0.0 for messages in part)
                budget = min(sum(prices), self._left)
                self._left -= budget
                self._reserved[str(start)] = budget
            if self.stopped or self.gave_up is not None or (budget == 0 and self._left == 0):
                return
            yield Task(str(start), (part, self._accepted, budget))

    def take(self, key: str, replies: llm.Replies) -> None:
        """Settle the replies of a chunk."""
        if self._left is not None:
            self._left += self._reserved.pop(key) - (replies.cost.money or 0.0)
        self.stopped = self.stopped or replies.stopped
        for reply in filter(None, replies.by_number):
            if reply.given_up:
                self.gave_up = reply.reason
            elif self._batch.replies[self._batch.open[reply.key]] is None:
                self._replied = True
                if reply.status == "api_error":
                    self._batch.settle(reply)
                else:
                    self._accepted = True
                    self._batch.keep(reply)


@dataclass(frozen=True, slots=True)
class _Caller:
    """A worker ready to make calls."""

    model: llm.ChatModel
    again: str | None
    paces: tuple[Pace, Pace]
    rng: np.random.Generator
    loaded: LocalModel | None
    """The model, if the worker has loaded it."""

    def complete(
        self, conversations: Sequence[llm.Messages], *, ledger: store.Ledger, accepted: bool, on_reply: OnReply
    ) -> list[llm.Reply | None]:
        """Make calls."""
        model, loaded = self.model, self.loaded
        if loaded is not None:
            return complete_loaded(
                conversations, model, load=lambda _: loaded, ledger=ledger, on_reply=on_reply, again=self.again
            )
        batch, gate = Batch(conversations, model.settings, ledger, on_reply, self.again), Gate(model.limits, self.paces)
        return ask(batch, endpoint=model.service(), limits=model.limits, rng=self.rng, accepted=accepted, gate=gate)


def _load(model: llm.ChatModel, again: str | None) -> _Caller:
    """Prepare a worker, and load its model if it has one."""
    loaded = engine_vllm.load(model) if model.endpoint is None else None
    requests, tokens = Pace(model.limits.requests_per_minute), Pace(model.limits.tokens_per_minute)
    requests.book(1, time.monotonic())  # a lost predecessor may just have sent one
    return _Caller(model, again, (requests, tokens), np.random.default_rng(), loaded)


def _call(caller: _Caller, task: Task) -> llm.Replies:
    """Ask a chunk; replies received before the service ends the run are among the result."""
    conversations, accepted, budget = task.rows
    limits = replace(caller.model.limits, budget=budget)
    caller = replace(caller, model=replace(caller.model, limits=limits))
    with scratch_ledger() as ledger:
        return put(conversations, engine=caller.complete, ledger=ledger, limits=limits, accepted=accepted)
