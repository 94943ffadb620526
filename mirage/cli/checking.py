"""The command that says whether something is sound before it is relied on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import How, Names, Passages, Values, app, located
from mirage.cli.output import note, show
from mirage.errors import BadInput
from mirage.sources.files import Kind

if TYPE_CHECKING:
    import pyarrow as pa

WRONG = ("where", "wrong", "to_do")
"""Columns of what is wrong in a file."""


@app.command()
def check(
    path: Annotated[
        Path,
        typer.Argument(metavar="PATH", parser=located, help="An arena's folder or address, or a file of your own."),
    ],
    kind: Annotated[Kind | None, typer.Option("--as", help="Files: what the records are.")] = None,
    passages: Passages = None,
    names: Names = None,
    values: Values = None,
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", parser=located, help="Files: an arena that the records must fit."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Check that an arena, or a file to be imported, is sound.

    Reads every byte of an arena: hashes, row counts, and every row against the contract; exit code 2 at the first
    thing that is wrong. Reads a file as `mirage import` does, and prints every wrong line; exit code 2 if there is one.
    Writes nothing.
    """
    from mirage import store

    if kind is None:
        if store.ending(path):
            raise BadInput(f"{path} is a file", do="say what its records are: --as answers, queries or judgments")
        for line in store.check(store.open_arena(path)):
            note(line)
        return

    from mirage.imports.own import UserFile, read_own
    from mirage.sources import files

    options = files.Options.parse(names or (), values or ())
    try:
        tables = read_own(UserFile(kind, path, passages, options), into)
    except files.Refused as error:
        show(
            [dict(zip(WRONG, (problem.where, problem.what, problem.do), strict=True)) for problem in error.wrong],
            WRONG,
            output_format,
        )
        note(f"{path}: {len(error.wrong):,} lines are wrong; an import would take none.")
        raise typer.Exit(2) from None
    note(f"{path}: {_counted(tables)}; nothing is wrong.")
    if ignored := files.unread(kind, path, options):
        note(f"ignored, as no columns of {kind}: {', '.join(ignored)}")


def _counted(tables: dict[str, pa.Table]) -> str:
    """What a file holds, in numbers."""
    counts = []
    for name, table in tables.items():
        groups = [column for column in ("system", "judge") if column in table.column_names]
        counts += [f"{len(table):,} {name}", *(f"{len(table[column].unique()):,} {column}s" for column in groups)]
    return ", ".join(counts) + f", {len(table['language'].unique())} languages"
