"""What an exam finds: estimates with their intervals, a judge's exam, what a panel is worth, which judge to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.schema import CodeOrAll, Count

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Estimate:
    """One measured value with its 95% interval, or the reason why there is none."""

    value: float | None
    """The value; null where there is none."""
    low: float | None
    """Lower end of the interval, with the query as the cluster; null where there is none."""
    high: float | None
    """Upper end."""
    n: Count
    """What the value is of: votes, verdicts, battles or systems, as the measure says."""
    queries: Count
    """Queries they are about."""
    reason: str | None
    """Why the value or the interval is null; null where both are there."""


@dataclass(frozen=True, slots=True)
class JudgeExam:
    """How one judge stands beside people in one language."""

    judge: str
    """The judge; `people`: people among themselves, the row to compare with."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have an interval, each weighing the same."""
    battles: Count
    """Battles that people and the judge decided; for people, those that two people and more decided."""
    measures: Mapping[str, Estimate]
    """By the names of `MEASURES`."""
    tokens: float | None
    """Tokens, prompt and reply, that the judge takes for a battle on which it agrees with a person; null where the
    ledger does not know."""
    money: float | None
    """What 1,000 such battles cost at the prices given; null without prices or tokens."""


@dataclass(frozen=True, slots=True)
class ExamMeasure:
    """One measure of one judge in one language: `ExamResult.table` has a row for each."""

    key = ("judge", "language", "measure")
    reason_of = "value"

    judge: str
    """The judge; `people`: people among themselves."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages, each weighing the same."""
    measure: str
    """Name of the measure (`mirage.exam.MEASURES`)."""
    value: float | None
    """The value; null where there is none."""
    low: float | None
    """Lower end of its 95% interval, with the query as the cluster."""
    high: float | None
    """Upper end."""
    n: Count
    """What the value is of: votes, verdicts, battles or systems, as the measure says."""
    queries: Count
    """Queries they are about."""
    reason: str | None
    """Why the value or the interval is null."""


@dataclass(frozen=True, slots=True)
class PanelWorth:
    """How many independent judges a panel is worth in one language."""

    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages, each weighing the same."""
    judges: tuple[str, ...]
    """The J judges, by name."""
    effective: Estimate
    """1 to J: (sum of eigenvalues)^2 / sum of their squares, of the correlation of the judges' errors; `n` is battles
    that people and every judge decided. An error of people is an error of every judge, and noise looks like errors
    in common, so it is rather too small: it has a lower end of its interval alone."""
    correlation: tuple[tuple[float, ...], ...]
    """J x J: correlation of the errors; empty where there is none."""


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Which judge to take in one language, and why."""

    language: CodeOrAll
    """Language of the queries."""
    judges: tuple[str, ...]
    """The judge that agrees most with people first, then those that cannot be told apart from it; empty where nothing
    can be said."""
    sentence: str
    """The choice with its evidence, in words."""


@dataclass(frozen=True)
class ExamResult:
    """The exam of every judge of an arena."""

    exams: tuple[JudgeExam, ...]
    """A record a judge and language: judges by name, people last, `all` after the languages."""
    panels: tuple[PanelWorth, ...]
    """A record a language; none for one judge."""
    choices: tuple[JudgeChoice, ...]
    """A record a language."""

    def table(self) -> pa.Table:
        """Every measure as `ExamMeasure` rows."""
        from mirage import schema

        rows = [
            ExamMeasure(
                row.judge, row.language, name, mark.value, mark.low, mark.high, mark.n, mark.queries, mark.reason
            )
            for row in self.exams
            for name, mark in row.measures.items()
        ]
        return schema.from_rows(ExamMeasure, rows)
