"""OpenAI's batch protocol: upload requests as a file, create a batch, poll it, and read its results.

Results come in an output and an error file, in any order. Every call is retried after transient failures. Creating a
batch is not idempotent: after a failure that may have come too late, the service's batches are searched for the file.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

import numpy as np

from mirage.errors import Unreachable
from mirage.llm import retry
from mirage.llm.calls import Limits
from mirage.llm.presets import Endpoint
from mirage.llm.retry import Unreadable

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_FILE = 200_000_000
"""Maximum bytes of a file of requests."""
MAX_RESULTS = 4_000_000_000
"""Maximum bytes of a file of results; it is read line by line."""
WINDOW: Literal["24h"] = "24h"
"""Completion window of a batch; requests left after it expire."""
ENDED = ("completed", "failed", "expired", "cancelled")
"""States that do not change."""
ENQUEUED = "token_limit_exceeded"
"""Code of the error of a batch whose tokens do not fit the account's queue."""
_SETTLE = 3.0
"""Seconds until a created batch is listed at the latest."""
_SEARCHED = 500
"""Maximum number of the latest batches to search."""
_NO_BATCHES = "the service offers no batches: omit --batch"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchState:
    """State of a batch at the service."""

    status: str
    """validating, in_progress, finalizing, completed, failed, expired, cancelling, cancelled, or another word."""
    results: tuple[str, ...]
    """Ids of the files with results: output, then errors."""
    code: str
    """Code of the first error of a failed batch; empty if none."""
    reason: str
    """Its message."""

    @property
    def ended(self) -> bool:
        """True if the state does not change any more."""
        return self.status in ENDED


