"""Command that removes a system: `mirage arena remove`."""

from __future__ import annotations

from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, arenas
from mirage.cli.output import note


@arenas.command("remove")
def remove(
    dir_: ArenaDir,
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="The system's name in the tables.")],
) -> None:
    """Remove a system from every table of an arena, in one step.

    Reads every table that names systems. Writes them without its answers, outcomes, features, scores, judgments and
    card; ratings, tournaments, predictions and importances that include the system are deleted, since they depend on
    the set of systems. Keeps queries, passages, votes and the replies in the ledger. Next: `mirage run DIR`.
    """
    from mirage.store.removal import remove_system

    done = remove_system(dir_, system, made_by="mirage arena remove")
    gone = ", ".join(f"{n:,} {table}" for table, n in done.rows.items())
    note(f"{done.arena.address}: {system} is removed: {gone}. Next: mirage run {dir_}")
