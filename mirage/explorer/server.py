"""The explorer as a program for Streamlit: `app.py` behind a guard against pages of other sites.

    streamlit run mirage/explorer/server.py     # what `mirage app` starts

For a foreign origin Streamlit looks up this machine's addresses at an internet service. Here an origin must be the
site's own or listed in the settings, else the request ends before Streamlit sees it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from streamlit import config
from streamlit.starlette import App

from mirage.store.bundled import shipped_folder

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


app = App(str(shipped_folder() / "app.py"), middleware=[Middleware(OwnOrigin)])
"""The program that Streamlit runs."""