class BatchService:
    """A service that speaks the batch protocol.

    Args:
        clients: an open client of the service, and one that reads responses of up to `MAX_RESULTS`.
        endpoint: the service.
        limits: retries and pauses.
    """

    def __init__(
        self,
        clients: tuple[AsyncOpenAI, AsyncOpenAI],
        endpoint: Endpoint,
        limits: Limits,
    ) -> None:
        self._client, self._reader = clients
        self._endpoint, self._limits, self._rng = endpoint, limits, np.random.default_rng()
        self._reached = False

    @property
    def url(self) -> str:
        """Path of the requests of a batch; Azure's has no version."""
        azure = (urlsplit(self._endpoint.base_url).hostname or "").endswith(".azure.com")
        return "/chat/completions" if azure else "/v1/chat/completions"

    def line(self, key: str, body: Mapping[str, Any]) -> bytes:
        """Return the line of a request in a file."""
        request = {"custom_id": key, "method": "POST", "url": self.url, "body": body}
        text = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace") + b"\n"

    async def upload(self, name: str, content: bytes) -> str:
        """Upload a file of requests; return the service's id of it."""

        async def call() -> str:
            made = await self._client.files.create(file=(name, content, "application/jsonl"), purpose="batch")
            return _id(made, "file")

        return await self._repeat(call, do=_NO_BATCHES)

    async def create(self, file: str, *, requested: bool) -> str:
        """Create the batch of an uploaded file, unless there is one; return the service's id of it.

        Args:
            file: id of the file.
            requested: whether the creation may have been requested before.
        """
        if requested and (found := await self._find_settled(file)) is not None:
            return found
        endpoint: Any = self.url

        async def call() -> str:
            made = await self._client.batches.create(completion_window=WINDOW, endpoint=endpoint, input_file_id=file)
            return _id(made, "batch")

        return await self._repeat(call, do=_NO_BATCHES, before_retry=lambda: self._find_settled(file))

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch."""

        async def call() -> BatchState:
            found = await self._client.batches.retrieve(batch)
            status = getattr(found, "status", None)
            if not isinstance(status, str):
                raise Unreadable("it is not the state of a batch")
            files = (getattr(found, "output_file_id", None), getattr(found, "error_file_id", None))
            errors = getattr(getattr(found, "errors", None), "data", None) or [None]
            code, message = (str(getattr(errors[0], name, None) or "") for name in ("code", "message"))
            results = tuple(file for file in files if file)
            code, message = self._endpoint.redact([code, " ".join(message.split())[:300]])
            return BatchState(status, results, code, message)

        return await self._repeat(
            call,
            do=f"batch {batch} belongs to another account or was deleted: use the key that submitted it, or ask anew"
            " under another --service",
        )

    async def results(self, file: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the records of a file of results; none if the service has deleted it. Failures begin again."""
        attempt = 0
        while True:
            attempt += 1
            try:
                async for record in self._records(file):
                    yield record
                return
            except Exception as error:  # `judge_failure` raises other errors again
                verdict = retry.judge_failure(error)
            if "HTTP 404" in verdict.reason:
                return
            await self._pause(verdict, attempt, "rerun the command; results received are cached")

    async def _records(self, file: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the records of a file of results, split at line feeds only: texts may have other line separators."""
        rest = b""
        async with self._reader.files.with_streaming_response.content(file) as response:
            async for part in _parts(response):
                *lines, rest = (rest + part).split(b"\n") if b"\n" in part else [rest + part]
                if len(rest) > self._limits.max_body:
                    raise Unreadable(f"a line is larger than {self._limits.max_body:,} bytes, the limit of a reply")
                for line in lines:
                    if (record := _record(line)) is not None:
                        yield record
        if (record := _record(rest)) is not None:
            yield record

    async def _find_settled(self, file: str) -> str | None:
        """Search the batch of a file, again once every created batch must be listed."""
        if (found := await self._find(file)) is not None:
            return found
        await asyncio.sleep(min(_SETTLE, self._limits.longest_pause))
        return await self._find(file)

    async def _find(self, file: str) -> str | None:
        """Return the id of the batch of a file; None if there is none."""

        async def call() -> str | None:
            n = 0
            try:
                async for made in self._client.batches.list(limit=100):
                    n += 1
                    if getattr(made, "input_file_id", None) == file:
                        return _id(made, "batch")
                    if n >= _SEARCHED:
                        break
            except (AttributeError, TypeError):
                # The client passes on a body that is not JSON as a text.
                raise Unreadable("it is not a list of batches") from None
            return None

        return await self._repeat(call, do=f"the service does not list its batches: cancel the one of {file}, if any")

    async def _repeat(
        self,
        call: Callable[[], Awaitable[T]],
        *,
        do: str,
        before_retry: Callable[[], Awaitable[T | None]] | None = None,
    ) -> T:
        """Make a call, with retries.

        Args:
            call: makes the call.
            do: advice if the service rejects it.
            before_retry: finds the result of a call that failed too late.

        Raises:
            Unreachable: if the call fails permanently.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                made = await call()
                self._reached = True
                return made
            except Exception as error:  # `judge_failure` raises other errors again
                verdict = retry.judge_failure(error)
            await self._pause(verdict, attempt, do)
            if before_retry is not None and (found := await before_retry()) is not None:
                return found

    async def _pause(self, verdict: retry.RetryDecision, attempt: int, do: str) -> None:
        """Wait before a retry.

        Raises:
            Unreachable: if the failure is permanent.
        """
        limits = self._limits
        wait = retry.pause(attempt, self._rng, base=limits.backoff, longest=limits.longest_pause)
        asked = verdict.wait or 0.0
        self._reached |= not verdict.unreached
        if not self._reached and attempt >= min(retry.KNOCKS, limits.retries + 1):
            raise Unreachable(verdict.reason, where=self._endpoint.base_url, do=verdict.do)
        if verdict.action != "again" or attempt > limits.retries or asked > limits.longest_pause:
            own = verdict.do if verdict.action == "stop" and "HTTP 404" not in verdict.reason else ""
            advice = own or ("rerun the command; nothing is sent twice" if verdict.action == "again" else do)
            raise Unreachable(self._endpoint.redact(verdict.reason), where=self._endpoint.base_url, do=advice)
        await asyncio.sleep(max(asked, wait))


async def _parts(response: Any) -> AsyncIterator[bytes]:
    """Yield the parts of a body.

    Raises:
        Unreadable: if the connection fails; the client does not wrap the errors of its library there.
    """
    try:
        async for part in response.iter_bytes():
            yield part
    except Exception as error:
        if not type(error).__module__.startswith(("httpx", "httpcore")):
            raise
        raise Unreadable(f"the connection failed: {type(error).__name__}") from None


def _id(made: object, what: str) -> str:
    """Return the id of a created object.

    Raises:
        Unreadable: if there is none.
    """
    found = getattr(made, "id", None)
    if not isinstance(found, str) or not found:
        raise Unreadable(f"it has no id of a {what}")
    return found


def _record(line: bytes) -> dict[str, Any] | None:
    """Parse a line of a file of results; None if it is blank or not an object."""
    try:
        record = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
