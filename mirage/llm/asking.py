"""Sending many conversations to a model and collecting the replies, also if the service ends the run; about an arena
also planning them, and writing rows derived from replies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from mirage import store
from mirage.errors import Unreachable
from mirage.llm import engine_huggingface
from mirage.llm.batch import complete_loaded
from mirage.llm.batch_calls import complete_in_batches
from mirage.llm.calls import ChatModel, Cost, Limits, Messages, Reply, Tally, describe, plan
from mirage.llm.client import complete
from mirage.store import Ledger, kept_ledger, ledger_path

if TYPE_CHECKING:
    import pyarrow as pa

Engine = Callable[..., Any]
"""Makes calls: `engine(conversations, ledger=..., on_reply=...)`, such as `complete` with the other arguments bound."""


def engine_of(model: ChatModel, rng: np.random.Generator) -> Engine:
    """Return the function that calls a model: its service, call by call or in batches, or transformers.

    Args:
        model: the model; without a service it is loaded here.
        rng: source of the backoff's jitter.
    """
    if model.endpoint is None:
        return partial(complete_loaded, model=model, load=engine_huggingface.load)
    return partial(complete_in_batches if model.limits.batch else complete, model=model, rng=rng)


OnCost = Callable[[Cost, int], None]
"""Called with the cost so far, and the number of conversations."""


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


class Asking:
    """Calls of a run: replies, cost and failures.

    Args:
        limits: limits, with the prices.
        on_cost: called as replies arrive.
    """

    def __init__(self, limits: Limits | None = None, on_cost: OnCost | None = None) -> None:
        self._tally, self._on_cost = Tally(limits or Limits()), on_cost
        self.reasons, self.unwhole = Counter[str](), Counter[str]()
        """Number of failed calls, and of incomplete replies, by reason."""
        self.replies: list[Reply | None] = []
        """One per conversation; None if not sent."""
        self.stopped: Unreachable | None = None
        """Why the service ended the run."""

    @property
    def cost(self) -> Cost:
        """Cost so far."""
        return self._tally.cost

    @property
    def ended(self) -> bool:
        """Return whether every call was made: calls that failed count, calls given up when the run ended do not."""
        return self.stopped is None and all(reply is not None and not reply.given_up for reply in self.replies)

    def ask(self, conversations: Sequence[Any], engine: Callable[..., Any], **options: Any) -> list[Reply | None]:
        """Make calls, and return their replies.

        Args:
            conversations: the conversations.
            engine: makes the calls.
            options: further arguments of the engine, with the ledger.
        """
        self.replies = [None] * len(conversations)
        try:
            engine(conversations, on_reply=self._take, **options)
        except Unreachable as error:
            self.stopped = error
        return self.replies

    def _take(self, number: int, reply: Reply) -> None:
        self.replies[number] = reply
        self._tally.add(reply)
        if reply.status in ("api_error", "truncated"):
            reasons = self.reasons if reply.status == "api_error" else self.unwhole
            reasons[reply.reason or "no reason given"] += 1
        if self._on_cost is not None:
            self._on_cost(self.cost, len(self.replies))

    def need_any(self, sound: bool, *, each: str, where: str = "") -> None:
        """Check that the run did not end early, and that there is some valid reply.

        Args:
            sound: whether there is one.
            each: what has a row with a reason.
            where: the service.

        Raises:
            Unreachable: if not.
        """
        if self.stopped is not None:
            raise self.stopped
        if self.reasons and not sound:
            raise Unreachable(
                f"every call failed: {self.reasons.most_common(1)[0][0]}",
                where=where,
                do=f"check the service, then rerun the command; each {each} has a row with the reason",
            )


def put(
    conversations: Sequence[Messages],
    *,
    engine: Engine,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Replies:
    """Send conversations to a model; replies are committed to the ledger as they arrive, so that a rerun is free.

    Args:
        conversations: the conversations.
        engine: makes the calls.
        limits: limits, with the prices.
        progress: called with the number of replies and failures, and the total.
        options: further arguments of the engine: the ledger, and perhaps `again` and `earlier`.
    """

    def report(cost: Cost, n: int) -> None:
        if progress is not None:
            progress(cost.calls + cost.kept + cost.failed, n)

    asking = Asking(limits, report)
    replies = asking.ask(conversations, engine, **options)
    return Replies(tuple(replies), asking.cost, asking.stopped)


def unread(reply: Reply) -> str | None:
    """Return why a reply cannot be used, in a clause; None if it can. A truncated reply has lost its end."""
    return None if reply.status == "ok" else f"{reply.reason or 'no reason given'} ({reply.status})"


class Request(Protocol):
    """A request that renders to a conversation."""

    def conversation(self) -> Messages:
        """Return the messages to send."""


class Conversations(Sequence[Messages]):
    """The conversations of requests, rendered lazily: thousands need not be in memory at once."""

    def __init__(self, requests: Sequence[Any]) -> None:
        self._requests = requests

    def __len__(self) -> int:
        return len(self._requests)

    @overload
    def __getitem__(self, number: int) -> Messages: ...
    @overload
    def __getitem__(self, number: slice) -> list[Messages]: ...
    def __getitem__(self, number: int | slice) -> Messages | list[Messages]:
        if isinstance(number, slice):
            return [self.render(each) for each in range(*number.indices(len(self)))]
        return self.render(number)

    def render(self, number: int) -> Messages:
        """Return one conversation."""
        request: Request = self._requests[number]
        return request.conversation()


@dataclass(frozen=True, slots=True)
class ArenaCalls:
    """A model with everything that a stage needs to send requests about an arena."""

    engine: Engine
    """Makes the calls, with the model below."""
    model: ChatModel
    """The model; its limits have the prices."""
    made_by: str
    """The command, for the manifest."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of finished requests and the total."""

    def replies(self, path: Path, requests: Sequence[Request]) -> Replies:
        """Send requests to the model; replies are committed to the arena's ledger as they arrive.

        Args:
            path: the arena's folder.
            requests: the requests.
        """
        with Ledger(ledger_path(path)) as ledger:
            limits = self.model.limits
            return put(
                Conversations(requests), engine=self.engine, ledger=ledger, limits=limits, progress=self.progress
            )

    def write(self, path: Path, table: str, rows: pa.Table, *, subject: str, seen: store.Snapshot) -> store.Arena:
        """Upsert rows derived from replies; writes nothing if there are none.

        Args:
            path: the arena's folder.
            table: the table.
            rows: its new rows.
            subject: owner of the rows; the manifest notes its model and parameters.
            seen: inputs of the rows.

        Raises:
            ArenaError: if the arena cannot be written.
        """
        if not len(rows):
            return store.open_arena(path)
        notes = [f"{subject}: {describe(self.model.settings)}"]
        new = {table: store.by_key(table, rows)}
        return store.upsert(
            path,
            new,
            made_by=store.Provenance(self.made_by, notes=notes, subjects=[subject]),
            seen=seen,
        ).arena


def plan_calls(path: Path, conversations: Sequence[Messages], model: ChatModel) -> Cost:
    """Return the maximum cost of conversations about an arena; replies in its ledger cost nothing.

    Args:
        path: the arena's folder.
        conversations: conversations to plan; nothing is sent.
        model: the model; its limits have the prices.
    """
    with kept_ledger(path) as ledger:
        return plan(conversations, settings=model.settings, limits=model.limits, ledger=ledger)
