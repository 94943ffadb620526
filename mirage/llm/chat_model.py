"""A chat model with everything that a call needs: sampling parameters, limits, service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mirage.llm.calls import Cost, Limits, Settings
from mirage.llm.presets import Endpoint


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
