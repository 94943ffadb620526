"""Results of a choice among systems: by language, by system, and by weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mirage.ranking.settings import Requirements
from mirage.stats.units import Unit


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """Price, latency and properties of a system. Unknown facts are null."""

    system: str
    """The system."""
    price: float | None
    """US dollars for 1,000 answers: the card's prices times the mean tokens of an answer."""
    price_reason: str | None
    """Reason why there is no price; else null."""
    seconds: float | None
    """Median seconds from the request of an answer to its last byte; null if not in the ledger."""
    tokens_in: float | None
    """Mean prompt tokens of an answer."""
    tokens_out: float | None
    """Mean tokens of an answer."""
    n_calls: int
    """Number of ledger calls behind the tokens; 0 if these were given."""
    licence: str | None
    """Licence of the model."""
    open_weights: bool | None
    """Whether the weights are downloadable."""
    context_length: int | None
    """Context length, in tokens of prompt and answer."""

    def lacking(self, requirements: Requirements) -> str | None:
        """Return why the system does not meet the requirements; None if it does."""
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
    """The system to choose in one language, or overall."""

    language: str
    """Code, or `all`: the mean over languages with equal weights."""
    choice: str | None
    """The cheapest of `contenders`; the best of them if no price is known. Null with a reason."""
    best: str | None
    """The system with the highest estimated worth."""
    contenders: tuple[str, ...]
    """The systems not significantly worse than the best, best first: a 95% confidence set for the truly best. With a
    margin: those that may be within it of the best.
    """
    p_right: float | None
    """Probability that no system is better than the choice by more than the margin, in [0, 1]."""
    regret: float | None
    """Lead of the best estimate over the choice, at least 0, in the unit of the worth."""
    regret_low: float | None
    """Lower end of its simultaneous 95% interval over all systems."""
    regret_high: float | None
    """Upper end."""
    one_regret: float | None
    """The same for the system chosen for all languages; null if it has no worth here."""
    one_low: float | None
    """Lower end of its 95% interval."""
    one_high: float | None
    """Upper end."""
    n_queries: int
    """Number of queries."""
    reason: str | None
    """Reason why there is no choice, or why it is not by price; else null."""


@dataclass(frozen=True, slots=True)
class SystemOption:
    """A system as a choice for all languages together."""

    facts: SystemFacts
    """Its price, latency and properties."""
    refused: str | None
    """Reason why it does not meet the requirements; null if it does."""
    worth: float | None
    """Its worth over all languages; null if it has no value in some of them."""
    low: float | None
    """Lower end of the pointwise 95% interval of `worth`, the query as the unit; null where the data puts no bound."""
    high: float | None
    """Upper end."""
    p_best: float | None
    """Probability that it has the highest worth of those that meet the requirements."""
    contender: bool
    """Whether it is not significantly worse than the best."""
    on_front: bool | None
    """Whether no other that meets the requirements is as cheap and as fast (if both are timed) and worth more; null
    without a price or a worth.
    """
    p_front: float | None
    """Probability of being on the front."""


@dataclass(frozen=True, slots=True)
class WeightedChoice:
    """The overall choice with a different weight of one measure."""

    measure: str
    """The measure."""
    weight: float
    """Its weight, in [0, 1]; the others share the rest in proportion."""
    choice: str | None
    """The choice for all languages."""
    p_right: float | None
    """As in `LanguageChoice`."""


@dataclass(frozen=True, eq=False, slots=True)
class ChoiceReport:
    """A choice among systems, by language and overall."""

    rows: tuple[LanguageChoice, ...]
    """One row per language, in the order of their codes; `all` last if there are several."""
    options: tuple[SystemOption, ...]
    """Every system, the highest worth first."""
    by_weight: tuple[WeightedChoice, ...]
    """The choice by weight of each measure; empty with one measure."""
    weights: Mapping[str, float]
    """Weight of each measure; they add up to 1."""
    scales: Mapping[str, float]
    """By measure: the difference that counts as 1, the range from the worst to the best system that meets the
    requirements; 1 with one measure, whose unit is then that of the worth.
    """
    referee: str | None
    """Decider of the battles; null without ratings."""
    margin: float
    """Largest difference that counts as none, in the unit of the worth."""
    unit: Unit
    """The sampling unit: `query shared by languages` where query ids occur in several languages."""
    requirements: Requirements
    """The requirements."""
    n_draws: int
    """Draws behind intervals and probabilities."""
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
        """Mean regret over languages of using one system for all languages."""
        known = [row.one_regret for row in self.each if row.one_regret is not None]
        return sum(known) / len(known) if known else None

    @property
    def one_worst(self) -> LanguageChoice | None:
        """The language with the largest regret of one system for all languages."""
        known = [row for row in self.each if row.one_regret is not None]
        return max(known, key=lambda row: row.one_regret or 0.0) if known else None
