"""What a call is: its settings, the request they make, the reply read from an answer, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mirage.errors import BadInput
from mirage.llm.endings import separate_reasoning
from mirage.llm.guard import MAX_BODY
from mirage.llm.retry import Unreadable, unreadable
from mirage.llm.tokens import TokenEstimate
from mirage.llm.usage import read_usage
from mirage.schema import Status
from mirage.store import Ledger, ledger_key

Message = Mapping[str, str]
Messages = Sequence[Message]
"""One conversation: `{"role": ..., "content": ...}` in order."""

AGAIN = "again"
"""What a request calls the repetition that it is of."""
SERVICE = "service"
"""What it calls the service that is asked."""
_NAMES, _NAME = 3, 60
"""How many names of tools a reason shows, and how many characters of each."""
_SOMETIMES = ("estimated", "reasoning", "seconds")
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
    service: str | None = None
    """The service that is asked: its address, a name given to it, or the engine on this machine. None where it is not
    told, as in the ledgers of earlier versions: a reply to such a request counts as any service's (`keys`)."""


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
    grace: float = 30.0
    """Seconds that calls under way get to end when everything stops, by Ctrl-C too: their replies are paid for."""
    max_body: int = MAX_BODY
    """Bytes that one answer may have; a larger one is not read to its end, and its call has failed."""
    budget: float | None = None
    """Stop before spending more, in the currency of the prices; needs them. A call begins when there is enough left for
    its prompt, by the estimate, and the longest reply."""
    price_in: float | None = None
    """Price of a million prompt tokens."""
    price_out: float | None = None
    """Price of a million reply tokens."""

    def __post_init__(self) -> None:
        for name in ("concurrency", "max_body", "retries", "backoff", "longest_pause", "grace", "budget"):
            value, low = getattr(self, name), int(name in ("concurrency", "max_body"))
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
    """Prompt tokens, as the service counted; null where no reply came."""
    tokens_out: int | None
    """Reply tokens, reasoning included, as the service counted; null where no reply came."""
    served: str | None
    """The model's name as the service gives it, often with a version."""
    attempts: int
    """Requests sent for it now; 0 if it was at hand."""
    estimated: bool = False
    """Whether a number of tokens is an estimate, since the service gave none, or one that cannot be."""
    reasoning: str | None = None
    """What the model reasoned before the reply, where the service gives it apart from the text."""
    seconds: float | None = field(default=None, compare=False)
    """From the request that was answered to its last byte, in seconds; null where that is no matter of one reply."""

    @property
    def given_up(self) -> bool:
        """Whether the call was not made, since too many before it failed."""
        return self.status == "api_error" and not self.attempts

    def kept(self) -> dict[str, Any]:
        """What the ledger keeps of it; of `estimated`, `reasoning` and `seconds`, what says something."""
        values = {name: value for name, value in asdict(self).items() if name not in ("key", "attempts")}
        return {name: value for name, value in values.items() if name not in _SOMETIMES or value}


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
    estimated: int = 0
    """Calls made whose tokens are estimates, at least in part: the service did not count them, or not credibly."""


def total(costs: Iterable[Cost]) -> Cost:
    """The sum of several; without money where one has none."""
    parts = list(costs)
    counts = {
        name: sum(getattr(part, name) for part in parts)
        for name in ("calls", "kept", "failed", "tokens_in", "tokens_out", "estimated")
    }
    money = [part.money for part in parts if part.money is not None]
    return Cost(**counts, money=sum(money) if parts and len(money) == len(parts) else None)


def parameters(settings: Settings) -> dict[str, Any]:
    """All that decides a reply but the messages: the model and what is set of its parameters."""
    return {name: value for name, value in asdict(settings).items() if value is not None}


def described(settings: Settings) -> str:
    """Model and parameters in one line, for a manifest."""
    return ", ".join(f"{name} {value}" for name, value in parameters(settings).items())


def request(settings: Settings, messages: Messages, again: str | None = None) -> dict[str, Any]:
    """All that decides a reply: model, parameters, messages. Its hash is the ledger key.

    Args:
        settings: model and parameters.
        messages: the conversation.
        again: names the repetition, where the same is asked once more though the ledger has a reply. The service does
            not see it.
    """
    repetition = {} if again is None else {AGAIN: again}
    return {**parameters(settings), **repetition, "messages": [dict(message) for message in messages]}


def call_key(settings: Settings, messages: Messages, again: str | None = None) -> str:
    """The ledger key of a conversation; the arguments are those of `request`."""
    return ledger_key(request(settings, messages, again))


def keys(
    settings: Settings, messages: Messages, again: str | None = None, earlier: Sequence[str | None] = ()
) -> Iterator[str]:
    """Yield the ledger keys under which a reply to a conversation counts, the one that it is asked under first.

    A key without the service is of a reply that an earlier version kept.

    Args:
        settings: model and parameters.
        messages: the conversation.
        again: names the repetition, as for `request`.
        earlier: repetitions whose replies count too; None among them is the first time.
    """
    for repetition in (again, *earlier):
        full_request = request(settings, messages, repetition)
        yield ledger_key(full_request)
        if full_request.pop(SERVICE, None) is not None:
            yield ledger_key(full_request)


