"""Command for imported scores: `mirage votes scores`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, codes
from mirage.cli.output import note, show
from mirage.cli.voting import votes

MEANS = ("measure", "language", "system", "mean", "mean_low", "mean_high", "queries", "raters", "person")
"""Columns of `scores`."""
AGREEMENT = (
    *("measure", "language", "answers", "queries", "raters", "pairs", "equal", "equal_low", "equal_high"),
    *("ordinal", "ordinal_low", "ordinal_high", "interval", "interval_low", "interval_high", "reason"),
)
"""Columns of `scores --agreement`."""


@votes.command("scores")
def scores(
    dir_: ArenaDir,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Print the agreement of people on the same answers.")
    ] = False,
    verdicts_from: Annotated[
        str | None,
        typer.Option(metavar="MEASURE", help="Write verdicts: the answer with the higher score by MEASURE wins."),
    ] = None,
    languages: Languages = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Print imported scores of the answers by people and programs.

    Prints the mean of each system by each measure, or with `--agreement` the share of equal pairs of people's scores
    and Krippendorff's alpha for ordinal and interval data; both with 95% intervals over queries. Reads the table
    scores. Writes nothing, except with `--verdicts-from` the verdicts of a judge `people: MEASURE` into the table
    judgments: each person who scored both answers counts, and ratings made from older verdicts are removed.
    """
    from mirage import store
    from mirage.people.votes import raters

    if verdicts_from is not None:
        result = raters.judge_by_scores(dir_, verdicts_from, made_by="mirage votes scores")
        note(f"{result.arena.address}: verdicts of {raters.judge_name(verdicts_from)}")
    table = store.open_arena(dir_).read("scores", languages=codes(languages))
    if agreement:
        agreements = raters.rater_agreement(table, seed=seed)
        columns = AGREEMENT if output_format != "table" else AGREEMENT[:-1]
        show([dataclasses.asdict(row) for row in agreements], columns, output_format)
        for row in agreements:
            if row.reason:
                note(f"{row.measure}, {row.language}: {row.reason}")
        return
    means = (dataclasses.asdict(row) for row in raters.score_means(table))
    show([row | {"mean_low": row["low"], "mean_high": row["high"]} for row in means], MEANS, output_format)
