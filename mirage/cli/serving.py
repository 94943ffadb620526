"""Command that serves the explorer: `mirage app`."""

import os
import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from mirage.cli.common import app, existing_arena
from mirage.cli.completion import complete_arenas
from mirage.errors import BadInput
from mirage.store.arena import open_arena
from mirage.store.bundled import shipped_folder
from mirage.store.extras import extra


@app.command("app")
def explorer(
    dir_: Annotated[
        Path | None,
        Argument(
            metavar="[DIR]",
            parser=existing_arena,
            autocompletion=complete_arenas,
            help="An arena, or a folder of arenas.",
        ),
    ] = None,
    port: Annotated[int | None, Option(min=1, max=65_535, help="Port; default 8501.")] = None,
    host: Annotated[
        str | None, Option(metavar="ADDRESS", help="Address to listen on; default this machine only.")
    ] = None,
    frame_ancestors: Annotated[
        str | None, Option(metavar="SITES", help="Sites that may frame the pages, in one text; default none.")
    ] = None,
    metrics: Annotated[bool, Option("--metrics", help="Serve /_stcore/metrics to every reader.")] = False,
) -> None:
    """Open the explorer in the browser.

    Reads the arena and the bundled arenas. Writes to the data folder alone.
    """
    from mirage.store import home, settings

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
        raise BadInput(f"{dir_} is a file, not an arena", do=f"evaluate it first: mirage evaluate {dir_} --open")
    environment = dict(os.environ)
    if dir_ is not None:
        if not home.arenas_in(dir_):
            open_arena(dir_)
        environment["MIRAGE_ARENAS"] = str(dir_.absolute())
    if host and host not in ("0.0.0.0", "::"):  # noqa: S104  # a browser asks for these by other names
        environment.setdefault("STREAMLIT_SERVER_ALLOWED_HOSTS", f"{host} localhost 127.0.0.1")
    if metrics:
        environment[settings.METRICS] = "1"
    if frame_ancestors is not None:
        environment[settings.FRAMES] = frame_ancestors
    settings.frame_ancestors(environment)
    server = Path(__file__).parents[1] / "explorer" / "server.py"
    command = [sys.executable, "-m", "streamlit", "run", str(server), "--server.showEmailPrompt=false"]
    # With a screen Streamlit would offer readers to install its "agent skills" on this machine.
    command += ["--server.headless=true", *([f"--server.port={port}"] if port else [])]
    command += [f"--server.address={host}"] if host else []
    # Replace this process, so that signals reach the server and no child is left behind.
    os.chdir(page.parent)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, command, environment)  # noqa: S606  # our own program
