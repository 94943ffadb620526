"""The command that measures answers: `mirage features`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, Share, app
from mirage.cli.connection import Connection, connected, tell
from mirage.cli.merging import part_of
from mirage.cli.output import note, progress, show

if TYPE_CHECKING:
    from mirage import llm
    from mirage.features.grading import Grader

MEANS = ("language", "system", "feature", "mean", "mean_low", "mean_high", "n", "total", "coverage")
"""Columns of `features`."""


@app.command()
@connected
def features(
    dir_: ArenaDir,
    connection: Connection,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Measure this one; may be repeated.")] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="Whose answers the overlap features compare with.")
    ] = None,
    nli: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Inference model of the support features: a name or a folder.")
    ] = None,
    reranker: Annotated[str | None, typer.Option(metavar="MODEL", help="Reranker: a name or a folder.")] = None,
    device: Annotated[str | None, typer.Option(help="torch's device; the GPU where there is one.")] = None,
    assigner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose assignments of nuggets count; who made most, if absent.")
    ] = None,
    support_grader: Annotated[
        str | None,
        typer.Option("--grader", metavar="NAME", help="Whose grades of support count; who gave most, if absent."),
    ] = None,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Measure language, citations, length, overlap, support, relevance and grades of answers.

    What needs no model is always measured. The support features and the reranker score run a local model where one is
    named, or their default where `--only` names them (extra `local`). With `--model`, a chat model grades; every answer
    is kept in the arena's ledger and paid for once, a grade whose call failed is null, and the same command asks for it
    again. Scores by nuggets and by grades of support are measured where the arena has them. Reads the tables queries,
    passages, answers, nuggets, nugget_assignments and support_grades. Writes the table features, where those not
    measured now stay. Prints means with 95% intervals.
    """
    from mirage import features as measures
    from mirage.features.grading import Grader
    from mirage.features.measuring import measure

    limits = connection.limits()
    executor = connection.executor()
    has_model = connection.model is not None
    engine = connection.caller(settings=connection.settings(), limits=limits) if has_model else None
    dir_, shard = part_of(whole := dir_, share, dry=connection.dry_run)
    if connection.dry_run:
        _plan(dir_, connection, limits, only=only, reference=reference)
        return
    with progress("Measuring") as update:

        def count(cost: llm.Cost, of: int) -> None:
            update(cost.calls + cost.kept + cost.failed, of, f"Asking for grades ({cost.failed:,} failed)")

        grader = None if engine is None else Grader(engine, limits, count)
        arena = measure(
            dir_,
            made_by="mirage features",
            only=only,
            reference=reference,
            nli=nli,
            rerank=reranker,
            device=device,
            grade=grader,
            assigner=assigner,
            grader=support_grader,
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


def _plan(
    path: Path, connection: Connection, limits: llm.Limits, *, only: list[str] | None, reference: str | None
) -> None:
    """Say what would be asked, of whom, and what it would cost."""
    from mirage import llm
    from mirage.features.grading import plan_grades

    if connection.model is None:
        note("No calls: without --model nobody is asked.")
        return
    settings = connection.settings()
    costs = plan_grades(path, settings=settings, limits=limits, only=only, reference=reference)
    where = f" at {connection.base_url}" if connection.base_url else ""
    for feature, cost in costs.items():
        note(f"{feature}: {cost.calls:,} calls to {settings.model}{where}")
    tell(llm.total(costs.values()), planned=True)


def _tell_grades(grader: Grader) -> None:
    """Say what the grades have cost, and which failed."""
    tell(grader.cost)
    for reason, n in grader.failed.most_common():
        note(f"{n:,} grades failed and have no value; the same command asks again: {reason}")
    if grader.unasked:
        note(f"{grader.unasked:,} grades not asked, the budget was reached; the same command goes on.")
