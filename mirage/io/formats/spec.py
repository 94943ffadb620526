"""Definition of a format, and of what its records hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage.text.data import load_words

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.errors import BadInput

Value = Mapping[str, Any]
"""One parsed record: a JSON object, a row of a CSV or Parquet file by column, or the fields of a line of a text format.
"""


SAMPLED = 20
"""Number of records and lines used to detect a format."""


def load_names(table: str) -> dict[str, tuple[str, ...]]:
    """Return the names in a table of `fields.toml`, by what is called so."""
    return {ours: tuple(names.split()) for ours, names in load_words("fields", "mirage.io.formats")[table].items()}


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file."""

    value: Value
    """The record, after `--map` and `--value`."""
    where: str
    """Location, `file:line`, for errors."""
    mapped: frozenset[str] = frozenset()
    """Our names of its fields that the user mapped."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Beginning of a file, used to detect its format."""

    path: Path
    """The file, or the folder."""
    records: tuple[Value, ...]
    """Its first records (at most `SAMPLED`); empty unless JSON, CSV or Parquet."""
    lines: tuple[str, ...]
    """Its first lines (at most `SAMPLED`) as text; empty for Parquet and folders."""
    error: BadInput | None = None
    """Why its records could not be read further."""
    members: tuple[str, ...] = ()
    """Names of the files in it, if it is a zip archive."""

    @property
    def fields(self) -> frozenset[str]:
        """Field names of all sampled records."""
        return frozenset(name for record in self.records for name in record)

    def columns(self, *names: str) -> list[list[Any]]:
        """Return the values of some fields in the sampled records."""
        return [[record.get(name) for record in self.records] for name in names]


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """One passage of a query as read by a format."""

    text: str | None
    """Its text."""
    passage_id: str | None = None
    """Its id; null to derive it from its content."""
    title: str | None = None
    """Title of its document."""
    relevant: bool | None = None
    """Whether it is labelled relevant; null if unlabelled."""
    url: str | None = None
    """Address of its document."""
    metadata: Mapping[str, Any] | str | None = None
    """Further metadata of the source, an object or its JSON."""
    pooled: bool | None = None
    """Whether it was pooled from labels and runs, so that the passages were not shown in this order."""
    language: str | None = None
    """Its language as the source gives it, a code or a name; null if it gives none."""


@dataclass(slots=True)
class GivenAnswer:
    """One answer as read by a format; the builder completes it."""

    system: str
    """The system."""
    text: str | None
    """Its text; None if there is none."""
    status: str | None = None
    """Status, as in `schema.Answer`; None to derive it from the text."""
    reason: str | None = None
    """Why there is no text."""
    template: str | None = None
    """Name of the prompt template."""
    numbered: bool | None = None
    """Whether the prompt numbered its passages."""
    thoughts: str | None = None
    """Thoughts that the source separates from the text; those within it are extracted (`mirage.text.thoughts`)."""
    shown: Sequence[str] = ()
    """Ids of the passages shown to this system, in order; `[3]` in the text is then its third passage, and is
    renumbered if the query's passages have another order.
    """
    sample: int = 0
    """Number of the answer among several of this system to this query, from 0."""
    run_date: str | None = None
    """Day on which it was made, in UTC."""
    retriever: str | None = None
    """Retriever of the passages shown, as in table `retrieved`; null for those given with the query."""
    depth: int | None = None
    """Number of the retriever's top passages shown; null for all."""


@dataclass(frozen=True, slots=True)
class GivenVerdict:
    """One verdict as read by a format, in the order shown."""

    judge: str
    """The judge."""
    system_a: str
    """The system shown first."""
    system_b: str
    """The other system."""
    verdict: str | None = None
    """`A`, `B`, `tie` or `unparsed`; None to derive it from the points."""
    points: float | None = None
    """Share of `system_a` in the battle's point."""
    rationale: str | None = None
    """The judge's words."""
    reason: str | None = None
    """Why there is no verdict, used only then."""
    person: bool | None = None
    """Whether people decided."""
    voter: str | None = None
    """The person, if the judge is a group."""
    criterion: str | None = None
    """Criterion of the verdict, if the file gives it."""
    prompt: str | None = None
    """Hash of the judge's prompt."""
    repeat: int | None = None
    """Number of a further verdict of the judge on this battle, from 1; None or 0 for the first."""


