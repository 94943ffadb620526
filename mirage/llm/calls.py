"""Calls: settings, the request they make, the reply, and its cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mirage.errors import BadInput
from mirage.llm.faults import OWN_FIELDS, strings
from mirage.llm.guard import MAX_BODY
from mirage.llm.presets import Endpoint
from mirage.llm.tokens import TokenEstimate
from mirage.schema import Status
from mirage.store import Ledger, ledger_key
from mirage.store.ledger import BATCH_SHARE

Message = Mapping[str, str]
Messages = Sequence[Message]
"""One conversation: `{"role": ..., "content": ...}` in order."""

AGAIN = "again"
"""Name of the repetition in a request."""
SERVICE = "service"
"""Name of the service in a request."""
_SECRET = re.compile(r"api[_-]?key|secret|password|authorization", re.IGNORECASE)
_SOMETIMES = ("estimated", "reasoning", "seconds", "batched", "contexts")
BATCH_SIZE = 50_000
"""Maximum requests of a batch at the services that define the protocol."""
_FRAME = 8
"""Approximate tokens that a chat format adds to a conversation."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Model and parameters of every call, all part of the ledger key."""

    model: str
    """Model name at the service."""
    temperature: float | None = 0.1
    """Sampling temperature; None for the service's default."""
    top_p: float | None = None
    """Nucleus sampling probability; None for the service's default."""
    max_tokens: int = 2048
    """Maximum new tokens per reply."""
    seed: int | None = None
    """Sampling seed, for services that support one."""
    service: str | None = None
    """The service: its address, a given name, or the engine on this machine; None if unnamed."""
    extra_body: Mapping[str, Any] | None = None
    """Further fields of a request's body, of one provider, such as `{"reasoning_effort": "low"}`."""

    def __post_init__(self) -> None:
        for name in self.extra_body or {}:
            if name in OWN_FIELDS:
                raise BadInput(
                    f"the field {name!r} of an extra body is set by this program",
                    where="--extra-body",
                    do=OWN_FIELDS[name] or "omit it",
                )
        if secret := next((name for name, _ in strings(self.extra_body) if _SECRET.search(name)), None):
            raise BadInput(
                f"the field {secret!r} of an extra body is a secret, which the ledger would keep",
                where="--extra-body",
                do="put the key into an environment variable, and name it with --key-env",
            )


