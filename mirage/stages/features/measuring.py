"""Feature measurement with tools: a reference system, local models, a grading model."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mirage.llm import calls as llm_calls
from mirage.llm.asking import ArenaCalls, Replies
from mirage.llm.calls import ChatModel, Cost
from mirage.llm.completion import Messages, Reply
from mirage.llm.engines.processes import Processes
from mirage.stages.features import families, reranker, support
from mirage.stages.features import table as feature_table
from mirage.stages.features.assessed import decider
from mirage.stages.features.pairs import PairModel
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.features.spec import Tools
from mirage.stages.features.stage import FEATURES, measurable_in, need_system
from mirage.stages.features.table import measurable_features
from mirage.stages.stage import Progress, run
from mirage.store.arena import Arena, open_arena
from mirage.store.ledger import Ledger, kept_ledger, ledger_path

DEFAULTS = MeasureSettings()
SCORES = "scores.sqlite"
"""File in an arena's folder that caches the scores of local models, so that an interrupted run can resume."""


def measure(
    path: Path,
    settings: MeasureSettings = DEFAULTS,
    *,
    made_by: str,
    grade: Callable[..., Sequence[Reply | None]] | None = None,
    progress: Progress | None = None,
    executor: Processes | None = None,
    whole: Path | None = None,
) -> Arena:
    """Measure features and write them; other features stay.

    Args:
        path: the arena's folder.
        settings: features and their tools.
        made_by: the command, for the manifest.
        grade: calls the grading model: `grade(conversations, ledger=...)`.
        progress: progress callback.
        executor: runs features without a model; None to run here.
        whole: the arena that this one is a part of; None for none.

    Raises:
        TableMissing: if the arena lacks answers, or a table that a named feature needs.
        BadInput: if a model is wanted and the extra `local` is not installed, or a feature lacks a tool.
        UnknownName: if there is no such feature, reference system, assigner or grader.
        Unreachable: if a model is not on this machine and the Hub does not answer.
    """
    # Check first: opening a ledger would create the folder.
    arena = open_arena(path)
    with ExitStack() as open_files:
        tools = _tools(path, settings, arena, arena if whole is None else open_arena(whole), grade, open_files)
        names = sorted(settings.only) or measurable_in(arena, tools)[0]
        options: dict[str, Any] = {"made_by": made_by, "part": "feature", "progress": progress}
        if executor is not None:
            there = replace(tools, grade=None, support=None, reranker=None)
            spread = [name for name in names if name in measurable_features(there, arena.tables)]
            if spread:
                arena = run(FEATURES, path, executor=executor, only=spread, tools=there, **options)
            names = [name for name in names if name not in spread]
            if not names:
                return arena
        return run(FEATURES, path, only=names, tools=tools, **options)


def _tools(
    path: Path,
    settings: MeasureSettings,
    arena: Arena,
    whole: Arena,
    grade: Callable[..., Sequence[Reply | None]] | None,
    open_files: ExitStack,
) -> Tools:
    """Return the tools that the settings name, with default models and deciders, once the arena has what they need.

    Args:
        path: the arena's folder.
        settings: the settings.
        arena: the arena to measure.
        whole: the arena that it is a part of, or itself: the deciders are the same for every part.
        grade: calls the grading model.
        open_files: closes the ledgers.

    Raises:
        TableMissing: if the arena lacks a table that a named feature needs.
        UnknownName: if there is no such feature, reference system, assigner or grader.
    """
    only = set(settings.only)
    for table in set(feature_table.tables(only)) - ({"passages"} if "retrieved" in arena.tables else set()):
        arena.need(table)
    need_system(whole, settings.reference)
    deciders = (
        _decider(whole, "nugget_assignments", "assigner", settings.assigner),
        _decider(whole, "support_grades", "grader", settings.grader),
    )
    named = {support: settings.nli, reranker: settings.reranker}
    for module in named:
        if named[module] is None and only & {spec.name for spec in module.FAMILY.specs}:
            named[module] = module.MODEL
    scores = open_files.enter_context(Ledger(path / SCORES)) if any(named.values()) else None
    nli, ranker = (
        None if model is None else PairModel(model, max_tokens=module.MAX_TOKENS, ledger=scores, device=settings.device)
        for module, model in named.items()
    )
    if grade is not None:
        grade = partial(grade, ledger=open_files.enter_context(Ledger(ledger_path(path))))
    return Tools(settings.reference, nli, ranker, grade, *deciders)


def _decider(arena: Arena, table: str, column: str, name: str | None) -> str | None:
    """Return the assigner or grader of an arena, the same for every part; None if there is none."""
    if table not in arena.tables:
        return name
    return decider(arena.read(table, columns=[column]), column, name)


class Grader:
    """Makes the calls of one measurement, and keeps their replies.

    Args:
        calls: the model.
    """

    def __init__(self, calls: ArenaCalls) -> None:
        self._calls = calls
        self.replies: Replies | None = None
        """Replies of the measurement, with their cost; None before it, or without a grade to ask for."""

    def __call__(self, conversations: Sequence[Messages], *, ledger: Ledger) -> Sequence[Reply | None]:
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


def plan_grades(path: Path, settings: MeasureSettings, model: ChatModel) -> Cost:
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
    arena = open_arena(path)
    feature_table.tables(settings.only)
    for table in FEATURES.reads:
        arena.need(table)
    tables = {table: arena.read(table) for table in FEATURES.tables(arena)}
    costs: list[Cost] = []
    with kept_ledger(path) as ledger:

        def grade(conversations: Sequence[Messages]) -> list[None]:
            costs.append(llm_calls.plan(conversations, model, ledger))
            return [None] * len(conversations)

        tools = Tools(reference=settings.reference, grade=grade)
        names = settings.only or measurable_features(tools, arena.tables)
        if graded := [name for name in names if "grade" in families.FEATURES[name].needs]:
            FEATURES.run(tables, only=graded, tools=tools)
    return llm_calls.total(costs)
