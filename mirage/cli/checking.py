"""Command that verifies arenas and files: `mirage check`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from mirage.cli.common import FileFormat, How, app, existing_arena
from mirage.cli.output import note, show
from mirage.errors import BadInput
from mirage.store import arena
from mirage.store.arena import open_arena
from mirage.text.segmentation import count_rows, count_text

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.cli.output import Format
    from mirage.pipeline.recompute import Recomputed


WRONG = ("where", "wrong", "to_do")
"""Columns of the invalid records of a file."""


@app.command()
def check(
    path: Annotated[
        Path | None,
        Argument(metavar="[PATH]", parser=existing_arena, help="An arena's folder, a file to import, or a report."),
    ] = None,
    kind: FileFormat = None,
    of: Annotated[
        Path | None,
        Option("--arena", metavar="DIR", parser=existing_arena, help="Files: check against this arena."),
    ] = None,
    recompute: Annotated[
        bool,
        Option("--recompute", help="Arenas: recompute every derived number from its sources, and list differences."),
    ] = False,
    without_passages: Annotated[
        str | None,
        Option(
            "--closed-book",
            metavar="SYSTEMS",
            help="Arenas: systems asked without passages; count the questions they answer.",
        ),
    ] = None,
    output_format: How = "table",
) -> None:
    """Verify an arena, a file before import, or without PATH the installation.

    Reads every byte of an arena: hashes, row counts, and every row against the contract; stops with exit code 2 at
    the first error. Hashes do not detect a changed number whose hash was also changed: --recompute computes outcomes,
    features that need no model, ratings, tournaments, predictions, importances again, lists the tables it cannot
    recompute, and exits with 2 if a stored number differs or a rating has no source. --closed-book counts the
    answerable questions that systems answer although they were asked without passages. Recomputes a report (`mirage
    export html`) from its --arena; exit code 2 if a byte of the page differs. Reads any other file as `mirage import`
    does; exit code 2 if a line is invalid. Without PATH it checks the extras, the arenas, the votes' database and the
    explorer's port. Writes nothing.
    """
    from mirage.cli.installation import Check, check_installation

    if path is None:
        checks = check_installation()
        show(checks, (), output_format, of=Check)
        if any(check.state == "wrong" for check in checks):
            raise Exit(2)
        return
    if without_passages:
        from mirage.pipeline.closed_book import ClosedBook, closed_book

        systems = [name.strip() for name in without_passages.split(",") if name.strip()]
        show(closed_book(open_arena(path), systems), (), output_format, of=ClosedBook)
        return
    if path.suffix.lower() == ".html" and path.is_file():
        from mirage.publish.html_report import check_report

        if of is None:
            raise BadInput(f"{path.name} is a report, recomputed from its arena", do="name it: --arena DIR")
        _show_recomputed(check_report(path, open_arena(of)), output_format)
        return
    if kind is None and not path.is_file():
        for line in arena.check(open_arena(path)):
            note(line)
        if recompute:
            from mirage.pipeline.recompute import recompute as recomputed

            _show_recomputed(recomputed(open_arena(path)), output_format)
        return
    from mirage.io.imports.formats import read_file
    from mirage.io.options import Refused, count_places, name_import

    try:
        tables, summary = read_file(path, of, name=kind)
    except Refused as refused:
        wrong = [dict(zip(WRONG, (error.where, error.what, error.do), strict=True)) for error in refused.wrong]
        show(wrong, WRONG, output_format)
        note(f"{path}: {count_text(count_places(refused.wrong), 'record')} cannot be taken.")
        raise Exit(2) from None
    except BadInput as error:
        name_import(error, path)
        raise
    note(f"{path}: {_count_text(tables)}; no errors.", *summary.lines())


def _show_recomputed(parts: Iterable[Recomputed], output_format: Format) -> None:
    """Print the differences between stored and recomputed values; exit with 2 if there are any."""
    from mirage.pipeline.recompute import Mismatch

    mismatches: list[Mismatch] = []
    for part in parts:
        mismatches += part.mismatches
        if part.reason is not None:
            note(f"{part.subject}: not recomputed: {part.reason}")
        else:
            note(f"{part.subject}: {part.rows:,} rows recomputed, {len(part.mismatches):,} values differ")
    if mismatches:
        show(mismatches, (), output_format, of=Mismatch)
        raise Exit(2)


def _count_text(tables: dict[str, pa.Table]) -> str:
    """Summarise the contents of a file in numbers."""
    counts = []
    for name, table in tables.items():
        groups = [column for column in ("system", "judge") if column in table.column_names]
        counts.append(count_rows(len(table), name))
        counts += [count_text(len(table[column].unique()), column) for column in groups]
    spoken = (table["language"].to_pylist() for table in tables.values() if "language" in table.column_names)
    codes = {code for column in spoken for code in column}
    return ", ".join([*counts, count_text(len(codes), "language")])
