"""The command that measures replies: `mirage features`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, app
from mirage.cli.connection import Connection, connected
from mirage.cli.output import progress, show
from mirage.errors import BadInput

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
    how: How = "table",
) -> None:
    """Measure language, citations, length, overlap, support, relevance and grades of replies.

    What needs no model is always measured. The support features and the reranker score run a local model where one is
    named, or their default where `--only` names them (extra `local`). With `--model`, a chat model grades; `mirage run
    DIR --model M --dry-run` says what that costs. Reads the tables queries, passages and answers. Writes the table
    features, where those not measured now stay. Prints means with 95% intervals.
    """
    from mirage import features as measures
    from mirage import pipeline

    grade = None
    if connection.dry_run:
        raise BadInput("features are not planned here", do="run: mirage run DIR --to features --model M --dry-run")
    if connection.model is not None:
        grade = connection.engine("openai", {}, settings=connection.settings(), limits=connection.limits())
    with progress("Measuring") as update:
        arena = pipeline.measure(
            dir_,
            made_by="mirage features",
            only=only,
            reference=reference,
            nli=nli,
            rerank=reranker,
            device=device,
            grade=grade,
            progress=update,
        )
    found = measures.means(arena.read("features"))
    show(
        [
            dataclasses.asdict(mean) | {"mean_low": mean.low, "mean_high": mean.high, "coverage": mean.coverage}
            for mean in found
        ],
        MEANS,
        how,
    )
