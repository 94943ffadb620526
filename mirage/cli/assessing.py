"""Commands for nuggets and citation support: `mirage nuggets create|assign|show|support`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import QUIET, ArenaDir, How, Languages, app, arena_log, codes, rows
from mirage.cli.connection import Connection, tell
from mirage.cli.output import Format, note, progress, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput
from mirage.stats.units import name_unit

if TYPE_CHECKING:
    from mirage import llm
    from mirage.stages.features import FeatureMean
    from mirage.stages.features.support_grading import SupportResult
    from mirage.stages.nuggets.assign import AssignResult
    from mirage.stages.nuggets.create import CreateResult

nuggets = typer.Typer(help="Nuggets, the facts that a good answer states, and support of citations.", **QUIET)  # type: ignore[arg-type]
app.add_typer(nuggets, name="nuggets")

BANK = ("language", "query_id", "nugget_id", "importance", "text", "passage_id", "author")
"""Columns that `mirage nuggets show --bank` prints."""
MEANS = ("language", "system", "feature", "mean", "mean_low", "mean_high", "n", "total")
"""Columns of the score tables."""
MAX_TOKENS = 4096
"""Default maximum of new tokens per reply; enough for thirty nuggets."""


@nuggets.command("create")
@expand_settings
def create(dir_: ArenaDir, connection: Connection, languages: Languages = None) -> None:
    """Generate nuggets with a model for every query that has none.

    Nuggets are written in the language of the query, from the passages labelled relevant, or from all if none has a
    label. Reads the tables queries and passages. Writes the table nuggets, keeping existing nuggets, and caches
    every reply in the arena's ledger: rerun the command to resume; no call is paid for twice.
    """
    from mirage.stages.nuggets import stage

    model = connection.chat_model(max_tokens=MAX_TOKENS)
    if connection.dry_run:
        connection.only_caller(model)
        tell(stage.plan_banks(dir_, model, languages=codes(languages)), planned=True)
        return
    with _calls(connection, model, "Writing nuggets", made_by="mirage nuggets create") as calls:
        arena, result = stage.create_banks(dir_, calls=calls, languages=codes(languages))
    _tell_result(result, "queries have no nuggets")
    for reason, n in result.left.items():
        note(f"{n:,} queries skipped: {reason}")
    note(f"{arena.address}: {len(result.nuggets):,} new nuggets")


@nuggets.command("assign")
@expand_settings
def assign(
    dir_: ArenaDir,
    connection: Connection,
    name: Annotated[
        str | None, typer.Option("--assigner", metavar="NAME", help="Name for the model's rows; by default the model.")
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Decide which nuggets each answer states, by a model, or without --model by shared words.

    The word matcher `baseline/terms` is free, ignores meaning, and is a lower bound. Reads the tables nuggets, answers
    and queries. Writes the table nugget_assignments, keeping those of other assigners, and the scores into the table
    features. Replies are cached in the arena's ledger: rerun the command to resume. A nugget whose call failed gets a
    row with the reason. Prints the scores with 95% intervals over queries.
    """
    if connection.model is None:
        if (name, languages) != (None, None):
            raise BadInput("--assigner and --languages need a model", do="name a model with --model")
        if connection.dry_run:
            note("No calls: the word matcher uses no model.")
            return
        _by_terms(dir_, connection)
    elif connection.dry_run:
        from mirage.stages.nuggets import stage

        model = connection.chat_model(max_tokens=MAX_TOKENS)
        connection.only_caller(model)
        tell(stage.plan_assigning(dir_, model, languages=codes(languages)), planned=True)
        return
    else:
        _by_model(dir_, connection, name, codes(languages))
    _show_means(_update_means(dir_, "nuggets"), output_format)


def _by_terms(path: Path, connection: Connection) -> None:
    from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
    from mirage.stages.stage import run

    executor = connection.executor()
    with progress("Matching words") as update:
        run(
            TERM_ASSIGNMENTS,
            path,
            made_by="mirage nuggets assign",
            part="assigner",
            executor=executor,
            progress=update,
        )
    note("Assigned by shared words (baseline/terms), a lower bound; use --model to assign with a model.")


def _by_model(path: Path, connection: Connection, name: str | None, languages: Sequence[str] | None) -> None:
    from mirage.stages.nuggets import stage

    model = connection.chat_model(max_tokens=MAX_TOKENS)
    with _calls(connection, model, "Assigning", made_by="mirage nuggets assign") as calls:
        _, result = stage.assign_by_model(path, assigner=name or model.settings.model, calls=calls, languages=languages)
    _tell_result(result, "nuggets of answers have no assignment")


