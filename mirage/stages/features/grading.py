"""Requests for grades from a model: planning, cost and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from mirage import llm, store
from mirage.errors import UnknownName, Unreachable
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

    def __init__(
        self, engine: Engine, limits: llm.Limits, on_reply: Callable[[llm.Cost, int], None] | None = None
    ) -> None:
        self._engine, self._tally, self._on_reply = engine, llm.Tally(limits), on_reply
        self.failed: Counter[str] = Counter()
        """Grades whose call failed, by the reason. The next measurement asks for them again."""
        self.unasked = 0
        """Grades not asked for, since the budget was reached."""

    @property
    def cost(self) -> llm.Cost:
        """Cost of the calls."""
        return self._tally.cost

    def __call__(self, conversations: Sequence[llm.Messages], *, ledger: store.Ledger) -> Sequence[llm.Reply | None]:
        """Send conversations; return one reply each, None for those not sent. Earlier failures are cleared, as they are
        retried.
        """
        self.failed.clear()

        def take(number: int, reply: llm.Reply) -> None:  # noqa: ARG001  # as the engine calls it
            self._tally.add(reply)
            if reply.status == "api_error":
                self.failed[reply.reason or "no reason given"] += 1
            if self._on_reply is not None:
                self._on_reply(self.cost, len(conversations))

        replies = self._engine(conversations, ledger=ledger, on_reply=take)
        self.unasked = sum(reply is None for reply in replies)
        return replies

    def need_any(self) -> None:
        """Check that at least one call succeeded.

        Raises:
            Unreachable: if calls were made and all failed.
        """
        if self.failed and not self.cost.calls + self.cost.kept:
            raise Unreachable(
                f"every call failed: {self.failed.most_common(1)[0][0]}",
                do="check the service, then rerun the command; each grade has a row with the reason",
            )


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
