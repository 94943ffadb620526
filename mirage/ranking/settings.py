"""Settings of rankings and of comparisons of two systems.

A field with an `Option` is also an option of the command, with its default, and its docstring as help
(`mirage.cli.settings`). The keywords of `mirage.rank` and `mirage.compare` are fields with the same defaults; a test
compares them.

The command line reads these records before it loads NumPy, so this module imports nothing that does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Annotated

from mirage.errors import BadInput
from mirage.schema import Code, Count, Failures, Parser, Penalty, Range, Skill, Ties
from mirage.stats.intervals import MOST_DRAWS
from mirage.text.makers import BY_NAME, Makers

DRAWS, SEED = 1000, 0
"""Default bootstrap draws and seed. With 1,000 draws an interval end varies between seeds by 4% of the half-width, with
200 by 10%."""

MOVED = 10
"""Default number of queries listed by a comparison."""


@dataclass(frozen=True, slots=True)
class Option:
    """Mark of a field that is an option of the command: a `Range` beside it limits the value, and a tuple is a
    comma-separated list.
    """

    name: str | None = None
    """Name, with its hyphens; None for that of the field."""
    metavar: str | None = None
    """Placeholder of the value in the help; None for its type."""


OPTION = Option()
"""An option with the name of its field."""
JUDGE = Option(metavar="NAME")
"""The option `--judge` of comparisons."""
LANGUAGES = Option(metavar="AR,BN,..")
"""The option `--languages`."""


@dataclass(frozen=True, slots=True)
class RankSettings:
    """Settings of a ranking: the battles that count, how ties count, the estimate and its intervals."""

    ties: Annotated[Ties, OPTION] = "half"
    """Ties: half a win for each, Davidson's model, or dropped."""
    without: str | None = None
    """Exclude the judges made by this maker."""
    exclude_own: Annotated[bool, Option("--no-own-family")] = False
    """Exclude a judge's verdicts on systems of its own maker (see makers.csv)."""
    consistent: Annotated[bool, OPTION] = False
    """Count only battles judged in both orders with the same result."""
    control: Annotated[tuple[str, ...], Option(metavar="NAME,..")] = ()
    """Control for the style of the answers, by one or more of these."""
    makers: Makers = BY_NAME
    """Maker of each judge and system."""
    skill: Annotated[Skill, OPTION] = "both"
    """Which queries count, by relevance labels; a judge ranks on `both`."""
    parser: Annotated[Parser, OPTION] = "strict"
    """Parser that classifies answers, with relevance labels."""
    failures: Annotated[Failures, OPTION] = "count"
    """Failed answers: count them as wrong, or drop them."""
    assigner: str | None = None
    """Assigner of nuggets, with the judge `nuggets`; by default the one with the most assignments."""
    nugget_margin: float = 0.0
    """Largest difference of two nugget scores that ties, with the judge `nuggets`."""
    languages: Annotated[tuple[Code, ...] | None, LANGUAGES] = None
    """Language codes; by default all that can be ranked."""
    penalty: Penalty = "jeffreys"
    """Bias reduction by Jeffreys' prior, or none: maximum likelihood."""
    draws: Annotated[int, Range(1, MOST_DRAWS), OPTION] = DRAWS
    """Bootstrap draws for the intervals."""
    seed: Annotated[Count, OPTION] = SEED
    """Random seed; the same seed gives the same numbers."""

    def __post_init__(self) -> None:
        _check_margin(self.nugget_margin)

    @property
    def selects_verdicts(self) -> bool:
        """True if some of the judges' verdicts do not count, or style is controlled for."""
        return self != replace(self.plain, ties=self.ties, makers=self.makers)

    @property
    def plain(self) -> RankSettings:
        """These settings with every verdict counted as it is, and ties as half a win for each."""
        return replace(
            self,
            ties="half",
            without=None,
            exclude_own=False,
            consistent=False,
            control=(),
            makers=BY_NAME,
        )

    @property
    def of_nuggets(self) -> RankSettings:
        """The settings that decide battles by nugget scores; the others are defaults."""
        return RankSettings(
            assigner=self.assigner,
            nugget_margin=self.nugget_margin,
            languages=self.languages,
            failures=self.failures,
        )

    @property
    def changed(self) -> frozenset[str]:
        """Names of the fields that differ from their defaults."""
        plain = RankSettings()
        return frozenset(part.name for part in fields(self) if getattr(self, part.name) != getattr(plain, part.name))


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """Settings of a comparison of two systems."""

    measure: Annotated[str, Option(metavar="rating|rate|nuggets|feature:NAME")] = "rating"
    """Measure to compare."""
    judge: Annotated[str | None, JUDGE] = None
    """Judge of the battles, for ratings; by default that of evaluate, else the only one."""
    margin: Annotated[float, OPTION] = 0.0
    """Equivalence margin: largest difference that counts as none, in the unit of the measure."""
    languages: Annotated[tuple[Code, ...] | None, LANGUAGES] = None
    """Language codes; by default all."""
    parser: Annotated[Parser, OPTION] = "strict"
    """Parser that classifies answers, for `rate` and ratings by relevance labels."""
    failures: Annotated[Failures, OPTION] = "count"
    """Failed answers: count them as wrong, or drop them."""
    assigner: str | None = None
    """Assigner of nuggets; by default the one with the most assignments."""
    moved: int = MOVED
    """Number of queries with the largest changes to list."""
    draws: int = DRAWS
    """Bootstrap draws for the intervals of ratings."""
    seed: Count = SEED
    """Random seed."""

    def __post_init__(self) -> None:
        _check_margin(self.margin)

    @property
    def ranking(self) -> RankSettings:
        """Settings of the ranking behind a comparison of ratings."""
        return RankSettings(
            parser=self.parser,
            failures=self.failures,
            assigner=self.assigner,
            languages=self.languages,
            draws=self.draws,
            seed=self.seed,
        )


def _check_margin(margin: float) -> None:
    if not (math.isfinite(margin) and margin >= 0):
        raise BadInput(f"a margin cannot be {margin}", do="give 0 or more: the largest difference that counts as none")
