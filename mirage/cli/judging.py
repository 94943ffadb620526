"""Commands about judges: `mirage judge`, `mirage judges`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, app, codes
from mirage.cli.connection import Connection, Engine, EngineArgs, connected, engine_options, tell
from mirage.cli.output import Format, note, progress, show
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage.judge import JudgeStats

RATES = ("flip", "first", "tie", "unparsed")
COLUMNS = (
    *("judge", "language", "n", "flip_rate", "flip_low", "flip_high", "flip_n"),
    *("first_rate", "first_low", "first_high", "first_n", "tie_rate", "tie_low", "tie_high", "tie_n"),
    *("unparsed_rate", "unparsed_low", "unparsed_high", "calls", "tokens_in", "tokens_out", "money"),
)
"""Columns that `mirage judges` prints."""
SHOWN = ("judge", "language", "n", *RATES, "calls", "tokens_in", "tokens_out", "money")
"""Those of the table for people, rates with their intervals in one."""


@app.command()
@connected
def judge(
    dir_: ArenaDir,
    name: Annotated[str, typer.Option("--judge", metavar="NAME", help="The judge's name, or `heuristic`.")],
    connection: Connection,
    queries: Annotated[int | None, typer.Option(min=1, help="Questions a language, drawn; all if absent.")] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs of answers a language, drawn; all if absent.")] = None,
    seed: Seed = 0,
    languages: Languages = None,
    battles: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Only these, as `mirage place --next FILE` writes them.")
    ] = None,
    engine: Engine = "openai",
    engine_args: EngineArgs = "{}",
    output_format: How = "table",
) -> None:
    """Let a judge compare the answers of an arena, two at a time.

    Every pair is shown in both orders. Reads the tables queries, passages and answers, and with `--judge heuristic`,
    which asks no model and costs nothing, answers and features. Writes the table judgments, where those of other
    judges stay, and keeps every reply in the arena's ledger: nothing is paid for twice, and the same command goes on
    where it was stopped. Ratings made from older judgments are removed. Prints the judge's rates.
    """
    from mirage.judge import HEURISTIC, stage
    from mirage.judge.stage import Sample, judge_arena_by_features, judge_by_model, plan_judging, read_battles

    if battles is not None and (queries, pairs, languages) != (None, None, None):
        raise BadInput("--battles names the battles", do="leave out --queries, --pairs and --languages")
    selection = None if battles is None else read_battles(battles)
    sample = Sample(queries, pairs, seed, codes(languages), selection)
    if name == HEURISTIC and connection.model is None:
        if connection.dry_run:
            note("No calls: this judge asks no model.")
            return
        arena = judge_arena_by_features(dir_, sample=sample, made_by="mirage judge")
    else:
        settings, limits = connection.settings(), connection.limits()
        options = engine_options(engine_args)
        if connection.dry_run:
            tell(plan_judging(dir_, settings=settings, limits=limits, sample=sample), planned=True)
            return
        with progress("Judging") as update:
            arena, result = judge_by_model(
                dir_,
                name=name,
                engine=connection.engine(engine, options, settings=settings, limits=limits),
                settings=settings,
                limits=limits,
                sample=sample,
                made_by="mirage judge",
                progress=update,
            )
        tell(result.cost)
        for reason, n in result.failed.items():
            note(f"{n:,} battles failed and have no verdict; the same command asks again: {reason}")
        if result.unasked:
            note(f"{result.unasked:,} battles not asked, the budget was reached; the same command goes on.")
    stats = stage.judge_statistics(dir_, limits=connection.limits()) if "judgments" in arena.tables else []
    _show([row for row in stats if row.judge == name], output_format)


@app.command()
def judges(
    dir_: ArenaDir,
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million prompt tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0, help="Price of a million reply tokens.")] = None,
    output_format: How = "table",
) -> None:
    """Print how far each judge can be trusted, and what it cost.

    Flip, first-position, tie and unparsed rates with 95% intervals and what they are of, calls and tokens, a judge
    and language. Reads the table judgments and the arena's ledger. Writes nothing. Money needs the prices.
    """
    from mirage.judge import stage
    from mirage.llm import Limits

    _show(stage.judge_statistics(dir_, limits=Limits(price_in=price_in, price_out=price_out)), output_format)


def _show(stats: Sequence[JudgeStats], output_format: Format) -> None:
    rows = [dataclasses.asdict(row) for row in stats]
    if output_format != "table":
        show(rows, COLUMNS, output_format)
        return
    for row in rows:
        row |= {name: _share(row, name) for name in RATES}
    show(rows, SHOWN, output_format)


def _share(row: Mapping[str, Any], name: str) -> str:
    """A rate with its interval and what it is of, for people."""
    rate, low, high = (row[f"{name}_{part}"] for part in ("rate", "low", "high"))
    of = row["n" if name == "unparsed" else f"{name}_n"]
    return "-" if rate is None else f"{rate:.1%} ({low:.1%} to {high:.1%}) of {of:,}"
