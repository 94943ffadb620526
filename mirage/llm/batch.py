"""Conversations to be replied to: what the ledger has is settled at once, the rest as its replies come."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from mirage.llm.calls import AGAIN, SERVICE, Messages, Reply, Settings, keys, read_completion, request
from mirage.store import Ledger

_LOG = logging.getLogger(__name__)

OnReply = Callable[[int, Reply], None]
"""Called with the number of a conversation and its reply, as they come."""


@dataclass
class Batch:
    """Conversations, their replies so far, and the ledger between the two."""

    path: ClassVar[str] = "/chat/completions"
    """Where requests are sent, below the address of the service."""
    conversations: Sequence[Messages]
    """They may be made when they are asked for: none is held."""
    settings: Settings
    ledger: Ledger
    on_reply: OnReply | None = None
    again: str | None = None
    """The repetition that these calls are of (`calls.request`); None for the first time."""
    earlier: Sequence[str | None] = ()
    """Earlier repetitions whose replies count too (`calls.keys`)."""
    replies: list[Reply | None] = field(init=False)
    """One a conversation; None while there is none."""
    open: dict[str, int] = field(default_factory=dict)
    """Key and number of each conversation that is to be asked; of several that ask the same, the first."""
    proven: bool = False
    """Whether the ledger had a reply to any."""

    def __post_init__(self) -> None:
        self.replies = [None] * len(self.conversations)
        self._same: dict[str, list[int]] = {}
        counting: dict[str, list[str]] = {}
        for number in range(len(self.conversations)):
            key, *others = self.keys(number)
            self._same.setdefault(key, []).append(number)
            counting.setdefault(key, [key, *others])
        unnamed = 0
        for key, (number, *_) in self._same.items():
            stored = next(((kept, record) for kept in counting[key] if (record := self.ledger.get(kept))), None)
            if stored is None:
                self.open[key] = number
                continue
            self.proven = True
            named = self.settings.service is None or stored[0] == key
            unnamed += not named and SERVICE not in (self.ledger.request(stored[0]) or {})
            self.settle(Reply(key=stored[0], attempts=0, **stored[1]), key)
        tell_unnamed(unnamed, self.settings.service)

    def keys(self, number: int) -> Iterator[str]:
        """Yield the keys under which a reply to a conversation counts, its own first."""
        return keys(self.settings, self.conversations[number], self.again, self.earlier)

    def request(self, number: int) -> dict[str, Any]:
        """What is asked in a conversation, as the ledger has it."""
        return request(self.settings, self.conversations[number], self.again)

    def body(self, number: int, limit: str) -> dict[str, Any]:
        """What is sent for a conversation.

        Args:
            number: of the conversation.
            limit: what the service calls the limit of new tokens.
        """
        body = self.request(number)
        for name in (AGAIN, SERVICE):
            body.pop(name, None)
        body[limit] = body.pop("max_tokens")
        return body

    def read(self, key: str, content: bytes, attempt: int, number: int) -> Reply:
        """Read what the service sent for a conversation (`calls.read_completion`)."""
        messages, most = self.conversations[number], self.settings.max_tokens
        return read_completion(key, content, attempt, messages=messages, max_tokens=most)

    def keep(self, reply: Reply) -> None:
        """Put a reply into the ledger, and settle whoever waits for it."""
        if not self.ledger.put(reply.key, self.request(self.open[reply.key]), reply.kept()):
            # Another program was quicker with the same call; all rows must name the same reply.
            reply = Reply(key=reply.key, attempts=reply.attempts, **(self.ledger.get(reply.key) or reply.kept()))
        self.settle(reply)

    def settle(self, reply: Reply, key: str | None = None) -> None:
        """Hand a reply to every conversation that asked for it. Only the first paid.

        Args:
            reply: the reply.
            key: what they are asked under; the reply's own key, if None.
        """
        for number in self._same[key or reply.key]:
            self.replies[number] = reply
            if self.on_reply is not None:
                self.on_reply(number, reply)
            reply = replace(reply, attempts=0)

    def settle_rest(self, reason: str) -> None:
        """Let everything that has no reply fail with a reason."""
        for key, number in self.open.items():
            if self.replies[number] is None:
                self.settle(failed(key, reason))


def tell_unnamed(n: int, service: str | None, what: str = "replies") -> None:
    """Say that some replies do not name the service that gave them."""
    if n:
        _LOG.warning(
            "%s %s at hand were kept by an earlier version, which did not note the service. They count as those of %s; "
            "to ask again, use --replace where the command has it, or move the ledger away.",
            f"{n:,}",
            what,
            service,
        )


def failed(key: str, reason: str, *, attempts: int = 0) -> Reply:
    """A call without a reply."""
    return Reply(key, None, "api_error", reason, None, None, None, attempts)
