"""Command that measures answers: `mirage features`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, Share, app
from mirage.cli.connection import Connection, tell
from mirage.cli.merging import part_of
from mirage.cli.output import note, progress, show
from mirage.cli.settings import expand_settings

if TYPE_CHECKING:
    from mirage import llm
    from mirage.stages.features.grading import Grader
    from mirage.stages.features.settings import MeasureSettings

MEANS = ("language", "system", "feature", "mean", "mean_low", "mean_high", "n", "total", "coverage")
"""Columns of `features`."""


@app.command()
@expand_settings
def features(
    dir_: ArenaDir,
    connection: Connection,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Measure only this feature. Repeatable.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="System whose answers are the references of the overlap features."),
    ] = None,
    nli: Annotated[
        str | None, typer.Option(metavar="MODEL", help="NLI model of the support features: a name or a folder.")
    ] = None,
    reranker: Annotated[str | None, typer.Option(metavar="MODEL", help="Reranker: a name or a folder.")] = None,
    device: Annotated[str | None, typer.Option(help="torch device; by default the GPU if there is one.")] = None,
    assigner: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Assigner of nuggets; by default the one with the most assignments."),
    ] = None,
    support_grader: Annotated[
        str | None,
        typer.Option("--grader", metavar="NAME", help="Grader of support; by default the one with the most grades."),
    ] = None,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Measure language, citations, length, overlap, support, relevance and grades of answers.

    Features that need no model are always measured. The support features and the reranker score run a local model if
    one is named, or their default if `--only` names them (extra `local`). With `--model`, a chat model grades; every
    reply is cached in the arena's ledger and paid for once, and a grade whose call failed is null and retried by the
    next run. Scores by nuggets and support grades are measured if the arena has them. Reads the tables queries,
    passages, answers, nuggets, nugget_assignments and support_grades. Writes the table features, keeping other
    features. Prints means with 95% intervals.
    """
    from mirage.stages import features as measures
    from mirage.stages.features.grading import Grader
    from mirage.stages.features.measuring import measure
    from mirage.stages.features.settings import MeasureSettings

    settings = MeasureSettings(tuple(only or ()), reference, nli, reranker, device, assigner, support_grader)
    limits, executor = connection.limits(), connection.executor()
    engine = connection.caller(connection.chat_model()) if connection.model is not None else None
    dir_, shard = part_of(whole := dir_, share, dry=connection.dry_run)
    if connection.dry_run:
        _plan(dir_, settings, connection)
        return
    with progress("Measuring") as update:

        def count(cost: llm.Cost, of: int) -> None:
            update(cost.calls + cost.kept + cost.failed, of, f"Asking for grades ({cost.failed:,} failed)")

        grader = None if engine is None else Grader(engine, limits, count)
        arena = measure(
            dir_,
            settings,
            made_by="mirage features",
            grade=grader,
            progress=update,
            executor=executor,
            whole=whole if shard is not None else None,
        )
    if grader is not None:
        _tell_grades(grader)
    means = measures.means(arena.read("features"))
    show(
        [
            dataclasses.asdict(mean) | {"mean_low": mean.low, "mean_high": mean.high, "coverage": mean.coverage}
            for mean in means
        ],
        MEANS,
        output_format,
    )
    if grader is not None:
        grader.need_any()


def _plan(path: Path, settings: MeasureSettings, connection: Connection) -> None:
    """Report the calls that would be made, and their cost."""
    from mirage import llm
    from mirage.stages.features.grading import plan_grades

    if connection.model is None:
        note("No calls: no --model is given.")
        return
    model = connection.chat_model()
    costs = plan_grades(path, settings, model)
    where = f" at {connection.base_url}" if connection.base_url else ""
    for feature, cost in costs.items():
        note(f"{feature}: {cost.calls:,} calls to {model.settings.model}{where}")
    tell(llm.total(costs.values()), planned=True)


def _tell_grades(grader: Grader) -> None:
    """Report the cost of the grades and the failures."""
    tell(grader.cost)
    for reason, n in grader.failed.most_common():
        note(f"{n:,} grades failed and have no value; rerun the command to retry: {reason}")
    if grader.unasked:
        note(f"{grader.unasked:,} grades not requested: the budget was reached; rerun the command to resume.")
