"""The command line: parse, call, print, exit code. `mirage --help` lists the commands.

Tables go to stdout, everything else to stderr. Exit codes: 0; 2 for bad input or usage, with what to do about it; 130
when stopped by Ctrl-C. Heavy libraries are imported by the commands that need them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mirage.cli import (
    abstaining,
    assessing,
    checking,
    comparing,
    deciding,
    doctor,
    evaluating,
    exporting,
    generating,
    judging,
    keeping,
    languages,
    levels,
    measuring,
    merging,
    noting,
    placing,
    ranking,
    rates,
    removing,
    reproducing,
    retrieving,
    running,
    scoring,
    serving,
    sources,
    surrogate,
    testsets,
    training,
    variance,
    voting,
)  # each file registers its commands
from mirage.cli.common import Command, app, local_path, paper
from mirage.cli.output import note, progress

__all__ = [
    "abstaining",
    "app",
    "assessing",
    "checking",
    "comparing",
    "deciding",
    "doctor",
    "evaluating",
    "exporting",
    "generating",
    "judging",
    "keeping",
    "languages",
    "levels",
    "main",
    "measuring",
    "merging",
    "noting",
    "placing",
    "ranking",
    "rates",
    "removing",
    "reproducing",
    "retrieving",
    "running",
    "scoring",
    "serving",
    "sources",
    "surrogate",
    "testsets",
    "training",
    "variance",
    "voting",
]


@paper.command()
def bundle(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Folder with nomiracl/, judged/ and published/.")],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", parser=local_path, help="Folder for the arenas.")
    ] = Path("data"),
) -> None:
    """Build the bundled arenas.

    Reads the published outputs, verdicts and figures. Writes the arenas nomiracl (numbers only), people and published
    into DIR.
    """
    from mirage import pipeline

    with progress("Measuring") as update:
        arenas = pipeline.bundle(source, into, progress=update)
    for arena in arenas:
        rows = ", ".join(f"{arena.rows(name):,} {name}" for name in arena.tables)
        note(f"{arena.address}: {rows}; {arena.size / 1e6:.2f} MB")


for registered in (app, *(group.typer_instance for group in app.registered_groups)):
    for command in registered.registered_commands if registered else ():
        command.cls = Command


def main() -> None:
    """Run the command line."""
    app(prog_name="mirage")
