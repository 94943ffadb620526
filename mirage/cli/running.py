"""Command that runs the pipeline: `mirage run`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, app, codes
from mirage.cli.connection import Connection
from mirage.cli.output import Format, note, progress, show
from mirage.cli.settings import expand_settings
from mirage.stats.intervals import MOST_DRAWS

if TYPE_CHECKING:
    from mirage.pipeline import RunModel, RunSettings, StepReport

CALLS = ("calls", "kept", "failed", "tokens_in", "tokens_out", "money")
"""Columns of `run` about calls; empty for a step without calls."""
COLUMNS = ("stage", "step", "state", "why", "seconds", *CALLS)
"""Columns of `run`."""


@app.command()
@expand_settings
def run(
    dir_: ArenaDir,
    connection: Connection,
    first_stage: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="STAGE",
            help="First stage: retrieve, baselines, generate, outcomes, nuggets, features, judge, ratings, surrogate.",
        ),
    ] = "retrieve",
    last_stage: Annotated[
        str, typer.Option("--to", metavar="STAGE", help="Last stage; surrogate takes minutes.")
    ] = "ratings",
    retriever: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="bm25, rrf, or a retriever in the arena, for end-to-end systems. Repeatable."
        ),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Number of the retriever's top passages shown to systems.")] = 10,
    baselines: Annotated[
        bool, typer.Option(help="Also answer with the baselines, `baseline/..`, which need no model.")
    ] = False,
    system: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the system that --model answers as.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="System with the reference answers; by default `reference` if it exists."),
    ] = None,
    name: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="`heuristic`, or the name of --model as judge.")
    ] = "heuristic",
    queries: Annotated[int | None, typer.Option(min=1, help="Queries to judge per language.")] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs of answers to judge per language.")] = None,
    languages: Languages = None,
    draws: Annotated[
        int, typer.Option(min=1, max=MOST_DRAWS, help="Bootstrap draws for the intervals of ratings.")
    ] = 200,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Run every stage of an arena that is not up to date, from answers to ratings.

    Reads the tables queries, passages, nuggets and answers. Writes outcomes, features, judgments and ratings; answers
    with --baselines or --system; nugget assignments by shared words if there are nuggets; predictions and importances
    with --to surrogate. With --retriever, bm25 searches the passages of the arena, rrf fuses the lists of all other
    retrievers, and every system also answers from each retriever. Without --model it makes no calls and costs nothing;
    with it the graded features are measured, and with --judge NAME it judges. A step is skipped if its inputs, options
    and version are unchanged since the last run. Prints the steps run and skipped with reasons, time, calls, tokens
    and, with prices, cost. --languages, --queries and --pairs apply to judging.
    """
    from mirage import pipeline
    from mirage.stages.judge.stage import BattleSample

    settings = pipeline.RunSettings(
        start=first_stage,
        end=last_stage,
        retrievers=tuple(dict.fromkeys(retriever or ())),
        depth=depth,
        baselines=baselines,
        system=system,
        reference=reference,
        judge=name,
        sample=BattleSample(queries, pairs, seed, codes(languages)),
        draws=draws,
        seed=seed,
        model=run_model(connection),
        executor=connection.executor(),
    )
    _run_and_show(dir_, settings, output_format, dry=connection.dry_run)


def run_model(connection: Connection) -> RunModel | None:
    """Return the model of a run; None if none is named.

    It answers with the settings of `mirage generate`, so that either command can resume the other.
    """
    from mirage import pipeline
    from mirage.llm import prompts
    from mirage.stages.generate.baselines import TEMPLATE

    if connection.model is None:
        return None
    template = prompts.load_template(TEMPLATE)
    answering = connection.chat_model(top_p=template.top_p, max_tokens=template.max_new_tokens)
    connection.caller(answering)  # rejects invalid options before anything runs
    return pipeline.RunModel(connection.chat_model(), answering.settings, connection.caller)


def _run_and_show(path: Path, settings: RunSettings, output_format: Format, *, dry: bool) -> None:
    """Run the stages, or plan them, with progress, and print the steps, also those before an error."""
    from mirage import pipeline
    from mirage.stages.stage import Progress

    results: list[StepReport] = []
    with ExitStack() as bars:

        def watch(step: str) -> Progress:
            bars.close()
            return bars.enter_context(progress(step))

        try:
            for result in pipeline.run_all(path, settings, made_by="mirage run", dry=dry, progress=watch):
                bars.close()
                results.append(result)
        finally:
            bars.close()
            if results:
                show([_row(result) for result in results], COLUMNS, output_format)
                note(total(results))


def _row(result: StepReport) -> dict[str, Any]:
    cost = dict.fromkeys(CALLS) if result.cost is None else dataclasses.asdict(result.cost)
    return {**dataclasses.asdict(result), **cost}


def total(results: Sequence[StepReport]) -> str:
    """Summarise the run in one sentence."""
    states = [result.state for result in results]
    parts = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    costs = [result.cost for result in results if result.cost is not None]
    calls, tokens_in, tokens_out = (
        sum(getattr(cost, n) for cost in costs) for n in ("calls", "tokens_in", "tokens_out")
    )
    money = [cost.money for cost in costs if cost.money is not None]
    payment = f", {sum(money):,.2f} in the currency of the prices" if money else ""
    seconds = sum(result.seconds for result in results)
    return (
        f"{', '.join(parts)}; {seconds:,.1f} seconds, {calls:,} calls, {tokens_in:,} prompt tokens and {tokens_out:,}"
        f" reply tokens{payment}."
    )
