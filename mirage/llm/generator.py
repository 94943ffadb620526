"""A model that answers prompts without an arena: `call(prompts)` returns texts, as in the NoMIRACL package."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

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

    def batch_call(self, prompts: Sequence[str], batch_size: int | None = None, **changed: Any) -> list[str]:
        """Return the reply to each prompt.

        Args:
            prompts: the prompts.
            batch_size: number of prompts per call; None for all at once, as many as the service's limits allow.
            changed: with a service, `temperature`, `top_p` and `max_new_tokens` of these replies.

        Raises:
            BadInput: if the size is below 1, there is no such parameter, or the model is loaded with others.
            Unreachable: as for `call`.
        """
        if batch_size is not None and batch_size < 1:
            raise BadInput(f"batch_size is {batch_size}", do="use 1 or more")
        if strange := ", ".join(sorted(set(changed) - {"temperature", "top_p", "max_new_tokens"})):
            raise BadInput(f"a reply has no parameter {strange}", do="use temperature, top_p and max_new_tokens")
        model: Generator = self
        if any(getattr(self, name) != value for name, value in changed.items()):
            if self._local:
                raise BadInput(f"{self.model.settings.model} is loaded with others", do="give them to load_model")
            if "max_new_tokens" in changed:
                changed["max_tokens"] = changed.pop("max_new_tokens")
            settings = replace(self.model.settings, **changed)
            model = Generator(self.technique, replace(self.model, settings=settings))
        size = batch_size or max(len(prompts), 1)
        return [text for start in range(0, len(prompts), size) for text in model.call(prompts[start : start + size])]

    @property
    def _local(self) -> bool:
        """True if the model is loaded on this machine."""
        return self.technique in LOCAL and self.model.endpoint is None

    @cached_property
    def _engine(self) -> Engine:
        """The function that makes the calls; a model of this machine is loaded once."""
        if self._local:
            loaded = (engine_vllm if self.technique == "vllm" else engine_huggingface).load(self.model)
            return partial(complete_loaded, model=self.model, load=lambda _: loaded)
        return engine_of(self.model)