@nuggets.command("show")
def show_nuggets(
    dir_: ArenaDir,
    bank: Annotated[bool, typer.Option("--bank", help="Print the nuggets themselves.")] = False,
    assigner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Assigner to use; by default the one with the most assignments.")
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print nugget scores by system, or with --bank the nuggets.

    Scores are by system and language, and over languages, with 95% intervals over queries. Reads the tables nuggets,
    nugget_assignments and answers. Writes nothing.
    """
    from mirage import store
    from mirage.stages.features.stage import nugget_means

    arena = store.open_arena(dir_)
    if bank:
        show(rows(arena.read("nuggets", languages=codes(languages)), BANK), BANK, output_format)
        return
    chosen, means = nugget_means(arena, assigner=assigner, languages=codes(languages))
    _show_means(means, output_format)
    note(f"Assignments by {chosen}.")


@nuggets.command("support")
@expand_settings
def support(
    dir_: ArenaDir,
    connection: Connection,
    name: Annotated[
        str | None, typer.Option("--grader", metavar="NAME", help="Name for the model's rows; by default the model.")
    ] = None,
    votes: Annotated[bool, typer.Option("--votes", help="Use people's votes on citations instead of a model.")] = False,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Grade how far each cited passage supports the sentence that cites it: full, partial or none.

    Grades are from a model, or with --votes from people's votes on citations. Reads the tables answers, passages and
    queries. Writes the table support_grades, keeping those of other graders, and citation precision and recall into
    the table features. Replies are cached in the arena's ledger: rerun the command to resume. A citation whose call
    failed gets a row with the reason. Prints both features with 95% intervals over queries.
    """
    if votes:
        if (connection.model, name, languages) != (None, None, None):
            raise BadInput("--votes uses no model and all languages", do="omit --model, --grader and --languages")
        _by_votes(dir_)
    else:
        from mirage.stages.features.support_grading import plan_support

        model = connection.chat_model()
        if connection.dry_run:
            connection.only_caller(model)
            tell(plan_support(dir_, model, languages=codes(languages)), planned=True)
            return
        _grade_by_model(dir_, connection, name, codes(languages))
    _show_means(_update_means(dir_, "support_grades"), output_format)


def _by_votes(path: Path) -> None:
    from mirage import store
    from mirage.people.votes import Evidence
    from mirage.people.votes.stage import grade_support_by_votes

    log = arena_log(store.open_arena(path), Evidence)
    grade_support_by_votes(path, log, made_by="mirage nuggets support")


def _grade_by_model(path: Path, connection: Connection, name: str | None, languages: Sequence[str] | None) -> None:
    from mirage.stages.features.support_grading import grade_support

    model = connection.chat_model()
    with _calls(connection, model, "Grading support", made_by="mirage nuggets support") as calls:
        _, result = grade_support(path, grader=name or model.settings.model, calls=calls, languages=languages)
    _tell_result(result, "citations have no grade")


def _update_means(path: Path, table: str) -> list[FeatureMean]:
    """Measure and store the features computed from a table's new rows, and return their means."""
    from mirage import store
    from mirage.stages.features.measuring import measure
    from mirage.stages.features.settings import MeasureSettings
    from mirage.stages.features.stage import shown_means

    names = store.LINEAGE[table].features
    arena = measure(path, MeasureSettings(names), made_by="mirage features")
    return shown_means(arena.read("features"), names)


def _show_means(means: Sequence[FeatureMean], output_format: Format) -> None:
    show([asdict(mean) | {"mean_low": mean.low, "mean_high": mean.high} for mean in means], MEANS, output_format)
    if unit := next((mean.unit for mean in means if mean.unit != "query"), None):
        note(f"all: intervals resample by {name_unit(unit)}")


@contextmanager
def _calls(connection: Connection, model: llm.ChatModel, title: str, *, made_by: str) -> Iterator[llm.ArenaCalls]:
    """Connect to a model, and show progress."""
    from mirage import llm

    with progress(title) as update:
        yield llm.ArenaCalls(connection.only_caller(model), model, made_by, update)


def _tell_result(result: CreateResult | AssignResult | SupportResult, what: str) -> None:
    """Report the cost of the calls, failures, and calls not made."""
    tell(result.cost)
    for reason, n in result.failed.items():
        note(f"{n:,} {what}; rerun the command to retry failed calls: {reason}")
    if result.unasked:
        note(f"{result.unasked:,} {what}: the budget was reached; rerun the command to resume.")
