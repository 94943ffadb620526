"""Results of `place`: the new system's rank and tier, and the battles that would settle them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from mirage import schema
from mirage.ranking.place import sequential

ORDERS = 2
"""Judge calls per battle: it is shown in both orders."""


@dataclass(frozen=True, slots=True)
class PlacementRow:
    """One row of the ranking with the new system in it."""

    key = ("rank",)

    rank: schema.Rank
    """Rank by rating; 1 is best."""
    system: str
    """The system."""
    rating: float
    """Rating in logits; 0 is the mean of the judged systems."""
    low: float
    """Lower end of the 95% credible interval of `rating`."""
    high: float
    """Upper end."""
    tier: Annotated[int, schema.Range(1, None)]
    """Tier of the system; for the new system, the most probable."""
    tier_probability: schema.Share
    """Probability that the new system is in this tier."""
    rank_probability: schema.Share
    """Probability that the new system has this rank."""
    above: schema.Share | None
    """Probability that the new system is better than this one; null for itself."""


@dataclass(frozen=True, slots=True)
class SuggestedBattle:
    """A battle to judge, in both orders."""

    language: schema.Code
    """Language of the query."""
    query_id: str
    """The query."""
    system_a: str
    """The new system."""
    system_b: str
    """Its opponent."""
    wins: schema.Share
    """Probability that the new system wins, ignoring ties."""


@dataclass(frozen=True, eq=False, repr=False)
class Placement:
    """The rank and tier of a new system, their uncertainty, and the battles that would settle them."""

    system: str
    """The new system."""
    referee: str
    """The judge."""
    languages: tuple[str, ...]
    """Codes; with several, ratings are means over them."""
    regressor: str | None
    """Regressor of the surrogate behind the prior; None if the prior is the spread of the judged systems."""
    outside: tuple[str, ...]
    """Features in which it is outside the range of the judged systems."""
    before: sequential.Standing
    """Standing by the prior only."""
    now: sequential.Standing
    """Standing with its battles."""
    stands: tuple[PlacementRow, ...]
    """The ranking including it, the best first."""
    tiers: tuple[tuple[str, ...], ...]
    """Tiers of the judged systems, by their own battles."""
    unparsed: int
    """Number of its unparsed verdicts."""
    next: tuple[SuggestedBattle, ...]
    """The suggested battles; empty once it is settled."""
    horizon: sequential.Horizon
    """Estimated number of battles until it is settled."""
    seed: int
    """Seed of the draws."""

    def __repr__(self) -> str:
        best, worst = self.now.rank_interval()
        state = "settled" if self.settled else f"not settled, {len(self.next)} battles suggested"
        return (
            f"Placement({self.system!r}: rank {best} to {worst} of {len(self.stands)}, rating {self.now.rating:+.2f} "
            f"({self.now.low:+.2f} to {self.now.high:+.2f}); {state}; {self.method})"
        )

    @property
    def settled(self) -> bool:
        """True if the tier is settled by `rule`."""
        return self.now.settled

    @property
    def rule(self) -> str:
        """The rule that settles a tier."""
        return (
            f"one tier has a probability of at least {sequential.LEVEL:.0%}, after at least {sequential.LEAST} battles"
        )

    @property
    def calls(self) -> int:
        """Number of judge calls for the suggested battles."""
        return ORDERS * len(self.next)

    @property
    def method(self) -> str:
        """The method in one line."""
        prior = f"the surrogate {self.regressor}" if self.regressor else "the spread of the judged systems"
        return (
            f"Bayesian Bradley-Terry (Laplace), prior by {prior}, ties half a win each, battles on one query weighed "
            f"as a cluster; 95% credible intervals, {self.now.n} battles, seed {self.seed}"
        )


def placement_rows(
    system: str, others: Sequence[str], tiers: Sequence[Sequence[str]], now: sequential.Standing
) -> tuple[PlacementRow, ...]:
    """Return the ranking with the new system in it."""
    tier = {name: k for k, names in enumerate(tiers, start=1) for name in names} | {system: now.tier}
    rows: list[tuple[Any, ...]] = [(now.rating, system, now.low, now.high, None)]
    rows += [
        (*(float(now.others[0, j]), name), *(float(end) for end in now.others[1:, j]), float(now.above[j]))
        for j, name in enumerate(others)
    ]
    rows.sort(key=lambda row: (-row[0], row[1]))
    return tuple(
        PlacementRow(
            *(number, name, rating, low, high, tier[name]),
            *(float(now.tier_probabilities[tier[name] - 1]), float(now.rank_probabilities[number - 1]), above),
        )
        for number, (rating, name, low, high, above) in enumerate(rows, start=1)
    )
