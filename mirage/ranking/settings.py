"""Settings of rankings, comparisons of two systems, and choices among systems.

Each function takes one of these records whole. The keywords of `mirage.rank`, `compare` and `decide` and the options of
the commands are fields of these records, with the same defaults; a test compares them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from mirage.battles.referee import Referee
from mirage.errors import BadInput
from mirage.ranking.fit import Penalty
from mirage.schema import Parser, Skill, Ties
from mirage.text.makers import BY_NAME, Makers

DRAWS, SEED = 1000, 0
"""Default bootstrap draws and seed. With 1,000 draws an interval end varies between seeds by 4% of the half-width, with
200 by 10%."""

MOVED = 10
"""Default number of queries listed by a comparison."""


@dataclass(frozen=True, slots=True)
class RankSettings:
    """Settings of a ranking: the battles that count, how ties count, the estimate and its intervals."""

    ties: Ties = "half"
    """Treatment of ties: `half` a win for each, `davidson`'s model, or `drop`."""
    without: str | None = None
    """Maker whose judges are excluded; None for none."""
    own: bool = True
    """Whether a judge's verdicts on systems of its own maker count."""
    consistent: bool = False
    """Whether to count only battles whose two orders were judged and agree."""
    control: tuple[str, ...] = ()
    """Covariates to hold equal (`control.COVARIATES`)."""
    makers: Makers = BY_NAME
    """Maker of each judge and system."""
    skill: Skill = "both"
    """Skill whose queries count, by relevance labels; a judge has only `both`."""
    parser: Parser = "strict"
    """Parser whose outcomes decide, by relevance labels."""
    assigner: str | None = None
    """Assigner of nuggets, by nuggets; None for the one with the most assignments."""
    nugget_margin: float = 0.0
    """Largest difference of two nugget scores that ties, by nuggets. With 0 one more vital nugget wins."""
    languages: tuple[str, ...] | None = None
    """Codes; None for all that can be ranked."""
    penalty: Penalty = "jeffreys"
    """`jeffreys`, or `none` for maximum likelihood."""
    draws: int = DRAWS
    """Bootstrap draws for the intervals."""
    seed: int = SEED
    """Random seed; the same seed gives the same numbers."""

    def __post_init__(self) -> None:
        _check_margin(self.nugget_margin)

    def referee(self, name: str) -> Referee:
        """Return the referee with a name, with the skill and the parser of these settings.

        Raises:
            BadInput: if a judge is combined with a skill, or cannot rank systems.
        """
        return Referee.from_name(name, skill=self.skill, parser=self.parser)

    @property
    def selects_verdicts(self) -> bool:
        """True if some verdicts of the judges do not count, or style is controlled for."""
        return not (self.without is None and self.own and not self.consistent and not self.control)

    @property
    def plain(self) -> RankSettings:
        """These settings with every verdict counted as it is, and ties as half a win for each."""
        return replace(self, ties="half", without=None, own=True, consistent=False, control=(), makers=BY_NAME)

    @property
    def changed(self) -> frozenset[str]:
        """Names of the fields that differ from their defaults."""
        plain = RankSettings()
        return frozenset(part.name for part in fields(self) if getattr(self, part.name) != getattr(plain, part.name))


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """Settings of a comparison of two systems."""

    measure: str = "rating"
    """`rating`, `rate`, `nuggets` or `feature:NAME`."""
    judge: str | None = None
    """Judge of the battles, for ratings, or `relevance` or `nuggets`; None if there is only one."""
    margin: float = 0.0
    """Equivalence margin: largest difference that counts as none, in the unit of the measure."""
    languages: tuple[str, ...] | None = None
    """Codes; None for all."""
    parser: Parser = "strict"
    """Parser whose outcomes count, for `rate` and ratings by relevance labels."""
    assigner: str | None = None
    """Assigner of nuggets; None for the one with the most assignments."""
    moved: int = MOVED
    """Number of queries with the largest differences to list."""
    draws: int = DRAWS
    """Bootstrap draws for the intervals of ratings."""
    seed: int = SEED
    """Random seed."""

    def __post_init__(self) -> None:
        _check_margin(self.margin)

    @property
    def ranking(self) -> RankSettings:
        """Settings of the ranking behind a comparison of ratings."""
        return RankSettings(
            parser=self.parser, assigner=self.assigner, languages=self.languages, draws=self.draws, seed=self.seed
        )


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements on a system. An unknown fact does not meet a requirement."""

    budget: float | None = None
    """Maximum US dollars for 1,000 answers."""
    seconds: float | None = None
    """Maximum median seconds for an answer."""
    licences: tuple[str, ...] = ()
    """Accepted licences, as in the cards; empty for any."""
    open_weights: bool = False
    """Whether the weights must be downloadable."""
    context_length: int | None = None
    """Minimum context length, in tokens of prompt and answer."""

    def __post_init__(self) -> None:
        for name in ("budget", "seconds", "context_length"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise BadInput(f"{name} is {value}", do="give 0 or more")


@dataclass(frozen=True, slots=True)
class DecideSettings:
    """Settings of a choice among systems."""

    weights: Mapping[str, float] | None = None
    """Weights of measures (`rating`, `rate`, `nuggets`, `feature:NAME`), above 0; None for ratings only. With several,
    differences are scaled by the range from the worst to the best system.
    """
    judge: str | None = None
    """Judge of the battles, for ratings, or `relevance` or `nuggets`; None if there is only one."""
    requirements: Requirements = field(default_factory=Requirements)
    """Requirements on a system."""
    margin: float = 0.0
    """Largest difference that counts as none, in the unit of the worth."""
    languages: tuple[str, ...] | None = None
    """Codes; None for all."""
    parser: Parser = "strict"
    """Parser whose outcomes count, for `rate` and ratings by relevance labels."""
    assigner: str | None = None
    """Assigner of nuggets; None for the one with the most assignments."""
    tokens_in: float | None = None
    """Prompt tokens per answer, for systems without calls in the ledger; None if unknown."""
    tokens_out: float | None = None
    """Output tokens per answer, for systems without calls in the ledger; None if unknown."""
    draws: int = DRAWS
    """Bootstrap draws for intervals and probabilities."""
    seed: int = SEED
    """Random seed."""

    def __post_init__(self) -> None:
        _check_margin(self.margin)

    @property
    def ranking(self) -> RankSettings:
        """Settings of the ranking behind the ratings."""
        return RankSettings(
            parser=self.parser, assigner=self.assigner, languages=self.languages, draws=self.draws, seed=self.seed
        )


def _check_margin(margin: float) -> None:
    if not (math.isfinite(margin) and margin >= 0):
        raise BadInput(f"a margin cannot be {margin}", do="give 0 or more: the largest difference that counts as none")
