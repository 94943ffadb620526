"""Commands about what answers state and what bears them out: `mirage nuggets create|assign|show`, `mirage support`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import QUIET, ArenaDir, How, Languages, app, arena_log, codes, rows
from mirage.cli.connection import Connection, connected, tell
from mirage.cli.output import Format, note, progress, show
from mirage.errors import BadInput
from mirage.units import name_unit

if TYPE_CHECKING:
    from mirage import llm
    from mirage.features import FeatureMean
    from mirage.features.support_grading import SupportResult
    from mirage.nuggets.assign import AssignResult
    from mirage.nuggets.create import CreateResult
    from mirage.store import Arena

nuggets = typer.Typer(help="Nuggets: the facts that a good answer states.", **QUIET)  # type: ignore[arg-type]
app.add_typer(nuggets, name="nuggets")

BANK = ("language", "query_id", "nugget_id", "importance", "text", "passage_id", "author")
"""Columns that `mirage nuggets show --bank` prints."""
MEANS = ("language", "system", "feature", "mean", "mean_low", "mean_high", "n", "total")
"""Columns of scores."""
PEOPLE = (
    *("assigner", "language", "n", "queries", "voters", "raw", "raw_low", "raw_high", "kappa", "kappa_low"),
    *("kappa_high", "skipped", "undecided", "enough", "reason"),
)
"""Columns that `mirage nuggets show --agreement` prints."""
MAX_TOKENS = 4096
"""New tokens of a reply where no option says more: thirty nuggets have room."""
NUGGETS = ("nugget_all", "nugget_all_strict", "nugget_vital", "nugget_vital_strict")
"""Features that rest on nuggets."""
SUPPORT = ("citation_precision", "citation_recall")
"""Features that rest on grades of support."""


@nuggets.command("create")
@connected
def create(dir_: ArenaDir, connection: Connection, languages: Languages = None) -> None:
    """Let a model write the nuggets of every query that has none.

    In the language of the query, from the passages labelled relevant, or from all where none has a label. Reads the
    tables queries and passages. Writes the table nuggets, where nuggets that are there stay, and keeps every reply in
    the arena's ledger: nothing is paid for twice, and the same command goes on where it was stopped.
    """
    from mirage.nuggets import stage

    settings, limits = connection.settings(max_tokens=MAX_TOKENS), connection.limits()
    if connection.dry_run:
        connection.only_caller(settings=settings, limits=limits)
        tell(stage.plan_banks(dir_, settings=settings, limits=limits, languages=codes(languages)), planned=True)
        return
    with _calls(connection, settings, "Writing nuggets", made_by="mirage nuggets create") as calls:
        arena, result = stage.create_banks(dir_, calls=calls, languages=codes(languages))
    _tell_result(result, "queries have no nuggets")
    for reason, n in result.left.items():
        note(f"{n:,} queries are left out: {reason}")
    note(f"{arena.address}: {len(result.nuggets):,} new nuggets")


@nuggets.command("assign")
@connected
def assign(
    dir_: ArenaDir,
    connection: Connection,
    name: Annotated[
        str | None, typer.Option("--assigner", metavar="NAME", help="Name of the model's rows; the model's, if absent.")
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Decide which nuggets each answer states, by a model, or without --model by shared words.

    The matcher of words is `baseline/terms`: it is free, knows no meaning, and is a floor. Reads the tables nuggets,
    answers and queries. Writes the table nugget_assignments, where those of other assigners stay, and the scores into
    the table features. Replies are kept in the arena's ledger: the same command goes on where it was stopped. A nugget
    whose call failed has a row that says so. Prints the scores with 95% intervals over queries.
    """
    if connection.model is None:
        if (name, languages) != (None, None):
            raise BadInput("the matcher of words has one name and takes all languages", do="name a model with --model")
        if connection.dry_run:
            note("No calls: the matcher of words asks no model.")
            return
        _by_terms(dir_, connection)
    elif connection.dry_run:
        from mirage.nuggets import stage

        settings, limits = connection.settings(max_tokens=MAX_TOKENS), connection.limits()
        connection.only_caller(settings=settings, limits=limits)
        tell(stage.plan_assigning(dir_, settings=settings, limits=limits, languages=codes(languages)), planned=True)
        return
    else:
        _by_model(dir_, connection, name, codes(languages))
    _show_means(_measured(dir_, NUGGETS), output_format)


def _by_terms(path: Path, connection: Connection) -> None:
    from mirage.nuggets.stage import TERM_ASSIGNMENTS
    from mirage.stage import run

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
    note("By shared words (baseline/terms), which is a floor; a model assigns with --model.")


def _by_model(path: Path, connection: Connection, name: str | None, languages: list[str] | None) -> None:
    from mirage.nuggets import stage

    settings = connection.settings(max_tokens=MAX_TOKENS)
    with _calls(connection, settings, "Assigning", made_by="mirage nuggets assign") as calls:
        _, result = stage.assign_by_model(path, assigner=name or settings.model, calls=calls, languages=languages)
    _tell_result(result, "nuggets of answers have no assignment")


