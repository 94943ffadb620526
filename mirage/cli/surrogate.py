"""Command that predicts rankings from features: `mirage surrogate`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from mirage import schema
from mirage.cli.common import ArenaDir, How, Languages, Seed, app, codes
from mirage.cli.output import note, progress, show
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage.ranking.surrogate.reporting import Report

Show = Literal["summary", "languages", "predictions", "importances"]
COLUMNS: dict[Show, tuple[str, ...]] = {
    "summary": (
        *("regressor", "published", "languages", "systems", "tau", "rmse", "r2", "slope", "covered", "tau_all"),
        *("tau_gain", "p", "p_error", "chosen"),
    ),
    "languages": ("language", "regressor", "systems", "tau", "rmse", "r2", "slope", "covered"),
    "predictions": (
        *("language", "regressor", "system", "rating", "low", "high", "rank", "judged", "outside", "default"),
    ),
    "importances": ("feature", "regressor", "rise", "low", "high", "systems"),
}
"""Columns of each view of `surrogate`."""


@app.command()
def surrogate(
    dir_: ArenaDir,
    referee: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="relevance|JUDGE",
            help="Referee of the ratings: human relevance labels, or a judge's name.",
        ),
    ] = "relevance",
    skill: Annotated[schema.Skill, typer.Option(help="Which queries count, by relevance.")] = "both",
    languages: Languages = None,
    regressor: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A regressor to compare; default all. Repeatable.")
    ] = None,
    seed: Seed = 0,
    price: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Price of a judge call, to compute savings.")
    ] = None,
    view: Annotated[Show, typer.Option("--show", help="What to print.")] = "summary",
    store_: Annotated[bool, typer.Option("--store", help="Store predictions and importances of every skill.")] = False,
    output_format: How = "table",
) -> None:
    """Predict the ranking from features, without a judge.

    Each system is left out in turn, in all languages, with all its battles, and predicted from the features of its
    answers by regressors trained on the others. Errors, intervals and tests are for left-out systems only. The row
    `default` is the regressor chosen for each system without using that system. Reads the table features, and outcomes
    (referee relevance) or judgments (a judge). Writes nothing; with --store, the tables predictions and importances,
    keeping rows for other referees.
    """
    from mirage import store
    from mirage.battles.referee import NUGGETS, Referee
    from mirage.ranking.surrogate.reporting import report_on
    from mirage.ranking.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS
    from mirage.ranking.surrogate.summaries import conclusions
    from mirage.ranking.surrogate.training import training
    from mirage.stages.stage import run

    arena = store.open_arena(dir_)
    only = codes(languages)
    if referee == NUGGETS:
        raise BadInput(
            "nugget scores are features, so a prediction from features would know the ratings by nuggets",
            do="choose relevance or a judge",
        )
    decider = Referee.from_name(referee, skill=skill)
    if store_ and (only or regressor):
        raise BadInput("--store needs all languages and regressors", do="omit --languages and --regressor")
    stage = RELEVANCE_PREDICTIONS if decider.by_labels else JUDGED_PREDICTIONS
    for name in stage.reads:
        arena.need(name)
    reports: list[Report] = []
    with progress("Leaving out systems") as update:
        options: dict[str, Any] = {"regressors": regressor, "seed": seed, "progress": update}
        if store_:
            skills = [candidate for candidate in get_args(schema.Skill) if candidate == skill or decider.by_labels]
            options |= {"referee": referee, "skills": skills, "on_report": reports.append}
            run(stage, dir_, made_by="mirage surrogate --store", part="referee", **options)
        else:
            features, verdicts = (arena.read(name) for name in stage.reads)
            seen = training(features, verdicts, decider, languages=only)
            reports.append(report_on(seen, decider, **options))
    report = next(candidate for candidate in reports if candidate.referee.skill == skill)
    show(_table(report, view, seed), COLUMNS[view], output_format)
    for line in conclusions(report, price=price):
        note(line)


def _table(report: Report, view: Show, seed: int) -> list[dict[str, Any]]:
    from mirage.ranking.surrogate import importances
    from mirage.ranking.surrogate.summaries import summary

    if view == "summary":
        compared = report.comparison
        return [asdict(row) for row in summary(compared.held_out, compared.default, seed=seed)]
    if view == "languages":
        return [asdict(row) for row in report.comparison.quality()]
    if view == "predictions":
        return [asdict(row) for row in report.rows]
    return [asdict(row) for row in importances(report.training, report.comparison.default, seed=seed)]
