"""The explorer's server: Streamlit's server behind guards, with routes for operators and request metrics.

    streamlit run mirage/explorer/serve/serve.py     # what mirage app starts

`/healthz`: the process responds; `/readyz`: it has an arena to show, and whether the votes' database responds;
`/metrics`: for Prometheus. They are at the root, whatever the base path, and need no login; the proxy passes on only
the first two.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config

from mirage import store
from mirage.errors import BadInput, MirageError
from mirage.explorer.kit import votes as people
from mirage.explorer.serve import logs, metrics, uploads
from mirage.store import home

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from streamlit.starlette import App

KEPT = "MIRAGE_KEPT"
"""Environment variable: `1` if the process must end when its standard input closes."""
_KINDS = ("_stcore/stream", "_stcore/upload_file", "_stcore/health", "_stcore", "media", "static", "healthz", "readyz")
"""Kinds of paths to count; all others are pages. Full paths would create a label per file."""


class _Counted:
    """Middleware that counts and logs requests: method, kind of path, status and time; for WebSockets, on close."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def record_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "websocket.accept":
                status = 101
                metrics.count_reader(1)
            elif message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "websocket.close" and status == 500:
                status = 403
            await send(message)

        try:
            await self._app(scope, receive, record_status)
        finally:
            if status == 101:
                metrics.count_reader(-1)
            # Clients can send any method; only well-known methods become labels.
            method = scope.get("method", "GET")
            method = method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS") else "other"
            metrics.request(method, _kind(scope["path"]), status, began)


def _kind(path: str) -> str:
    return next((kind for kind in _KINDS if f"/{kind}" in path), "page")


class _Closed:
    """Blocks Streamlit's own metrics and cross-origin requests.

    For a foreign origin Streamlit looks up this machine's addresses at an internet service. Here an origin must be the
    site's own or listed in the settings, else the request ends before Streamlit sees it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif not _own_origin(scope["headers"]):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await PlainTextResponse("Forbidden\n", 403)(scope, receive, send)
        elif scope["path"].endswith("/_stcore/metrics"):
            await PlainTextResponse("Not Found\n", 404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _own_origin(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request comes from this site, an allowed site, or no page."""
    lines = [(name, value.decode("latin-1").strip().lower()) for name, value in headers]
    origins = {value for name, value in lines if name == b"origin"}
    hosts = {value for name, value in lines if name == b"host"}
    known = {str(origin).strip().lower().rstrip("/") for origin in config.get_option("server.corsAllowedOrigins") or ()}
    return all(origin in known or origin.partition("://")[2] in hosts for origin in origins)


async def _alive(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _ready(_request: Request) -> Response:
    state = await run_in_threadpool(readiness)
    return Response(
        json.dumps(state),
        200 if state["arenas"] else 503,
        media_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


async def _metrics(_request: Request) -> Response:
    try:
        text, kind = await run_in_threadpool(metrics.page)
    except BadInput as error:
        return PlainTextResponse(f"{error.what}; {error.do}\n", 501)
    return Response(text, media_type=kind)


def readiness() -> dict[str, bool]:
    """Return whether an arena opens and whether the votes' database responds.

    The database does not affect readiness: pages work without it, and votes wait for it.
    """
    return {"arenas": any(map(_opens, home.all_arenas()[0].values())), "votes": _votes_answer()}


def _opens(path: Path) -> bool:
    try:
        store.reopen(path)
    except MirageError:
        return False
    return True


def _votes_answer() -> bool:
    try:
        people.database().version()
    except MirageError:
        return False
    return True


def _end_with_keeper() -> None:
    """End when the supervising process ends, detected by the closing of stdin."""

    def wait() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True, name="keeper").start()


def _import_first_page() -> None:
    """Import what the first page needs, while the reader's browser still loads Streamlit's own scripts."""
    import duckdb  # noqa: F401  # the store imports it for the first query
    import pandas  # noqa: F401  # Streamlit imports it for the first table
    import pyarrow.parquet  # noqa: F401  # the store reads every table with it
    import scipy.linalg  # every ranking needs it
    import scipy.special  # noqa: F401  # every test between two systems needs it

    from mirage.explorer.leaderboard import cards, comparison, system_section, systems  # noqa: F401
    from mirage.publish.charts import leaderboard  # noqa: F401


@asynccontextmanager
async def _lifetime(_app: App) -> AsyncIterator[None]:
    logs.begin()
    threading.Thread(target=_import_first_page, daemon=True, name="imports").start()
    if os.environ.get(KEPT) == "1":
        _end_with_keeper()
    yield


def parts() -> dict[str, Any]:
    """Return a deployment's additions to the pages: keyword arguments of Streamlit's `App`."""
    return {
        "routes": [Route("/healthz", _alive), Route("/readyz", _ready), Route("/metrics", _metrics)],
        "middleware": [Middleware(_Counted), Middleware(_Closed), Middleware(uploads.UploadGate)],
        "lifespan": _lifetime,
        "on_script_error": lambda problem: metrics.error("", problem),
    }
