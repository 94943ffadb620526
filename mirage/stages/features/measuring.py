"""Feature measurement with tools: a reference system, local models, a grading model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from mirage import llm, store
from mirage.llm.engines.tasks import Executor
from mirage.stages import features
from mirage.stages.features import reranker, support
from mirage.stages.features.assessed import decider
from mirage.stages.features.pairs import PairModel, PairModelLater
from mirage.stages.features.stage import FEATURES, measurable_in, need_system
from mirage.stages.stage import Progress, run
from mirage.store import ledger_path

SCORES = "scores.sqlite"
"""File in an arena's folder that caches the scores of local models, so that an interrupted run can resume."""


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
    """Measure features and write them; other features stay.

    Args:
        path: the arena's folder.
        made_by: the command, for the manifest.
        only: names of features; by default all that the tools and tables allow. A named support feature or reranker
            score uses its default model if none is given.
        reference: system with the reference answers of the overlap features.
        nli: NLI model: a name on the Hub or a folder.
        rerank: reranker model: a name on the Hub or a folder.
        device: torch device; by default the GPU if there is one.
        grade: calls the grading model: `grade(conversations, ledger=...)`.
        assigner: assigner of nuggets; None for the default (`assessed.decider`).
        grader: grader of support; None for the default.
        progress: progress callback.
        executor: runs features without a chat model, including local models if its workers load models; None to run
            here.
        whole: the arena that this one is a part of; None for none.

    Raises:
        TableMissing: if the arena lacks answers, or a table that a named feature needs.
        BadInput: if a model is wanted and the extra `local` is not installed, or a feature lacks a tool.
        UnknownName: if there is no such feature, reference system, assigner or grader.
        Unreachable: if a model is not on this machine and the Hub does not answer.
    """
    selection = set(only or ())
    if nli is None and selection & {spec.name for spec in support.FAMILY.specs}:
        nli = support.MODEL
    if rerank is None and selection & {spec.name for spec in reranker.FAMILY.specs}:
        rerank = reranker.MODEL
    # Check first: opening a ledger would create the folder.
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
    """Return the assigner or grader of an arena, the same for every part; None if there is none."""
    if table not in arena.tables:
        return name
    return decider(arena.read(table, columns=[column]), column, name)
