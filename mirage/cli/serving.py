"""Command that serves the explorer: `mirage app`, in this process, or as several processes behind nginx."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from mirage.cli.common import app, existing_arena
from mirage.cli.output import note
from mirage.errors import BadInput
from mirage.store.bundled import shipped_folder
from mirage.store.extras import extra

PORT = 8501
"""Default port of the explorer."""
OWN_HOSTS = ("localhost", "127.0.0.1")
"""Default host names of the explorer."""


@app.command("app")
def explorer(
    dir_: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", parser=existing_arena, help="An arena, or a folder of arenas, local or on object storage."
        ),
    ] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Port; default 8501.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, metavar="N", help="Serve with N processes on the following ports, behind nginx on this one."
        ),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --workers: a public host name. Repeatable."),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="With --workers: nginx's listen address, such as '443 ssl'; default 127.0.0.1:PORT."
        ),
    ] = None,
    htpasswd: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --workers: nginx's file of names and passwords.")
    ] = None,
    nginx_conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --workers: write nginx's configuration to this file, without starting nginx."
        ),
    ] = None,
) -> None:
    """Open the explorer in the browser.

    Reads the arena and the bundled arenas. Writes nothing except the file of --nginx-conf.
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
    if workers is not None:
        first = port or PORT
        _several(
            workers, first, host or list(OWN_HOSTS), listen or f"127.0.0.1:{first}", htpasswd, nginx_conf, environment
        )
        return
    if host or listen or htpasswd or nginx_conf:
        raise BadInput("--host, --listen, --htpasswd and --nginx-conf need --workers", do="add --workers N")
    screen = sys.platform in ("darwin", "win32") or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    command = [sys.executable, "-m", "mirage.explorer.serve.process", "--server.showEmailPrompt=false"]
    command += [f"--server.headless={str(not screen).lower()}", *([f"--server.port={port}"] if port else [])]
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
    command = f"mirage import {file} --into {folder}"
    if folder.exists():
        raise BadInput(
            f"{file} is a file, and there is an arena {folder.name}", do=f"mirage app {folder}, or {command}"
        )
    if not sys.stdin.isatty():
        raise BadInput(f"{file} is a file, not an arena", do=f"{command}, then mirage app {folder}")
    if not typer.confirm(f"{file} is a file. Import it into {folder} and open that?", default=True):
        raise typer.Exit(2)
    return api.import_file(file, folder).path


def _environment(folder: Path | None) -> dict[str, str]:
    from mirage import store

    environment = dict(os.environ)
    if folder is not None:
        if store.is_remote(folder) or not store.list_files(folder, "*/manifest.json"):
            store.open_arena(folder)
        environment["MIRAGE_ARENAS"] = store.address(folder.absolute())
    return environment


def _several(
    workers: int,
    port: int,
    hosts: list[str],
    listen: str,
    htpasswd: Path | None,
    nginx_conf: Path | None,
    environment: dict[str, str],
) -> None:
    """Run several explorers, and nginx unless only its configuration is requested."""
    from mirage.explorer.serve import nginx, replicas
    from mirage.store import files

    if port + workers > 65_535:
        raise BadInput(f"there are fewer than {workers} ports after {port}", do="use a smaller --port")
    if htpasswd is not None:
        files.need_file(htpasswd)
    environment = replicas.shared_environment(environment, hosts, own_proxy=nginx_conf is None)
    ports = range(port + 1, port + 1 + workers)
    site = nginx.site(
        nginx.Site(
            ports,
            listen,
            hosts,
            environment.get("STREAMLIT_SERVER_BASE_URL_PATH", ""),
            None if htpasswd is None else htpasswd.absolute(),
            environment.get(replicas.PROXY_SECRET, ""),
        )
    )
    keeper = replicas.Keeper(note)
    with TemporaryDirectory(prefix="mirage-nginx-") as folder:
        if nginx_conf is not None:
            files.write_text(nginx_conf, site)
            os.chmod(nginx_conf, 0o600)  # noqa: PTH101  # it may hold the secret; nginx reads it as root
            note(f"{nginx_conf}: for nginx's http block; then nginx -t, and nginx -s reload")
        else:
            root = hasattr(os, "geteuid") and os.geteuid() == 0
            configuration = Path(folder) / "nginx.conf"
            files.write_text(configuration, nginx.standalone(site, Path(folder), root=root))
            keeper.nginx(configuration, environment)
        for number in ports:
            keeper.explorer(number, environment)
        note(f"{workers} explorers on ports {ports[0]} to {ports[-1]}; nginx listens on {listen}. Ctrl-C stops all.")
        keeper.run()
