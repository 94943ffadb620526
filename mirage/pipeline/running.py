"""Running all stages of an arena in order, skipping those that are up to date.

The manifest records beside each table the inputs of its steps: content of the tables read, options, version. While they
are unchanged, running a step again would give the same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mirage import llm, store
from mirage.errors import BadInput, NotEnoughData, TableMissing, UnknownName
from mirage.pipeline.steps import ORDER, RunSettings, Step, steps
from mirage.stages import judge
from mirage.stages.stage import Progress

State = Literal["ran", "skipped", "unfinished", "would run"]


@dataclass(frozen=True)
class StepReport:
    """Report of a step."""

    stage: str
    """One of `ORDER`."""
    step: str
    """The step: a stage has several for several systems, judges or judges."""
    state: State
    """`ran`; `skipped`; `unfinished`: calls remain for a later run; `would run`: a dry run."""
    why: str
    """Why it ran or was skipped, and what remains."""
    seconds: float = 0.0
    """Duration in seconds."""
    cost: llm.Cost | None = None
    """Cost of its calls; None if it makes none."""


def run_all(
    path: Path,
    settings: RunSettings,
    *,
    made_by: str,
    dry: bool = False,
    progress: Callable[[str], Progress] | None = None,
) -> Iterator[StepReport]:
    """Run every stage that is not up to date, in order, and yield a report per step.

    A step without the required tables or data is skipped with the reason.

    Args:
        path: the arena's folder.
        settings: stages and options.
        made_by: the command, for the manifest.
        dry: write nothing, and report what would run on the current tables, at which maximum cost.
        progress: maps a step's name to its progress callback (amount done, total).

    Raises:
        UnknownName: if there is no such stage.
        BadInput: if the first stage comes after the last, or an option needs a model.
        ArenaError: if there is no arena, or it cannot be written.
        Unreachable: if the service rejects every call.
    """
    for name in (settings.start, settings.end):
        if name not in ORDER:
            raise UnknownName("stage", name, ORDER)
    first, last = ORDER.index(settings.start), ORDER.index(settings.end)
    if first > last:
        raise BadInput(f"{settings.start} comes after {settings.end}", do="the order is " + ", ".join(ORDER))
    judging = first <= ORDER.index("judge") <= last
    if judging and settings.judge != judge.HEURISTIC and settings.model is None:
        raise BadInput(f"--judge {settings.judge} needs a model", do="add --model and its service")
    for stage in ORDER[first : last + 1]:
        for step in steps(stage, path, settings, made_by=made_by, progress=progress or (lambda _: _silent)):
            yield _do(step, path, progress, dry=dry)


def _do(step: Step, path: Path, progress: Callable[[str], Progress] | None, *, dry: bool) -> StepReport:
    """Run a step unless it is up to date, and record its inputs; a dry run only plans it."""
    arena = store.open_arena(path)
    try:
        reason = _why(step, arena)
        if not reason:
            return StepReport(step.stage, step.name, "skipped", step.off or "up to date")
        if dry:
            return StepReport(step.stage, step.name, "would run", reason, 0.0, step.plan())
        now = _print(step, arena)
        if progress is not None:
            progress(step.name)
        begun = time.perf_counter()
        worked = step.work()
        seconds = time.perf_counter() - begun
    except (TableMissing, NotEnoughData) as error:
        return _without_data(step, error)
    if not worked.left:
        store.record_run(path, step.writes, step.name, now, left=store.content(worked.arena, step.writes))
    explanation = "; ".join(part for part in (worked.left or reason, step.without, worked.remark) if part)
    return StepReport(step.stage, step.name, "unfinished" if worked.left else "ran", explanation, seconds, worked.cost)


def _without_data(step: Step, error: TableMissing | NotEnoughData) -> StepReport:
    """Return the report of a step that lacks a table or data."""
    do = f"; {error.do}" if error.do else ""
    return StepReport(step.stage, step.name, "skipped", f"{error.what}{do}")


def _why(step: Step, arena: store.Arena) -> str:
    """Return why a step has to run; empty if it is up to date or not wanted."""
    if step.off:
        return ""
    for table in step.reads:
        arena.need(table)
    if step.writes not in arena.tables:
        return f"there is no {step.writes} table"
    before, now = store.runs(arena, step.writes).get(step.name), _print(step, arena)
    if before is None:
        return f"no record of this step for the {step.writes}"
    tables, options = before.get("tables", {}), before.get("options", {})
    changed = [table for table in step.reads if tables.get(table) != now["tables"][table]]
    if changed:
        return " and ".join(changed) + " changed"
    if options != now["options"]:
        names = sorted({*options, *now["options"]})
        return "changed options: " + ", ".join(name for name in names if options.get(name) != now["options"].get(name))
    return "" if before.get("version") == now["version"] else "new version of the stage"


def _print(step: Step, arena: store.Arena) -> dict[str, Any]:
    """Return the inputs of a step."""
    tables = {table: store.content(arena, table) for table in step.reads}
    return {"tables": tables, "options": dict(step.options), "version": step.version}


def _silent(_done: int, _of: int) -> None:
    """Ignore progress."""