@nuggets.command("show")
def show_nuggets(
    dir_: ArenaDir,
    bank: Annotated[bool, typer.Option("--bank", help="The nuggets themselves.")] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="How far people agree with who assigned the nuggets.")
    ] = False,
    assigner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose assignments count; who made most, if absent.")
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print the scores of systems by nuggets, with --bank the nuggets, or with --agreement how far people agree.

    Scores by system and language, and over languages; of people and each assigner the exact agreement and Cohen's
    weighted kappa; all with 95% intervals over queries. Reads the tables nuggets, nugget_assignments and answers, and
    for --agreement the votes on nuggets. Writes nothing.
    """
    from mirage import store
    from mirage.features.stage import nugget_means

    arena = store.open_arena(dir_)
    if bank:
        show(rows(arena.read("nuggets", languages=codes(languages)), BANK), BANK, output_format)
        return
    if agreement:
        _show_agreement(arena, codes(languages), output_format)
        return
    chosen, means = nugget_means(arena, assigner=assigner, languages=codes(languages))
    _show_means(means, output_format)
    note(f"Assignments by {chosen}.")


def _show_agreement(arena: Arena, languages: list[str] | None, output_format: Format) -> None:
    from mirage.votes import NuggetVote
    from mirage.votes.stage import nugget_agreement

    log = arena_log(arena, NuggetVote)
    agreements = nugget_agreement(arena, log, languages=languages)
    show([asdict(row) for row in agreements], PEOPLE if output_format != "table" else PEOPLE[:-1], output_format)
    for row in agreements:
        if row.reason:
            note(f"{row.assigner}, {row.language}: {row.reason}")


@app.command("support")
@connected
def support(
    dir_: ArenaDir,
    connection: Connection,
    name: Annotated[
        str | None, typer.Option("--grader", metavar="NAME", help="Name of the model's rows; the model's, if absent.")
    ] = None,
    votes: Annotated[bool, typer.Option("--votes", help="By the votes of people on citations; no model.")] = False,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Grade how far each cited passage bears out the sentence that cites it: full, partial or none.

    By a model, or with --votes by people's votes on citations. Reads the tables answers, passages and queries. Writes
    the table support_grades, where those of other graders stay, and citation precision and recall into the table
    features. Replies are kept in the arena's ledger: the same command goes on where it was stopped. A citation whose
    call failed has a row that says so. Prints both with 95% intervals over queries.
    """
    if votes:
        if (connection.model, name, languages) != (None, None, None):
            raise BadInput("--votes takes the votes that there are", do="leave out --model, --grader and --languages")
        _by_votes(dir_)
    else:
        from mirage.features.support_grading import plan_support

        settings, limits = connection.settings(), connection.limits()
        if connection.dry_run:
            connection.only_caller(settings=settings, limits=limits)
            tell(plan_support(dir_, settings=settings, limits=limits, languages=codes(languages)), planned=True)
            return
        _graded(dir_, connection, name, codes(languages))
    _show_means(_measured(dir_, SUPPORT), output_format)


def _by_votes(path: Path) -> None:
    from mirage import store
    from mirage.votes import Evidence
    from mirage.votes.stage import grade_support_by_votes

    log = arena_log(store.open_arena(path), Evidence)
    grade_support_by_votes(path, log, made_by="mirage support")


def _graded(path: Path, connection: Connection, name: str | None, languages: list[str] | None) -> None:
    from mirage.features.support_grading import grade_support

    settings = connection.settings()
    with _calls(connection, settings, "Grading support", made_by="mirage support") as calls:
        _, result = grade_support(path, grader=name or settings.model, calls=calls, languages=languages)
    _tell_result(result, "citations have no grade")


def _measured(path: Path, names: Sequence[str]) -> list[FeatureMean]:
    """The features that rest on what was decided, measured and written; their means."""
    from mirage.features.measuring import measure
    from mirage.features.stage import shown_means

    arena = measure(path, made_by="mirage features", only=names)
    return shown_means(arena.read("features"), names)


def _show_means(means: Sequence[FeatureMean], output_format: Format) -> None:
    show([asdict(mean) | {"mean_low": mean.low, "mean_high": mean.high} for mean in means], MEANS, output_format)
    if unit := next((mean.unit for mean in means if mean.unit != "query"), None):
        note(f"all: intervals with the {name_unit(unit)} as the unit")


@contextmanager
def _calls(connection: Connection, settings: llm.Settings, title: str, *, made_by: str) -> Iterator[llm.ArenaCalls]:
    """The model that the options name, while its progress is shown."""
    from mirage import llm

    limits = connection.limits()
    with progress(title) as update:
        engine = connection.only_caller(settings=settings, limits=limits)
        yield llm.ArenaCalls(engine, settings, limits, made_by, update)


def _tell_result(result: CreateResult | AssignResult | SupportResult, what: str) -> None:
    """Say what the calls cost, what failed, and what was not asked."""
    tell(result.cost)
    for reason, n in result.failed.items():
        note(f"{n:,} {what}; the same command asks again where a call failed: {reason}")
    if result.unasked:
        note(f"{result.unasked:,} {what}: the budget was reached; the same command goes on.")
