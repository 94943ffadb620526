"""Commands for notes: `mirage notes import|export|taxonomy`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from mirage.cli.common import QUIET, How, app, existing_arena
from mirage.cli.output import note, show
from mirage.text.segmentation import count_text

TAXONOMY = ("name", "meaning")
"""Columns of `mirage notes taxonomy`."""

notes = typer.Typer(help="Notes on answers and battles: import, export, categories.", **QUIET)  # type: ignore[arg-type]
app.add_typer(notes, name="notes")


@notes.command("export")
def export(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Named .csv, .jsonl or .parquet.")],
    arena: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=existing_arena, help="Only notes on queries of this arena."),
    ] = None,
) -> None:
    """Export the log of notes to a file.

    Reads the notes, from the user's folder or the database of MIRAGE_VOTES_URL. Writes FILE: every row of the log in
    order of time, including notes that were undone and the rows that undo them.
    """
    from mirage import store
    from mirage.people.votes import Note, Votes
    from mirage.people.votes.stage import export_votes

    only = None if arena is None else store.open_arena(arena)
    with Votes() as database:
        n = export_votes(database, Note, out, arena=only)
        note(f"{out}: {n:,} rows from {database.where}")


@notes.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `mirage notes export` writes it, .gz or not.")],
) -> None:
    """Import a log of notes.

    Reads FILE. Writes new notes all-or-nothing: one invalid line rejects the file, and the error names the line.
    Importing a file again changes nothing.
    """
    from mirage.people.votes import Note, Votes
    from mirage.people.votes.stage import import_votes

    with Votes() as database:
        read, new = import_votes(database, Note, file)
        note(f"{database.where}: {read:,} rows read, {new:,} of them new")


@notes.command("taxonomy")
def taxonomy(
    dir_: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", parser=existing_arena, help="Arena; default those of arenas without a file."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print the categories of notes, and the file that defines them.

    The file is taxonomy.yaml next to the arena's tables, else in the user's folder (MIRAGE_HOME), else the bundled
    file. Writes nothing.
    """
    from mirage import store
    from mirage.people.notes import load_taxonomy

    chosen = load_taxonomy(None if dir_ is None else store.open_arena(dir_))
    show([dataclasses.asdict(row) for row in chosen.categories], TAXONOMY, output_format)
    note(f"{chosen.path}: {count_text(len(chosen.categories), 'category')}")
