"""Commands about judges: `mirage judge`, `mirage judges`, `mirage exam`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, Share, app, arena_log, codes
from mirage.cli.connection import Connection, connected, tell
from mirage.cli.merging import part_of
from mirage.cli.output import Format, note, progress, show
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage.exam import JudgeExam
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
    queries: Annotated[int | None, typer.Option(min=1, help="Queries a language, drawn; all if absent.")] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs of answers a language, drawn; all if absent.")] = None,
    seed: Seed = 0,
    languages: Languages = None,
    battles: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Only these, as `mirage place --next FILE` writes them.")
    ] = None,
    known: Annotated[
        bool,
        typer.Option("--known", help="Only pairs whose right answer the relevance labels tell, as an exam."),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Ask again for verdicts that the judge has, whatever the ledger holds.")
    ] = False,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Let a judge compare the answers of an arena, two at a time.

    Every pair is shown in both orders. Reads the tables queries, passages and answers, and with `--judge heuristic`,
    which asks no model and costs nothing, answers and features. Writes the table judgments, where those of other
    judges stay, and keeps every reply in the arena's ledger: nothing is paid for twice, and the same command goes on
    where it was stopped. The same model at another service is another judge. With `--replace` every battle is asked
    and paid for again. Ratings made from older judgments are removed. Prints the judge's rates.

    With `--known` the battles are pairs of a right and a wrong answer by the relevance labels (table outcomes), half of
    them where no passage answers. The verdicts stand under `known: NAME`: `mirage exam` counts them as the judge's own,
    and no ranking counts them.
    """
    from mirage.judge import HEURISTIC, stage
    from mirage.judge.stage import BattleSample, judge_arena_by_features, judge_by_model, plan_judging, read_battles

    if battles is not None and (queries, pairs, languages, known) != (None, None, None, False):
        raise BadInput("--battles names the battles", do="leave out --queries, --pairs, --languages and --known")
    selection = None if battles is None else read_battles(battles)
    sample = BattleSample(queries, pairs, seed, codes(languages), selection, known)
    if replace and share is not None:
        raise BadInput(
            "--replace goes without --shard: parts cannot tell which verdicts are newer",
            do="give the judge another name with --judge",
        )
    dir_, shard = part_of(whole := dir_, share, dry=connection.dry_run)
    if shard is not None:
        sample = stage.of_shard(whole, sample, shard, by_features=name == HEURISTIC)
        if not sample.battles:
            note("This share holds none of the battles.")
            return
    if name == HEURISTIC and connection.model is None:
        if connection.dry_run:
            note("No calls: this judge asks no model.")
            return
        arena = judge_arena_by_features(dir_, sample=sample, made_by="mirage judge")
    else:
        settings, limits = connection.settings(), connection.limits()
        run = connection.only_caller(settings=settings, limits=limits)
        if connection.dry_run:
            plan = plan_judging(dir_, name=name, settings=settings, limits=limits, sample=sample, replace=replace)
            tell(plan, planned=True)
            return
        with progress("Judging") as update:
            arena, result = judge_by_model(
                dir_,
                name=name,
                engine=run,
                settings=settings,
                limits=limits,
                sample=sample,
                made_by="mirage judge",
                progress=update,
                replace=replace,
            )
        tell(result.cost)
        for reason, n in result.failed.items():
            note(f"{n:,} battles failed and have no verdict; the same command asks again: {reason}")
        if result.unasked:
            note(f"{result.unasked:,} battles not asked, the budget was reached; the same command goes on.")
    stats = stage.judge_statistics(dir_, limits=connection.limits()) if "judgments" in arena.tables else []
    _show([row for row in stats if row.judge == sample.owner(name)], output_format)


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


EXAM = ("judge", "language", "measure", "value", "low", "high", "n", "queries", "reason")
"""Columns that `mirage exam` prints, a row a measure."""


@app.command()
def exam(
    dir_: ArenaDir,
    judge_names: Annotated[
        list[str] | None, typer.Option("--judge", metavar="NAME", help="A judge; may be given several times.")
    ] = None,
    languages: Languages = None,
    ratings: Annotated[
        str | None, typer.Option(metavar="MEASURE", help="The measure whose scores count as people's verdicts.")
    ] = None,
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million prompt tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0, help="Price of a million reply tokens.")] = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Print how every judge does beside people on the same battles.

    Agreement, kappa, sensitivity and specificity of “better” and of “tie”, what the judge leans to, and the order of
    systems, with 95% intervals over queries; people among themselves last. Reads the table judgments, the votes on the
    arena, scores and lengths where they are, and the ledger. Writes nothing. Money needs the prices.
    """
    from mirage import store
    from mirage.exam import MEASURES
    from mirage.exam import exam as examine
    from mirage.llm import Limits
    from mirage.votes import Vote

    arena = store.open_arena(dir_)
    log = arena_log(arena, Vote)
    limits = Limits(price_in=price_in, price_out=price_out)
    result = examine(
        arena, votes=log, judges=judge_names, languages=codes(languages), ratings=ratings, limits=limits, seed=seed
    )
    if output_format == "table":
        columns = ("judge", "language", "battles", *MEASURES, "tokens", "money")
        show([dataclasses.asdict(row) | _marks(row) for row in result.exams], columns, output_format)
    else:
        show(result.table().to_pylist(), EXAM, output_format)
    for panel in result.panels:
        if panel.effective.value is not None:
            n = f"{panel.effective.value:.1f}"
            if panel.effective.low is not None:
                n = f"at least {panel.effective.low:.1f} (estimate {n})"
            note(f"{panel.language}: {len(panel.judges)} judges are worth {n} independent ones")
    for choice in result.choices:
        note(choice.sentence)


def _marks(row: JudgeExam) -> dict[str, str]:
    """The measures of one judge for people."""
    return {
        name: "-"
        if mark.value is None
        else f"{mark.value:.2f}" + ("" if mark.low is None else f" ({mark.low:.2f} to {mark.high:.2f})")
        for name, mark in row.measures.items()
    }


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
