"""What the comparison of two systems says, of each language and of all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mirage.units import Unit

ComparisonVerdict = Literal["better", "worse", "equivalent", "inconclusive"]
"""Of the first system: `better`: the interval of the difference lies above 0; `worse`: below; `equivalent`: within the
margin; else `inconclusive`."""


@dataclass(frozen=True, slots=True)
class MovedQuery:
    """A query on which two systems differ."""

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    first: float | None
    """The first system's value; null for ratings, which are not of single queries."""
    second: float | None
    """The second system's."""
    difference: float
    """By how much the first is ahead here; of ratings by how much the query moves the difference, in logits."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """By how much one system is ahead of another in one language, or in all, over the queries that both have."""

    language: str
    """Code, or `all`: the mean over languages, each weighing the same; `reason` names those left out, which tell no
    spread."""
    verdict: ComparisonVerdict
    """Of a language after Holm's correction over the languages; of `all` by its own test."""
    difference: float | None
    """Above 0 where the first is ahead, in the unit of the measure (a rating: logits); null with a reason."""
    low: float | None
    """Lower end of the 95% interval, the query as the unit; null where the data puts no bound on it."""
    high: float | None
    """Upper end."""
    p: float | None
    """Two-sided p-value of no difference, in [0, 1]; null where `difference` is."""
    p_holm: float | None
    """The same after Holm's correction over the languages; of `all` as it is."""
    n_queries: int
    """Queries of both systems."""
    unpaired: int
    """Queries with a value of one of the two alone: they do not count. 0 for ratings."""
    differing: int
    """Queries on which the two differ."""
    detectable: float | None
    """The smallest true difference that these queries show with a chance of 80%, by the 5% test without Holm's
    correction; null with a reason."""
    more: int | None
    """Queries to add so that the verdict is no longer `inconclusive`, with a chance of 80%, if the true difference is
    the estimated one; 0 where it is decided; null with a reason, as where the interval holds a difference that no
    number decides: the two may be equal."""
    more_low: int | None
    """The fewest that any difference within the interval asks for; null where none is known."""
    more_high: int | None
    """The most; null where no number is enough for some of them."""
    reason: str | None
    """Why a value is null, or why the verdict is `inconclusive` where the interval lies on one side; else null."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The comparison of two systems by one measure."""

    first: str
    """The system that is compared."""
    second: str
    """The system it is compared with."""
    measure: str
    """`rating`, `rate`, `nuggets` or `feature:NAME`."""
    title: str
    """The measure in words, with its direction and who decides."""
    unit: str
    """Unit of the differences; empty for a pure number."""
    margin: float
    """Differences of at most this count as none, in the unit of the measure."""
    rows: tuple[Comparison, ...]
    """A row a language, in the order of their codes; `all` last where there are several."""
    moved: tuple[MovedQuery, ...]
    """The queries that moved most, the first system's losses before its gains of the same size."""
    query_unit: Unit = "query"
    """What is drawn together: `query shared by languages` where query ids stand in several languages."""

    @property
    def overall(self) -> Comparison:
        """The row of all languages, or of the only one."""
        return self.rows[-1]

    @property
    def worse(self) -> tuple[str, ...]:
        """Languages in which the first system is worse, `all` among them."""
        return tuple(row.language for row in self.rows if row.verdict == "worse")

    def exit_code(self, *, require: bool = False) -> int:
        """What a gate ends with: 1 where any row is `worse`; 3 where a decision is required and the overall row is
        `inconclusive`; else 0.
        """
        if self.worse:
            return 1
        return 3 if require and self.overall.verdict == "inconclusive" else 0
