"""Definition of a format, and the builder that readers use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.errors import BadInput

Value = Mapping[str, Any]
"""One parsed record: a JSON object, a row of a CSV or Parquet file by column, or the fields of a line of a text format.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file."""

    value: Value
    """The record, after `--map` and `--value`."""
    where: str
    """Location, `file:line`, for errors."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Beginning of a file, used to detect its format."""

    path: Path
    """The file, or the folder."""
    records: tuple[Value, ...]
    """Its first records (at most 20); empty unless JSON, CSV or Parquet."""
    lines: tuple[str, ...]
    """Its first lines (at most 20) as text; empty for Parquet and folders."""
    error: BadInput | None = None
    """Why its records could not be read further."""
    members: tuple[str, ...] = ()
    """Names of the files in it, if it is a zip archive."""

    @property
    def fields(self) -> frozenset[str]:
        """Field names of all sampled records."""
        return frozenset(name for record in self.records for name in record)


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
    metadata: Mapping[str, Any] | None = None
    """Further metadata of the source."""
    pooled: bool | None = None
    """Whether it was pooled from labels and runs, so that the passages were not shown in this order."""
    language: str | None = None
    """Its language as the source gives it, a code or a name; null if it gives none."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer as read by a format."""

    system: str
    """The system."""
    text: str | None
    """Its text; None if there is none."""
    status: str | None = None
    """How it ended (`schema.Answer`); None to derive it from the text."""
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
    """How many of the retriever's top passages were shown; null for all."""


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
    """Why there is no verdict."""
    person: bool | None = None
    """Whether people decided."""
    voter: str | None = None
    """The person, if the judge is a group."""
    inclusion: float | None = None
    """Probability with which the battle was chosen, if earlier verdicts decided."""
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
    person: bool
    """Whether a person scored."""
    low: float | None = None
    """Worst end of the scale."""
    high: float | None = None
    """Best end."""
    reason: str | None = None
    """Why there is no score."""


QueryKey = tuple[str, str]
"""Language and query_id, as derived or read by the builder."""


class Builder(Protocol):
    """Collects the content of records.

    Methods may raise BadInput with the record's location; the caller collects the errors.

    A null language is detected from the query's text; a null id is derived from content: the same text gives the same
    id in every file. Repetitions are merged; contradictory values of one key are an error.
    """

    def query(
        self,
        text: str | None,
        *,
        where: str,
        query_id: str | None = None,
        language: str | None = None,
        subset: str | None = None,
        reference: str | None = None,
        tags: Mapping[str, str | Sequence[str]] | None = None,
        turns: Sequence[tuple[str, str]] = (),
    ) -> QueryKey:
        """Add a query, with its reference answer, tags and earlier turns (speaker, text).

        A null text with an id refers to a query of another record or of the arena.
        """
        ...

    def passages(self, query: QueryKey, passages: Sequence[ShownPassage], *, where: str) -> tuple[str, ...]:
        """Add the passages shown with a query, in order; return their ids. Systems shown others add theirs."""
        ...

    def retrieved(
        self, query: QueryKey, retriever: str, passages: Sequence[tuple[ShownPassage, float | None]], *, where: str
    ) -> None:
        """Add a retriever's passages for a query with their scores, in order."""
        ...

    def answer(self, query: QueryKey, answer: GivenAnswer, *, where: str) -> None:
        """Add one answer."""
        ...

    def judgment(self, query: QueryKey, given: GivenVerdict, *, where: str) -> None:
        """Add one verdict."""
        ...

    def score(self, query: QueryKey, score: GivenScore, *, where: str) -> None:
        """Add one score of an answer."""
        ...

    def nugget(
        self,
        query: QueryKey,
        text: str,
        importance: str,
        *,
        where: str,
        author: str,
        nugget_id: str | None = None,
        passage_id: str | None = None,
    ) -> str:
        """Add one nugget of a query; return its id, derived from the text if the file has none."""
        ...

    def assignment(
        self,
        query: QueryKey,
        system: str,
        nugget_id: str,
        assigner: str,
        assignment: str | None,
        *,
        where: str,
        quote: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Add one assigner's decision on whether an answer states a nugget."""
        ...

    def system(self, name: str, **facts: Any) -> None:
        """Add facts of a system card (`schema.SystemCard`)."""
        ...

    def note_guess(self, what: str, why: str) -> None:
        """Add an inference to the summary, once per text: `ties`, "`tie (bothbad)` is taken for a tie"."""
        ...

    def left_out(self, what: str, why: str, n: int = 1) -> None:
        """Count ignored content of the file in the summary."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    name: str
    """Name on the command line: `mirage import NAME FILE`."""
    title: str
    """Short description, for lists."""
    source: str
    """Definition of the format: project, file and version, or a URL."""
    gives: tuple[str, ...]
    """Names of the tables it can contain (`schema.TABLES`)."""
    recognise: Callable[[Sample], str | None]
    """Returns why a file matches, in a few words ("has model_a, model_b and winner"); None if it does not."""
    read: Callable[[Iterable[Record], Builder], None]
    """Passes the content of records to a builder."""
    records: Callable[[Path], Iterable[tuple[Value, int]]] | None = None
    """Yields records with line numbers, for files that are not JSON, JSON Lines, CSV or Parquet (TREC)."""
    lists: tuple[tuple[str, ...], ...] = ()
    """Places of the lists in its JSON documents whose elements are records, `*` for any element of a list. Files are
    then streamed, and each record gets the other members of its document as `log`.
    """
    lines: Callable[[Path], Iterable[tuple[Value, str]]] | None = None
    """Yields records with their locations, for archives and other files that `lists` does not describe."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Targets of its fields, for `--dry-run` and suggestions: `{"question": "queries.text"}`; may be empty."""
    refers: bool = False
    """Whether its records refer to queries and systems by name: names that an existing arena lacks are errors."""


Tables = dict[str, "pa.Table"]
"""Tables by name, as `store.upsert` takes them."""

Lines = Iterator[tuple[Value, int]]
