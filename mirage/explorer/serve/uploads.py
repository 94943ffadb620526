"""Uploads: who may upload, and limits in bytes per session and for all sessions.

Streamlit accepts a file from any open session, whether its page has an upload field or not, and keeps it in memory.
`UploadGate` is middleware in front of it: it passes on only uploads from sessions that were shown the field, within
the limits below. Streamlit frees a session's files when the session ends.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEGABYTES: Final = 64
"""Maximum size of a file, in bytes."""
_FILE: Final = (MEGABYTES + 1) << 20
"""Maximum bytes of a request: the file and its multipart overhead."""
VISIT: Final = 2 * _FILE
"""Maximum bytes per session: a file and its replacement."""
ALL: Final = 8 * _FILE
"""Maximum bytes of all sessions of a process."""
_PATH: Final = "/_stcore/upload_file/"
_VISITS: Final = 10_000
"""Maximum number of sessions remembered as shown an upload field."""

_offered: OrderedDict[str, None] = OrderedDict()
"""Ids of sessions that were shown an upload field."""
_arriving: Counter[str] = Counter()
"""Bytes of requests in progress, by session."""


def offer_upload(label: str, kinds: Sequence[str]) -> Any:
    """Draw an upload field and allow this session to upload. Call it only for authorised readers.

    Args:
        label: description of the file.
        kinds: accepted suffixes.
    """
    if (context := get_script_run_ctx()) is not None:
        _offered[context.session_id] = None
        _offered.move_to_end(context.session_id)
        while len(_offered) > _VISITS:
            _offered.popitem(last=False)
    return st.file_uploader(label, type=list(kinds), max_upload_size=MEGABYTES)


def withdraw_upload() -> None:
    """Revoke this session's permission to upload."""
    if (context := get_script_run_ctx()) is not None:
        _offered.pop(context.session_id, None)


class UploadGate:
    """Middleware that rejects unrequested or oversized uploads, without Streamlit's error texts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or reject it."""
        if scope["type"] != "http" or _PATH not in scope["path"] or scope["method"] in ("OPTIONS", "DELETE"):
            await self._app(scope, receive, send)
            return
        visit = scope["path"].partition(_PATH)[2].split("/")[0]
        headers = dict(scope["headers"])
        written = headers.get(b"content-length", b"")
        size = int(written) if written.isdigit() and len(written) < 16 else None
        if status := _refusal(visit, size):
            await _say(send, status)
            return
        _arriving[visit] += size or 0
        try:
            await self._app(scope, receive, _without_texts(send))
        finally:
            _arriving[visit] -= size or 0
            if not _arriving[visit]:
                del _arriving[visit]


def _refusal(visit: str, size: int | None) -> HTTPStatus | None:
    """Return why an upload is rejected; None if it is allowed."""
    if visit not in _offered:
        return HTTPStatus.FORBIDDEN
    if size is None:
        return HTTPStatus.LENGTH_REQUIRED
    if size > _FILE:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    held = held_bytes()
    if held.get(visit, 0) + _arriving[visit] + size > VISIT:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if sum(held.values()) + _arriving.total() + size > ALL:
        return HTTPStatus.SERVICE_UNAVAILABLE
    return None


def held_bytes() -> dict[str, int]:
    """Return the bytes that Streamlit holds, by session."""
    files: Any = Runtime.instance().uploaded_file_mgr
    return {visit: sum(len(file.data) for file in kept.values()) for visit, kept in list(files.file_storage.items())}


def _without_texts(send: Send) -> Send:
    """Replace the body of an error response, which can contain addresses or server folders, by its status."""
    refused = False

    async def write(message: Message) -> None:
        nonlocal refused
        if message["type"] == "http.response.start" and message["status"] >= HTTPStatus.BAD_REQUEST:
            refused = True
            await _say(send, HTTPStatus(message["status"]))
        elif not refused:
            await send(message)

    return write


async def _say(send: Send, status: HTTPStatus) -> None:
    """Send a response with a status and its phrase."""
    body = f"{status.phrase}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})
