"""Commands for the runs of systems: `mirage arena runs`, `mirage arena keep-run`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, arenas
from mirage.cli.output import note, show

RUNS = ("system", "date", "name", "present", "answers")
"""Columns of `mirage arena runs`."""


@arenas.command("runs")
def list_runs(dir_: ArenaDir, output_format: How = "table") -> None:
    """Print every run of every system with its date, earliest first.

    The date is the day of the run's last answer in UTC; empty if unknown. Reads the tables answers, outcomes and
    judgments. Writes nothing.
    """
    from mirage import store

    show([asdict(run) for run in store.system_runs(store.open_arena(dir_))], RUNS, output_format)


@arenas.command("keep-run")
def keep(
    dir_: ArenaDir,
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="The system's name in the tables.")],
    date: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Day of the run, if its answers have no date: 2026-11-20."),
    ] = None,
) -> None:
    """Keep the current run of a system as SYSTEM@DATE, before the next run replaces it.

    Reads every table that names systems. Writes them with the new name: answers keep their outcomes, features, scores
    and verdicts; ratings, tournaments, predictions and importances are deleted, since they depend on the set of
    systems. Next: `mirage generate DIR --replace` or `mirage import`, then `mirage compare DIR SYSTEM --since DATE`.
    """
    from mirage.store.system_runs import keep_run

    kept = keep_run(dir_, system, date=date, made_by="mirage arena keep-run")
    counts = ", ".join(f"{n:,} {table}" for table, n in kept.rows.items())
    note(f"{kept.arena.address}: the run is kept as {kept.name}: {counts}. Now generate or import {system} again.")
