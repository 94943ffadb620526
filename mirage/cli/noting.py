"""Commands for notes: `mirage notes DIR`, `mirage notes import|export|taxonomy`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mirage.cli.common import QUIET, ArenaDir, How, Languages, app, codes, existing_arena
from mirage.cli.output import note, show
from mirage.text.segmentation import count_text

COUNTS = (
    *("about", "language", "system", "category", "k", "n", "rate", "rate_low", "rate_high", "queries", "authors"),
    "reason",
)
"""Columns of `mirage notes DIR`."""
TAXONOMY = ("name", "meaning")
"""Columns of `mirage notes taxonomy`."""
COUNT = "count"
"""The command that an arena's folder stands for."""


class _Notes(TyperGroup):
    """Command group whose default command counts the notes of an arena."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            args = [COUNT, *args]
        return super().resolve_command(ctx, args)


notes = typer.Typer(
    cls=_Notes,
    help="Notes on answers and battles: import, export, categories. `mirage notes DIR` counts them.",
    **QUIET,  # type: ignore[arg-type]
)
app.add_typer(notes, name="notes")


@notes.command(COUNT)
def count(dir_: ArenaDir, languages: Languages = None, output_format: How = "table") -> None:
    """Count the categories of the notes on an arena, by system and language.

    n is the number of answers (battles) with a categorised note, k those with the category, rate their share with a 95%
    interval clustered by query. Reads the notes on the arena and the table answers. Writes nothing.
    """
    from mirage import store
    from mirage.people.notes import category_counts, notes_on
    from mirage.people.votes import Note, Votes

    arena = store.open_arena(dir_)
    with Votes() as database:
        sorted_out = notes_on(arena, database.rows(Note))
    if sorted_out.changed:
        note(f"Left out: {count_text(len(sorted_out.changed), 'note')} on answers whose text has changed since.")
    results = category_counts(arena, sorted_out.counting, languages=codes(languages))
    columns = COUNTS if output_format != "table" else tuple(name for name in COUNTS if name != "reason")
    show([dataclasses.asdict(row) for row in results], columns, output_format)
    bare = sum(not row.categories for row in sorted_out.counting)
    note(f"{count_text(len(sorted_out.counting), 'note')}, {bare:,} of them without a category.")


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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines, CSV or Parquet, .gz or not.")],
    arena: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=existing_arena,
            help="Arena that the notes are on; needed unless the file is an export.",
        ),
    ] = None,
) -> None:
    """Import notes: an export, or with --arena a file written by hand.

    A file written by hand has language, query_id, voter, system (or system_a and system_b for a battle), and categories
    or note in each record. Reads FILE, and the arena's answers. Writes new notes all-or-nothing: one invalid line
    rejects the file, and the error names the line. Importing a file again changes nothing.
    """
    from mirage import store
    from mirage.people.notes import import_notes
    from mirage.people.votes import Votes

    on = None if arena is None else store.open_arena(arena)
    with Votes() as database:
        read, new = import_notes(database, file, arena=on)
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
