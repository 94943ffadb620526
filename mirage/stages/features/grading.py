"""Requests for grades from a model: planning, cost and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mirage import llm, store
from mirage.errors import UnknownName
from mirage.stages import features
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.features.stage import FEATURES


class Grader:
    """Makes the calls of one measurement, and totals their cost and failures.

    Args:
        calls: the model.
    """

    def __init__(self, calls: llm.ArenaCalls) -> None:
        self._calls = calls
        self._runs: list[llm.Replies] = []

    @property
    def cost(self) -> llm.Cost:
        """Cost of the calls."""
        return llm.total(replies.cost for replies in self._runs)

    @property
    def failed(self) -> Counter[str]:
        """Number of grades whose call failed, by reason. The next measurement asks for them again."""
        return self._runs[-1].reasons if self._runs else Counter()

    @property
    def unasked(self) -> int:
        """Grades not asked for, since the budget was reached."""
        return self._runs[-1].unasked if self._runs else 0

    def __call__(self, conversations: Sequence[llm.Messages], *, ledger: store.Ledger) -> Sequence[llm.Reply | None]:
        """Send conversations; return one reply each, None for those not sent. Earlier failures are cleared, as they are
        retried.
        """
        replies = self._calls.ask(conversations, ledger)
        if replies.stopped is not None:
            raise replies.stopped
        self._runs.append(replies)
        return replies.by_number

    def need_any(self) -> None:
        """Check that at least one call succeeded.

        Raises:
            Unreachable: if calls were made and all failed.
        """
        if self._runs:
            self._runs[-1].need_any(each="grade")


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
            costs[name] = llm.plan(conversations, model, ledger)
            return [None] * len(conversations)

        tools = features.Tools(reference=settings.reference, grade=grade)
        for name in sorted(settings.only or features.measurable(tools)):
            if name not in features.FEATURES:
                raise UnknownName("feature", name, features.FEATURES)
            if "grade" in features.FEATURES[name].needs:
                FEATURES.run(tables, only=[name], tools=tools)
    return costs
