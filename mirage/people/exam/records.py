"""Results of an exam: estimates with intervals, a judge's exam, the worth of a panel, and the recommended judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.schema import CodeOrAll, Count
from mirage.stats.jackknife import Estimate

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class JudgeExam:
    """Agreement of one judge with people in one language."""

    judge: str
    """The judge; `people`: people among themselves, the reference row."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have an interval, with equal weights."""
    battles: Count
    """Battles decided by people and the judge; for people, those decided by at least two people."""
    measures: Mapping[str, Estimate]
    """By the names of `MEASURES`."""
    tokens: float | None
    """Prompt and reply tokens of the judge per battle on which it agrees with a person; null if not in the ledger."""


@dataclass(frozen=True, slots=True)
class ExamMeasure:
    """One measure of one judge in one language: a row of `ExamResult.table`."""

    key = ("judge", "language", "measure")
    reason_of = "value"

    judge: str
    """The judge; `people`: people among themselves."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages with equal weights."""
    measure: str
    """Name of the measure (`mirage.people.exam.MEASURES`)."""
    value: float | None
    """The value; null if undefined."""
    low: float | None
    """Lower end of its 95% interval, with the query as the cluster."""
    high: float | None
    """Upper end."""
    n: Count
    """Sample size: votes, verdicts, battles or systems, as the measure defines."""
    queries: Count
    """Number of queries."""
    reason: str | None
    """Reason why the value or the interval is null."""


@dataclass(frozen=True, slots=True)
class PanelWorth:
    """The effective number of independent judges in a panel, in one language."""

    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages with equal weights."""
    judges: tuple[str, ...]
    """The J judges, by name."""
    effective: Estimate
    """1 to J: (sum of eigenvalues)^2 / sum of their squares, of the correlation of the judges' errors; `n` is battles
    decided by people and every judge. An error of people is an error of every judge, and noise looks like shared
    errors, so it is biased downwards: only the lower end of its interval is given.
    """
    correlation: tuple[tuple[float, ...], ...]
    """J x J: correlation of the errors; empty if undefined."""


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """The recommended judges in one language, with the evidence."""

    language: CodeOrAll
    """Language of the queries."""
    judges: tuple[str, ...]
    """The judge that agrees most with people, then the other judges that none significantly beats (Holm over all
    pairs); empty if undetermined.
    """
    sentence: str
    """The recommendation with its evidence, in words."""


@dataclass(frozen=True)
class ExamResult:
    """The exam of every judge of an arena."""

    exams: tuple[JudgeExam, ...]
    """One record per judge and language: judges by name, people last, `all` after the languages."""
    panels: tuple[PanelWorth, ...]
    """One record per language; empty with one judge."""
    choices: tuple[JudgeChoice, ...]
    """One record per language."""

    def table(self) -> pa.Table:
        """Return every measure as `ExamMeasure` rows."""
        from mirage import schema

        rows = [
            ExamMeasure(
                row.judge, row.language, name, mark.value, mark.low, mark.high, mark.n, mark.queries, mark.reason
            )
            for row in self.exams
            for name, mark in row.measures.items()
        ]
        return schema.from_rows(ExamMeasure, rows)
