"""What a format is, and what a reader of a format talks to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage import store
    from mirage.errors import BadInput

Value = Mapping[str, Any]
"""One record as it was parsed: a JSON object, a row of a CSV or Parquet file under its column names, or the fields of a
line of a text format."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file."""

    value: Value
    """The record, after `--map` and `--value` were applied."""
    where: str
    """Where it stands, `file:line`, for errors."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, from which its format is recognised."""

    path: Path
    """The file, or the folder."""
    records: tuple[Value, ...]
    """Its first records (at most 20); empty where it is no JSON, CSV or Parquet."""
    lines: tuple[str, ...]
    """Its first lines (at most 20) as text; empty for Parquet and folders."""
    error: BadInput | None = None
    """Why its records could not be read on."""

    @property
    def fields(self) -> frozenset[str]:
        """The field names of all sampled records together."""
        return frozenset(name for record in self.records for name in record)


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """One passage of a query as a format gives it."""

    text: str | None
    """Its text."""
    passage_id: str | None = None
    """Its id; null: made from its content."""
    title: str | None = None
    """Title of its document."""
    relevant: bool | None = None
    """Whether it is labelled to help answer the query; null where it carries no label."""
    url: str | None = None
    """Address of its document."""
    metadata: Mapping[str, Any] | None = None
    """What else the source says of it."""
    pooled: bool | None = None
    """Whether labels and runs brought it, and nobody saw the passages of the query in their order."""


QueryKey = tuple[str, str]
"""Language and query_id, as the builder made or took them."""


class Builder(Protocol):
    """Takes what records say. Every method may raise BadInput with the record's place; the caller gathers them.

    A language of null is detected from the text of the query; an id of null is made from content: the same text gives
    the same id in every file. The same thing said twice is taken once; two things said of one key are an error.
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
        """A query, with its reference answer, its tags and the earlier turns (speaker, text) of its conversation.

        A text of null with an id refers to a query of another record or of the arena.
        """
        ...

    def passages(self, query: QueryKey, passages: Sequence[ShownPassage], *, where: str) -> tuple[str, ...]:
        """The passages shown with a query, in order; returns their ids. Systems that were shown others add theirs."""
        ...

    def retrieved(
        self, query: QueryKey, retriever: str, passages: Sequence[tuple[ShownPassage, float | None]], *, where: str
    ) -> None:
        """What a retriever brought for a query: passages with their scores, in its order."""
        ...

    def answer(
        self,
        query: QueryKey,
        system: str,
        text: str | None,
        *,
        where: str,
        status: str | None = None,
        reason: str | None = None,
        template: str | None = None,
        numbered: bool | None = None,
        thoughts: str | None = None,
        shown: Sequence[str] = (),
    ) -> None:
        """One answer. `shown`: ids of the passages that this system was shown, in its order; then `[3]` in the text is
        its third passage, and is renumbered where the query's passages stand in another order. `thoughts`: those that
        the source keeps apart from the text; those within it are parted from it (`mirage.thoughts`).
        """
        ...

    def judgment(
        self,
        query: QueryKey,
        judge: str,
        system_a: str,
        system_b: str,
        *,
        where: str,
        verdict: str | None = None,
        points: float | None = None,
        rationale: str | None = None,
        reason: str | None = None,
        person: bool | None = None,
        voter: str | None = None,
    ) -> None:
        """One verdict, in the order shown; `points` are what `system_a` takes of the one point of the battle. `person`:
        whether people decided; `voter`: which of them, where the judge stands for many.
        """
        ...

    def score(
        self,
        query: QueryKey,
        system: str,
        measure: str,
        rater: str,
        value: float | None,
        *,
        where: str,
        person: bool,
        low: float | None = None,
        high: float | None = None,
        reason: str | None = None,
    ) -> None:
        """One score that a person or a program gave an answer."""
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
        """One nugget of a query; returns its id, which is made from the text where the file gives none."""
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
        """Whether an answer states a nugget, by one assigner."""
        ...

    def system(self, name: str, **facts: Any) -> None:
        """Facts of a system card (`schema.SystemCard`)."""
        ...

    def guessed(self, what: str, why: str) -> None:
        """Say in the summary what was assumed, once a text: `ties`, "`tie (bothbad)` is taken for a tie"."""
        ...

    def left_out(self, what: str, why: str, n: int = 1) -> None:
        """Count in the summary what the file says and an arena has no place for."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One format by its name."""

    name: str
    """Its name on the command line: `mirage import NAME FILE`."""
    title: str
    """What it is, in a few words, for lists."""
    source: str
    """Where the format is defined: project, file and version, or a URL."""
    gives: tuple[str, ...]
    """Names of the tables that it can bring (`schema.TABLES`)."""
    recognise: Callable[[Sample], str | None]
    """Why a file is taken for this format, in a few words ("has model_a, model_b and winner"); None where it is not."""
    read: Callable[[Iterable[Record], Builder], None]
    """Hands what the records say to a builder."""
    records: Callable[[Path], Iterable[tuple[Value, int]]] | None = None
    """Records with their line numbers, where the file is neither JSON, JSON Lines, CSV nor Parquet (TREC)."""
    write: Callable[[store.Arena, Path], None] | None = None
    """Writes an arena, with our numbers added, in this format; None where that makes no sense."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What becomes of its fields, for `--dry-run` and for near misses: `{"question": "queries.text"}`; empty where that
    is not told."""


Tables = dict[str, "pa.Table"]
"""Tables by name, as `store.upsert` takes them."""

Lines = Iterator[tuple[Value, int]]
