"""Command for the sources of noise: `mirage variance`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Parser, app, codes
from mirage.cli.output import note, show

if TYPE_CHECKING:
    from mirage.ranking.variance import NoiseReport

COLUMNS = ("target", "source", "variance", "variance_low", "variance_high", "share", "n", "reason")
"""Columns of `mirage variance`."""


@app.command()
def variance(
    dir_: ArenaDir,
    judge_names: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="NAME", help="Split the noise of this judge's verdicts; several are averaged."),
    ] = None,
    languages: Languages = None,
    parser: Parser = "strict",
    price_in: Annotated[float | None, typer.Option(min=0, help="Price per million prompt tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0, help="Price per million reply tokens.")] = None,
    output_format: How = "table",
) -> None:
    """Split the noise of a rate, or of a difference between systems, into its sources, and recommend what to add next.

    Without --judge: hallucination and error rates, into queries and samples (tables outcomes and samples). With it: the
    difference of two systems in points, into queries, judges, orders and repeats (table judgments). Components by the
    method of moments with 95% intervals, the query as the unit, averaged over systems or pairs of systems. A judge's
    preference for a position or a system is bias, which repeats do not remove; it is excluded. Writes nothing. Costs
    need the prices and the ledger.
    """
    from mirage import store
    from mirage.llm import Limits
    from mirage.ranking.variance import judge_variance, rate_variance

    arena, only = store.open_arena(dir_), codes(languages)
    limits = Limits(price_in=price_in, price_out=price_out)
    reports = (
        [judge_variance(arena, judges=judge_names, languages=only, limits=limits)]
        if judge_names
        else rate_variance(arena, languages=only, parser=parser, limits=limits)
    )
    show([dataclasses.asdict(source) for report in reports for source in report.sources], COLUMNS, output_format)
    for report in reports:
        _advise(report)


def _advise(report: NoiseReport) -> None:
    """Print what to buy next."""
    for sentence in report.sentences:
        note(sentence)
