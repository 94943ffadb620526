"""The command `mirage app`: one explorer in place of the command, or several behind nginx."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from mirage.cli.common import app, located
from mirage.cli.output import note
from mirage.errors import BadInput
from mirage.shipped import shipped

PORT = 8501
"""Where the explorer is served unless told otherwise."""
OWN_HOSTS = ("localhost", "127.0.0.1")
"""The names under which it is opened unless told otherwise."""


@app.command("app")
def explorer(
    dir_: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", parser=located, help="An arena, or a folder of arenas; also on object storage."
        ),
    ] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Port to serve on; 8501 if free.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, metavar="N", help="Serve with N processes on the ports after this one, behind nginx on it."
        ),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --workers: a name under which people open it. May be repeated."),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="With --workers: where nginx listens, such as '443 ssl'; 127.0.0.1:PORT."),
    ] = None,
    htpasswd: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --workers: names and passwords that nginx asks for.")
    ] = None,
    nginx_conf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --workers: write nginx's configuration here, and start no nginx."),
    ] = None,
) -> None:
    """Open the explorer in the browser.

    Reads the arena, beside the bundled ones, which are always there. Writes nothing but the file of --nginx-conf.
    """
    page = shipped() / "app.py"
    if not page.exists():
        raise BadInput(
            "the explorer's pages are not installed",
            where=str(page),
            do="reinstall from the checkout or wheel it came from: pip install --force-reinstall PATH",
        )
    environment = _environment(dir_)
    if workers is not None:
        first = port or PORT
        _several(
            workers, first, host or list(OWN_HOSTS), listen or f"127.0.0.1:{first}", htpasswd, nginx_conf, environment
        )
        return
    if host or listen or htpasswd or nginx_conf:
        raise BadInput(
            "--host, --listen, --htpasswd and --nginx-conf are for several explorers", do="give --workers N too"
        )
    screen = sys.platform in ("darwin", "win32") or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    command = [sys.executable, "-m", "mirage.ui.process", "--server.showEmailPrompt=false"]
    command += [f"--server.headless={str(not screen).lower()}", *([f"--server.port={port}"] if port else [])]
    # The explorer takes the place of this process: what ends or stops it reaches the server, and none is left behind.
    os.chdir(page.parent)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, command, environment)  # noqa: S606  # our own program


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
    """Keep the explorers running, and nginx unless its configuration is to be written for another."""
    from mirage.deploy import nginx, replicas
    from mirage.store import files

    if port + workers > 65_535:
        raise BadInput(f"there are no {workers} ports after {port}", do="give a smaller --port")
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
        note(f"{workers} explorers on ports {ports[0]} to {ports[-1]}; nginx listens on {listen}. Ctrl-C ends all.")
        keeper.run()
