"""Checks of responses: bounded bodies without the key, and no redirect to another origin.

All happen once the headers have arrived, before the body is read and before a redirect is followed: an endless body is
not collected, neither key nor prompt reaches a server that the user did not name, and nothing reads a key that the
service repeats. What a stream has broken apart is joined later; replies are redacted again then.
"""

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any

from mirage.llm.presets import Endpoint
from mirage.llm.retry import Redirected, Unreadable

MAX_BODY = 16 * 1024**2
"""Default maximum bytes of a response: thousands of times the size of 2,048 tokens."""
ACCEPT = "gzip"
"""The only accepted compression of responses."""
_GZIP = 31
"""Window bits that make zlib read gzip."""


def guard(max_body: int, endpoint: Endpoint) -> Callable[[Any], Awaitable[None]]:
    """Build a response hook for the client.

    Args:
        max_body: maximum bytes of a response body, decompressed.
        endpoint: the service, with the key to remove.
    """

    async def check(response: Any) -> None:
        if response.has_redirect_location:
            target = response.url.join(response.headers["location"])
            if _origin(target) != _origin(response.url):
                scheme, host, port = _origin(target)
                raise Redirected(f"{scheme}://{host}:{port}")
        packing = endpoint.redact(response.headers.pop("content-encoding", "identity")).strip().lower()
        for name, value in response.headers.items():
            if (shown := endpoint.redact(value)) != value:
                response.headers[name] = shown
        response.stream = _bounded_type(response.stream.__class__)(response.stream, max_body, packing, endpoint)

    return check


def _origin(url: Any) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address (RFC 6454)."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


class _Bounded:
    """The decompressed bytes of a body, up to a maximum, without the key."""

    def __init__(self, stream: Any, max_body: int, packing: str, endpoint: Endpoint) -> None:
        self.stream, self.max_body, self.packing, self.endpoint = stream, max_body, packing, endpoint

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.packing not in ("identity", ACCEPT):
            raise Unreadable(f"it is compressed with {self.packing[:20]}, which was not requested")
        gzip = zlib.decompressobj(_GZIP) if self.packing == ACCEPT else None
        packed, size, parts = 0, 0, []
        async for part in self.stream:
            try:
                # Decompress at most one byte more than the maximum.
                data = gzip.decompress(part, self.max_body - size + 1) if gzip else part
            except zlib.error:
                raise Unreadable("it cannot be decompressed") from None
            packed, size = packed + len(part), size + len(data)
            if max(packed, size) > self.max_body:
                raise Unreadable(f"it is larger than {self.max_body:,} bytes, the limit of a response")
            parts.append(data)
        yield self.endpoint.redact(b"".join(parts))

    async def aclose(self) -> None:
        await self.stream.aclose()


@cache
def _bounded_type(stream: type) -> Any:
    """Return `_Bounded` as a stream class of the client's library: httpx, or httpx2 in later versions of openai."""
    base = next(kind for kind in stream.__mro__ if kind.__name__ == "AsyncByteStream")
    return type("BoundedStream", (_Bounded, base), {})
