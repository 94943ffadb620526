"""What a call is: its settings, the request they make, the reply read from an answer, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mirage.errors import BadInput
from mirage.llm.retry import Unreadable
from mirage.llm.tokens import Estimate
from mirage.schema import Status
from mirage.store import Ledger, ledger_key

Message = Mapping[str, str]
Messages = Sequence[Message]
"""One conversation: `{"role": ..., "content": ...}` in order."""

_FRAME = 8
"""Tokens that a chat format adds to a conversation, about."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The model and the parameters of every call; all of it is part of the ledger key."""

    model: str
    """The model's name at the service."""
    temperature: float | None = 0.1
    """Sampling temperature; None for the service's own."""
    top_p: float | None = None
    """Share of the probability mass that is sampled from; None for the service's own."""
    max_tokens: int = 2048
    """New tokens a reply may have."""
    seed: int | None = None
    """Sampling seed, for services that take one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard to press the service, and what it may cost."""

    concurrency: int = 8
    """Calls under way at once."""
    requests_per_minute: float | None = None
    """Requests begin no closer together than this allows; retries count."""
    tokens_per_minute: float | None = None
    """The same by tokens: of the prompt, estimated, and all that the reply may have."""
    timeout: float = 120.0
    """Seconds for one request, until the last byte of its answer."""
    retries: int = 7
    """Times a call is made again after a failure that may pass."""
    backoff: float = 1.0
    """Seconds of the first pause; doubles with each retry."""
    longest_pause: float = 60.0
    """No pause is longer in seconds. A service that asks for a longer one ends the run, which can go on later."""
    budget: float | None = None
    """Stop before spending more, in the currency of the prices; needs them. A call begins when there is enough left for
    its prompt, by the estimate, and the longest reply."""
    price_in: float | None = None
    """Price of a million prompt tokens."""
    price_out: float | None = None
    """Price of a million reply tokens."""

    def __post_init__(self) -> None:
        for name, low in (("concurrency", 1), ("retries", 0), ("backoff", 0), ("longest_pause", 0), ("budget", 0)):
            value = getattr(self, name)
            if value is not None and not value >= low:
                raise BadInput(f"{name} is {value}", do=f"give {low} or more")
        for name in ("requests_per_minute", "tokens_per_minute", "timeout"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise BadInput(f"{name} is {value}", do="give more than 0")
        if self.budget is not None and self.cost(0, 0) is None:
            raise BadInput("a budget needs prices", do="give --price-in and --price-out, per million tokens")

    def cost(self, tokens_in: float, tokens_out: float) -> float | None:
        """Price of so many tokens; None where no prices were given."""
        if self.price_in is None and self.price_out is None:
            return None
        return (tokens_in * (self.price_in or 0) + tokens_out * (self.price_out or 0)) / 1e6


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one conversation."""

    key: str
    """Ledger key."""
    text: str | None
    """The reply; null when there is none."""
    status: Status
    """`ok`, `empty`, `truncated`, `refused` or `api_error`."""
    reason: str | None
    """Why there is no sound reply; null beside `ok`."""
    tokens_in: int | None
    """Prompt tokens, as the service counted."""
    tokens_out: int | None
    """Reply tokens, as the service counted."""
    served: str | None
    """The model's name as the service gives it, often with a version."""
    attempts: int
    """Requests sent for it now; 0 if it was at hand."""

    def kept(self) -> dict[str, Any]:
        """What the ledger keeps of it."""
        return {name: value for name, value in asdict(self).items() if name not in ("key", "attempts")}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a set of calls costs, or has cost."""

    calls: int
    """Calls to be made, or those that got a reply."""
    kept: int
    """Conversations that cost nothing: their reply is in the ledger, or another of the set asks the same."""
    failed: int
    """Calls that got no reply, or were not made because so many failed. With `calls` and `kept` it makes the whole."""
    tokens_in: int
    """Prompt tokens."""
    tokens_out: int
    """Reply tokens."""
    money: float | None
    """In the currency of the prices; None without prices."""


def request(settings: Settings, messages: Messages) -> dict[str, Any]:
    """All that decides a reply: model, parameters, messages. Its hash is the ledger key."""
    parameters = {name: value for name, value in asdict(settings).items() if value is not None}
    return {**parameters, "messages": [dict(message) for message in messages]}


def call_key(settings: Settings, messages: Messages) -> str:
    """The ledger key of a conversation."""
    return ledger_key(request(settings, messages))


def prompt_tokens(messages: Messages) -> int:
    """Tokens of a conversation, estimated."""
    return sum(text_tokens(message["content"]) for message in messages) + _FRAME


def text_tokens(text: str) -> int:
    """Tokens of a text, estimated."""
    return Estimate().count(text)


def plan(
    conversations: Sequence[Messages], *, settings: Settings, limits: Limits | None = None, ledger: Ledger | None
) -> Cost:
    """What `complete` would send, at most: prompt tokens are estimated, replies reckoned as long as they may be."""
    limits = limits or Limits()
    tokens: dict[str, int] = {}
    for messages in conversations:
        tokens.setdefault(call_key(settings, messages), prompt_tokens(messages))
    kept = ledger.have(tokens) if ledger else set()
    todo = tokens.keys() - kept
    tokens_in, tokens_out = sum(tokens[key] for key in todo), settings.max_tokens * len(todo)
    return Cost(len(todo), len(conversations) - len(todo), 0, tokens_in, tokens_out, limits.cost(tokens_in, tokens_out))


@dataclass
class Tally:
    """Adds up what replies have cost, by the service's own count of tokens."""

    limits: Limits
    """Holds the prices."""
    calls: int = 0
    kept: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, reply: Reply) -> None:
        """Count one more."""
        failed = reply.status == "api_error"
        self.failed += failed
        self.kept += not failed and not reply.attempts
        self.calls += not failed and reply.attempts > 0
        if reply.attempts:
            self.tokens_in += reply.tokens_in or 0
            self.tokens_out += reply.tokens_out or 0

    @property
    def cost(self) -> Cost:
        """What has been spent so far."""
        money = self.limits.cost(self.tokens_in, self.tokens_out)
        return Cost(self.calls, self.kept, self.failed, self.tokens_in, self.tokens_out, money)


