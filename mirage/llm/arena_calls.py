"""A model that is asked about an arena: what it would cost, the replies, and the rows made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, overload

from mirage import store
from mirage.llm.asking import Engine, Replies, put
from mirage.llm.calls import Cost, Limits, Messages, Settings, described, plan
from mirage.store import Ledger, kept_ledger, ledger_path

if TYPE_CHECKING:
    import pyarrow as pa


class Request(Protocol):
    """Something that a model is asked."""

    def conversation(self) -> Messages:
        """What is sent."""


class Conversations(Sequence[Messages]):
    """The conversations of requests, each rendered when it is wanted: thousands need not be in memory at once."""

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
    """A model with all that a stage must know to put requests about an arena to it."""

    engine: Engine
    """Makes the calls, with the settings below."""
    settings: Settings
    """Model and parameters."""
    limits: Limits
    """Holds the prices."""
    made_by: str
    """The command, for the manifest."""
    progress: Callable[[int, int], None] | None = None
    """Called with how many requests are done, and of how many."""

    def replies(self, path: Path, requests: Sequence[Request]) -> Replies:
        """Put requests to the model. Replies are in the arena's ledger the moment they come.

        Args:
            path: the arena's folder.
            requests: what is asked.
        """
        with Ledger(ledger_path(path)) as ledger:
            return put(
                Conversations(requests), engine=self.engine, ledger=ledger, limits=self.limits, progress=self.progress
            )

    def write(self, path: Path, table: str, rows: pa.Table, *, subject: str, seen: store.Snapshot) -> store.Arena:
        """Put rows made of replies in place of those with the same key, beside all others.

        Where no row came, nothing is written.

        Args:
            path: the arena's folder.
            table: the table.
            rows: its new rows.
            subject: whose rows they are; the manifest says with which model and parameters they were made.
            seen: what they were made from.

        Raises:
            ArenaError: if the arena cannot be written.
        """
        if not len(rows):
            return store.open_arena(path)
        notes = [f"{subject}: {described(self.settings)}"]
        new = {table: store.by_key(table, rows)}
        return store.upsert(path, new, made_by=self.made_by, seen=seen, notes=notes, subjects=[subject]).arena


def plan_calls(path: Path, conversations: Sequence[Messages], *, settings: Settings, limits: Limits) -> Cost:
    """What putting conversations about an arena to a model would cost at most; its ledger's replies cost nothing.

    Args:
        path: the arena's folder.
        conversations: what would be sent. Nothing is.
        settings: model and parameters.
        limits: holds the prices.
    """
    with kept_ledger(path) as ledger:
        return plan(conversations, settings=settings, limits=limits, ledger=ledger)
