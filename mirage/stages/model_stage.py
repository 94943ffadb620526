"""Stages that ask a model about an arena: plan and price, ask what the ledger lacks, read the replies, write once.

A stage declares its requests and how a reply is read:

    BANKS = ModelStage("nuggets", _read, _requests, parse_bank)
    BANKS.plan(path, model)                                # nothing is sent
    arena, result = BANKS.run(path, calls, owner="gpt-4o")
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import llm, schema, store
from mirage.errors import BadInput
from mirage.text.thoughts import part_thoughts

if TYPE_CHECKING:
    import pyarrow as pa

Languages = Sequence[str] | None
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(?P<inner>.*)\n```", re.DOTALL | re.IGNORECASE)


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
    cost: llm.Cost
    """Cost of the calls."""


@dataclass(frozen=True)
class ModelStage:
    """A stage that asks a model."""

    table: str
    """The table it writes; `reason` of a row, if it has that column, says why there is no value."""
    read: Callable[[store.Arena, Languages], store.Snapshot]
    """Reads the inputs."""
    requests: Callable[[store.Snapshot], tuple[Sequence[Any], Mapping[str, int]]]
    """Returns the requests, each with a `conversation()`, and the number of units without one, by reason. Raises
    NotEnoughData if there is nothing to request.
    """
    parse: Callable[[Any, llm.Reply, str], list[Any] | str]
    """Returns the rows of a request by its reply and the owner, or why there is none."""
    decided: Callable[[Any, str], list[Any]] = lambda *_: []
    """Returns the rows of a request that needs no reply; none if it needs one."""
    size: Callable[[Any], int] = lambda _: 1
    """Returns the number of units of a request."""
    reserved: Mapping[str, str] = field(default_factory=dict)
    """Names that no model may have, with what they name."""

    def plan(self, path: Path, model: llm.ChatModel, *, languages: Languages = None) -> llm.Cost:
        """Return the maximum cost of a run; nothing is sent or written.

        Raises:
            ArenaError: if the arena lacks a table.
            NotEnoughData: if there is nothing to request.
        """
        requests, _ = store.consistently(path, lambda arena: self.requests(self.read(arena, languages)))
        asked = [request for request in requests if not self.decided(request, "")]
        return llm.plan_calls(path, llm.Conversations(asked), model)

    def run(
        self, path: Path, calls: llm.ArenaCalls, *, owner: str, languages: Languages = None
    ) -> tuple[store.Arena, ModelResult]:
        """Ask the model, and upsert the rows.

        Replies are committed to the arena's ledger as they arrive, and the table is written at the end, also if the
        service ends the run: a rerun resumes without paying twice.

        Args:
            path: the arena's folder.
            calls: the model.
            owner: name for the rows, which replace the owner's earlier ones.
            languages: codes; None for all.

        Raises:
            BadInput: if the name is reserved.
            ArenaError: if the arena lacks a table, or cannot be written.
            NotEnoughData: if there is nothing to request.
            Unreachable: if the service rejects every call, or every call failed.
        """
        if owner in self.reserved:
            raise BadInput(f"{owner} is the name of {self.reserved[owner]}", do="use another name for the model")
        seen = store.consistently(path, lambda arena: self.read(arena, languages))
        requests, left = self.requests(seen)
        decided = [self.decided(request, owner) for request in requests]
        replies = calls.replies(path, [request for request, made in zip(requests, decided, strict=True) if not made])
        by_number = iter(replies.by_number)
        rows: list[Any] = []
        failed: Counter[str] = Counter()
        unasked = 0
        for request, known in zip(requests, decided, strict=True):
            made: list[Any] | str = known
            if not known:
                reply = next(by_number)
                unasked += self.size(request) if reply is None else 0
                made = [] if reply is None else self.parse(request, reply, owner)
            if isinstance(made, str):
                failed[made] += 1
            else:
                rows += made
                failed.update(row.reason for row in made if getattr(row, "reason", None))
        table = schema.sort(self.table, schema.from_rows(self.table, rows))
        arena = calls.write(path, self.table, table, subject=owner, seen=seen)
        replies.need_any()
        return arena, ModelResult(table, dict(failed), unasked, left, replies.cost)


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
