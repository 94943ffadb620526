"""Conversations to be replied to: what the ledger has is settled at once, the rest as its replies come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from mirage.llm.calls import AGAIN, Messages, Reply, Settings, read_completion, request
from mirage.store import Ledger, ledger_key

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
    replies: list[Reply | None] = field(init=False)
    """One a conversation; None while there is none."""
    open: dict[str, int] = field(default_factory=dict)
    """Key and number of each conversation that is to be asked; of several that ask the same, the first."""
    proven: bool = False
    """Whether the ledger had a reply to any."""

    def __post_init__(self) -> None:
        self.replies = [None] * len(self.conversations)
        self._same: dict[str, list[int]] = {}
        for number in range(len(self.conversations)):
            self._same.setdefault(ledger_key(self.request(number)), []).append(number)
        for key, (number, *_) in self._same.items():
            record = self.ledger.get(key)
            if record is None:
                self.open[key] = number
            else:
                self.proven = True
                self.settle(Reply(key=key, attempts=0, **record))

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
        body.pop(AGAIN, None)
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

    def settle(self, reply: Reply) -> None:
        """Hand a reply to every conversation that asked for it. Only the first paid."""
        for number in self._same[reply.key]:
            self.replies[number] = reply
            if self.on_reply is not None:
                self.on_reply(number, reply)
            reply = replace(reply, attempts=0)

    def settle_rest(self, reason: str) -> None:
        """Let everything that has no reply fail with a reason."""
        for key, number in self.open.items():
            if self.replies[number] is None:
                self.settle(failed(key, reason))


def failed(key: str, reason: str, *, attempts: int = 0) -> Reply:
    """A call without a reply."""
    return Reply(key, None, "api_error", reason, None, None, None, attempts)
