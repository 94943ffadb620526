"""Command for selective answering: `mirage abstain`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from mirage.cli.common import ArenaDir, How, Languages, Parser, Seed, app, codes
from mirage.cli.output import note, show
from mirage.stats.intervals import MOST_DRAWS

POINTS = ("language", "system", "coverage", "risk", "low", "high")
"""Columns of `abstain --points`."""
_PROMISES = {
    "conformal": "at most {error:g} of all answers, given or withheld, are given and wrong, in expectation",
    "tested": "at most {error:g} of the answers given are wrong, with a probability of at least {confidence:g}",
}


@app.command()
def abstain(
    dir_: ArenaDir,
    signal: Annotated[str, typer.Option(metavar="NAME", help="A feature, or a measure in the table scores.")],
    error: Annotated[float, typer.Option(metavar="SHARE", help="Maximum error to guarantee.")] = 0.1,
    loss: Annotated[
        str, typer.Option(metavar="NAME", help="Loss: hallucination, wrong, or a measure in the table scores.")
    ] = "hallucination",
    higher: Annotated[
        bool | None,
        typer.Option(
            "--higher/--lower",
            help="Whether higher or lower values favour answering; by default as the feature declares.",
        ),
    ] = None,
    method: Annotated[
        Literal["conformal", "tested"],
        typer.Option(help="conformal: expected error over all answers. tested: error among the answers given."),
    ] = "conformal",
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="Confidence level of tested.")] = 0.95,
    languages: Languages = None,
    parser: Parser = "strict",
    points: Annotated[bool, typer.Option("--points", help="Print the points of the curves instead.")] = False,
    draws: Annotated[int, typer.Option(min=2, max=MOST_DRAWS, help="Bootstrap draws over queries.")] = 1000,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Compute the risk-coverage trade-off of a signal, and a threshold with a guaranteed error.

    Reads the tables features or scores, and outcomes or scores. Writes nothing. Answers are sorted by the signal:
    `area` is the mean risk over all coverages, `excess` its distance to the optimum. `threshold` guarantees the error;
    it is chosen on half of the queries, and `coverage`, `test_risk` and `overall` are measured on the other half.
    """
    from mirage import store
    from mirage.stages import abstain as abstention

    settings = abstention.AbstainSettings(
        error=error,
        loss=loss,
        higher=higher,
        method=method,
        confidence=confidence,
        languages=codes(languages),
        parser=parser,
        draws=draws,
        seed=seed,
    )
    rows = abstention.tradeoffs(store.open_arena(dir_), signal, settings)
    if points:
        names = ({"language": row.language, "system": row.system} for row in rows)
        cells = [name | asdict(point) for name, row in zip(names, rows, strict=True) for point in row.curve.points]
        show(cells, POINTS, output_format)
        return
    show([{name: row.flat()[name] for name in abstention.SHOWN} for row in rows], abstention.SHOWN, output_format)
    if output_format == "table":
        note(f"guaranteed: {_PROMISES[method].format(error=error, confidence=confidence)}")
