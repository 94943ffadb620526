"""Command that serves the explorer: `mirage app`."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from mirage.cli.common import app, existing_arena
from mirage.errors import BadInput
from mirage.store.bundled import shipped_folder
from mirage.store.extras import extra


@app.command("app")
def explorer(
    dir_: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", parser=existing_arena, help="An arena, a folder of arenas, or a file."),
    ] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Port; default 8501.")] = None,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on; default this machine only.")
    ] = None,
) -> None:
    """Open the explorer in the browser.

    Reads the arena and the bundled arenas. Writes nothing.
    """
    with extra("explorer", "the explorer"):
        metadata.version("streamlit")  # not imported: the server is a process of its own
    page = shipped_folder() / "app.py"
    if not page.exists():
        raise BadInput(
            "the explorer's pages are not installed",
            where=str(page),
            do="reinstall from the checkout or wheel it came from: pip install --force-reinstall PATH",
        )
    if dir_ is not None and dir_.is_file():
        dir_ = _import_file(dir_)
    environment = _environment(dir_)
    server = Path(__file__).parents[1] / "explorer" / "server.py"
    screen = sys.platform in ("darwin", "win32") or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    command = [sys.executable, "-m", "streamlit", "run", str(server), "--server.showEmailPrompt=false"]
    command += [f"--server.headless={str(not screen).lower()}", *([f"--server.port={port}"] if port else [])]
    command += [f"--server.address={host}"] if host else []
    # Replace this process, so that signals reach the server and no child is left behind.
    os.chdir(page.parent)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, command, environment)  # noqa: S606  # our own program


def _import_file(file: Path) -> Path:
    """Import a file into an arena of the user's own folder, once they agree, and return the arena's folder."""
    from mirage import api
    from mirage.store import home

    folder = home.home_folder() / "arenas" / file.name.partition(".")[0]
    opening = f"mirage app {quote(str(folder))}"
    command = f"mirage import {quote(str(file))} --into {quote(str(folder))}"
    if folder.exists():
        raise BadInput(f"{file} is a file, and there is an arena {folder.name}", do=f"{opening}, or {command}")
    if not sys.stdin.isatty():
        raise BadInput(f"{file} is a file, not an arena", do=f"{command}, then {opening}")
    if not typer.confirm(f"{file} is a file. Import it into {folder} and open that?", default=True):
        raise typer.Exit(2)
    return api.import_file(file, folder).path


def _environment(folder: Path | None) -> dict[str, str]:
    from mirage import store
    from mirage.store import home

    environment = dict(os.environ)
    if folder is not None:
        if not home.arenas_in(folder):
            store.open_arena(folder)
        environment["MIRAGE_ARENAS"] = str(folder.absolute())
    return environment
