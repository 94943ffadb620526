"""Command that takes a file to a ranking: `mirage evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, confirm

from mirage.cli.common import FileFormat, How, Languages, Meanings, Names, Values, app
from mirage.cli.completion import complete_sources
from mirage.cli.connection import Connection, tell
from mirage.cli.measuring import summarise_steps
from mirage.cli.output import note, progress
from mirage.cli.ranking import print_ranking
from mirage.cli.settings import expand_settings
from mirage.cli.showing import print_behaviour, print_next
from mirage.errors import BadInput
from mirage.schema import Failures
from mirage.store import folders
from mirage.store.arena import is_arena
from mirage.store.extras import extra

if TYPE_CHECKING:
    from mirage.llm.calls import Cost
    from mirage.pipeline.evaluating import EvaluateSettings, EvaluationReport
    from mirage.views.overview import OverviewView

SERVICE = frozenset({"model", "base_url", "provider", "engine"})
"""Options that each make a model the judge."""


def is_terminal() -> bool:
    """Return whether the command can ask for confirmation."""
    return sys.stdin.isatty()


@app.command()
@expand_settings
def evaluate(
    connection: Connection,
    file: Annotated[
        str | None,
        Argument(
            metavar="[FILE]",
            autocompletion=complete_sources,
            help="A file or folder in any known format, an arena, or a bundled arena's name.",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        Option("--into", metavar="DIR", parser=folders.locate, help="The arena's folder; by default next to the file."),
    ] = None,
    judge: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Judge that ranks: one of the file, relevance, nuggets, or a model by its name at the service.",
        ),
    ] = None,
    baselines: Annotated[
        bool, Option("--baselines", help="Also answer with the baselines, `baseline/..`, which need no model.")
    ] = False,
    open_: Annotated[bool, Option("--open", help="Open the explorer on the arena at the end.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask before the judge's calls.")] = False,
    kind: FileFormat = None,
    names: Names = None,
    values: Values = None,
    meanings: Meanings = None,
    queries: Annotated[int | None, Option(min=1, help="Queries to judge per language.")] = None,
    pairs: Annotated[int | None, Option(min=1, help="Pairs of answers to judge per language.")] = None,
    languages: Languages = None,
    failures: Annotated[
        Failures, Option(metavar="count|drop", help="Failed answers: count them as wrong, or drop them.")
    ] = "count",
    output_format: How = "table",
) -> None:
    """Evaluate a file or an arena in one go: import it, measure its answers, judge them if a judge is named, and rank.

    Reads FILE, without one the bundled sample. Writes the arena DIR, by default NAME-arena next to the file: its
    tables, outcomes, features that need no model, nugget assignments by shared words, judgments and ratings. Your own
    arena is evaluated in place, a bundled arena is copied. Without --judge the judge of the file ranks, else labels of
    answerable and unanswerable queries (relevance labels, a field, or the reference answers), else nugget scores, else
    scores of the answers, and nothing is sent; from then on the judge is the arena's default. Without any of these
    it prints how often each system abstains, cites and keeps the language, which does not rank; --judge heuristic
    compares features. With --judge MODEL and its service the maximum cost of the
    calls is printed and must be confirmed. Rerun it to resume: only outdated steps run, and no call is paid for twice.
    Prints the ranking, its findings and the next commands. --languages, --queries and --pairs apply to judging.
    """
    from mirage.io.options import Options
    from mirage.pipeline import evaluating
    from mirage.pipeline.evaluating import EvaluateSettings
    from mirage.stages.judge.stage import BattleSample
    from mirage.views.overview import OverviewChoice, overview_view

    if open_:
        with extra("explorer", "the explorer"):
            metadata.version("streamlit")
    settings = EvaluateSettings(
        judge=judge,
        kind=kind,
        options=Options.parse(names or (), values or (), meanings or ()),
        sample=BattleSample(queries, pairs, languages=languages),
        baselines=baselines,
        failures=failures,
    )
    source, folder = evaluating.locate(file, into)
    if settings.options != Options() and is_arena(source):
        raise BadInput(f"{source} is an arena", do="omit --map, --set and --value, which are for a file")
    settings = _with_model(settings, connection, source, folder)
    if settings.model is not None and not (yes or connection.dry_run or is_terminal()):
        raise BadInput("the judge's calls are not confirmed", do="add --yes, or --dry-run for their cost")
    report = _evaluate(source, folder, settings, connection, yes=yes)
    view = overview_view(report.arena, OverviewChoice(report.draws, report.seed, report.failures))
    note(*view.findings)
    print_behaviour(view, output_format)
    if (board := view.board) is not None:
        print_ranking(board.ranking, output_format, languages=[board.scope] if output_format == "table" else None)
    _summarise(report, view)
    if open_:
        from mirage.cli.serving import explorer

        explorer(report.arena.path)


def _with_model(settings: EvaluateSettings, connection: Connection, source: Path, folder: Path) -> EvaluateSettings:
    """Return the settings with the judge's model, unless the judge is one of the data.

    Raises:
        BadInput: if a service is given without a judge, or an option or key is invalid.
    """
    from mirage.battles.judge import ALONE, HEURISTIC
    from mirage.pipeline.evaluating import judges_of_data
    from mirage.pipeline.steps import RunModel

    plain = Connection()
    given = [field.name for field in fields(plain) if getattr(connection, field.name) != getattr(plain, field.name)]
    served = not SERVICE.isdisjoint(given)
    if settings.judge is None and served:
        raise BadInput("a service is given, but no judge", do="add --judge with the model's name")
    free = settings.judge in (None, *ALONE, HEURISTIC)
    if free or (not served and settings.judge in judges_of_data(source, folder, settings)):
        if given:
            raise BadInput(
                f"--{given[0].replace('_', '-')} is for a model as judge", do="add --judge MODEL, or omit it"
            )
        return settings
    model = replace(connection, model=connection.model or settings.judge).chat_model()
    connection.make_engine(model)  # rejects invalid options before anything runs
    return replace(settings, model=RunModel(model, connection.make_engine))


def _evaluate(
    source: Path, folder: Path, settings: EvaluateSettings, connection: Connection, *, yes: bool
) -> EvaluationReport:
    """Evaluate with progress, asking before the judge's calls."""
    from mirage.pipeline import evaluating

    with ExitStack() as bars:

        def watch(step: str) -> Callable[[int, int | None], None]:
            bars.close()
            return bars.enter_context(progress(step.capitalize()))

        def agree(cost: Cost) -> bool:
            bars.close()
            tell(cost, planned=True)
            return not connection.dry_run and (yes or confirm("Make these calls?", err=True))

        return evaluating.evaluate(source, folder, settings, made_by="mirage evaluate", agree=agree, progress=watch)


def _summarise(report: EvaluationReport, view: OverviewView) -> None:
    """Print a summary: what was read and computed, and suggested next commands."""
    if report.imported is not None:
        note(*report.imported.lines())
    note(f"Arena: {view.place}. {summarise_steps(report.steps)}")
    for step in report.steps:
        if step.state == "unfinished" or (
            step.stage == "judge" and step.state == "skipped" and step.why != "up to date"
        ):
            note(f"{step.step}: {step.why}")
    if report.planned is not None:
        note("Not judged: nothing was sent. To judge, run the same command with --yes and without --dry-run.")
    print_next(view)
