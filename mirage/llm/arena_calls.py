"""Calls about an arena: planned cost, replies, and writing rows derived from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, overload

from mirage import store
from mirage.llm.asking import Engine, Replies, put
from mirage.llm.calls import Cost, Messages, describe, plan
from mirage.llm.chat_model import ChatModel
from mirage.store import Ledger, kept_ledger, ledger_path

if TYPE_CHECKING:
    import pyarrow as pa


class Request(Protocol):
    """A request that renders to a conversation."""

    def conversation(self) -> Messages:
        """Return the messages to send."""


class Conversations(Sequence[Messages]):
    """The conversations of requests, rendered lazily: thousands need not be in memory at once."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = requests

    def __len__(self) -> int:
        return len(self._requests)

    @overload
    def __getitem__(self, number: int) -> Messages: ...
    @overload
    def __getitem__(self, number: slice) -> list[Messages]: ...
    def __getitem__(self, number: int | slice) -> Messages | list[Messages]:
        if isinstance(number, slice):
            return [request.conversation() for request in self._requests[number]]
        return self._requests[number].conversation()


@dataclass(frozen=True, slots=True)
class ArenaCalls:
    """A model with everything that a stage needs to send requests about an arena."""

    engine: Engine
    """Makes the calls, with the model below."""
    model: ChatModel
    """The model; its limits have the prices."""
    made_by: str
    """The command, for the manifest."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of finished requests and the total."""

    def replies(self, path: Path, requests: Sequence[Request]) -> Replies:
        """Send requests to the model; replies are committed to the arena's ledger as they arrive.

        Args:
            path: the arena's folder.
            requests: the requests.
        """
        with Ledger(ledger_path(path)) as ledger:
            limits = self.model.limits
            return put(
                Conversations(requests), engine=self.engine, ledger=ledger, limits=limits, progress=self.progress
            )

    def write(self, path: Path, table: str, rows: pa.Table, *, subject: str, seen: store.Snapshot) -> store.Arena:
        """Upsert rows derived from replies; writes nothing if there are none.

        Args:
            path: the arena's folder.
            table: the table.
            rows: its new rows.
            subject: owner of the rows; the manifest notes its model and parameters.
            seen: inputs of the rows.

        Raises:
            ArenaError: if the arena cannot be written.
        """
        if not len(rows):
            return store.open_arena(path)
        notes = [f"{subject}: {describe(self.model.settings)}"]
        new = {table: store.by_key(table, rows)}
        return store.upsert(
            path,
            new,
            made_by=store.Provenance(self.made_by, notes=notes, subjects=[subject]),
            seen=seen,
        ).arena


def plan_calls(path: Path, conversations: Sequence[Messages], model: ChatModel) -> Cost:
    """Return the maximum cost of conversations about an arena; replies in its ledger cost nothing.

    Args:
        path: the arena's folder.
        conversations: conversations to plan; nothing is sent.
        model: the model; its limits have the prices.
    """
    with kept_ledger(path) as ledger:
        return plan(conversations, settings=model.settings, limits=model.limits, ledger=ledger)
