"""The command line: parse, call, print, exit code. `mirage --help` lists the commands.

Tables go to stdout, everything else to stderr. Exit codes: 0; 2 for bad input or usage, with what to do about it; 130
when stopped by Ctrl-C. Heavy libraries are imported by the commands that need them.
"""

from __future__ import annotations

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
from mirage.cli.common import Command, app

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


for registered in (app, *(group.typer_instance for group in app.registered_groups)):
    for command in registered.registered_commands if registered else ():
        command.cls = Command


def main() -> None:
    """Run the command line."""
    app(prog_name="mirage")
