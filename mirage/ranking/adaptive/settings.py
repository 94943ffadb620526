"""Settings of adaptive judging, and the goals at which it stops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from mirage.errors import BadInput

Kind = Literal["separated", "top", "width"]

_FORMS = "separated, top:K (the K best systems) or width:W (intervals at most W logits wide)"


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal at which judging stops."""

    kind: Kind
    """`separated`: every two systems are separated, or judging every battle would not separate them. `top`: the best
    systems are separated from all others. `width`: every interval is narrow enough.
    """
    top: int = 0
    """Number of best systems, with `top`."""
    width: float = 0.0
    """Maximum width of the 95% interval of a rating in logits, with `width`."""

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Parse `separated`, `top:K` or `width:W`.

        Raises:
            BadInput: if it is none of them.
        """
        kind, colon, value = text.strip().partition(":")
        if kind == "separated" and not colon:
            return cls("separated")
        if kind == "top" and value.isascii() and value.isdecimal() and int(value) > 0:
            return cls("top", top=int(value))
        if kind == "width":
            try:
                width = float(value)
            except ValueError:
                width = math.nan
            if 0 < width < math.inf:
                return cls("width", width=width)
        raise BadInput(f"there is no goal {text!r}", do=f"give {_FORMS}")

    def check(self, systems: int) -> None:
        """Check that the goal suits a number of systems.

        Raises:
            BadInput: if as many best systems are asked for as there are systems.
        """
        if self.kind == "top" and self.top >= systems:
            raise BadInput(
                f"the {self.top} best of {systems} systems are all of them", do=f"give top:K with K below {systems}"
            )

    def __str__(self) -> str:
        return {"separated": "separated", "top": f"top:{self.top}", "width": f"width:{self.width:g}"}[self.kind]


@dataclass(frozen=True, slots=True)
class AdaptiveSettings:
    """Settings of adaptive judging."""

    until: str = "separated"
    """Goal at which judging stops: `separated`, `top:K` or `width:W`."""
    rounds: int = 8
    """Number of planned rounds, each with the same share of the battles or of the budget; at the end of each the goal
    is checked.
    """
    random: float = 0.2
    """Share of a round's battles drawn uniformly from those not judged."""
    level: float = 0.05
    """Probability that any two equal systems are separated, over all pairs and rounds."""
    seed: int = 0
    """Seed of the order in which the battles of a pair are judged."""

    def __post_init__(self) -> None:
        Goal.parse(self.until)
        if self.rounds < 1:
            raise BadInput(f"{self.rounds} rounds", do="give 1 or more")
        if not 0 < self.random <= 1:
            raise BadInput(f"a random share of {self.random}", do="give more than 0, at most 1")
        if not 0 < self.level < 1:
            raise BadInput(f"a level of {self.level}", do="give more than 0, below 1")

    @property
    def goal(self) -> Goal:
        """The goal."""
        return Goal.parse(self.until)