@dataclass(frozen=True, slots=True)
class GivenScore:
    """One score of an answer as read by a format."""

    system: str
    """The system that answered."""
    measure: str
    """The scale."""
    rater: str
    """The person or program."""
    value: float | None
    """The score; None if there is none."""
    person: bool = False
    """Whether a person scored."""
    low: float | None = None
    """Worst end of the scale."""
    high: float | None = None
    """Best end."""
    reason: str | None = None
    """Why there is no score, used only then."""


@dataclass(frozen=True, slots=True)
class GivenNugget:
    """One nugget of a query as read by a format."""

    text: str
    """The fact."""
    importance: str
    """`vital` or `okay`."""
    author: str
    """The person or program that wrote it."""
    nugget_id: str
    """Its id."""
    passage_id: str | None = None
    """The passage that it is from."""


@dataclass(frozen=True, slots=True)
class GivenAssignment:
    """One decision on whether an answer states a nugget, as read by a format."""

    system: str
    """The system that answered."""
    nugget_id: str
    """The nugget."""
    assigner: str
    """The person or program that decided."""
    assignment: str | None
    """`support`, `partial_support` or `not_support`; None if there is none."""
    quote: str | None = None
    """The words of the answer that state it."""
    reason: str | None = None
    """Why there is no assignment, used only then."""


@dataclass(frozen=True, slots=True)
class GivenRanking:
    """One retriever's passages for a query, as read by a format."""

    retriever: str
    """The retriever."""
    passages: Sequence[tuple[ShownPassage, float | None]]
    """The passages, each with its score, in order."""


QueryKey = tuple[str, str]
"""Language and query_id, as derived or read by the builder."""


@dataclass(slots=True)  # frozen ones take longer to make
class Item:
    """A query as a record holds it, with what the record says of it; `build.Builder.take` adds it."""

    text: str | None
    """The query; None if another record or the arena has it."""
    query_id: str | None = None
    """Its id; None to derive it from its content: the same text gives the same id in every file."""
    language: str | None = None
    """Its language; None for the record's field `language`, else detected."""
    subset: str | None = None
    """Its subset (`schema.Query`)."""
    answerable: bool | None = None
    """Whether the file says that the query is answerable; None to read it from the record's fields."""
    reference: str | None = None
    """Its reference answer."""
    tags: Mapping[str, str | Sequence[str] | None] | None = None
    """Values by tag; empty ones are left out."""
    turns: Sequence[tuple[str, str]] = ()
    """Speaker and text of each earlier turn."""
    passages: Sequence[ShownPassage] = ()
    """The passages shown to the systems of its answers, in order."""
    answers: Sequence[GivenAnswer] = ()
    """Answers of systems; several of one system are its runs."""
    scores: Sequence[GivenScore] = ()
    """Scores of these answers; the first of a rater counts."""
    verdicts: Sequence[GivenVerdict] = ()
    """Verdicts on battles of these answers."""
    nuggets: Sequence[GivenNugget] = ()
    """Nuggets of the query."""
    assignments: Sequence[GivenAssignment] = ()
    """Assignments of nuggets to answers."""
    rankings: Sequence[GivenRanking] = ()
    """Retrievers' passages."""
    where: str = ""
    """Location for errors, `file:line`; empty for that of the record."""


Tables = dict[str, "pa.Table"]
"""Tables by name, as `store.upsert` takes them."""

NO_TEXT = "the file does not hold the query"
"""Why a query has no text that the file names by its id alone."""
ABSENT = {
    "judge": ("judge", "not given, named judge; change it with --set judge=NAME"),
    "language": ("und", "not given, and no text to tell it by; set it: --set language=CODE"),
}
"""By column of verdicts: the value in a file without the column, and its remark in the summary."""

ALONE = "not given: each battle is its own query; intervals assume independent battles"
"""Remark on battles without a query or its id."""
REPEATED = "of the same judge on a battle that came before: each counts, as a repeat"
"""Remark on verdicts on a battle that the same judge decided before, in the same order."""
