"""The command line: parse, call, print, exit code. `mirage --help` lists the commands.

Tables go to stdout, everything else to stderr. Exit codes: 0; 2 for bad input or usage, with what to do about it; 130
when stopped by Ctrl-C. Heavy libraries are imported by the commands that need them.
"""

import typer

from mirage.cli import (  # noqa: F401  # each file registers its commands
    arenas,
    checking,
    comparing,
    evaluating,
    exporting,
    generating,
    judging,
    measuring,
    papers,
    ranking,
    reporting,
    serving,
    showing,
    sources,
    testsets,
    voting,
)
from mirage.cli.common import Command, app

__all__ = ["app", "main"]


def _use_our_commands(group: typer.Typer) -> None:
    """Let every command of a group and of its groups read the options of the model service from a file."""
    for command in group.registered_commands:
        command.cls = Command
    for registered in group.registered_groups:
        if registered.typer_instance is not None:
            _use_our_commands(registered.typer_instance)


_use_our_commands(app)


def main() -> None:
    """Run the command line."""
    app(prog_name="mirage")
