"""Calls: settings, the request they make, and their cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from mirage.errors import BadInput
from mirage.llm.completion import Messages, Reply, prompt_tokens, read_completion
from mirage.llm.faults import OWN_FIELDS
from mirage.llm.guard import MAX_BODY
from mirage.llm.presets import Endpoint
from mirage.store.ledger import BATCH_SHARE, Ledger, ledger_key

AGAIN = "again"
"""Name of the repetition in a request."""
SERVICE = "service"
"""Name of the service in a request."""
_SECRET = re.compile(r'"([^"]*(?:api[_-]?key|secret|password|authorization|access[_-]?token)[^"]*)": ', re.IGNORECASE)
"""The name of a field that holds a secret, in JSON."""
BATCH_SIZE = 10_000
"""Default maximum requests of a batch, whose results are held in memory; services allow 50,000."""


def refuse_secrets(body: object, option: str) -> None:
    """Check that no field of a request's body, the value of an option, is named as a secret.

    Raises:
        BadInput: if one is.
    """
    if found := _SECRET.search(json.dumps(body, ensure_ascii=False)):
        name = option.strip("-").replace("-", " ")
        raise BadInput(
            f"the field {found[1]!r} of the {name} is a secret, which the ledger would keep",
            where=option,
            do="put the key into an environment variable, and name it with --key-env",
        )


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
        refuse_secrets(self.extra_body, "--extra-body")

    @property
    def path(self) -> str:
        """Path of the requests below the service's address, or a whole address."""
        return "/chat/completions"

    def request(self, messages: Messages, again: str | None = None) -> dict[str, Any]:
        """Return everything that determines a reply: model, parameters, messages. Its hash is the ledger key.

        Args:
            messages: the conversation.
            again: name of a repetition of a request already in the ledger; not sent to the service.
        """
        repetition = {} if again is None else {AGAIN: again}
        return {**parameters(self), **repetition, "messages": [dict(message) for message in messages]}

    def keys(self, messages: Messages, again: str | None = None, earlier: Sequence[str | None] = ()) -> tuple[str, ...]:
        """Return the ledger keys under which a reply to a conversation counts, its own first.

        Args:
            messages: the conversation.
            again: name of a repetition, as for `request`.
            earlier: repetitions whose replies also count; None among them is the first time.
        """
        return tuple(ledger_key(self.request(messages, repetition)) for repetition in (again, *earlier))

    def body(self, request: Mapping[str, Any], limit: str) -> dict[str, Any]:
        """Return the body to send for a request.

        Args:
            request: result of `request`.
            limit: the service's name of the limit of new tokens.
        """
        body = {name: value for name, value in request.items() if name not in (AGAIN, SERVICE)}
        body[limit] = body.pop("max_tokens")
        extra = body.pop("extra_body", {})
        return {**body, **extra}

    def read(self, key: str, content: bytes, attempt: int, messages: Messages) -> Reply:
        """Parse the service's response to a conversation (`completion.read_completion`)."""
        return read_completion(key, content, attempt, messages=messages, max_tokens=self.max_tokens)


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

    def __add__(self, other: Cost) -> Cost:
        counts = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in _COUNTS}
        money = None if self.money is None or other.money is None else self.money + other.money
        return Cost(**counts, money=money)


_COUNTS = tuple(each for each in fields(Cost) if each.name != "money")


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
    """Further arguments of `vllm.LLM`, such as `tensor_parallel_size`, or of transformers, such as `dtype`."""

    def minus_cost(self, cost: Cost) -> ChatModel:
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
    first, *rest = [*costs] or [Cost(0, 0, 0, 0, 0, None)]
    return sum(rest, first)


def parameters(settings: Settings) -> dict[str, Any]:
    """Return the model and the parameters that are set."""
    return {name: value for name, value in asdict(settings).items() if value is not None}


def describe(made_with: Mapping[str, Any]) -> str:
    """Describe parameters, or other settings of rows, in one line."""
    return ", ".join(f"{name} {value}" for name, value in made_with.items())


def first_key(key: str, ledger: Ledger) -> str:
    """Return the key of the first request of a repeated conversation; the key itself if it is not a repetition."""
    recorded_request = ledger.request(key)
    if recorded_request is None or AGAIN not in recorded_request:
        return key
    return ledger_key({name: value for name, value in recorded_request.items() if name != AGAIN})


def plan(
    conversations: Sequence[Messages],
    model: ChatModel,
    ledger: Ledger | None,
    *,
    again: str | None = None,
    earlier: Sequence[str | None] = (),
) -> Cost:
    """Return the maximum cost of `asking.ask`: estimated prompt tokens, and replies of maximum length."""
    settings, limits = model.settings, model.limits
    tokens: dict[str, int] = {}
    counting: dict[str, str] = {}
    for messages in conversations:
        key, *others = settings.keys(messages, again, earlier)
        if key not in tokens:
            tokens[key] = prompt_tokens(messages)
            counting |= dict.fromkeys((key, *others), key)
    stored_keys = {counting[key] for key in ledger.have(counting)} if ledger else set()
    todo = tokens.keys() - stored_keys
    tokens_in, tokens_out = sum(tokens[key] for key in todo), settings.max_tokens * len(todo)
    share = BATCH_SHARE if limits.batch else 1.0
    money = limits.cost(share * tokens_in, share * tokens_out)
    return Cost(len(todo), len(conversations) - len(todo), 0, tokens_in, tokens_out, money)


def cost_of(reply: Reply, limits: Limits) -> Cost:
    """Return the cost of a reply, by the service's token counts if credible."""
    failed, made = reply.status == "api_error", reply.attempts > 0
    tokens_in, tokens_out = (reply.tokens_in or 0, reply.tokens_out or 0) if made else (0, 0)
    money = limits.cost(reply.price_share * tokens_in, reply.price_share * tokens_out)
    return Cost(
        calls=int(made and not failed),
        kept=int(not made and not failed),
        failed=int(failed),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        money=money,
        estimated=int(made and reply.estimated),
    )
