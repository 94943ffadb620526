"""A batch of conversations: those in the ledger are settled at once, others as their replies arrive."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from mirage.llm.calls import ChatModel, Messages, Reply, Settings, keys, prompt_tokens, request, request_body
from mirage.llm.completion import read_completion
from mirage.store import Ledger

_LOG = logging.getLogger(__name__)
_VERSION = re.compile(r"([-@:](latest|preview|free|exp|v\d+(\.\d+)*|\d{4}-\d\d-\d\d|\d{2}-\d{2,4}|\d{3,8}))+$")
"""Version and date at the end of a model's name."""
_NAMED = 200
"""Maximum characters of a model's name in a warning."""
_LONG = 400
"""Estimated tokens of a prompt from which a much smaller count is told."""
_CUT = ""
"""Stands for the warning of a cut prompt among the models that were told."""
OnReply = Callable[[int, Reply], None]
"""Called with the number of a conversation and its reply, as they arrive."""


@dataclass
class Batch:
    """Conversations, their replies so far, and the ledger."""

    conversations: Sequence[Messages]
    """May be rendered lazily."""
    settings: Settings
    ledger: Ledger
    on_reply: OnReply | None = None
    again: str | None = None
    """The repetition of these calls (`calls.request`); None for the first time."""
    earlier: Sequence[str | None] = ()
    """Earlier repetitions whose replies also count (`calls.keys`)."""
    replies: list[Reply | None] = field(init=False)
    """One per conversation; None if pending."""
    open: dict[str, int] = field(default_factory=dict)
    """Key and index of each conversation to send; of identical conversations, the first."""
    proven: bool = False
    """Whether the ledger had a reply to any conversation."""

    def __post_init__(self) -> None:
        self.replies = [None] * len(self.conversations)
        self._same: dict[str, list[int]] = {}
        self._told: set[str] = set()
        counting: dict[str, list[str]] = {}
        for number in range(len(self.conversations)):
            key, *others = self.keys(number)
            self._same.setdefault(key, []).append(number)
            counting.setdefault(key, [key, *others])
        for key, (number, *_) in self._same.items():
            stored = next(((kept, record) for kept in counting[key] if (record := self.ledger.get(kept))), None)
            if stored is None:
                self.open[key] = number
                continue
            self.proven = True
            self.settle(Reply(key=stored[0], attempts=0, **stored[1]), key)

    @property
    def path(self) -> str:
        """Path of the requests below the service's address, or a whole address."""
        return "/chat/completions"

    def keys(self, number: int) -> Iterator[str]:
        """Yield the keys under which a reply to a conversation counts, its own first."""
        return keys(self.settings, self.conversations[number], self.again, self.earlier)

    def request(self, number: int) -> dict[str, Any]:
        """Return the request of a conversation, as stored in the ledger."""
        return request(self.settings, self.conversations[number], self.again)

    def body(self, number: int, limit: str) -> dict[str, Any]:
        """Return the request body of a conversation.

        Args:
            number: number of the conversation.
            limit: the service's name of the limit of new tokens.
        """
        return request_body(self.request(number), limit)

    def read(self, key: str, content: bytes, attempt: int, number: int) -> Reply:
        """Parse the service's response to a conversation (`calls.read_completion`)."""
        messages, most = self.conversations[number], self.settings.max_tokens
        return read_completion(key, content, attempt, messages=messages, max_tokens=most)

    def keep(self, reply: Reply) -> None:
        """Store a reply in the ledger, and settle the conversations waiting for it; warn once of a silent change."""
        self._remark(reply)
        if not self.ledger.put(reply.key, self.request(self.open[reply.key]), reply.ledger_record()):
            # Another program stored a reply first; all rows must refer to the same one.
            reply = Reply(
                key=reply.key, attempts=reply.attempts, **(self.ledger.get(reply.key) or reply.ledger_record())
            )
        self.settle(reply)

    def _remark(self, reply: Reply) -> None:
        """Warn once if the service counts far fewer prompt tokens than sent, and once if another model replies."""
        asked, served = self.settings.model, reply.served
        if served and served not in self._told and _base_name(served) != _base_name(asked):
            self._told.add(served)
            _LOG.warning("The service answers with the model %s; asked was %s.", served[:_NAMED], asked)
        if reply.estimated or not (reply.text and reply.tokens_in) or _CUT in self._told:
            return
        sent = prompt_tokens(self.conversations[self.open[reply.key]])
        if sent >= _LONG and reply.tokens_in < sent / 2:
            self._told.add(_CUT)
            _LOG.warning(
                "The service may have cut the prompt: it counts %s of about %s prompt tokens. Raise the context that"
                " it gives the model (Ollama: num_ctx).",
                f"{reply.tokens_in:,}",
                f"{sent:,}",
            )

    def settle(self, reply: Reply, key: str | None = None) -> None:
        """Assign a reply to every identical conversation; only the first paid.

        Args:
            reply: the reply.
            key: key of the conversations; the reply's own key if None.
        """
        for number in self._same[key or reply.key]:
            self.replies[number] = reply
            if self.on_reply is not None:
                self.on_reply(number, reply)
            reply = replace(reply, attempts=0)

    def settle_rest(self, reason: str) -> None:
        """Fail all pending conversations with a reason."""
        for key, number in self.open.items():
            if self.replies[number] is None:
                self.settle(failed_reply(key, reason))


class LocalModel(Protocol):
    """A model loaded on this machine."""

    def replies(self, prompts: Mapping[str, Messages]) -> Iterator[Reply]:
        """Yield the replies to conversations by ledger key, as they finish."""


def complete_loaded(
    conversations: Sequence[Messages],
    model: ChatModel,
    *,
    load: Callable[[ChatModel], LocalModel],
    ledger: Ledger,
    on_reply: OnReply | None = None,
    again: str | None = None,
    earlier: Sequence[str | None] = (),
    accepted: bool = False,  # noqa: ARG001  # for compatibility with `client.complete`; no prompt stops the others here
) -> list[Reply | None]:
    """Get a reply to every conversation from a model on this machine; conversations in the ledger are not sent.

    A prompt that the model rejects (longer than its context) is a reply with status `api_error`.

    Args:
        conversations: the conversations, rendered by the model's own chat template.
        model: the model, by its name or folder.
        load: loads it, if something is to be sent.
        ledger: cache to which replies are committed as they arrive.
        on_reply: called with the number of a conversation and its reply.
        again: as for `client.complete`. At temperature 0 the model repeats its reply.
        earlier: as for `client.complete`.
        accepted: has no effect.

    Raises:
        BadInput: if a package is not installed, or an option is rejected.
        Unreachable: if the model cannot be loaded, or fails. Replies received are in the ledger.
        ArenaError: if the ledger cannot be written.
    """
    batch = Batch(conversations, model.settings, ledger, on_reply, again, earlier)
    if batch.open:
        for reply in load(model).replies({key: conversations[number] for key, number in batch.open.items()}):
            (batch.settle if reply.status == "api_error" else batch.keep)(reply)
    return batch.replies


def _base_name(model: str) -> str:
    """Return a model's name without its folder, version and date."""
    return _VERSION.sub("", model[:_NAMED].rstrip("/").rpartition("/")[2].lower())


def failed_reply(key: str, reason: str, *, attempts: int = 0) -> Reply:
    """Return the reply of a failed call."""
    return Reply(key, None, "api_error", reason, None, None, None, attempts)
