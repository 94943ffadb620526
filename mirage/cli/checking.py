"""Command that verifies arenas and files: `mirage check`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from mirage.cli.common import How, Meanings, Names, Passages, Values, app, existing_arena
from mirage.cli.output import note, show
from mirage.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.cli.output import Format
    from mirage.io.sources.files import Options
    from mirage.pipeline.recompute import Mismatch, Recomputed

DIFFERENT = ("table", "row", "column", "stored", "recomputed")
"""Columns of the differences between a derived table and its sources."""

WRONG = ("where", "wrong", "to_do")
"""Columns of the errors in a file."""
CLOSED_BOOK = (
    *("system", "language", "n", "answered", "rate", "rate_low", "rate_high"),
    *("checked", "known", "known_rate", "known_low", "known_high"),
)
"""Columns of the answers without passages."""


@app.command()
def check(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", parser=existing_arena, help="An arena's folder or address, a file to import, or a report."
        ),
    ],
    kind: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help="Files: the format; detected by default.")
    ] = None,
    passages: Passages = None,
    names: Names = None,
    values: Values = None,
    meanings: Meanings = None,
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", parser=existing_arena, help="Files: check against this arena."),
    ] = None,
    of: Annotated[
        Path | None,
        typer.Option("--arena", metavar="DIR", parser=existing_arena, help="Reports: the arena to recompute from."),
    ] = None,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute", help="Arenas: recompute every derived number from its sources, and list differences."
        ),
    ] = False,
    without_passages: Annotated[
        str | None,
        typer.Option(
            "--closed-book",
            metavar="SYSTEMS",
            help="Arenas: systems asked without passages; count the questions they answer.",
        ),
    ] = None,
    output_format: How = "table",
) -> None:
    """Verify an arena, or a file before import.

    Reads every byte of an arena: hashes, row counts, and every row against the contract; stops with exit code 2 at the
    first error. Hashes do not detect a changed number whose hash was also changed: --recompute computes outcomes,
    features that need no model, ratings, tournaments and predictions again, lists the tables it cannot recompute, and
    exits with 2 if a stored number differs. --closed-book counts the answerable questions that systems answer although
    they were asked without passages. Recomputes a report (`mirage export html`) from its --arena; exit code 2 if
    something differs. Reads any other file as `mirage import` does, and prints every invalid line; exit code 2 if there
    is one. Writes nothing.
    """
    from mirage import store

    if without_passages:
        from mirage.pipeline.closed_book import closed_book

        systems = [name.strip() for name in without_passages.split(",") if name.strip()]
        show([asdict(row) for row in closed_book(store.open_arena(path), systems)], CLOSED_BOOK, output_format)
        return
    if of is not None:
        from mirage.publish.html_report import check_report

        _show_recomputed(check_report(path, store.open_arena(of)), output_format)
        return
    if path.suffix.lower() == ".html" and path.is_file():
        raise BadInput(f"{path.name} is a report, recomputed from its arena", do="name it: --arena DIR")
    if kind is None and not path.is_file():
        for line in store.check(store.open_arena(path)):
            note(line)
        if recompute:
            from mirage.pipeline.recompute import recompute as recomputed

            _show_recomputed(recomputed(store.open_arena(path)), output_format)
        return

    from mirage.io.sources import files

    options = files.Options.parse(names or (), values or (), meanings or ())
    try:
        tables, told = _read(path, kind, passages, options, into)
    except files.Refused as error:
        show(
            [dict(zip(WRONG, (problem.where, problem.what, problem.do), strict=True)) for problem in error.wrong],
            WRONG,
            output_format,
        )
        note(f"{path}: {len(error.wrong):,} invalid lines; nothing would be imported.")
        raise typer.Exit(2) from None
    note(f"{path}: {_count_text(tables)}; no errors.")
    for line in told:
        note(line)


def _read(
    path: Path, kind: str | None, passages: Path | None, options: Options, into: Path | None
) -> tuple[dict[str, pa.Table], list[str]]:
    """Read a file as an import would, and return its tables and further notes."""
    from mirage.io.formats.run import taken_for
    from mirage.io.imports.formats import read_file
    from mirage.io.imports.own import UserFile, read_own
    from mirage.io.sources import files

    name = kind or taken_for(path, options).format.name
    if name in get_args(files.Kind):
        tables = read_own(UserFile(name, path, passages, options), into)  # type: ignore[arg-type]  # it is one of them
        ignored = files.unread(name, path, options)
        return tables, [f"ignored columns, not part of {name}: {', '.join(ignored)}"] if ignored else []
    tables, summary = read_file(path, into, name=name, options=options)
    return tables, summary.lines()


def _show_recomputed(parts: Iterable[Recomputed], output_format: Format) -> None:
    """Print the differences between stored and recomputed values; exit with 2 if there are any."""
    mismatches: list[Mismatch] = []
    for part in parts:
        mismatches += part.mismatches
        if part.reason is not None:
            note(f"{part.subject}: not recomputed: {part.reason}")
        else:
            note(f"{part.subject}: {part.rows:,} rows recomputed, {len(part.mismatches):,} values differ")
    if mismatches:
        show([asdict(mismatch) for mismatch in mismatches], DIFFERENT, output_format)
        raise typer.Exit(2)


def _count_text(tables: dict[str, pa.Table]) -> str:
    """Summarise the contents of a file in numbers."""
    counts = []
    for name, table in tables.items():
        groups = [column for column in ("system", "judge") if column in table.column_names]
        counts += [f"{len(table):,} {name}", *(f"{len(table[column].unique()):,} {column}s" for column in groups)]
    spoken = (table["language"].to_pylist() for table in tables.values() if "language" in table.column_names)
    codes = {code for column in spoken for code in column}
    return ", ".join(counts) + f", {len(codes)} languages"
