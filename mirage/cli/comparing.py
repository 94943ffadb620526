"""The command that compares two systems, and ends a CI job where one is worse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Parser, Seed, Tags, app, codes, local_path, located, narrowed
from mirage.cli.output import note, show

COMPARED = (
    *("language", "verdict", "difference", "low", "high", "p", "p_holm", "n_queries", "unpaired", "differing"),
    *("detectable", "more", "more_low", "more_high", "reason"),
)
"""Columns of `compare`; before them as JSON and CSV the systems, the measure and the margin, after them as JSON the
queries that moved."""
ABOUT = ("first", "second", "measure", "margin")


@app.command()
def compare(
    dir_: ArenaDir,
    first: Annotated[str, typer.Option("--a", metavar="SYSTEM", help="The system that is compared.")],
    second: Annotated[
        str | None,
        typer.Option("--b", metavar="SYSTEM", help="What it is compared with; with --against the same if absent."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="DIR2", parser=located, help="The arena of --b: another run, on the same queries."),
    ] = None,
    measure: Annotated[
        str, typer.Option(metavar="rating|rate|nuggets|feature:NAME", help="What they are compared by.")
    ] = "rating",
    referee: Annotated[
        str | None,
        typer.Option(metavar="relevance|JUDGE|pooled", help="Who decides; for ratings.", show_default="the only one"),
    ] = None,
    margin: Annotated[float, typer.Option(help="Differences of at most this count as none.")] = 0.0,
    require: Annotated[bool, typer.Option("--require", help="End with 3 where the queries cannot tell.")] = False,
    languages: Languages = None,
    parser: Parser = "strict",
    assigner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose assignments of nuggets count; most of them if absent.")
    ] = None,
    tags: Tags = None,
    moved: Annotated[int, typer.Option(min=0, help="How many of the queries that moved most are named.")] = 10,
    seed: Seed = 0,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=local_path, help="Write JUnit XML, a test a language.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=local_path, help="Write a summary in GitHub's Markdown.")
    ] = None,
    output_format: How = "table",
) -> None:
    """Compare two systems, and end with 1 where the first is worse.

    The difference over the queries that both have, with its 95% interval (the query as the unit), in every language and
    in all: better (the interval above 0), worse (below), equivalent (within --margin), else inconclusive, with the
    smallest difference that these queries show and how many more would decide. Languages after Holm's correction. Ends
    with 0; with 1 where a row is worse; with --require also with 3, where the last row is inconclusive. Reads the table
    outcomes or judgments (rating), outcomes (rate), features, or nuggets with answers and nugget_assignments. Writes
    the files named, nothing else.
    """
    from mirage import store
    from mirage.comparison import compare_systems
    from mirage.comparison.reports import notes, records, to_junit, to_markdown

    arena = narrowed(store.open_arena(dir_), tags)
    report = compare_systems(
        arena,
        first,
        second,
        against=None if against is None else narrowed(store.open_arena(against), tags),
        measure=measure,
        referee=referee,
        margin=margin,
        languages=codes(languages),
        parser=parser,
        assigner=assigner,
        moved=moved,
        seed=seed,
    )
    for out, text in ((junit, to_junit), (markdown, to_markdown)):
        if out is not None:
            store.write_whole(out, text(report, require=require).encode("utf-8"))
    rows = records(report)
    more = {"table": ((), ()), "json": (ABOUT, ("moved",))}
    before, after = more.get(output_format, (ABOUT, ()))
    show(rows, (*before, *COMPARED, *after), output_format)
    for line in notes(report):
        note(line)
    raise typer.Exit(report.exit_code(require=require))
