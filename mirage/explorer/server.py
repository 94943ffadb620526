"""The explorer as a program for Streamlit: `app.py` behind a guard of requests, static files compressed, and a child
process that computes views ahead.

    streamlit run mirage/explorer/server.py     # what `mirage app` starts

For a foreign origin Streamlit looks up this machine's addresses at an internet service. Here an origin must be the
site's own or listed in the settings, else the request ends before Streamlit sees it.
"""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.starlette import App

from mirage.errors import MirageError
from mirage.explorer.kit.uploads import OF_ALL, forget, held_bytes, uploading_visit
from mirage.store.bundled import shipped_folder
from mirage.store.cache_files import cache_limit
from mirage.store.settings import METRICS, frame_ancestors

_UPLOAD = "/_stcore/upload_file/"
"""Address of Streamlit's uploads, before the names of the visit and of the file."""
_REFUSED = 400
"""First status of an answer that is none."""


class Guard:
    """Middleware that refuses pages of other sites, metrics, and files that no page asked for, and sets headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": f"frame-ancestors {frame_ancestors(os.environ)}",
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            was_begun, begun = begun, True
            if message["type"] == "websocket.close" and not was_begun:
                await _refuse(403, scope, receive, answer)
                return
            if message["type"] in ("http.response.start", "websocket.accept", "websocket.http.response.start"):
                message.setdefault("headers", [])
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        try:
            await self._judge(scope, receive, answer)
        except Exception:
            # Starlette's own answer to an error would be without the headers.
            if not begun:
                await _refuse(500, scope, receive, answer)
            raise

    async def _judge(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope.get("method")
        if not is_own(scope["headers"]):
            await _refuse(403, scope, receive, send)
        elif path.rstrip("/").endswith("/_stcore/metrics") and os.environ.get(METRICS) != "1":
            await _refuse(404, scope, receive, send)
        elif method == "PUT" and _UPLOAD in path:
            await self._upload(scope, receive, send)
        elif await self._forward(scope, receive, send) < _REFUSED and method == "DELETE" and _UPLOAD in path:
            forget(path)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a file of a visit that was offered an upload; it replaces the visit's earlier file."""
        path, largest = scope["path"], config.get_option("server.maxUploadSize") * 2**20
        headers = Headers(scope=scope)
        # A body in chunks is read to its end, whatever length is claimed beside it.
        size = -1 if "transfer-encoding" in headers else int(headers.get("content-length", -1))
        name = path.partition(_UPLOAD)[2].partition("/")[0]
        if (visit := uploading_visit(name)) is None:
            await _refuse(403, scope, receive, send)
        elif not 0 <= size <= largest:
            await _refuse(411 if size < 0 else 413, scope, receive, send)
        elif visit.busy or held_bytes(visit) + size > OF_ALL * largest:
            await _refuse(429, scope, receive, send)
        else:
            visit.busy, status = True, _REFUSED
            try:
                for earlier in tuple(visit.files):
                    await self._delete(scope, earlier)
                visit.files[path] = size
                status = await self._forward(scope, receive, send)
            finally:
                visit.busy = False
                if status >= _REFUSED:
                    forget(path)
                elif uploading_visit(name) is not visit:  # it has ended meanwhile
                    await self._delete(scope, path)

    async def _delete(self, scope: Scope, path: str) -> None:
        """Remove a file as the browser would, with the headers of the present request."""

        async def no_body() -> Message:
            return {"type": "http.request"}

        async def unheard(_: Message) -> None:
            pass

        await self._judge({**scope, "method": "DELETE", "path": path}, no_body, unheard)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Forward a request; return the status of the answer."""
        status = _REFUSED

        async def answer(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._app(scope, receive, answer)
        return status


async def _refuse(status: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a status and its phrase; close a WebSocket where the server cannot answer so."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
    else:
        await PlainTextResponse(f"{HTTPStatus(status).phrase}\n", status)(scope, receive, send)


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
        """Forward a request, with or without compression of the response."""
        wanted = scope["type"] == "http" and "/static/" in scope["path"] and not is_local(scope.get("client"))
        # A byte range refers to the uncompressed file.
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
    middleware=[Middleware(Guard), Middleware(CompressedStatic)],
)
"""The program that Streamlit runs."""
