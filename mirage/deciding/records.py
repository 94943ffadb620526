"""What a choice among systems says: of each language, of each system, and of other weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mirage.errors import BadInput
from mirage.units import Unit


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a system must be to be taken. One of which a fact is not known is not taken where the fact is asked for."""

    budget: float | None = None
    """Most US dollars for 1,000 answers."""
    seconds: float | None = None
    """Most seconds for an answer, the median."""
    licences: tuple[str, ...] = ()
    """Licences that will do, as the cards name them; empty for any."""
    open_weights: bool = False
    """Only systems whose weights can be downloaded."""
    context_length: int | None = None
    """Least tokens that prompt and answer may have together."""

    def __post_init__(self) -> None:
        for name in ("budget", "seconds", "context_length"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise BadInput(f"{name} is {value}", do="give 0 or more")


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What a system costs and how fast it is. A fact that is not known is null."""

    system: str
    """The system."""
    price: float | None
    """US dollars for 1,000 answers: the prices of the card, the mean tokens of an answer."""
    price_reason: str | None
    """Why there is no price; else null."""
    seconds: float | None
    """Median seconds from the request of an answer to its last byte; null where the ledger has none."""
    tokens_in: float | None
    """Mean prompt tokens of an answer."""
    tokens_out: float | None
    """Mean tokens of an answer."""
    n_calls: int
    """Calls of the ledger behind the tokens; 0 where these were given."""
    licence: str | None
    """Licence of the model."""
    open_weights: bool | None
    """Whether the weights can be downloaded."""
    context_length: int | None
    """Tokens that prompt and answer may have together."""

    def lacking(self, requirements: Requirements) -> str | None:
        """Why the system does not meet the requirements; None where it does."""
        wants = requirements
        if wants.budget is not None and (self.price is None or self.price > wants.budget):
            return f"no price: {self.price_reason}" if self.price is None else f"${self.price:,.2f} for 1,000 answers"
        if wants.seconds is not None and (self.seconds is None or self.seconds > wants.seconds):
            return "no latency is known" if self.seconds is None else f"{self.seconds:.1f} seconds an answer"
        if wants.licences and self.licence not in wants.licences:
            return f"its licence is {self.licence or 'not known'}"
        if wants.open_weights and not self.open_weights:
            return "no open weights are known"
        if wants.context_length is not None and (self.context_length or 0) < wants.context_length:
            return f"its context length is {self.context_length or 'not known'}"
        return None


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    """Which system to take in one language, or in all."""

    language: str
    """Code, or `all`: the mean over languages, each weighing the same."""
    choice: str | None
    """The cheapest of `contenders`; the best of those where no price is known. Null with a reason."""
    best: str | None
    """The system that is worth most by the estimate."""
    contenders: tuple[str, ...]
    """The systems that are not told apart from the best, best first: with a chance of 95% the truly best is among them.
    With a margin: those that may be within it of the best."""
    p_right: float | None
    """Chance that no system is better than the choice by more than the margin, in [0, 1]."""
    regret: float | None
    """By how much the best of the estimates is above the choice, at least 0, in the unit of the worth."""
    regret_low: float | None
    """Lower end of its 95% interval, over all systems at once."""
    regret_high: float | None
    """Upper end."""
    one_regret: float | None
    """The same of the system that is chosen for all languages; null where it has no worth here."""
    one_low: float | None
    """Lower end of its 95% interval."""
    one_high: float | None
    """Upper end."""
    n_queries: int
    """Queries behind the worth."""
    reason: str | None
    """Why there is no choice, or why it is not by price; else null."""


@dataclass(frozen=True, slots=True)
class SystemOption:
    """A system as a choice for all languages together."""

    facts: SystemFacts
    """What it costs and how fast it is."""
    refused: str | None
    """Why it does not meet the requirements; null where it does."""
    worth: float | None
    """What it is worth over all languages; null where it is not valued in all of them."""
    low: float | None
    """Lower end of the 95% interval of `worth` by itself, the query as the unit; null where the data puts no bound."""
    high: float | None
    """Upper end."""
    p_best: float | None
    """Chance that it is worth most of those that meet the requirements."""
    contender: bool
    """Whether it is not told apart from the best."""
    on_front: bool | None
    """Whether no other that meets the requirements is as cheap and as fast (where both are timed) and worth more; null
    without a price or a worth."""
    p_front: float | None
    """Chance that it is so."""


@dataclass(frozen=True, slots=True)
class WeightedChoice:
    """What would be chosen for all languages, were one measure to weigh otherwise."""

    measure: str
    """The measure."""
    weight: float
    """Its weight, in [0, 1]; the others keep their proportions and share the rest."""
    choice: str | None
    """The choice for all languages."""
    p_right: float | None
    """As in `LanguageChoice`."""


@dataclass(frozen=True, eq=False, slots=True)
class ChoiceReport:
    """Which system to take."""

    rows: tuple[LanguageChoice, ...]
    """A row a language, in the order of their codes; `all` last where there are several."""
    options: tuple[SystemOption, ...]
    """Every system, those worth most first."""
    by_weight: tuple[WeightedChoice, ...]
    """How the choice changes with the weights; empty where there is one measure."""
    weights: Mapping[str, float]
    """Weight of each measure; they add up to 1."""
    scales: Mapping[str, float]
    """By measure: the difference that counts as 1, from the worst to the best system that meets the requirements; 1
    where there is one measure, whose own unit is then that of the worth."""
    referee: str | None
    """Who decides the battles; null where no rating counts."""
    margin: float
    """Differences of at most this count as none, in the unit of the worth."""
    unit: Unit
    """What is drawn together: `query shared by languages` where query ids stand in several languages."""
    requirements: Requirements
    """What a system must be."""
    n_draws: int
    """Draws behind intervals and chances."""
    seed: int
    """Their seed."""

    @property
    def overall(self) -> LanguageChoice:
        """The row of all languages, or of the only one."""
        return self.rows[-1]

    @property
    def each(self) -> tuple[LanguageChoice, ...]:
        """The rows of single languages."""
        return self.rows[:-1] if len(self.rows) > 1 else self.rows

    @property
    def one_regret(self) -> float | None:
        """What one system for all languages loses against the best of each, the mean over the languages."""
        known = [row.one_regret for row in self.each if row.one_regret is not None]
        return sum(known) / len(known) if known else None

    @property
    def one_worst(self) -> LanguageChoice | None:
        """The language in which it loses most."""
        known = [row for row in self.each if row.one_regret is not None]
        return max(known, key=lambda row: row.one_regret or 0.0) if known else None
