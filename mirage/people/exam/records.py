"""Results of an exam."""

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


@dataclass(frozen=True)
class ExamResult:
    """The exam of every judge of an arena."""

    exams: tuple[JudgeExam, ...]
    """One record per judge and language: judges by name, people last, `all` after the languages."""

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
