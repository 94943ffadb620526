"""Putting many conversations to a model and keeping what came, also where the service ends the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mirage.errors import Unreachable
from mirage.llm.calls import Cost, Limits, Messages, Reply, spent
from mirage.store import Ledger

Engine = Callable[..., Any]
"""Makes calls: `engine(conversations, ledger=..., on_reply=...)`, as `complete` does when it has been given the
rest."""


@dataclass(frozen=True, slots=True)
class Replies:
    """What came of putting conversations to a model."""

    by_number: tuple[Reply | None, ...]
    """One a conversation, in order; None for those not asked: the budget was reached, or the run ended."""
    cost: Cost
    """What they have cost."""
    stopped: Unreachable | None
    """Why the run ended early; None where it did not."""

    @property
    def unasked(self) -> int:
        """Conversations not asked."""
        return self.by_number.count(None)

    def need_any(self) -> None:
        """Refuse a run that ended early, or that not one call got a reply.

        Raises:
            Unreachable: why it ended, or the most frequent reason of the failed calls.
        """
        if self.stopped is not None:
            raise self.stopped
        reasons = [reply.reason or reply.status for reply in self.by_number if reply and reply.status == "api_error"]
        if reasons and not self.cost.calls + self.cost.kept:
            raise Unreachable(
                f"no call got a reply: {max(reasons, key=reasons.count)}",
                do="see that the service answers, then run the same command again",
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
    """Put conversations to a model. A reply is in the ledger the moment it comes: who asks again pays nothing twice.

    Args:
        conversations: what is asked.
        engine: makes the calls.
        ledger: where replies are kept.
        limits: holds the prices.
        progress: called with how many have a reply or have failed, and of how many.
        repetition: `again` and `earlier`, as the engine takes them.
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
    """Why a reply cannot be read, in a clause; None where it can. One that was cut off has lost its end."""
    return None if reply.status == "ok" else f"{reply.reason or 'no reason given'} ({reply.status})"
