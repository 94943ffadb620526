"""Commands on whole arenas: `mirage arena copy|merge|remove|keep-run`, and the option `--shard`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from mirage.cli.common import OwnDir, command_group
from mirage.cli.completion import complete_systems
from mirage.cli.output import note, show
from mirage.errors import BadInput
from mirage.store import arena, folders
from mirage.store.copies import copy_arena
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    from mirage.llm.engines.shards import Shard

arenas = command_group("arena", "Copy an arena, merge its parts, remove a system, or keep a system's run.")

COLUMNS = ("table", "new")
"""Columns of `merge`."""


def part_of(dir_: Path, share: str | None, *, dry: bool = False) -> tuple[Path, Shard | None]:
    """Return the folder to work on and its shard; without `--shard`, the arena itself.

    Args:
        dir_: the arena.
        share: value of `--shard`.
        dry: whether nothing may be written.

    Raises:
        BadInput: if the value is not a shard, or nothing may be written.
    """
    if share is None:
        return dir_, None
    from mirage.llm.engines.shards import read_shard
    from mirage.pipeline.parts import cut

    shard = read_shard(share)
    if dry:
        raise BadInput("--dry-run cannot be combined with --shard", do="omit --shard to plan the whole arena")
    part = cut(dir_, shard)
    note(f"Working in {part}; merge it with `mirage arena merge {quote(str(dir_))} {quote(str(part))}`.")
    return part, shard


@arenas.command("copy")
def copy(
    source: Annotated[str, Argument(metavar="SOURCE", help="An arena: a folder, an address, or a bundled name.")],
    target: Annotated[str, Argument(metavar="TARGET", help="A new or empty folder, or an address.")],
) -> None:
    """Copy an arena to another folder, or to or from object storage (s3://, gs://, abfs://).

    Reads every file of the arena. Writes the same files and the same manifest to TARGET, and makers.csv if
    there is one; rerun an interrupted copy to complete it. The ledger of replies is not copied.
    """
    bundled = arena.bundled_arenas().get(source)
    copy_arena(source if bundled is None or Path(source).exists() else str(bundled), target)
    note(f"{target}: copied from {source}")


@arenas.command("merge")
def merge(
    dir_: OwnDir,
    parts: Annotated[
        list[Path],
        Argument(metavar="PART...", parser=folders.locate, help="Folders of parts made with `--shard`."),
    ],
) -> None:
    """Merge parts made with `--shard` into an arena.

    Reads the parts and their ledgers. Writes the tables with new rows, and the ledger.
    Rows are merged by key: order and repetition do not matter. An answer replaces a failed call; two different values
    under one key are a conflict, which is reported, and nothing is written. Prints the number of new rows per table.
    """
    from mirage.pipeline.parts import merge as bring

    report = bring(dir_, parts)
    note(f"{report.replies:,} new replies in the ledger.")
    if any(report.rows.values()):
        show([{"table": name, "new": count} for name, count in report.rows.items()], COLUMNS, "table")
    else:
        note(f"Nothing new: {dir_} has every row of {count_text(len(parts), 'part')}.")


@arenas.command("remove")
def remove(
    dir_: OwnDir,
    system: Annotated[
        str, Argument(metavar="SYSTEM", autocompletion=complete_systems, help="The system's name in the tables.")
    ],
) -> None:
    """Remove a system from every table of an arena, in one step.

    Reads every table that names systems. Writes them without its answers, outcomes, features, scores, judgments and
    card; ratings, tournaments, predictions and importances that include the system are deleted, since they depend on
    the set of systems. Keeps queries, passages, votes and the replies in the ledger. Next: `mirage evaluate DIR`.
    """
    from mirage.store.systems import remove_system

    done = remove_system(dir_, system, made_by="mirage arena remove")
    gone = ", ".join(f"{n:,} {table}" for table, n in done.rows.items())
    note(f"{done.arena.address}: {system} is removed: {gone}. Next: mirage evaluate {done.arena.argument}")


@arenas.command("keep-run")
def keep(
    dir_: OwnDir,
    system: Annotated[
        str, Argument(metavar="SYSTEM", autocompletion=complete_systems, help="The system's name in the tables.")
    ],
    date: Annotated[
        str | None,
        Option(metavar="DATE", help="Day of the run, if its answers have no date: 2026-11-20."),
    ] = None,
) -> None:
    """Keep the current run of a system as SYSTEM@DATE, before the next run replaces it.

    Reads every table that names systems. Writes them with the new name: answers keep their outcomes, features, scores
    and verdicts; ratings, tournaments, predictions and importances are deleted, since they depend on the set of
    systems. Next: `mirage generate DIR --replace` or `mirage import`, then `mirage compare DIR SYSTEM SYSTEM@DATE`.
    """
    from mirage.store.systems import keep_run

    kept = keep_run(dir_, system, date=date, made_by="mirage arena keep-run")
    counts = ", ".join(f"{n:,} {table}" for table, n in kept.rows.items())
    note(f"{kept.arena.address}: the run is kept as {kept.name}: {counts}. Now generate or import {system} again.")
