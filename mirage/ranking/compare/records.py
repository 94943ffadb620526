"""Results of a comparison of two systems, by language and overall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mirage.stats.units import Unit

ComparisonVerdict = Literal["better", "worse", "higher", "lower", "equivalent", "inconclusive"]
"""Verdict on the first system. `better`: significantly above 0; `worse`: below 0; `higher` and `lower` if neither
direction of the measure is better; `equivalent`: within the margin; else `inconclusive`.
"""


@dataclass(frozen=True, slots=True)
class MovedQuery:
    """A query on which two systems differ."""

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    first: float
    """The first system's value; for ratings its points in the battles of the two, a tie being half a point."""
    second: float
    """The second system's value."""
    difference: float
    """Lead of the first system on this query."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between two systems in one language, or in all, over the queries that both have."""

    language: str
    """Code, or `all`: the mean over languages with equal weights; `reason` lists the excluded languages, whose spread
    is unknown.
    """
    verdict: ComparisonVerdict
    """Verdict after Holm's correction (`p_holm`)."""
    difference: float | None
    """Above 0 where the first is ahead, in the unit of the measure (a rating: logits); null with a reason."""
    low: float | None
    """Lower end of the 95% interval of this pair alone, the query as the unit; it excludes 0 exactly where `p` is at
    most 5%. Null where the data puts no bound on it.
    """
    high: float | None
    """Upper end."""
    p: float | None
    """Two-sided p-value of no difference, in [0, 1]; null if `difference` is."""
    p_holm: float | None
    """The same after Holm's correction, by which `verdict` goes: of ratings over all pairs of the ranking, so that a
    verdict agrees with the ranks; of a language then over the languages.
    """
    n_queries: int
    """Number of queries of both systems; for ratings, which battles with others determine too, those of the system
    that has fewer.
    """
    unpaired: int
    """Queries with a value of only one of the two, which are excluded. 0 for ratings."""
    differing: int
    """Number of queries on which the two differ; for ratings also by their battles with others."""
    detectable: float | None
    """Minimum detectable difference with these queries at 80% power, by the 5% test without Holm's correction; null
    with a reason.
    """
    more: int | None
    """Queries to add so that the verdict is no longer `inconclusive`, with 80% power, if the true difference is the
    estimated one; 0 if decided; null with a reason, such as an interval with a difference that no number decides (the
    two may be equal).
    """
    more_low: int | None
    """Minimum over the differences within the interval; null if unknown."""
    more_high: int | None
    """Maximum; null if no number is enough for some of them."""
    reason: str | None
    """Reason why a value is null, or why the verdict is `inconclusive` although `p` is at most 5%; else null."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The comparison of two systems by one measure."""

    first: str
    """The system to compare."""
    second: str
    """The reference system."""
    measure: str
    """`rating`, `rate`, `nuggets` or `feature:NAME`."""
    title: str
    """Description of the measure with its direction and judge."""
    unit: str
    """Unit of the differences; empty for a dimensionless number."""
    margin: float
    """Largest difference that counts as none, in the unit of the measure."""
    rows: tuple[Comparison, ...]
    """One row per language, in the order of their codes; `all` last if there are several."""
    moved: tuple[MovedQuery, ...]
    """The queries with the largest differences, the first system's losses before its gains of the same size."""
    query_unit: Unit = "query"
    """The sampling unit: `query shared by languages` where query ids occur in several languages."""
    directed: bool = True
    """Whether one direction of the measure is better."""

    @property
    def overall(self) -> Comparison:
        """The row of all languages, or of the only one with a difference."""
        known = [row for row in self.rows if row.difference is not None or row.language == "all"]
        return (known or self.rows)[-1]

    @property
    def worse(self) -> tuple[str, ...]:
        """Languages in which the first system is worse, including `all`."""
        return tuple(row.language for row in self.rows if row.verdict == "worse")

    def exit_code(self, *, require: bool = False) -> int:
        """Return the exit code of a CI gate: 1 if any row is `worse`; 3 if a decision is required and the overall row
        is `inconclusive`; else 0.
        """
        if self.worse:
            return 1
        return 3 if require and self.overall.verdict == "inconclusive" else 0