@dataclass(frozen=True, slots=True)
class Limits:
    """Concurrency, rates, timeouts, retries, and budget."""

    concurrency: int = 8
    """Maximum concurrent calls."""
    requests_per_minute: float | None = None
    """Maximum rate of requests, evenly spaced; retries count."""
    tokens_per_minute: float | None = None
    """Maximum rate of tokens: estimated prompt tokens plus the maximum reply length."""
    timeout: float = 120.0
    """Seconds for one request, until the last byte of its response."""
    retries: int = 7
    """Maximum retries after a transient failure."""
    backoff: float = 1.0
    """First backoff in seconds; doubles with each retry."""
    longest_pause: float = 60.0
    """Maximum backoff in seconds. A service that asks for a longer pause ends the run, which can be resumed."""
    grace: float = 30.0
    """Seconds for pending calls to finish on a stop, also by Ctrl-C, since their replies are paid for."""
    max_body: int = MAX_BODY
    """Maximum bytes of a response; a larger one is a failed call."""
    budget: float | None = None
    """Maximum spending, in the currency of the prices, which it needs. A call starts only if enough is left for its
    estimated prompt and the longest reply.
    """
    price_in: float | None = None
    """Price per million prompt tokens."""
    price_out: float | None = None
    """Price per million reply tokens."""
    batch: bool = False
    """Whether calls are submitted in batches, which cost half and take up to a day; rates do not apply to them."""
    batch_size: int = BATCH_SIZE
    """Maximum requests per batch."""
    batch_wait: float | None = None
    """Maximum hours to wait for batches; None to wait until they end. A later run collects them."""

    def __post_init__(self) -> None:
        positive = ("concurrency", "max_body", "batch_size")
        for name in (*positive, "retries", "backoff", "longest_pause", "grace", "budget", "batch_wait"):
            value, low = getattr(self, name), int(name in positive)
            if value is not None and not value >= low:
                raise BadInput(f"{name} is {value}", do=f"use {low} or more")
        for name in ("requests_per_minute", "tokens_per_minute", "timeout"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise BadInput(f"{name} is {value}", do="use more than 0")
        if self.budget is not None and self.cost(0, 0) is None:
            raise BadInput("a budget needs prices", do="add --price-in and --price-out, per million tokens")

    def cost(self, tokens_in: float, tokens_out: float) -> float | None:
        """Return the price of a number of tokens; None without prices."""
        if self.price_in is None and self.price_out is None:
            return None
        return (tokens_in * (self.price_in or 0) + tokens_out * (self.price_out or 0)) / 1e6


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one conversation."""

    key: str
    """Ledger key."""
    text: str | None
    """The reply; null when there is none."""
    status: Status
    """`ok`, `empty`, `truncated`, `refused` or `api_error`."""
    reason: str | None
    """Why the reply is missing or incomplete; null with `ok`."""
    tokens_in: int | None
    """Prompt tokens by the service's count; null without a reply."""
    tokens_out: int | None
    """Reply tokens, reasoning included, by the service's count; null without a reply."""
    served: str | None
    """Model name from the service, often with a version."""
    attempts: int
    """Requests sent; 0 if it was cached."""
    estimated: bool = False
    """Whether a token count is an estimate, because the service gave none or an impossible one."""
    reasoning: str | None = None
    """The model's reasoning, if the service returns it separately."""
    seconds: float | None = field(default=None, compare=False)
    """Latency of the successful request until its last byte, in seconds; null if not measured per reply."""
    batched: bool = False
    """Whether it was a request of a batch, at half the price."""
    contexts: Sequence[Mapping[str, Any]] | None = None
    """Passages that a RAG service returned with its answer, in order: `id`, `title`, `text` and `score`, each if known.
    """

    @property
    def given_up(self) -> bool:
        """True if the call was not made because too many before it failed."""
        return self.status == "api_error" and not self.attempts

    def ledger_record(self) -> dict[str, Any]:
        """Return the fields to store in the ledger, without empty optional fields."""
        values = {name: value for name, value in asdict(self).items() if name not in ("key", "attempts")}
        return {name: value for name, value in values.items() if name not in _SOMETIMES or value}

    @property
    def price_share(self) -> float:
        """Price as a share of that of a single call."""
        return BATCH_SHARE if self.batched else 1.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a set of calls, planned or spent."""

    calls: int
    """Calls to make, or successful calls."""
    kept: int
    """Conversations without cost: cached in the ledger, or identical to another."""
    failed: int
    """Calls that failed, or were skipped after too many failures. `calls`, `kept` and `failed` add up to the total."""
    tokens_in: int
    """Prompt tokens."""
    tokens_out: int
    """Reply tokens."""
    money: float | None
    """Cost in the currency of the prices; None without prices."""
    estimated: int = 0
    """Calls whose token counts are at least partly estimates, because the service's counts are missing or not credible.
    """


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model and how to reach it."""

    settings: Settings
    """Model name and sampling parameters."""
    limits: Limits = field(default_factory=Limits)
    """Concurrency, rates, timeouts, retries, prices and budget."""
    endpoint: Endpoint | None = None
    """Service and key; the key is sent to workers, but never stored. None if vLLM or transformers loads the model where
    it is called.
    """
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `vllm.LLM`, such as `tensor_parallel_size`, or of transformers, such as `load_in_4bit`."""

    def after(self, cost: Cost) -> ChatModel:
        """Return the model with what a cost leaves of its budget."""
        if self.limits.budget is None:
            return self
        return replace(self, limits=replace(self.limits, budget=max(self.limits.budget - (cost.money or 0), 0)))

    def service(self) -> Endpoint:
        """Return service and key.

        Raises:
            TypeError: if the model has no service.
        """
        if self.endpoint is None:
            raise TypeError("calls to a model need an endpoint")
        return self.endpoint


def total(costs: Iterable[Cost]) -> Cost:
    """Sum several costs; without money if one has none."""
    parts = list(costs)
    counts = {
        name: sum(getattr(part, name) for part in parts)
        for name in ("calls", "kept", "failed", "tokens_in", "tokens_out", "estimated")
    }
    money = [part.money for part in parts if part.money is not None]
    return Cost(**counts, money=sum(money) if parts and len(money) == len(parts) else None)


def parameters(settings: Settings) -> dict[str, Any]:
    """Return the model and the parameters that are set."""
    return {name: value for name, value in asdict(settings).items() if value is not None}


def describe(settings: Settings) -> str:
    """Describe model and parameters in one line, for a manifest."""
    return ", ".join(f"{name} {value}" for name, value in parameters(settings).items())


def request(settings: Settings, messages: Messages, again: str | None = None) -> dict[str, Any]:
    """Return everything that determines a reply: model, parameters, messages. Its hash is the ledger key.

    Args:
        settings: model and parameters.
        messages: the conversation.
        again: name of a repetition of a request already in the ledger; not sent to the service.
    """
    repetition = {} if again is None else {AGAIN: again}
    return {**parameters(settings), **repetition, "messages": [dict(message) for message in messages]}


def call_key(settings: Settings, messages: Messages, again: str | None = None) -> str:
    """Return the ledger key of a conversation; arguments as for `request`."""
    return ledger_key(request(settings, messages, again))


def keys(
    settings: Settings, messages: Messages, again: str | None = None, earlier: Sequence[str | None] = ()
) -> Iterator[str]:
    """Yield the ledger keys under which a reply to a conversation counts, its own first.

    Args:
        settings: model and parameters.
        messages: the conversation.
        again: name of a repetition, as for `request`.
        earlier: repetitions whose replies also count; None among them is the first time.
    """
    for repetition in (again, *earlier):
        yield call_key(settings, messages, repetition)


def first_key(key: str, ledger: Ledger) -> str:
    """Return the key of the first request of a repeated conversation; the key itself if it is not a repetition."""
    recorded_request = ledger.request(key)
    if recorded_request is None or AGAIN not in recorded_request:
        return key
    return ledger_key({name: value for name, value in recorded_request.items() if name != AGAIN})


def request_body(request: Mapping[str, Any], limit: str) -> dict[str, Any]:
    """Return the body to send for a request.

    Args:
        request: result of `request`.
        limit: the service's name of the limit of new tokens.
    """
    body = {name: value for name, value in request.items() if name not in (AGAIN, SERVICE)}
    body[limit] = body.pop("max_tokens")
    extra = body.pop("extra_body", {})
    return {**body, **extra}


def sent_bytes(messages: Messages) -> int:
    """Return the bytes of a conversation's texts."""
    return sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in messages)


