"""Asking a model for grades: what would be asked, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from mirage import features, llm, store
from mirage.errors import UnknownName, Unreachable
from mirage.features.stage import FEATURES

Engine = Callable[..., Sequence[llm.Reply | None]]
"""Makes calls: `engine(conversations, ledger=..., on_reply=...)`, as `llm.complete` does when it has been given the
rest."""


class Grader:
    """Makes the calls of one measurement, and adds up what comes of them.

    Args:
        engine: makes the calls.
        limits: holds the prices.
        on_reply: called with what has come so far, and of how many conversations.
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
        """What the calls have cost."""
        return self._tally.cost

    def __call__(self, conversations: Sequence[llm.Messages], *, ledger: store.Ledger) -> Sequence[llm.Reply | None]:
        """Ask; one reply a conversation, None for those not asked. What failed in an earlier call is forgotten: whoever
        asks again has the same grades in mind.
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
        """Refuse that not one call got a reply.

        Raises:
            Unreachable: if calls were made and all failed.
        """
        if self.failed and not self.cost.calls + self.cost.kept:
            raise Unreachable(
                f"no call got a reply: {self.failed.most_common(1)[0][0]}",
                do="see that the service answers, then run the same command again; each grade has a row that says why",
            )


def plan_grades(
    path: Path,
    *,
    settings: llm.Settings,
    limits: llm.Limits,
    only: Collection[str] | None = None,
    reference: str | None = None,
) -> dict[str, llm.Cost]:
    """What measuring with a model would ask and cost at most, by feature; nothing is sent or written.

    Args:
        path: the arena's folder.
        settings: model and parameters.
        limits: holds the prices.
        only: names of features; by default all. Those that ask no model are not in the result.
        reference: the system whose answers the overlap features compare with.

    Raises:
        ArenaError: if the arena lacks what is measured.
        UnknownName: if there is no such feature or reference system.
        BadInput: if a named feature lacks what it needs.
    """
    arena = store.open_arena(path)
    for table in FEATURES.reads:
        arena.need(table)
    tables = {table: arena.read(table) for table in FEATURES.tables(arena)}
    costs: dict[str, llm.Cost] = {}
    with store.kept_ledger(path) as ledger:

        def grade(conversations: Sequence[llm.Messages]) -> list[None]:
            costs[name] = llm.plan(conversations, settings=settings, limits=limits, ledger=ledger)
            return [None] * len(conversations)

        tools = features.Tools(reference=reference, grade=grade)
        for name in sorted(only or features.measurable(tools)):
            if name not in features.FEATURES:
                raise UnknownName("feature", name, features.FEATURES)
            if "grade" in features.FEATURES[name].needs:
                FEATURES.run(tables, only=[name], tools=tools)
    return costs
