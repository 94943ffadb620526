"""Cached embeddings of texts from an OpenAI-compatible service.

Texts are sent in groups; each text's vector is stored separately, by model and text, as it arrives.
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
"""Texts per request."""

Vector = NDArray[np.float32]


def vector_of(ledger: Ledger, model: str, text: str, service: str | None = None) -> Vector | None:
    """Return the cached vector of a text, or None. An empty vector, from an earlier version, counts as missing."""
    for key in _keys(service, model, text):
        record = ledger.get(key)
        if record and record["vector"]:
            return np.frombuffer(base64.b64decode(record["vector"]), "<f4")
    return None


def plan_embedding(
    texts: Sequence[str], *, model: str, limits: Limits, ledger: Ledger | None, service: str | None = None
) -> Cost:
    """Return the maximum cost of `embed`; tokens are estimated."""
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
    """Get the vectors of texts into a ledger, from which `vector_of` reads them.

    Args:
        texts: the texts.
        endpoint: service and key.
        model: model name at the service.
        ledger: cache of vectors.
        limits: concurrency, rates, retries, budget.
        rng: source of the backoff's jitter.
        progress: called with the number of finished requests and the total.
        gate: as for `complete`.

    Raises:
        Unreachable: if a text got no vector. Vectors received are cached.
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
            f"{len(failed):,} of {len(groups):,} requests for vectors failed: {failed[0].reason}",
            where=endpoint.base_url,
            do="rerun the command; vectors received are cached",
        )
    if None in replies:
        raise BadInput(
            "the budget was reached before every text had its vector",
            do="raise --budget and rerun the command; vectors received are cached",
        )
    return replace(spent(replies, limits), kept=len(texts) - len(missing))


@dataclass
class _Vectors(Batch):
    """Groups of texts to embed, and the ledger of their vectors."""

    length: int | None = None
    """Dimension of the vectors; None before the first one."""
    _waiting: dict[str, list[Vector]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return "/embeddings"

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
        """Parse the vectors of a group.

        Raises:
            Unreadable: if the body is not a list with one vector per text, or the dimension changes.
        """
        messages = self.conversations[number]
        try:
            answer = json.loads(content)
            vectors = _vectors(answer["data"], len(messages))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise Unreadable(f"it does not have {len(messages):,} vectors, one per text") from None
        lengths = {len(vector) for vector in vectors}
        if self.length is not None or len(lengths) > 1:
            odd = lengths - {self.length or len(vectors[0])}
            if odd:
                raise Unreadable(
                    f"{self.settings.model} returned a vector of {odd.pop():,} numbers after vectors of "
                    f"{self.length or len(vectors[0]):,}; if it is another model, distinguish it with --service"
                )
        self.length = len(vectors[0])
        self._waiting[key] = vectors
        usage = read_usage(answer, sent=sent_bytes(messages), limit=0, received=0)
        tokens = prompt_tokens(messages) if usage.tokens_in is None else usage.tokens_in
        estimated = usage.doubtful or usage.tokens_in is None
        return Reply(key, "", "ok", None, tokens, 0, None, attempt, estimated=estimated)

    def keep(self, reply: Reply) -> None:
        """Store the vectors of a group in the ledger, and settle it."""
        texts = [message["content"] for message in self.conversations[self.open[reply.key]]]
        for text, vector in zip(texts, self._waiting.pop(reply.key), strict=True):
            values = {"vector": base64.b64encode(vector.tobytes()).decode()}
            request = {"model": self.settings.model, SERVICE: self.settings.service}
            self.ledger.put(next(_keys(self.settings.service, self.settings.model, text)), request, values)
        self.settle(reply)


def _keys(service: str | None, model: str, text: str) -> Iterator[str]:
    """Yield the keys of a text's vector; the last is of earlier versions, which did not record the service."""
    if service is not None:
        yield ledger_key({"model": model, "input": text, SERVICE: service})
    yield ledger_key({"model": model, "input": text})


def _missing(texts: Sequence[str], service: str | None, model: str, ledger: Ledger | None) -> list[str]:
    """Return the distinct texts without a vector."""
    unique = dict.fromkeys(texts)
    return [text for text in unique if ledger is None or vector_of(ledger, model, text, service) is None]


def _vectors(rows: Sequence[Mapping[str, Any]], n: int) -> list[Vector]:
    """Parse the vectors of a response, in the order of their texts.

    Raises:
        ValueError, TypeError, KeyError, OverflowError: if there is not one vector of finite numbers per text.
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