def prompt_tokens(messages: Messages) -> int:
    """Estimate the tokens of a conversation."""
    return sum(text_tokens(message["content"]) for message in messages) + _FRAME


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
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
    """Return the maximum cost of `complete`: estimated prompt tokens, and replies of maximum length."""
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
    share = BATCH_SHARE if limits.batch else 1.0
    money = limits.cost(share * tokens_in, share * tokens_out)
    return Cost(len(todo), len(conversations) - len(todo), 0, tokens_in, tokens_out, money)


@dataclass
class Tally:
    """Running total of the cost of replies, by the service's token counts if credible."""

    limits: Limits
    """Limits, with the prices."""
    calls: int = 0
    kept: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: int = 0
    billed_in: float = 0
    """Prompt tokens at the price of single calls: those of batches count half."""
    billed_out: float = 0
    """Reply tokens, likewise."""

    def add(self, reply: Reply) -> None:
        """Add a reply."""
        failed = reply.status == "api_error"
        self.failed += failed
        self.kept += not failed and not reply.attempts
        self.calls += not failed and reply.attempts > 0
        if reply.attempts:
            self.tokens_in += reply.tokens_in or 0
            self.tokens_out += reply.tokens_out or 0
            self.billed_in += reply.price_share * (reply.tokens_in or 0)
            self.billed_out += reply.price_share * (reply.tokens_out or 0)
            self.estimated += reply.estimated

    @property
    def cost(self) -> Cost:
        """Cost so far."""
        money = self.limits.cost(self.billed_in, self.billed_out)
        return Cost(self.calls, self.kept, self.failed, self.tokens_in, self.tokens_out, money, self.estimated)


def spent(replies: Iterable[Reply | None], limits: Limits | None = None) -> Cost:
    """Return the cost of replies, by the service's token counts."""
    tally = Tally(limits or Limits())
    for reply in replies:
        if reply is not None:
            tally.add(reply)
    return tally.cost
