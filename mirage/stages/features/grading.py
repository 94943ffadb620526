"""Requests for grades from a model: planning, cost and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mirage import llm, store
from mirage.errors import UnknownName
from mirage.stages import features
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.features.stage import FEATURES

Engine = Callable[..., Sequence[llm.Reply | None]]
"""Makes calls: `engine(conversations, ledger=..., on_reply=...)`, such as `llm.complete` with the other arguments
bound.
"""


class Grader:
    """Makes the calls of one measurement, and totals their cost and failures.

    Args:
        engine: makes the calls.
        limits: limits, with the prices.
        on_reply: called with the cost so far, and the number of conversations.
    """

    def __init__(self, engine: Engine, limits: llm.Limits, on_reply: llm.OnCost | None = None) -> None:
        self._engine, self._asking = engine, llm.Asking(limits, on_reply)
        self.failed = self._asking.reasons
        """Grades whose call failed, by the reason. The next measurement asks for them again."""
        self.unasked = 0
        """Grades not asked for, since the budget was reached."""

    @property
    def cost(self) -> llm.Cost:
        """Cost of the calls."""
        return self._asking.cost

    def __call__(self, conversations: Sequence[llm.Messages], *, ledger: store.Ledger) -> Sequence[llm.Reply | None]:
        """Send conversations; return one reply each, None for those not sent. Earlier failures are cleared, as they are
        retried.
        """
        self.failed.clear()
        replies = self._asking.ask(conversations, self._engine, ledger=ledger)
        if self._asking.stopped is not None:
            raise self._asking.stopped
        self.unasked = replies.count(None)
        return replies

    def need_any(self) -> None:
        """Check that at least one call succeeded.

        Raises:
            Unreachable: if calls were made and all failed.
        """
        self._asking.need_any(self.cost.calls + self.cost.kept > 0, each="grade")


def plan_grades(path: Path, settings: MeasureSettings, model: llm.ChatModel) -> dict[str, llm.Cost]:
    """Return the maximum calls and cost of measuring with a model, by feature; nothing is sent or written.

    Args:
        path: the arena's folder.
        settings: features and the reference system. Features without a chat model are not in the result.
        model: the model; its limits have the prices.

    Raises:
        ArenaError: if the arena lacks the data.
        UnknownName: if there is no such feature or reference system.
        BadInput: if a named feature lacks a tool.
    """
    arena = store.open_arena(path)
    for table in FEATURES.reads:
        arena.need(table)
    tables = {table: arena.read(table) for table in FEATURES.tables(arena)}
    costs: dict[str, llm.Cost] = {}
    with store.kept_ledger(path) as ledger:

        def grade(conversations: Sequence[llm.Messages]) -> list[None]:
            costs[name] = llm.plan(conversations, settings=model.settings, limits=model.limits, ledger=ledger)
            return [None] * len(conversations)

        tools = features.Tools(reference=settings.reference, grade=grade)
        for name in sorted(settings.only or features.measurable(tools)):
            if name not in features.FEATURES:
                raise UnknownName("feature", name, features.FEATURES)
            if "grade" in features.FEATURES[name].needs:
                FEATURES.run(tables, only=[name], tools=tools)
    return costs
