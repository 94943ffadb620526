"""A batch of conversations: those in the ledger are settled at once, others as an engine gets their replies."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from mirage.llm.calls import ChatModel, Settings
from mirage.llm.completion import Messages, Reply, failed_reply, prompt_tokens
from mirage.store.ledger import Ledger

_LOG = logging.getLogger(__name__)
_VERSION = re.compile(r"([-@:](latest|preview|free|exp|v\d+(\.\d+)*|\d{4}-\d\d-\d\d|\d{2}-\d{2,4}|\d{3,8}))+$")
"""Version and date at the end of a model's name."""
_NAMED = 200
"""Maximum characters of a model's name in a warning."""
_LONG = 400
"""Minimum estimated tokens of a prompt for a warning that its count is much smaller."""
_CUT = ""
"""Placeholder of the warning about a cut prompt, among the models already warned about."""


@dataclass
class Batch:
    """Conversations, their replies so far, and the ledger."""

    conversations: Sequence[Messages]
    """May be rendered lazily."""
    settings: Settings
    ledger: Ledger
    on_reply: Callable[[Reply], object] = lambda _: None
    """Called with the reply to each conversation, as they arrive."""
    again: str | None = None
    """The repetition of these calls (`Settings.request`); None for the first time."""
    earlier: Sequence[str | None] = ()
    """Earlier repetitions whose replies also count (`Settings.keys`)."""
    accepted: bool = False
    """Whether the service is known to accept such requests, so that a rejection concerns only one conversation; true
    once one of these has a reply.
    """
    replies: list[Reply | None] = field(init=False)
    """One per conversation; None if pending."""
    open: dict[str, int] = field(default_factory=dict)
    """Key and index of each conversation to send; of identical conversations, the first."""

    def __post_init__(self) -> None:
        self.replies = [None] * len(self.conversations)
        self._same: dict[str, list[int]] = {}
        self._told: set[str] = set()
        counting: dict[str, tuple[str, ...]] = {}
        for number in range(len(self.conversations)):
            keys = self.settings.keys(self.conversations[number], self.again, self.earlier)
            self._same.setdefault(keys[0], []).append(number)
            counting.setdefault(keys[0], keys)
        for key, (number, *_) in self._same.items():
            stored = next(((kept, record) for kept in counting[key] if (record := self.ledger.get(kept))), None)
            if stored is None:
                self.open[key] = number
                continue
            self.accepted = True
            self.settle(Reply(key=stored[0], attempts=0, **stored[1]), key)

    def pending(self) -> dict[str, int]:
        """Return key and index of each conversation without a reply."""
        return {key: number for key, number in self.open.items() if self.waits_for(key)}

    def waits_for(self, key: str) -> bool:
        """Return whether a conversation with this key has no reply."""
        return key in self.open and self.replies[self.open[key]] is None

    def request(self, key: str) -> dict[str, Any]:
        """Return the request of an open conversation, as stored in the ledger."""
        return self.settings.request(self.conversations[self.open[key]], self.again)

    def take(self, reply: Reply, request: Mapping[str, Any] | None = None) -> None:
        """Settle the conversations waiting for a reply, which is stored in the ledger unless the call failed; warn once
        of a silent change.

        Args:
            reply: the reply.
            request: the request, if it is at hand.
        """
        if reply.status != "api_error":
            self.accepted = True
            request = request or self.request(reply.key)
            self._remark(reply, request)
            if not self.ledger.put(reply.key, request, reply.ledger_record()):
                # Another program stored a reply first; all rows must refer to the same one.
                stored = self.ledger.get(reply.key) or reply.ledger_record()
                reply = Reply(key=reply.key, attempts=reply.attempts, **stored)
        self.settle(reply)

    def _remark(self, reply: Reply, request: Mapping[str, Any]) -> None:
        """Warn once if the service counts far fewer prompt tokens than sent, and once if another model replies."""
        asked, served = self.settings.model, reply.served
        if served and served not in self._told and _base_name(served) != _base_name(asked):
            self._told.add(served)
            _LOG.warning("The service answers with the model %s; asked was %s.", served[:_NAMED], asked)
        if reply.estimated or not (reply.text and reply.tokens_in) or _CUT in self._told:
            return
        sent = prompt_tokens(request["messages"])
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
            self.on_reply(reply)
            reply = replace(reply, attempts=0)

    def settle_rest(self, reason: str) -> None:
        """Fail all pending conversations with a reason."""
        for key in self.pending():
            self.settle(failed_reply(key, reason))


class LocalModel(Protocol):
    """A model loaded on this machine."""

    def replies(self, prompts: Mapping[str, Messages]) -> Iterator[Reply]:
        """Yield the replies to conversations by ledger key, as they finish."""


def complete_loaded(batch: Batch, model: ChatModel, load: Callable[[ChatModel], LocalModel]) -> None:
    """Get the replies of a model on this machine to the open conversations of a batch.

    A prompt that the model rejects (longer than its context) is a reply with status `api_error`. At temperature 0 a
    repetition is the same reply.

    Args:
        batch: the conversations, rendered by the model's own chat template.
        model: the model, by its name or folder.
        load: loads it, if something is to be sent.

    Raises:
        BadInput: if a package is not installed, or an option is rejected.
        Unreachable: if the model cannot be loaded, or fails. Replies received are in the ledger.
        ArenaError: if the ledger cannot be written.
    """
    if batch.open:
        for reply in load(model).replies({key: batch.conversations[number] for key, number in batch.open.items()}):
            batch.take(reply)


def _base_name(model: str) -> str:
    """Return a model's name without its folder, version and date."""
    return _VERSION.sub("", model[:_NAMED].rstrip("/").rpartition("/")[2].lower())
