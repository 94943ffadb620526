"""Vectors of texts from an OpenAI-compatible service, each paid for once: the same door as for chat completions.

Texts go in groups; each text's vector is kept by itself, by model and text, the moment it comes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, Unreachable
from mirage.llm.batch import Batch
from mirage.llm.calls import Cost, Limits, Messages, Reply, Settings, prompt_tokens, spent, text_tokens
from mirage.llm.client import ask
from mirage.llm.retry import Unreadable
from mirage.store import Ledger, ledger_key

if TYPE_CHECKING:
    from mirage.llm.gate import Gate
    from mirage.llm.presets import Endpoint

GROUP = 64
"""Texts of one request."""

Vector = NDArray[np.float32]


def vector_of(ledger: Ledger, model: str, text: str) -> Vector | None:
    """The vector that is kept of a text, or None."""
    record = ledger.get(_key(model, text))
    return None if record is None else np.frombuffer(base64.b64decode(record["vector"]), "<f4")


def plan_embedding(texts: Sequence[str], *, model: str, limits: Limits, ledger: Ledger | None) -> Cost:
    """What `embed` would send, at most; tokens are estimated."""
    missing = _missing(texts, model, ledger)
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
        BadInput: if the service gives vectors of several lengths, or the budget is reached.
    """
    limits = limits or Limits()
    missing = _missing(texts, model, ledger)
    groups: list[Messages] = [
        [{"role": "user", "content": text} for text in missing[start : start + GROUP]]
        for start in range(0, len(missing), GROUP)
    ]
    known = next((vector for text in texts if (vector := vector_of(ledger, model, text)) is not None), None)
    done = iter(range(1, len(groups) + 1))

    def count(_number: int, _reply: Reply) -> None:
        if progress is not None:
            progress(next(done), len(groups))

    settings = Settings(model, temperature=None, max_tokens=0)
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

    def request(self, number: int) -> dict[str, Any]:
        return {"model": self.settings.model, "input": [message["content"] for message in self.conversations[number]]}

    def body(self, number: int, _limit: str) -> dict[str, Any]:
        return {**self.request(number), "encoding_format": "float"}

    def read(self, key: str, content: bytes, attempt: int, number: int) -> Reply:
        """Read the vectors of a group.

        Raises:
            Unreadable: if the body is no list of as many vectors.
            BadInput: if one has another length than those before it.
        """
        n = len(self.conversations[number])
        try:
            answer = json.loads(content)
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            vectors = [np.asarray(row["embedding"], "<f4") for row in rows]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise Unreadable("it holds no vectors") from None
        if len(vectors) != n or any(vector.ndim != 1 or not np.isfinite(vector).all() for vector in vectors):
            raise Unreadable(f"it holds {len(vectors):,} vectors for {n:,} texts, or one that is none")
        for vector in vectors:
            self.length = self.length or len(vector)
            if len(vector) != self.length:
                raise BadInput(
                    f"{self.settings.model} gave a vector of {len(vector):,} numbers after vectors of {self.length:,}",
                    do="give another model its own name at the service, or name it with --name in a new folder",
                )
        self._waiting[key] = vectors
        usage = answer.get("usage")
        counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        known = isinstance(counted, int) and counted >= 0
        tokens = counted if known else prompt_tokens(self.conversations[number])
        return Reply(key, "", "ok", None, tokens, 0, None, attempt, estimated=not known)

    def keep(self, reply: Reply) -> None:
        """Put the vectors of a group into the ledger, and settle it."""
        texts = [message["content"] for message in self.conversations[self.open[reply.key]]]
        for text, vector in zip(texts, self._waiting.pop(reply.key), strict=True):
            values = {"vector": base64.b64encode(vector.tobytes()).decode()}
            self.ledger.put(_key(self.settings.model, text), {"model": self.settings.model}, values)
        self.settle(reply)


def _key(model: str, text: str) -> str:
    return ledger_key({"model": model, "input": text})


def _missing(texts: Sequence[str], model: str, ledger: Ledger | None) -> list[str]:
    """The texts that have no vector yet, each once."""
    by_key = {_key(model, text): text for text in texts}
    kept = set() if ledger is None else ledger.have(by_key)
    return [text for key, text in by_key.items() if key not in kept]
