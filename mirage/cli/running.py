"""The command that runs every stage: `mirage run`."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, app, codes
from mirage.cli.connection import Connection, connected
from mirage.cli.output import note, progress, show
from mirage.intervals import MOST_DRAWS

if TYPE_CHECKING:
    from mirage.pipeline import StepReport

CALLS = ("calls", "kept", "failed", "tokens_in", "tokens_out", "money")
"""Columns of `run` about calls; empty for a step that makes none."""
COLUMNS = ("stage", "step", "state", "why", "seconds", *CALLS)
"""Columns of `run`."""


@app.command()
@connected
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
        typer.Option(metavar="NAME", help="bm25, rrf, or one of the arena: whole systems with it; may be repeated."),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="How many of a retriever's passages systems are shown.")] = 10,
    baselines: Annotated[
        bool, typer.Option(help="Let the systems that need no model, `baseline/..`, answer too.")
    ] = False,
    system: Annotated[str | None, typer.Option(metavar="NAME", help="The system that --model answers as.")] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose answers others are compared with; `reference` if there is one."),
    ] = None,
    name: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="`heuristic`, or the name that --model judges under.")
    ] = "heuristic",
    queries: Annotated[int | None, typer.Option(min=1, help="Queries a language that are judged.")] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs of answers a language that are judged.")] = None,
    languages: Languages = None,
    draws: Annotated[
        int, typer.Option(min=1, max=MOST_DRAWS, help="Bootstrap draws behind the intervals of ratings.")
    ] = 200,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Run every stage of an arena, from answers to ratings, that is not up to date.

    Reads the tables queries, passages, nuggets and answers. Writes answers (with --baselines of the systems that need
    no model, with --system of the model), outcomes, features, judgments and ratings; where there are nuggets, their
    assignments by shared words; with --to surrogate, predictions and importances too. With --retriever, bm25 searches
    the passages of the arena, rrf
    fuses the lists of all other retrievers, and all that answers does so from each retriever too. Without --model it
    asks nobody and costs nothing; with it the graded features are measured, and with --judge NAME it judges. A step is
    skipped while the content of what it reads, its options and its version are those of the last run. Prints what ran,
    what was skipped and why, with time, calls, tokens and, with the prices, money. --languages, --queries and --pairs
    are about judging.
    """
    from mirage import pipeline, prompts
    from mirage.generate.baselines import TEMPLATE
    from mirage.judge.stage import BattleSample
    from mirage.stage import Progress

    model = None
    if connection.model is not None:
        # As `mirage generate` asks, so that either goes on where the other stopped.
        template = prompts.load_template(TEMPLATE)
        answering = connection.settings(top_p=template.top_p, max_tokens=template.max_new_tokens)
        caller = partial(connection.caller, limits=connection.limits())
        caller(settings=answering)
        endpoint = None if connection.engine == "vllm" else connection.endpoint()
        model = pipeline.RunModel(connection.settings(), connection.limits(), endpoint, answering, caller)
    plan = pipeline.RunOptions(
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
        model=model,
        executor=connection.executor(),
    )
    results: list[StepReport] = []
    with ExitStack() as bars:

        def watch(step: str) -> Progress:
            bars.close()
            return bars.enter_context(progress(step))

        try:
            for result in pipeline.run_all(dir_, plan, made_by="mirage run", dry=connection.dry_run, progress=watch):
                bars.close()
                results.append(result)
        finally:
            bars.close()
            if results:
                show([_row(result) for result in results], COLUMNS, output_format)
                note(_total(results))


def _row(result: StepReport) -> dict[str, Any]:
    cost = dict.fromkeys(CALLS) if result.cost is None else dataclasses.asdict(result.cost)
    return {**dataclasses.asdict(result), **cost}


def _total(results: list[StepReport]) -> str:
    """The run in one sentence."""
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
