"""The command line: parse, call, print, exit code. `mirage --help` lists the commands.

Tables go to stdout, everything else to stderr. Exit codes: 0; 2 for bad input or usage, with what to do about it; 130
when stopped by Ctrl-C. Heavy libraries are imported by the commands that need them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from mirage.cli import (
    checking,
    doctor,
    exporting,
    generating,
    judging,
    measuring,
    placing,
    ranking,
    rates,
    reproducing,
    running,
    sources,
    surrogate,
    training,
    voting,
)  # each file registers its commands
from mirage.cli.common import app
from mirage.cli.output import note, progress
from mirage.errors import BadInput
from mirage.shipped import shipped

__all__ = [
    "app",
    "checking",
    "doctor",
    "exporting",
    "generating",
    "judging",
    "main",
    "measuring",
    "placing",
    "ranking",
    "rates",
    "reproducing",
    "running",
    "sources",
    "surrogate",
    "training",
    "voting",
]


@app.command()
def bundle(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Folder with nomiracl/ and published/.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The folder of the arenas.")] = Path("data"),
) -> None:
    """Build the arenas that come with the program.

    Reads the published outputs and figures. Writes the arenas nomiracl (numbers only) and published into DIR.
    """
    from mirage import pipeline

    with progress("Measuring") as update:
        arenas = pipeline.bundle(source, into, progress=update)
    for arena in arenas:
        rows = ", ".join(f"{arena.rows(name):,} {name}" for name in arena.tables)
        note(f"{arena.path}: {rows}; {arena.size / 1e6:.2f} MB")


@app.command("app")
def explorer(
    dir_: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="An arena, or a folder of arenas.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to serve on; 8501 if free.")] = None,
) -> None:
    """Open the explorer in the browser.

    Reads the arena, beside the bundled ones, which are always there. Writes nothing.
    """
    from mirage import store

    page = shipped() / "app.py"
    if not page.exists():
        raise BadInput(
            "the explorer's pages are not installed",
            where=str(page),
            do="install mirage again: pip install --force-reinstall mirage",
        )
    environment = dict(os.environ)
    if dir_ is not None:
        if not store.list_files(dir_, "*/manifest.json"):
            store.open_arena(dir_)
        environment["MIRAGE_ARENAS"] = str(dir_.absolute())
    screen = sys.platform in ("darwin", "win32") or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    command = [sys.executable, "-m", "streamlit", "run", str(page), "--server.showEmailPrompt=false"]
    command += [f"--server.headless={str(not screen).lower()}", *([f"--server.port={port}"] if port else [])]
    # The explorer takes the place of this process: what ends or stops it reaches the server, and none is left behind.
    os.chdir(page.parent)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, command, environment)  # noqa: S606  # our own program


def main() -> None:
    """Run the command line."""
    app(prog_name="mirage")
