"""Sending many conversations to a model and collecting the replies, also if the service ends the run."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from mirage.errors import Unreachable
from mirage.llm.batch import Batch, complete_loaded
from mirage.llm.calls import ChatModel, Cost, cost_of, plan
from mirage.llm.client import complete
from mirage.llm.completion import Messages, Reply
from mirage.store.ledger import Ledger, kept_ledger, ledger_path

Engine = Callable[[Batch], object]
"""Gets the replies to the open conversations of a batch, such as `complete` with the model bound."""
OnCost = Callable[[Cost, int], None]
"""Called with the cost so far, and the number of conversations."""


def engine_of(model: ChatModel) -> Engine:
    """Return the engine of a model: its service, call by call or in batches; without a service transformers loads it
    here.
    """
    if model.endpoint is None:
        from mirage.llm import engine_huggingface

        return partial(complete_loaded, model=model, load=engine_huggingface.load)
    if model.limits.batch:
        from mirage.llm.batch_calls import complete_in_batches

        return partial(complete_in_batches, model=model)
    return partial(complete, model=model)


@dataclass
class Replies:
    """Replies to conversations, their cost and failures."""

    cost: Cost
    """Cost so far."""
    by_number: Sequence[Reply | None] = ()
    """One per conversation, in order; None if not sent because the budget was reached or the run ended."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Number of failed calls by reason."""
    unwhole: Counter[str] = field(default_factory=Counter)
    """Number of incomplete replies by reason."""
    stopped: Unreachable | None = None
    """Why the run ended early; None if it did not."""

    @property
    def unasked(self) -> int:
        """Number of conversations not sent."""
        return self.by_number.count(None)

    @property
    def ended(self) -> bool:
        """True if every call was made: calls that failed count, calls given up when the run ended do not."""
        return self.stopped is None and all(reply is not None and not reply.given_up for reply in self.by_number)

    def need_any(self, *, each: str = "", where: str = "", known: bool = False) -> None:
        """Check that the run did not end early, and that at least one call succeeded.

        Args:
            each: what has a row with the reason of its failed call; empty for nothing.
            where: the service.
            known: whether there are valid replies from earlier runs.

        Raises:
            Unreachable: why it ended, or the most frequent reason of the failed calls.
        """
        if self.stopped is not None:
            raise self.stopped
        if self.reasons and not self.cost.calls + self.cost.kept and not known:
            rows = f"; each {each} has a row with the reason" if each else ""
            raise Unreachable(
                f"every call failed: {self.reasons.most_common(1)[0][0]}",
                where=where,
                do=f"check the service, then rerun the command{rows}",
            )


def ask(
    conversations: Sequence[Messages],
    model: ChatModel,
    ledger: Ledger,
    *,
    engine: Engine | None = None,
    on_cost: OnCost = lambda *_: None,
    again: str | None = None,
    earlier: Sequence[str | None] = (),
    accepted: bool = False,
) -> Replies:
    """Get a reply to every conversation; conversations in the ledger are not sent.

    Replies are committed to the ledger as they arrive, so that a rerun is free. A call that fails permanently is a
    reply with status `api_error` and a reason. It is not stored in the ledger, so the next run retries it.

    Args:
        conversations: the conversations.
        model: the model.
        ledger: cache of replies.
        engine: gets the replies; None for that of the model.
        on_cost: called as replies arrive.
        again: name of a repetition: only cached replies of this repetition count.
        earlier: repetitions whose replies also count; None among them is the first time.
        accepted: whether the service is known to accept such requests.

    Raises:
        BadInput: if a model cannot be loaded for lack of a package, or an option is rejected.
        ArenaError: if the ledger cannot be written.
    """
    replies = Replies(Cost(0, 0, 0, 0, 0, model.limits.cost(0, 0)))

    def take(reply: Reply) -> None:
        replies.cost += cost_of(reply, model.limits)
        if reply.status in ("api_error", "truncated"):
            reasons = replies.reasons if reply.status == "api_error" else replies.unwhole
            reasons[reply.reason or "no reason given"] += 1
        on_cost(replies.cost, len(conversations))

    batch = Batch(conversations, model.settings, ledger, take, again, earlier, accepted)
    replies.by_number = batch.replies
    try:
        (engine or engine_of(model))(batch)
    except Unreachable as error:
        replies.stopped = error
    return replies


def explain_unread(reply: Reply) -> str | None:
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

    def __getitem__(self, number: Any) -> Any:
        return self.render(number)

    def render(self, number: int) -> Messages:
        """Return one conversation."""
        request: Request = self._requests[number]
        return request.conversation()


@dataclass(frozen=True, slots=True)
class ArenaCalls:
    """A model with everything that a stage needs to send requests about an arena."""

    model: ChatModel
    """The model; its limits have the prices."""
    made_by: str
    """The command, for the manifest."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of finished requests and the total."""
    on_cost: OnCost = lambda *_: None
    """Called as replies arrive."""
    engine: Engine | None = None
    """Gets the replies; None for the engine of the model."""

    def ask(self, conversations: Sequence[Messages], ledger: Ledger, **repetition: Any) -> Replies:
        """Get a reply to every conversation; `repetition` has the last arguments of `ask`."""

        def report(cost: Cost, n: int) -> None:
            self.on_cost(cost, n)
            if self.progress is not None:
                self.progress(cost.calls + cost.kept + cost.failed, n)

        return ask(conversations, self.model, ledger, engine=self.engine, on_cost=report, **repetition)

    def replies(self, path: Path, requests: Sequence[Request]) -> Replies:
        """Send requests to the model; replies are committed to the arena's ledger as they arrive.

        Args:
            path: the arena's folder.
            requests: the requests.
        """
        with Ledger(ledger_path(path)) as ledger:
            return self.ask(Conversations(requests), ledger)


def plan_calls(path: Path, conversations: Sequence[Messages], model: ChatModel) -> Cost:
    """Return the maximum cost of conversations about an arena; replies in its ledger cost nothing.

    Args:
        path: the arena's folder.
        conversations: conversations to plan; nothing is sent.
        model: the model; its limits have the prices.
    """
    with kept_ledger(path) as ledger:
        return plan(conversations, model, ledger)
