"""What a feature is and what it is measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from mirage.answers import NUMBERED_TEMPLATES, Citation, citations


@dataclass(frozen=True, slots=True)
class FeatureSpec:
    """Declaration of one measure of a reply."""

    name: str
    """Value of the `feature` column."""
    title: str
    """Name for people."""
    meaning: str
    """What is measured, on what, and when it has no value."""
    unit: str
    """Unit of the value; empty for a pure number."""
    low: float | None
    """Lowest possible value; null if unbounded."""
    high: float | None
    """Highest possible value; null if unbounded."""
    direction: Literal["higher", "lower", "none"]
    """Which side is better; `none` where neither is."""
    source: str
    """The paper and place it is from, and how ours departs."""
    needs: tuple[str, ...]
    """What it is computed from: names of tables, `model` or `reference`."""


@dataclass(frozen=True)
class Reply:
    """One reply that is not empty, with the passages it was given."""

    language: str
    """Code of the question's language."""
    text: str
    """The raw reply."""
    template: str | None
    """Name of the prompt template; null where unknown."""
    passage_ids: tuple[str, ...]
    """The passages shown, in the order of the prompt; none if they are not known."""
    relevant: tuple[bool | None, ...]
    """Their human relevance labels; null where a passage has none."""

    @cached_property
    def mentions(self) -> tuple[Citation, ...]:
        """The citations in the reply."""
        return citations(self.text, self.passage_ids, numbered=self.template in NUMBERED_TEMPLATES)


Measured = float | str
"""A value, or the reason why there is none."""


@dataclass(frozen=True, slots=True)
class Family:
    """Features measured together."""

    specs: tuple[FeatureSpec, ...]
    """What is measured."""
    measure: Callable[[Reply], tuple[Measured, ...]]
    """Measures one reply: one value or reason for each of `specs`, in their order."""
