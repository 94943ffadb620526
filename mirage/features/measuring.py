"""Measuring features with what they need: a reference system, local models, a model that grades."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from mirage import features, llm, store
from mirage.engines.tasks import Executor
from mirage.features import reranker, support
from mirage.features.assessed import decider
from mirage.features.pairs import PairModel, PairModelLater
from mirage.features.stage import FEATURES, measurable_in, need_system
from mirage.stage import Progress, run
from mirage.store import ledger_path

SCORES = "scores.sqlite"
"""File in an arena's folder that keeps the scores of local models, so that a stopped run goes on."""


def measure(
    path: Path,
    *,
    made_by: str,
    only: Collection[str] | None = None,
    reference: str | None = None,
    nli: str | None = None,
    rerank: str | None = None,
    device: str | None = None,
    grade: Callable[..., Sequence[llm.Reply | None]] | None = None,
    assigner: str | None = None,
    grader: str | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    whole: Path | None = None,
) -> store.Arena:
    """Measure features and write them; features that are not measured now stay as they were.

    Args:
        path: the arena's folder.
        made_by: the command, for the manifest.
        only: names of features; by default all that the tools at hand and the arena's tables allow. A support feature
            or the reranker score named here uses its default model where no other is given.
        reference: the system whose answers the overlap features compare with.
        nli: inference model: a name on the hub or a folder.
        rerank: reranker model, likewise.
        device: torch's name of the device; the GPU where there is one.
        grade: asks the model that grades: `grade(conversations, ledger=...)`.
        assigner: whose assignments of nuggets count; None for the default (`assessed.decider`).
        grader: whose grades of support count; None for the default.
        progress: called with how much is done.
        executor: where features are measured that no chat model grades, those of local models if its workers load
            models; None for here.
        whole: the arena that this one is a part of; None for none.

    Raises:
        TableMissing: if the arena lacks answers, or a table that a named feature needs.
        BadInput: if a model is wanted and the extra `local` is not installed, or a feature lacks what it needs.
        UnknownName: if there is no such feature, reference system, assigner or grader.
        Unreachable: if a model is not on this machine and the hub does not answer.
    """
    selection = set(only or ())
    if nli is None and selection & {spec.name for spec in support.FAMILY.specs}:
        nli = support.MODEL
    if rerank is None and selection & {spec.name for spec in reranker.FAMILY.specs}:
        rerank = reranker.MODEL
    # A ledger would make the folder; only an arena may be measured.
    arena = store.open_arena(path)
    for table in set(features.tables(selection)) - ({"passages"} if "retrieved" in arena.tables else set()):
        arena.need(table)
    whole_arena = arena if whole is None else store.open_arena(whole)
    need_system(whole_arena, reference)
    assigner = _decider(whole_arena, "nugget_assignments", "assigner", assigner)
    grader = _decider(whole_arena, "support_grades", "grader", grader)
    with ExitStack() as open_files:

        @cache
        def ledger(name: Path) -> store.Ledger:
            return open_files.enter_context(store.Ledger(name))

        def local(model: str | None, max_tokens: int) -> PairModel | PairModelLater | None:
            if model is None:
                return None
            if executor is not None and executor.loads_models:
                return PairModelLater(model, max_tokens, device)
            return PairModel(model, max_tokens=max_tokens, ledger=ledger(path / SCORES), device=device)

        tools = features.Tools(
            reference=reference,
            support=local(nli, support.MAX_TOKENS),
            reranker=local(rerank, reranker.MAX_TOKENS),
            grade=None if grade is None else partial(grade, ledger=ledger(ledger_path(path))),
            assigner=assigner,
            grader=grader,
            part=whole is not None,
        )
        names = sorted(selection) or measurable_in(arena, tools)[0]
        if executor is not None:
            there = features.Tools(reference=reference, assigner=assigner, grader=grader, part=True)
            if executor.loads_models:
                there = replace(there, support=tools.support, reranker=tools.reranker)
            spread = [name for name in names if name in features.measurable(there)]
            options: dict[str, Any] = {"only": spread, "tools": there, "progress": progress}
            if spread:
                arena = run(FEATURES, path, made_by=made_by, part="feature", executor=executor, **options)
            names = [name for name in names if name not in spread]
            if not names:
                return arena
        return run(FEATURES, path, made_by=made_by, part="feature", only=names, tools=tools, progress=progress)


def _decider(arena: store.Arena, table: str, column: str, name: str | None) -> str | None:
    """Whose decisions count in an arena, so that every part of it counts the same; None where nobody decided."""
    if table not in arena.tables:
        return name
    return decider(arena.read(table, columns=[column]), column, name)
