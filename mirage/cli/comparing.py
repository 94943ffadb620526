"""Command that compares two systems, for use as a CI gate: `mirage compare`."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from mirage.cli.common import (
    How,
    OpenArena,
    Tags,
    app,
    arena_labels,
    local_path,
    note_default_judge,
    open_existing,
    select_tagged,
)
from mirage.cli.completion import complete_systems
from mirage.cli.output import columns_of, note, show
from mirage.cli.settings import expand_settings
from mirage.ranking.settings import CompareSettings
from mirage.store.arena import Arena
from mirage.store.export import write_whole

ABOUT = ("first", "second", "measure", "margin")
"""Columns before those of `Comparison` in JSON and CSV; JSON appends the queries that moved."""
PRINTED = (
    *("language", "verdict", "difference", "low", "high", "p", "n_queries"),
    *("detectable", "queries_needed", "unpaired", "differing", "board", "reason"),
)
"""Columns of the table, the most important first."""


@app.command()
@expand_settings
def compare(
    arena: OpenArena,
    first: Annotated[str, Argument(metavar="A", autocompletion=complete_systems, help="System under test.")],
    second: Annotated[
        str | None,
        Argument(
            metavar="[B]",
            autocompletion=complete_systems,
            help="Baseline system; with --against, the same system by default.",
        ),
    ] = None,
    *,
    against: Annotated[
        Arena | None,
        Option(metavar="DIR2", parser=open_existing, help="Arena of B: another run on the same queries."),
    ] = None,
    settings: CompareSettings,
    require: Annotated[bool, Option("--require", help="Exit with 3 if the result is inconclusive.")] = False,
    tags: Tags = None,
    junit: Annotated[
        Path | None, Option(metavar="FILE", parser=local_path, help="Write JUnit XML, one test per language.")
    ] = None,
    markdown: Annotated[
        Path | None, Option(metavar="FILE", parser=local_path, help="Write a summary in GitHub Markdown.")
    ] = None,
    output_format: How = "table",
) -> None:
    """Compare two systems; exit with 1 if the first is worse.

    Prints the difference over the queries that both answered, of ratings that of their points against each other, with
    its 95% interval over queries, in every language and over all: better (interval above 0), worse (below), equivalent
    (within --margin) or inconclusive, with the minimum detectable difference and the number of queries needed in all.
    Several languages are corrected for their number. Exit codes: 0; 1 if a row is worse; 2 if nothing was measured;
    with --require also 3 if the last row is inconclusive, or nothing was measured in a language. Reads the table
    outcomes or judgments (rating), outcomes (rate), features, or nuggets with answers and nugget_assignments.
    Writes only the files named.
    """
    from mirage.publish.comparison import records, to_junit, to_markdown
    from mirage.ranking.compare.records import Comparison
    from mirage.views.comparison import comparison_view

    arena = select_tagged(arena, tags)
    other = None if against is None else select_tagged(against, tags)
    labels = arena_labels(arena) if settings.measure == "rate" else None
    view = comparison_view(arena, first, second, settings, other, labels)
    for out, text in ((junit, to_junit), (markdown, to_markdown)):
        if out is not None:
            write_whole(out, text(view, require=require).encode("utf-8"))
    rows = records(view)
    columns = (*ABOUT, *columns_of(Comparison), *(("moved",) if output_format == "json" else ()))
    note(f"{view.conclusion} {view.evidence}")
    if view.judge is not None and settings.judge is None:
        note_default_judge(arena, view.judge)
    shown = PRINTED if output_format == "table" else columns
    show(rows, shown, output_format, of=Comparison, heads={"p": view.p_head})
    note(*view.remarks)
    raise Exit(view.exit_code(require=require))
