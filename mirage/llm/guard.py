"""What may come over the connection to a service: bodies of a bounded size, and no redirect to another origin.

Both are checked when the head of an answer has come, before its body is read and before a redirect is followed: a body
that never ends is not collected, and neither key nor prompt reaches a server that the user did not name.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any

from mirage.llm.retry import Redirected, Unreadable

MAX_BODY = 16 * 1024**2
"""Bytes that one answer may have, by default: thousands of times what 2,048 tokens take."""
ACCEPT = "gzip"
"""The only packing that answers may come in."""
_GZIP = 31
"""Window bits that make zlib read gzip."""


def guard(max_body: int) -> Callable[[Any], Awaitable[None]]:
    """Make a response hook for the client.

    Args:
        max_body: bytes that the body of an answer may have, unpacked.
    """

    async def check(response: Any) -> None:
        if response.has_redirect_location:
            target = response.url.join(response.headers["location"])
            if _origin(target) != _origin(response.url):
                scheme, host, port = _origin(target)
                raise Redirected(f"{scheme}://{host}:{port}")
        packing = response.headers.pop("content-encoding", "identity").strip().lower()
        response.stream = _bounded_type(response.stream.__class__)(response.stream, max_body, packing)

    return check


def _origin(url: Any) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address (RFC 6454)."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


class _Bounded:
    """The bytes of a body, unpacked, until they are too many."""

    def __init__(self, stream: Any, max_body: int, packing: str) -> None:
        self.stream, self.max_body, self.packing = stream, max_body, packing

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.packing not in ("identity", ACCEPT):
            raise Unreadable(f"it is packed as {self.packing[:20]}, which was not asked for")
        gzip = zlib.decompressobj(_GZIP) if self.packing == ACCEPT else None
        packed = size = 0
        async for part in self.stream:
            try:
                # No more is unpacked than shows that it is too much.
                data = gzip.decompress(part, self.max_body - size + 1) if gzip else part
            except zlib.error:
                raise Unreadable("it does not unpack") from None
            packed, size = packed + len(part), size + len(data)
            if max(packed, size) > self.max_body:
                raise Unreadable(f"it is larger than {self.max_body:,} bytes, the limit of --max-body")
            yield data

    async def aclose(self) -> None:
        await self.stream.aclose()


@cache
def _bounded_type(stream: type) -> Any:
    """`_Bounded` as a stream of the library that the client is of: httpx, or httpx2 with later versions of openai."""
    base = next(kind for kind in stream.__mro__ if kind.__name__ == "AsyncByteStream")
    return type("BoundedStream", (_Bounded, base), {})
