"""Distributed calls: workers ask chunks of conversations, and the driver alone writes the ledger.

A chunk of a lost worker is asked again by another. A killed driver loses the replies of the chunks under way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from mirage import llm
from mirage.errors import BadInput, Unreachable
from mirage.llm.batch import Batch
from mirage.llm.client import Gate, Pace
from mirage.llm.completion import prompt_tokens
from mirage.llm.engines.tasks import Executor, Task, Work
from mirage.store.ledger import lock_ledger, scratch_ledger

TURNS = 8
"""Calls per chunk and concurrent call: these are asked again if a worker is lost."""
_Caller = tuple[llm.ChatModel, tuple[Pace, Pace]]
"""A worker's model, and its paces of requests and tokens, which outlast a chunk."""
_SHARES = 4
"""Minimum number of chunks per worker, if there are enough calls."""
_LATE = 3.0
"""Maximum delay in seconds between the start of a request and its arrival at the service: requests are spaced wider
accordingly, so that the service sees the rate in every minute.
"""


def complete_on(batch: Batch, model: llm.ChatModel, executor: Executor) -> None:
    """Get the replies to the open conversations of a batch, like `llm.complete`, with several workers.

    Args:
        batch: the conversations; this process alone writes their ledger.
        model: the model. Rates and budget are those of all workers together; other limits, including concurrency,
            hold per worker.
        executor: runs the workers.

    Raises:
        Unreachable: if the service rejects every call, or the workers cannot be reached.
        BadInput: if another run of the same arena is active, or workers have another version.
        ArenaError: if the ledger cannot be written.
    """
    limits, run = model.limits, _Run(batch, model.limits, executor.workers)
    work = Work("calls", partial(_load, share_rates(model, executor.workers)), _call, limits.grace)
    active = "another run of this arena is active on the cluster"
    with lock_ledger(batch.ledger.path, 0, BadInput(active, do="wait until it is done, then rerun the command")):
        while run.goes_on():
            for key, replies in executor.run(work, run.chunks(limits.concurrency * TURNS)):
                run.take(key, replies)
    if isinstance(run.over, Unreachable):
        raise run.over
    if run.over is not None:
        batch.settle_rest(run.over)


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

    def __init__(self, batch: Batch, limits: llm.Limits, workers: int) -> None:
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

    def chunks(self, most: int) -> Iterator[Task]:
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
            yield Task(key, (part, self._batch.again, self._batch.accepted, budget))

    def take(self, key: str, replies: llm.Replies) -> None:
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


def _load(model: llm.ChatModel) -> _Caller:
    """Return the model and its paces in a worker."""
    requests, tokens = Pace(model.limits.requests_per_minute), Pace(model.limits.tokens_per_minute)
    requests.book(1, time.monotonic())  # a lost predecessor may just have sent one
    return model, (requests, tokens)


def _call(caller: _Caller, task: Task) -> llm.Replies:
    """Ask a chunk; replies received before the service ends the run are among the result."""
    conversations, again, accepted, budget = task.rows
    model, paces = caller
    model = replace(model, limits=replace(model.limits, budget=budget))

    def engine(batch: Batch) -> None:
        llm.complete(batch, model, gate=Gate(model.limits, paces))

    with scratch_ledger() as ledger:
        return llm.ask(conversations, model, ledger, engine=engine, again=again, accepted=accepted)
