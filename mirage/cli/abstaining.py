"""The command about withheld answers: `mirage abstain`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from mirage.cli.common import ArenaDir, How, Languages, Parser, Seed, app, codes
from mirage.cli.output import note, show
from mirage.intervals import MOST_DRAWS

POINTS = ("language", "system", "coverage", "risk", "low", "high")
"""Columns of `abstain --points`."""
_PROMISES = {
    "conformal": "of all answers, given or withheld, at most {error:g} are given and wrong, on the mean",
    "tested": "of the answers given, at most {error:g} are wrong, with a probability of at least {confidence:g}",
}


@app.command()
def abstain(
    dir_: ArenaDir,
    signal: Annotated[str, typer.Option(metavar="NAME", help="A feature, or a measure of scores.")],
    error: Annotated[float, typer.Option(metavar="SHARE", help="The error to promise.")] = 0.1,
    loss: Annotated[
        str, typer.Option(metavar="NAME", help="What is wrong: hallucination, wrong, or a measure of scores.")
    ] = "hallucination",
    higher: Annotated[
        bool | None,
        typer.Option("--higher/--lower", help="Which values speak for an answer; as the feature declares if absent."),
    ] = None,
    method: Annotated[
        Literal["conformal", "tested"],
        typer.Option(help="conformal: the error over all answers, on the mean. tested: that among those given."),
    ] = "conformal",
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="The probability that tested promises.")] = 0.95,
    languages: Languages = None,
    parser: Parser = "strict",
    points: Annotated[bool, typer.Option("--points", help="The points of the curves instead.")] = False,
    draws: Annotated[int, typer.Option(min=2, max=MOST_DRAWS, help="Draws of the bootstrap of the queries.")] = 1000,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Say what withholding weak answers buys.

    Reads the tables features or scores, and outcomes or scores. Writes nothing. Answers are sorted by the signal:
    `area` is the mean risk over all coverages, `excess` how far that is from the best possible. `threshold` holds the
    promised error; half of the queries choose it, `coverage`, `test_risk` and `overall` are of the other half.
    """
    from mirage import abstention, store

    rows = abstention.tradeoffs(
        store.open_arena(dir_),
        signal,
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
    if points:
        names = ({"language": row.language, "system": row.system} for row in rows)
        cells = [name | asdict(point) for name, row in zip(names, rows, strict=True) for point in row.curve.points]
        show(cells, POINTS, output_format)
        return
    show([{name: row.flat()[name] for name in abstention.SHOWN} for row in rows], abstention.SHOWN, output_format)
    if output_format == "table":
        note(f"promised: {_PROMISES[method].format(error=error, confidence=confidence)}")
