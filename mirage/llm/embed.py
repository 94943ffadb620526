"""Vectors of texts from an OpenAI-compatible service, each paid for once: the same door as for chat completions.

Texts go in groups; each text's vector is kept by itself, by model and text, the moment it comes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, Unreachable
from mirage.llm.batch import Batch
from mirage.llm.calls import (
    SERVICE,
    Cost,
    Limits,
    Messages,
    Reply,
    Settings,
    prompt_tokens,
    sent_bytes,
    spent,
    text_tokens,
)
from mirage.llm.client import ask
from mirage.llm.retry import Unreadable
from mirage.llm.usage import read_usage
from mirage.store import Ledger, ledger_key

if TYPE_CHECKING:
    from mirage.llm.gate import Gate
    from mirage.llm.presets import Endpoint

GROUP = 64
"""Texts of one request."""

Vector = NDArray[np.float32]


def vector_of(ledger: Ledger, model: str, text: str, service: str | None = None) -> Vector | None:
    """The vector that is kept of a text, or None. One without numbers, as an earlier version kept them, is none."""
    for key in _keys(service, model, text):
        record = ledger.get(key)
        if record and record["vector"]:
            return np.frombuffer(base64.b64decode(record["vector"]), "<f4")
    return None


def plan_embedding(
    texts: Sequence[str], *, model: str, limits: Limits, ledger: Ledger | None, service: str | None = None
) -> Cost:
    """What `embed` would send, at most; tokens are estimated."""
    missing = _missing(texts, service, model, ledger)
    tokens = sum(text_tokens(text) for text in missing)
    calls = -(-len(missing) // GROUP)
    return Cost(calls, len(texts) - len(missing), 0, tokens, 0, limits.cost(tokens, 0))


def embed(
    texts: Sequence[str],
    *,
    endpoint: Endpoint,
    model: str,
    ledger: Ledger,
    limits: Limits | None = None,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
    gate: Gate | None = None,
) -> Cost:
    """Get the vectors of texts into a ledger, from where `vector_of` reads them.

    Args:
        texts: the texts.
        endpoint: service and key.
        model: the model's name there.
        ledger: where vectors are kept.
        limits: concurrency, rates, retries, budget.
        rng: source of the jitter of pauses.
        progress: called with how many requests are done, and of how many.
        gate: as for `complete`.

    Raises:
        Unreachable: if some text got no vector. What has come is kept.
        BadInput: if the budget is reached.
    """
    limits = limits or Limits()
    missing = _missing(texts, service := endpoint.service, model, ledger)
    groups: list[Messages] = [
        [{"role": "user", "content": text} for text in missing[start : start + GROUP]]
        for start in range(0, len(missing), GROUP)
    ]
    known = next((vector for text in texts if (vector := vector_of(ledger, model, text, service)) is not None), None)
    done = iter(range(1, len(groups) + 1))

    def count(_number: int, _reply: Reply) -> None:
        if progress is not None:
            progress(next(done), len(groups))

    settings = Settings(model, temperature=None, max_tokens=0, service=service)
    batch = _Vectors(groups, settings, ledger, count, length=None if known is None else len(known))
    replies = ask(batch, endpoint=endpoint, limits=limits, rng=rng, gate=gate)
    failed = [reply for reply in replies if reply is not None and reply.status != "ok"]
    if failed:
        raise Unreachable(
            f"{len(failed):,} of {len(groups):,} requests for vectors got none: {failed[0].reason}",
            where=endpoint.base_url,
            do="run the same command again; the vectors that have come are kept",
        )
    if None in replies:
        raise BadInput(
            "the budget was reached before every text had its vector",
            do="raise --budget and run the same command again; the vectors that have come are kept",
        )
    return replace(spent(replies, limits), kept=len(texts) - len(missing))


@dataclass
class _Vectors(Batch):
    """Groups of texts to be embedded, and the ledger of their vectors."""

    path = "/embeddings"
    length: int | None = None
    """Numbers of a vector; None while none has come."""
    _waiting: dict[str, list[Vector]] = field(default_factory=dict)

    def keys(self, number: int) -> Iterator[str]:
        yield ledger_key(self.request(number))

    def request(self, number: int) -> dict[str, Any]:
        texts = [message["content"] for message in self.conversations[number]]
        return {"model": self.settings.model, "input": texts, SERVICE: self.settings.service}

    def body(self, number: int, _limit: str) -> dict[str, Any]:
        request = self.request(number)
        del request[SERVICE]
        return {**request, "encoding_format": "float"}

    def read(self, key: str, content: bytes, attempt: int, number: int) -> Reply:
        """Read the vectors of a group.

        Raises:
            Unreadable: if the body is no list of as many vectors, or one has another length than those before it.
        """
        messages = self.conversations[number]
        try:
            answer = json.loads(content)
            vectors = _vectors(answer["data"], len(messages))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise Unreadable(f"it does not hold {len(messages):,} vectors, one a text") from None
        lengths = {len(vector) for vector in vectors}
        if self.length is not None or len(lengths) > 1:
            odd = lengths - {self.length or len(vectors[0])}
            if odd:
                raise Unreadable(
                    f"{self.settings.model} gave a vector of {odd.pop():,} numbers after vectors of "
                    f"{self.length or len(vectors[0]):,}; where that is another model, name it with --service"
                )
        self.length = len(vectors[0])
        self._waiting[key] = vectors
        usage = read_usage(answer, sent=sent_bytes(messages), limit=0, received=0)
        tokens = prompt_tokens(messages) if usage.tokens_in is None else usage.tokens_in
        estimated = usage.doubtful or usage.tokens_in is None
        return Reply(key, "", "ok", None, tokens, 0, None, attempt, estimated=estimated)

    def keep(self, reply: Reply) -> None:
        """Put the vectors of a group into the ledger, and settle it."""
        texts = [message["content"] for message in self.conversations[self.open[reply.key]]]
        for text, vector in zip(texts, self._waiting.pop(reply.key), strict=True):
            values = {"vector": base64.b64encode(vector.tobytes()).decode()}
            request = {"model": self.settings.model, SERVICE: self.settings.service}
            self.ledger.put(next(_keys(self.settings.service, self.settings.model, text)), request, values)
        self.settle(reply)


def _keys(service: str | None, model: str, text: str) -> Iterator[str]:
    """Yield the keys under which a vector of a text counts; the last is of earlier versions, which noted no service."""
    if service is not None:
        yield ledger_key({"model": model, "input": text, SERVICE: service})
    yield ledger_key({"model": model, "input": text})


def _missing(texts: Sequence[str], service: str | None, model: str, ledger: Ledger | None) -> list[str]:
    """The texts that have no vector yet, each once."""
    unique = dict.fromkeys(texts)
    return [text for text in unique if ledger is None or vector_of(ledger, model, text, service) is None]


def _vectors(rows: Sequence[Mapping[str, Any]], n: int) -> list[Vector]:
    """Read the vectors of a reply, in the order of their texts.

    Raises:
        ValueError, TypeError, KeyError, OverflowError: if they are not one a text, of finite numbers.
    """
    places: list[Any] = [row.get("index", place) if isinstance(row, dict) else None for place, row in enumerate(rows)]
    if len(rows) != n or {type(place) for place in places} != {int} or sorted(places) != list(range(n)):
        raise ValueError
    vectors: list[Vector] = [np.empty(0, np.float32)] * n
    for place, row in zip(places, rows, strict=True):
        numbers = row["embedding"]
        if not isinstance(numbers, list) or not numbers or not {type(number) for number in numbers} <= {int, float}:
            raise ValueError
        with np.errstate(over="ignore"):
            vectors[place] = np.array(numbers, np.float64).astype("<f4")
        if not np.isfinite(vectors[place]).all():
            raise ValueError
    return vectors
