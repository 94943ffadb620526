"""Download public files over HTTPS, with resumption and checks; complete files are not downloaded again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import BadInput, Unreachable
from mirage.store.files import Sink

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 5
"""Maximum attempts per file and call."""
REDIRECTS = 5
"""Maximum redirects per request."""
TIMEOUT = 30.0
"""Seconds without an answer or a byte after which an attempt fails."""
LARGEST = 8 * 1024**3
"""Maximum bytes of a file, regardless of the server's length."""
LONGEST_WAIT = 120.0
"""In seconds; if a server asks for a longer pause, the call ends."""

Progress = Callable[[int, int | None, str], None]


@dataclass(frozen=True, slots=True)
class DownloadResult:
    """Result of a download."""

    folder: Path
    """Folder of the files."""
    files: int
    """Files now in the folder."""
    fetched: int
    """Files downloaded or completed by this call; the others existed."""
    absent: tuple[str, ...] = ()
    """Names of files that the source does not have."""


class _AgainError(Exception):
    """A failed attempt, and the wait in seconds that the server asks for."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class _Absent(Exception):
    """The server has no such file."""


def fetch(into: Path, names: Sequence[str], base_url: str, *, progress: Progress | None = None) -> DownloadResult:
    """Download files into a folder, each under its own name.

    An existing file is not requested again; an interrupted one is resumed, in this call or a later one. A file gets its
    name only if it has the length given by the server and, if compressed, can be unpacked. Redirects are followed
    within the server or to an https address.

    Args:
        into: the folder; created if it does not exist.
        names: the files, relative to the address and to the folder.
        base_url: the address to which the names are appended.
        progress: called with the current bytes of a file, its size if known, and its name.

    Raises:
        Unreachable: if a file cannot be downloaded or is too large, or the server has none of them or has a forbidden
            redirect. Partial files are kept, and another call resumes them.
        BadInput: if the address is invalid, or the folder cannot be written.
    """
    import httpx

    base = base_url.rstrip("/")
    if "@" in base.partition("://")[2].partition("/")[0]:
        raise BadInput("the address has a user name or a password", do="give a mirror that needs none")
    # The length is checked against what is written, so the bytes must come as they are.
    headers = {"Accept-Encoding": "identity", "User-Agent": "mirage"}
    fetched, absent = 0, []
    try:
        with httpx.Client(headers=headers, timeout=TIMEOUT) as client:
            for name in names:
                sink = Sink(into / name)
                if sink.done:
                    continue
                try:
                    _fetch(client, f"{base}/{name}", sink, name, progress)
                    fetched += 1
                except _Absent:
                    absent.append(name)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise BadInput(f"this is no address to fetch from: {base}", do=f"give an https address ({error})") from None
    except OSError as error:
        raise not_written(into, error) from None
    return finish(into, names, fetched, absent, where=f"{base}/", do="check the address, or fetch the files by hand")


def not_written(into: Path, error: OSError) -> BadInput:
    """Return the error for a folder that cannot be written."""
    return BadInput(
        f"{into} cannot be written: {error.strerror or error}",
        where=str(error.filename or into),
        do="free space or check permissions, then run the command again to resume",
    )


def finish(
    into: Path, names: Collection[str], fetched: int, absent: Sequence[str], *, where: str, do: str
) -> DownloadResult:
    """Return the result of a download.

    Raises:
        Unreachable: if the source has none of the files.
    """
    if absent and len(absent) == len(names):
        what = f"none of the {len(names)} files is there (404), such as {absent[0]}"
        raise Unreachable(what, where=f"{where}{absent[0]}", do=do)
    return DownloadResult(into, len(names) - len(absent), fetched, tuple(absent))


def _fetch(client: httpx.Client, url: str, sink: Sink, name: str, progress: Progress | None) -> None:
    """Download one file, with a limited number of attempts."""
    import httpx
    import numpy as np

    for attempt in range(ATTEMPTS):
        try:
            _attempt(client, url, sink, name, progress)
            sink.finish()
            return
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise
        except (httpx.HTTPError, _AgainError) as error:
            why, wait = str(error)[:200] or type(error).__name__, getattr(error, "wait", None)
        finally:
            sink.pause()
        if wait is not None and wait > LONGEST_WAIT:
            what = f"the server asks to wait {wait:,.0f} seconds"
            raise Unreachable(what, where=url, do="run the same command again then")
        if attempt + 1 < ATTEMPTS:
            # From 1 second, doubled each time, spread by half either way so that many clients do not come at once.
            backoff = 2.0**attempt * np.random.default_rng().uniform(0.5, 1.5)
            time.sleep(backoff if wait is None else wait)
    raise Unreachable(
        f"{name} did not come in {ATTEMPTS} attempts; the last: {why}",
        where=url,
        do="check the connection and run the same command again to resume",
    )


@contextmanager
def _answer(client: httpx.Client, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
    """Follow redirects without reading their bodies, and return the head of the last answer.

    Raises:
        Unreachable: if there are too many, or one is to another server without https.
    """
    address = client.build_request("GET", url).url
    for _ in range(REDIRECTS + 1):
        with client.stream("GET", address, headers=dict(headers)) as response:
            if not response.has_redirect_location:
                yield response
                return
            address = response.url.join(response.headers["Location"])
            if address.scheme != "https" and _origin(address) != _origin(response.url):
                raise Unreachable(
                    f"the server redirects to {address.scheme}://{address.host}, another server without https",
                    where=url,
                    do="give the address of the files themselves",
                )
    raise Unreachable(f"the server redirects more than {REDIRECTS} times", where=url, do="give another address")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address (RFC 6454)."""
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


