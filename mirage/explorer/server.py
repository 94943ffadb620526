"""The explorer as a program for Streamlit: `app.py` behind a guard against pages of other sites, static files
compressed, and a child process that computes views ahead.

    streamlit run mirage/explorer/server.py     # what `mirage app` starts

For a foreign origin Streamlit looks up this machine's addresses at an internet service. Here an origin must be the
site's own or listed in the settings, else the request ends before Streamlit sees it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse
from streamlit import config
from streamlit.starlette import App

from mirage.errors import MirageError
from mirage.store.bundled import shipped_folder
from mirage.store.cache_files import cache_limit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class OwnOrigin:
    """Middleware that refuses requests from pages of other sites."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] not in ("http", "websocket") or is_own(scope["headers"]):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse("Forbidden\n", 403)(scope, receive, send)


def is_own(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request comes from this site, an allowed site, or no page."""
    lines = [(name, value.decode("latin-1").strip().lower()) for name, value in headers]
    origins = {value for name, value in lines if name == b"origin"}
    hosts = {value for name, value in lines if name == b"host"}
    known = {str(origin).strip().lower().rstrip("/") for origin in config.get_option("server.corsAllowedOrigins") or ()}
    return all(origin in known or origin.partition("://")[2] in hosts for origin in origins)


class CompressedStatic:
    """Middleware that compresses static files, which Streamlit does not, for readers who are not on this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._compressed = GZipMiddleware(app, compresslevel=5)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, to be compressed or not."""
        wanted = scope["type"] == "http" and "/static/" in scope["path"] and not is_local(scope.get("client"))
        # A part of a file is told by its place in the file as it is.
        whole = wanted and not any(name == b"range" for name, _ in scope["headers"])
        await (self._compressed if whole else self._app)(scope, receive, send)


def is_local(client: tuple[str, int] | None) -> bool:
    """Return whether a client is on this machine; a proxy on it compresses by itself."""
    if client is None:
        return True
    try:
        address = ip_address(client[0])
    except ValueError:  # the name of a socket
        return True
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


@asynccontextmanager
async def warming(_: App) -> AsyncIterator[None]:
    """Run the child that computes views ahead, unless none are stored; it ends with this process."""
    child = None
    quiet = subprocess.DEVNULL
    with suppress(OSError, MirageError):
        if cache_limit():
            command = [sys.executable, "-m", "mirage.views.warm"]
            child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)  # noqa: S603  # our own program
    yield
    if child is not None:
        child.kill()
        child.wait()


app = App(
    str(shipped_folder() / "app.py"),
    lifespan=warming,
    middleware=[Middleware(OwnOrigin), Middleware(CompressedStatic)],
)
"""The program that Streamlit runs."""
