"""Sending many conversations to a model and collecting the replies, also if the service ends the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mirage.errors import Unreachable
from mirage.llm import engine_huggingface
from mirage.llm.batch_calls import complete_in_batches
from mirage.llm.calls import Cost, Limits, Messages, Reply, spent
from mirage.llm.chat_model import ChatModel
from mirage.llm.client import complete
from mirage.store import Ledger

Engine = Callable[..., Any]
"""Makes calls: `engine(conversations, ledger=..., on_reply=...)`, such as `complete` with the other arguments bound."""


def engine_of(model: ChatModel, rng: np.random.Generator) -> Engine:
    """Return the function that calls a model: its service, call by call or in batches, or transformers.

    Args:
        model: the model; without a service it is loaded here.
        rng: source of the backoff's jitter.
    """
    if model.endpoint is None:
        return partial(engine_huggingface.complete_local, model=model)
    return partial(complete_in_batches if model.limits.batch else complete, model=model, rng=rng)


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies to conversations, and their cost."""

    by_number: tuple[Reply | None, ...]
    """One per conversation, in order; None if not sent because the budget was reached or the run ended."""
    cost: Cost
    """Total cost."""
    stopped: Unreachable | None
    """Why the run ended early; None if it did not."""

    @property
    def unasked(self) -> int:
        """Number of conversations not sent."""
        return self.by_number.count(None)

    def need_any(self) -> None:
        """Check that the run did not end early, and that at least one call succeeded.

        Raises:
            Unreachable: why it ended, or the most frequent reason of the failed calls.
        """
        if self.stopped is not None:
            raise self.stopped
        reasons = [reply.reason or reply.status for reply in self.by_number if reply and reply.status == "api_error"]
        if reasons and not self.cost.calls + self.cost.kept:
            raise Unreachable(
                f"every call failed: {max(reasons, key=reasons.count)}",
                do="check the service, then rerun the command",
            )


def put(
    conversations: Sequence[Messages],
    *,
    engine: Engine,
    ledger: Ledger,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
    **repetition: Any,
) -> Replies:
    """Send conversations to a model; replies are committed to the ledger as they arrive, so that a rerun is free.

    Args:
        conversations: the conversations.
        engine: makes the calls.
        ledger: cache of replies.
        limits: limits, with the prices.
        progress: called with the number of replies and failures, and the total.
        repetition: `again` and `earlier`, for the engine.
    """
    replies: list[Reply | None] = [None] * len(conversations)
    stopped = None
    completed = 0

    def take(number: int, reply: Reply) -> None:
        nonlocal completed
        replies[number] = reply
        completed += 1
        if progress is not None:
            progress(completed, len(conversations))

    try:
        engine(conversations, ledger=ledger, on_reply=take, **repetition)
    except Unreachable as error:
        stopped = error
    return Replies(tuple(replies), spent(replies, limits), stopped)


def unread(reply: Reply) -> str | None:
    """Return why a reply cannot be used, in a clause; None if it can. A truncated reply has lost its end."""
    return None if reply.status == "ok" else f"{reply.reason or 'no reason given'} ({reply.status})"
