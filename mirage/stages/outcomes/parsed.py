"""Result of parsing one answer, and the names of the rules."""

from collections.abc import Mapping
from dataclasses import dataclass

from mirage.schema import Outcome
from mirage.text.data import load_words

_RULES: dict[str, dict[str, str]] = load_words("rules", "mirage.stages.outcomes")
FREE_RULES = _RULES["free"]
"""Meaning of each rule for free answers."""
RULES = {**_RULES["nomiracl"], **FREE_RULES}
"""Meaning of every rule."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Outcome of one answer, with the deciding rule and text."""

    outcome: Outcome
    """See `schema.OutcomeRow.outcome`."""
    rule: str
    """Name of the deciding rule, one of `RULES`."""
    span_start: int | None = None
    """Start of the deciding text, in characters of the raw answer; None if no text decided."""
    span_end: int | None = None
    """End of the deciding text (exclusive)."""


FreeAnswer = tuple[str, str, str]
"""Language, text and query of an answer."""
Readings = Mapping[FreeAnswer, Parsed]
"""Readings of free answers that replace those of the rules."""
DIFFERS = Parsed("unparsed", "second_opinion_differs")
"""Reading of an answer on which the rules and the second opinion differ."""