def spent(replies: Iterable[Reply | None], limits: Limits | None = None) -> Cost:
    """What these replies have cost, by the service's own count of tokens."""
    tally = Tally(limits or Limits())
    for reply in replies:
        if reply is not None:
            tally.add(reply)
    return tally.cost


def read(key: str, body: bytes, attempt: int) -> Reply:
    """Read a chat completion.

    Raises:
        Unreadable: if the body is none: not JSON, without a choice or a message, or an error under a good status.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON") from None
    if not isinstance(answer, dict):
        raise Unreadable("it is no JSON object")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        said = answer.get("error")
        raise Unreadable(f"it is an error: {json.dumps(said)[:300]}" if said else "it holds no choice")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Unreadable("its choice holds no message")
    text, refusal, finish = _text(message.get("content")), message.get("refusal"), choices[0].get("finish_reason")
    status, reason = state(text, finish)
    if refusal or finish == "content_filter":
        status, reason = "refused", "the service declined to answer"
        text = text or _text(refusal)
    usage = answer.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    return Reply(
        key=key,
        text=text,
        status=status,
        reason=reason,
        tokens_in=_count(counted.get("prompt_tokens")),
        tokens_out=_count(counted.get("completion_tokens")),
        served=_text(answer.get("model")),
        attempts=attempt,
    )


def state(text: str | None, finish: object) -> tuple[Status, str | None]:
    """What a reply is by its text and by why it ended, and the reason where it is not sound."""
    cut = finish == "length"
    if not text or text.isspace():
        before = ": the limit of new tokens was reached before any" if cut else ""
        return "empty", f"the reply holds no text{before}"
    return ("truncated", "the reply reached the limit of new tokens") if cut else ("ok", None)


def _text(value: object) -> str | None:
    """A text as it can be stored: half a character (a lone surrogate) becomes the replacement character. Of a list of
    parts, the texts.
    """
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict) and part.get("type") == "text"]
        value = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(value, str):
        return None
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
