"""Results of a comparison of two systems, by language and overall."""

from dataclasses import dataclass
from typing import Literal

from mirage.stats.units import Unit

LOGITS = "logits"
"""Unit of the difference of two ratings."""

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
    """Code, or `all`: the mean over languages with equal weights; `reason` lists those that are not in it."""
    verdict: ComparisonVerdict
    """Verdict of the test that `low`, `high` and `p` belong to."""
    difference: float | None
    """Above 0 where the first is ahead, in the unit of the measure; of ratings the difference of their shares of the
    points of their battles with each other, in logits where they never meet; null with a reason.
    """
    low: float | None
    """Lower end of the 95% interval, the query as the unit, with one unseen query at the worst value; intervals of
    several languages hold together. It excludes 0 exactly where `p` is at most 5%. Null where the data puts no bound on
    it.
    """
    high: float | None
    """Upper end."""
    p: float | None
    """Two-sided p-value of no difference, in [0, 1], times the number of languages asked about (Bonferroni), but not in
    `all`; null if `difference` is.
    """
    n_queries: int
    """Number of queries of both systems; for ratings, on which they meet."""
    unpaired: int
    """Queries without a value of both, which are excluded; for ratings, on which one of them battles others only."""
    differing: int
    """Number of queries on which the two differ."""
    detectable: float | None
    """Minimum true difference that this test finds with 80% power on these queries, as many of which differ; null if it
    finds none.
    """
    queries_needed: int | None
    """Number of queries, in all, with which this test would decide with 80% power, if the difference is real; null if
    it is decided, or with a reason.
    """
    board: float | None
    """For ratings: the difference of the two on the board, in logits, which battles with others determine too."""
    reason: str | None
    """Reason why a value is null; else null."""


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
    """Unit of the differences; empty for a dimensionless number, such as a share of points."""
    margin: float
    """Largest difference that counts as none, in the unit of the measure."""
    rows: tuple[Comparison, ...]
    """One row per language, in the order of their codes; `all` last if there are several."""
    moved: tuple[MovedQuery, ...]
    """The queries with the largest differences, the first system's losses before its gains of the same size."""
    query_unit: Unit = "query"
    """The sampling unit: `query shared by languages` where query ids occur in several languages."""
    judge: str | None = None
    """Judge of the battles; None unless ratings are compared."""
    judge_name: str | None = None
    """The judge in sentences."""
    against: str | None = None
    """Arena of the second system, if different."""
    second_name: str = ""
    """The second system in sentences: with its arena, if different."""
    labels: str = ""
    """The source of the labels that it rests on, with a space before it; empty for relevance labels."""
    directed: bool = True
    """Whether one direction of the measure is better."""
    notes: tuple[str, ...] = ()
    """Whom the votes are of, where people decide."""

    @property
    def overall(self) -> Comparison:
        """The row of all languages, or of the only one with a difference."""
        known = [row for row in self.rows if row.difference is not None or row.language == "all"]
        return (known or self.rows)[-1]

    @property
    def n_tests(self) -> int:
        """Number of languages asked about, over which their tests are corrected."""
        return sum(row.difference is not None and row.language != "all" for row in self.rows)

    @property
    def worse(self) -> tuple[str, ...]:
        """Languages in which the first system is worse, including `all`."""
        return tuple(row.language for row in self.rows if row.verdict == "worse")

    def exit_code(self, *, require: bool = False) -> int:
        """Return the exit code of a CI gate: 1 if any row is `worse`; 3 if a decision is required and the overall row
        is `inconclusive`, or nothing was measured in a language; else 0.
        """
        if self.worse:
            return 1
        unmeasured = any(row.difference is None for row in self.rows)
        return 3 if require and (unmeasured or self.overall.verdict == "inconclusive") else 0
