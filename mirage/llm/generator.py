"""A model that answers prompts without an arena: `call(prompts)` returns texts, as in the NoMIRACL package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from mirage.errors import BadInput, Unreachable
from mirage.llm import engine_huggingface, engine_vllm
from mirage.llm.asking import Engine, ask, engine_of
from mirage.llm.batch import complete_loaded
from mirage.llm.calls import ChatModel
from mirage.store.ledger import scratch_ledger

LOCAL = ("huggingface", "vllm")
"""Techniques that load the model on this machine."""


@dataclass(frozen=True)
class Generator:
    """A model that answers prompts."""

    technique: str
    """One of `LOCAL`, or a service's preset."""
    model: ChatModel
    """Model, sampling parameters and service."""

    @property
    def temperature(self) -> float | None:
        """Sampling temperature."""
        return self.model.settings.temperature

    @property
    def top_p(self) -> float | None:
        """Nucleus sampling probability."""
        return self.model.settings.top_p

    @property
    def max_new_tokens(self) -> int:
        """Maximum new tokens per reply."""
        return self.model.settings.max_tokens

    def call(self, prompts: str | Sequence[str]) -> list[str]:
        """Return the reply to each prompt; a reply without text is empty.

        Nothing is cached: for thousands of prompts use `mirage.generate`, whose ledger keeps every reply.

        Raises:
            Unreachable: if a call fails, or the service rejects every call.
        """
        texts = [prompts] if isinstance(prompts, str) else list(prompts)
        conversations = [[{"role": "user", "content": text}] for text in texts]
        with scratch_ledger() as ledger:
            replies = ask(conversations, self.model, ledger, engine=self._engine)
        if replies.stopped is not None:
            raise replies.stopped
        if replies.reasons:
            raise Unreachable(
                f"{replies.reasons.total()} of {len(texts)} calls failed: {next(iter(replies.reasons))}",
                do="check the service, then repeat the call",
            )
        return [reply.text or "" for reply in replies.by_number if reply is not None]

    def batch_call(self, prompts: Sequence[str], batch_size: int = 1) -> list[str]:
        """Return the reply to each prompt, with a number of prompts per call.

        Raises:
            BadInput: if the size is below 1.
            Unreachable: as for `call`.
        """
        if batch_size < 1:
            raise BadInput(f"batch_size is {batch_size}", do="use 1 or more")
        return [
            text
            for start in range(0, len(prompts), batch_size)
            for text in self.call(prompts[start : start + batch_size])
        ]

    @cached_property
    def _engine(self) -> Engine:
        """The function that makes the calls; a model of this machine is loaded once."""
        if self.technique in LOCAL and self.model.endpoint is None:
            loaded = (engine_vllm if self.technique == "vllm" else engine_huggingface).load(self.model)
            return partial(complete_loaded, model=self.model, load=lambda _: loaded)
        return engine_of(self.model)