def _attempt(client: httpx.Client, url: str, sink: Sink, name: str, progress: Progress | None) -> None:
    """Request the rest of a file once, and check that it is then complete."""
    offset = sink.offset
    with _answer(client, url, {"Range": f"bytes={offset}-"} if offset else {}) as response:
        code = response.status_code
        _check_status(code, url, response.headers.get("Retry-After", ""))
        start, total = _range(response)
        if code == 200:
            start, total = 0, _length(response)
            sink.restart()
        elif start != offset and not (code == 416 and total == offset):  # all but the name may have come before
            sink.restart()
            raise _AgainError("the server does not go on from where the file stopped", 0.0)
        if total is None and "chunked" not in response.headers.get("Transfer-Encoding", ""):
            raise Unreachable("the server does not report the file's length", where=url, do="give another address")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Unreachable("the server sends the file in another encoding", where=url, do="give another address")
        # Without a chunk size httpx hands on what came, so a cut connection loses none of it.
        for chunk in response.iter_raw() if code != 416 and (total or 0) <= LARGEST else ():
            sink.append(chunk)
            start += len(chunk)
            if start > (LARGEST if total is None else total):
                break
            if progress:
                progress(start, total, name)
    sink.pause()
    if (start if total is None else total) > LARGEST:
        sink.restart()
        raise Unreachable(
            f"{name} is larger than {LARGEST:,} bytes, the most that is fetched",
            where=url,
            do="check the address, or fetch the file by hand",
        )
    if total is not None and (came := sink.offset) != total:
        if came > total:
            sink.restart()
        raise _AgainError(f"{came:,} bytes came where {total:,} were due")
    if not sink.is_intact():
        sink.restart()
        raise _AgainError("what came does not unpack")


def _check_status(code: int, url: str, retry_after: str) -> None:
    """Check that a status is one with content.

    Raises:
        _Absent: if there is no such file.
        _AgainError: if the failure may be temporary.
        Unreachable: if another attempt is useless.
    """
    if code in (404, 410):
        raise _Absent
    if code in (408, 425, 429) or code >= 500:
        raise _AgainError(f"the server answered {code}", float(retry_after) if retry_after.isdecimal() else None)
    if code not in (200, 206, 416):
        raise Unreachable(
            f"the server refused with {code}",
            where=url,
            do="the files are public: check the address and the proxy, or fetch them by hand from there",
        )


def _range(response: httpx.Response) -> tuple[int, int | None]:
    """Return first byte and total size from Content-Range; -1 and None if there are none."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", response.headers.get("Content-Range", ""))
    if not match:
        return -1, None
    return int(match[1] or -1), None if match[2] == "*" else int(match[2])


def _length(response: httpx.Response) -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None