def first_key(key: str, ledger: Ledger) -> str:
    """The key under which the same conversation was asked the first time; the key itself where it is that one, or where
    the ledger does not have it.
    """
    recorded_request = ledger.request(key)
    if recorded_request is None or AGAIN not in recorded_request:
        return key
    return ledger_key({name: value for name, value in recorded_request.items() if name != AGAIN})


def sent_bytes(messages: Messages) -> int:
    """Return the bytes of a conversation's texts."""
    return sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in messages)


def prompt_tokens(messages: Messages) -> int:
    """Tokens of a conversation, estimated."""
    return sum(text_tokens(message["content"]) for message in messages) + _FRAME


def text_tokens(text: str) -> int:
    """Tokens of a text, estimated."""
    return TokenEstimate().count(text)


def plan(
    conversations: Sequence[Messages],
    *,
    settings: Settings,
    limits: Limits | None = None,
    ledger: Ledger | None,
    again: str | None = None,
    earlier: Sequence[str | None] = (),
) -> Cost:
    """What `complete` would send, at most: prompt tokens are estimated, replies reckoned as long as they may be."""
    limits = limits or Limits()
    tokens: dict[str, int] = {}
    counting: dict[str, str] = {}
    for messages in conversations:
        key, *others = keys(settings, messages, again, earlier)
        if key not in tokens:
            tokens[key] = prompt_tokens(messages)
            counting |= dict.fromkeys((key, *others), key)
    stored_keys = {counting[key] for key in ledger.have(counting)} if ledger else set()
    todo = tokens.keys() - stored_keys
    tokens_in, tokens_out = sum(tokens[key] for key in todo), settings.max_tokens * len(todo)
    return Cost(len(todo), len(conversations) - len(todo), 0, tokens_in, tokens_out, limits.cost(tokens_in, tokens_out))


@dataclass
class Tally:
    """Adds up what replies have cost, by the service's own count of tokens where it is credible."""

    limits: Limits
    """Holds the prices."""
    calls: int = 0
    kept: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: int = 0

    def add(self, reply: Reply) -> None:
        """Count one more."""
        failed = reply.status == "api_error"
        self.failed += failed
        self.kept += not failed and not reply.attempts
        self.calls += not failed and reply.attempts > 0
        if reply.attempts:
            self.tokens_in += reply.tokens_in or 0
            self.tokens_out += reply.tokens_out or 0
            self.estimated += reply.estimated

    @property
    def cost(self) -> Cost:
        """What has been spent so far."""
        money = self.limits.cost(self.tokens_in, self.tokens_out)
        return Cost(self.calls, self.kept, self.failed, self.tokens_in, self.tokens_out, money, self.estimated)


def spent(replies: Iterable[Reply | None], limits: Limits | None = None) -> Cost:
    """What these replies have cost, by the service's own count of tokens."""
    tally = Tally(limits or Limits())
    for reply in replies:
        if reply is not None:
            tally.add(reply)
    return tally.cost


def read_completion(key: str, body: bytes, attempt: int, *, messages: Messages, max_tokens: int) -> Reply:
    """Read a chat completion.

    Args:
        key: ledger key of the call.
        body: the answer.
        attempt: number of the request, from 1.
        messages: what was sent; the service's count of its tokens is checked against it.
        max_tokens: new tokens the reply may have; likewise.

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
        raise unreadable(answer, "it holds no choice")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Unreadable("its choice holds no message")
    text, refusal, finish = _text(message.get("content")), message.get("refusal"), choices[0].get("finish_reason")
    fault = choices[0].get("error") or answer.get("error")
    text, reasoning, status, reason = separate_reasoning(
        text, finish, reasoning=_reasoning(message), tools=_tools(message), fault=fault
    )
    if refusal:
        status, reason = "refused", "the service declined to answer"
        text = text or _text(refusal)
    usage = read_usage(answer, sent=sent_bytes(messages), limit=max_tokens, received=len(body))
    tokens_in, tokens_out = usage.tokens_in, usage.tokens_out
    return Reply(
        key=key,
        text=text,
        status=status,
        reason=reason,
        tokens_in=prompt_tokens(messages) if tokens_in is None else tokens_in,
        tokens_out=text_tokens(f"{reasoning or ''}{text or ''}") if tokens_out is None else tokens_out,
        served=_text(answer.get("model")),
        attempts=attempt,
        estimated=tokens_in is None or tokens_out is None or usage.doubtful,
        reasoning=reasoning,
    )


def _reasoning(message: Mapping[str, Any]) -> str | None:
    """The reasoning beside the text: `reasoning_content` (DeepSeek, vLLM), `reasoning` (OpenRouter, later vLLM), or
    parts of the type `thinking` (Mistral); null where there is none.
    """
    content = message.get("content")
    parts = [part.get("thinking") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = (_text(value) for value in (message.get("reasoning_content"), message.get("reasoning"), *parts))
    return next((text for text in texts if text and not text.isspace()), None)


def _tools(message: Mapping[str, Any]) -> list[str]:
    """Names of the tools that a message calls."""
    calls = message.get("tool_calls")
    calls = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    names = [_text(call.get("name")) for call in (*calls, message.get("function_call")) if isinstance(call, dict)]
    return [(name or "without a name")[:_NAME] for name in names][:_NAMES]


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
