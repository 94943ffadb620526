"""Requests for grades from a model: planning, cost and failures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mirage import llm, store
from mirage.stages import features
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.features.stage import FEATURES


class Grader:
    """Makes the calls of one measurement, and keeps their replies.

    Args:
        calls: the model.
    """

    def __init__(self, calls: llm.ArenaCalls) -> None:
        self._calls = calls
        self.replies: llm.Replies | None = None
        """Replies of the measurement, with their cost; None before it, or without a grade to ask for."""

    def __call__(self, conversations: Sequence[llm.Messages], *, ledger: store.Ledger) -> Sequence[llm.Reply | None]:
        """Send conversations; return one reply each, None for those not sent. Earlier failures are cleared, as they are
        retried.
        """
        replies = self._calls.ask(conversations, ledger)
        if replies.stopped is not None:
            raise replies.stopped
        self.replies = replies
        return replies.by_number

    def need_any(self) -> None:
        """Check that at least one call succeeded.

        Raises:
            Unreachable: if calls were made and all failed.
        """
        if self.replies is not None:
            self.replies.need_any(each="grade")


def plan_grades(path: Path, settings: MeasureSettings, model: llm.ChatModel) -> llm.Cost:
    """Return the maximum calls and cost of measuring with a model; nothing is sent or written.

    Args:
        path: the arena's folder.
        settings: features and the reference system.
        model: the model; its limits have the prices.

    Raises:
        ArenaError: if the arena lacks the data.
        UnknownName: if there is no such feature or reference system.
        BadInput: if a named feature lacks a tool.
    """
    arena = store.open_arena(path)
    features.tables(settings.only)
    for table in FEATURES.reads:
        arena.need(table)
    tables = {table: arena.read(table) for table in FEATURES.tables(arena)}
    costs: list[llm.Cost] = []
    with store.kept_ledger(path) as ledger:

        def grade(conversations: Sequence[llm.Messages]) -> list[None]:
            costs.append(llm.plan(conversations, model, ledger))
            return [None] * len(conversations)

        tools = features.Tools(reference=settings.reference, grade=grade)
        names = settings.only or features.measurable(tools)
        if graded := [name for name in names if "grade" in features.FEATURES[name].needs]:
            FEATURES.run(tables, only=graded, tools=tools)
    return llm.total(costs)
