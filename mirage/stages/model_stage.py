"""Stages that ask a model about an arena: plan and price, ask what the ledger lacks, read the replies, write once.

A stage declares its requests and how a reply is read:

    banks = RowStage("nuggets", _read, _requests, parse_bank, owner="gpt-4o")
    banks.plan(path, model)                                # nothing is sent
    arena, result = banks.run(path, calls)
"""

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from mirage import schema
from mirage.errors import BadInput
from mirage.llm import calls as llm_calls
from mirage.llm.asking import ArenaCalls, Conversations, Replies
from mirage.llm.calls import ChatModel, Cost, Settings
from mirage.llm.completion import Messages, Reply
from mirage.store.arena import Arena, open_arena
from mirage.store.ledger import Ledger, kept_ledger, ledger_path
from mirage.store.upsert import NewRows, Snapshot, by_key, read_consistently, upsert
from mirage.store.writing import Provenance
from mirage.text.thoughts import part_thoughts

Languages = Sequence[str] | None
T = TypeVar("T")
"""Requests of a stage, with the data that its rows are made from."""
R = TypeVar("R")
"""Result of a stage."""
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(?P<inner>.*)\n```", re.DOTALL | re.IGNORECASE)


def read_tables(arena: Arena, needed: Sequence[str], optional: Sequence[str], languages: Languages = None) -> Snapshot:
    """Read the tables that a stage needs, and those of the optional ones that the arena has.

    Raises:
        TableMissing: if it lacks one that is needed.
    """
    tables = {name: arena.read(name, languages=languages) for name in needed}
    for name in optional:
        if (table := arena.read_optional(name, languages=languages)) is not None:
            tables[name] = table
    return Snapshot(arena, tables)


@dataclass(frozen=True)
class ModelResult:
    """Result of a stage that asks a model."""

    rows: pa.Table
    """Rows of its table; null with a reason where a call failed or its reply could not be read."""
    failed: Mapping[str, int]
    """Units without a result, by reason. A later run retries those whose call failed."""
    unasked: int
    """Units not requested because the budget was reached or the run ended. They have no row."""
    left: Mapping[str, int]
    """Units without a request, by reason."""
    cost: Cost
    """Cost of the calls."""


class ModelStage(ABC, Generic[T, R]):
    """One run of a stage that asks a model."""

    unwatched: ClassVar[tuple[str, ...]] = ()
    """Tables read whose rows others may change during the run."""

    @property
    def replaces(self) -> bool:
        """True if earlier replies do not count. An interrupted replacement resumes with the replies it already has."""
        return False

    @property
    @abstractmethod
    def subject(self) -> str:
        """Name that owns the rows."""

    def made_with(self, _asked: T, settings: Settings) -> dict[str, Any]:
        """Return how the rows are made, for the manifest."""
        return llm_calls.parameters(settings)

    @abstractmethod
    def read(self, arena: Arena) -> Snapshot:
        """Read the inputs."""

    @abstractmethod
    def requests(self, seen: Snapshot, ledger: Ledger | None) -> tuple[Sequence[Messages], T]:
        """Return the conversations, and what the rows are made from.

        Raises:
            NotEnoughData: if there is nothing to request.
        """

    @abstractmethod
    def results(self, asked: T, replies: Replies, seen: Snapshot, ledger: Ledger) -> tuple[dict[str, NewRows], R]:
        """Return the rows to write, by table, and the result."""

    def check(self, arena: Arena, asked: T, ledger: Ledger | None) -> None:
        """Raise if the rows may not be added to those of an arena."""

    def scope(self, _asked: T) -> tuple[str, str]:
        """Return the name under which the ledger counts replacements, and a key of what is replaced: the same command
        after an interruption has the same key.
        """
        return self.subject, ""

    def repetition(self, _asked: T, _number: int) -> dict[str, Any]:
        """Return the last arguments of `mirage.llm.asking.ask` after a number of replacements."""
        return {}

    def need_any(self, _asked: T, replies: Replies) -> None:
        """Check that the run did not end early, and that at least one call succeeded (`Replies.need_any`)."""
        replies.need_any()

    def plan(self, path: Path, model: ChatModel) -> Cost:
        """Return the maximum cost of a run; nothing is sent or written.

        Raises:
            ArenaError: if the arena lacks a table.
            NotEnoughData: if there is nothing to request.
            BadInput: if the rows may not be added to those of the arena.
        """
        seen = read_consistently(path, self.read)
        with kept_ledger(path) as ledger:
            conversations, asked = self.requests(seen, ledger)
            read_consistently(path, lambda arena: self.check(arena, asked, ledger))
            number = ledger.replacement(*self.scope(asked), replace=self.replaces) if ledger else 0
            repetition = {name: value for name, value in self.repetition(asked, number).items() if name != "accepted"}
            return llm_calls.plan(conversations, model, ledger, **repetition)

    def run(self, path: Path, calls: ArenaCalls, *, step: str | None = None) -> tuple[Arena, R]:
        """Ask the model, and upsert the rows.

        Replies are committed to the arena's ledger as they arrive, and the tables are written at the end, also if the
        service ends the run after some reply: a rerun resumes without paying twice.

        Args:
            path: the arena's folder.
            calls: the model.
            step: the step of a run (`store.upsert`).

        Raises:
            BadInput: if the rows may not be added to those of the arena.
            ArenaError: if the arena lacks a table, or cannot be written.
            NotEnoughData: if there is nothing to request.
            Unreachable: if the service rejects every call, or every call failed.
        """
        open_arena(path)  # a ledger would make the folder
        with Ledger(ledger_path(path)) as ledger:
            seen = read_consistently(path, self.read)
            conversations, asked = self.requests(seen, ledger)

            def check(arena: Arena) -> None:
                self.check(arena, asked, ledger)

            read_consistently(path, check)
            scope = self.scope(asked)
            number = ledger.replacement(*scope, replace=self.replaces, begin=True)
            replies = calls.ask(conversations, ledger, **self.repetition(asked, number))
            if replies.stopped is not None and not replies.cost.calls + replies.cost.kept:
                raise replies.stopped
            tables, result = self.results(asked, replies, seen, ledger)
            watched = {name: table for name, table in seen.tables.items() if name not in self.unwatched}
            arena = open_arena(path)
            if tables:
                new = any(len(part.new) for part in tables.values())
                made = {self.subject: self.made_with(asked, calls.model.settings)} if new else {}
                made_by = Provenance(calls.made_by, settings=made, step=step)
                seen = Snapshot(seen.arena, watched)
                arena = upsert(path, tables, made_by=made_by, seen=seen, check=check).arena
            if self.replaces and replies.ended:
                ledger.end_replacement(*scope)
        self.need_any(asked, replies)
        return arena, result


@dataclass(frozen=True)
class _Asked:
    """Requests, with the rows of those that need no reply."""

    requests: Sequence[Any]
    decided: Sequence[list[Any]]
    left: Mapping[str, int]


@dataclass(frozen=True)
class RowStage(ModelStage[_Asked, ModelResult]):
    """A stage that makes rows of one table from each reply."""

    table: str
    """The table it writes; `reason` of a row, if it has that column, says why there is no value."""
    reader: Callable[[Arena, Languages], Snapshot]
    """Reads the inputs."""
    requester: Callable[[Snapshot], tuple[Sequence[Any], Mapping[str, int]]]
    """Returns the requests, each with a `conversation()`, and the number of units without one, by reason. Raises
    NotEnoughData if there is nothing to request.
    """
    parse: Callable[[Any, Reply, str], list[Any] | str]
    """Returns the rows of a request by its reply and the owner, or why there is none."""
    decided: Callable[[Any, str], list[Any]] = lambda *_: []
    """Returns the rows of a request that needs no reply; none if it needs one."""
    size: Callable[[Any], int] = lambda _: 1
    """Returns the number of units of a request."""
    reserved: Mapping[str, str] = field(default_factory=dict)
    """Names that no model may have, with what they name."""
    owner: str = ""
    """Name for the rows, which replace the owner's earlier ones."""
    languages: Languages = None
    """Codes; None for all."""

    @property
    def subject(self) -> str:
        """The owner."""
        return self.owner

    def read(self, arena: Arena) -> Snapshot:
        """Read the inputs.

        Raises:
            BadInput: if the owner's name is reserved.
        """
        if self.owner in self.reserved:
            named = self.reserved[self.owner]
            raise BadInput(f"{self.owner} is the name of {named}", do="use another name for the model")
        return self.reader(arena, self.languages)

    def requests(self, seen: Snapshot, _ledger: Ledger | None) -> tuple[Sequence[Messages], _Asked]:
        """Return the conversations of the requests that need a reply."""
        requests, left = self.requester(seen)
        decided = [self.decided(request, self.owner) for request in requests]
        open_requests = [request for request, made in zip(requests, decided, strict=True) if not made]
        return Conversations(open_requests), _Asked(requests, decided, left)

    def results(
        self, asked: _Asked, replies: Replies, _seen: Snapshot, _ledger: Ledger
    ) -> tuple[dict[str, NewRows], ModelResult]:
        """Parse the replies into rows."""
        by_number = iter(replies.by_number)
        rows: list[Any] = []
        failed: Counter[str] = Counter()
        unasked = 0
        for request, known in zip(asked.requests, asked.decided, strict=True):
            made: list[Any] | str = known
            if not known:
                reply = next(by_number)
                unasked += self.size(request) if reply is None else 0
                made = [] if reply is None else self.parse(request, reply, self.owner)
            if isinstance(made, str):
                failed[made] += 1
            else:
                rows += made
                failed.update(row.reason for row in made if getattr(row, "reason", None))
        table = schema.sort(self.table, schema.from_rows(self.table, rows))
        tables = {self.table: by_key(self.table, table)} if rows else {}
        return tables, ModelResult(table, dict(failed), unasked, asked.left, replies.cost)


def read_list(text: str) -> list[dict[str, Any]] | str:
    """Parse a reply that is exactly a JSON list of objects, or return why it is not.

    A reasoning model's thoughts before it, and a code fence around it, are ignored. A list beside other text is
    rejected, since it may be a quotation of a shown text.
    """
    parted = part_thoughts(text)
    if parted.gap is not None:
        return parted.gap
    body = parted.text.strip()
    if fenced := _FENCE.fullmatch(body):
        body = fenced["inner"].strip()
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "the reply is not a JSON list"
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return "the reply is not a JSON list of objects"
    return value


def find_number(entry: Mapping[str, Any], name: str, most: int) -> int | None:
    """Return the number of something shown, from 1, that an entry of a reply names; None if it is out of range."""
    number = entry.get(name)
    return number if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= most else None
