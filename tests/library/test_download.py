"""Downloads from a server that drops connections, refuses, redirects, never ends or sends more than it said."""

import gzip
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from mirage.errors import BadInput, Unreachable
from mirage.io.sources import download
from mirage.io.sources.download import ATTEMPTS, REDIRECTS, DownloadResult, fetch

CONTENT = bytes(range(250)) * 12
NAME = "folder/a.bin"


@dataclass
class Response:
    """How the server answers one request; the default serves the file and honours Range."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    ignore_range: bool = False
    stop_after: int | None = None
    """Bytes after which the connection is cut, the promised length unkept."""
    claim: int | None = None
    """A Content-Length that is not true; -1 for none."""
    garble: bool = False
    body: bytes = b"no"
    """Body of a status other than 200."""
    endless: bool = False
    """Whether a chunked body follows that ends only when the client hangs up."""


def redirect(to: str, **more: Any) -> Response:
    return Response(302, {"Location": to}, body=b"", **more)


class Site:
    """A server on this machine: its files, the responses to the next requests of a file, and the requests."""

    def __init__(self) -> None:
        self.files = {NAME: CONTENT}
        self.responses: dict[str, list[Response]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.sent = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
                """Say nothing."""

            def do_GET(self) -> None:
                site.answer(self, self.path.removeprefix("/"), self.headers.get("Range"))

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request: Any, client_address: Any) -> None:
                if not isinstance(sys.exception(), OSError):  # clients that hang up are part of the play
                    super().handle_error(request, client_address)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def answer(self, handler: BaseHTTPRequestHandler, name: str, byte_range: str | None) -> None:
        self.requests.append((name, byte_range))
        handler.close_connection = True
        queue = self.responses.get(name, [])
        response = (queue.pop(0) if len(queue) > 1 else queue[0]) if queue else Response()
        content, status = self.files.get(name), response.status
        status = 404 if status == 200 and content is None and not response.endless else status
        start = int(byte_range[6:-1]) if byte_range and not response.ignore_range else 0
        body = b"" if response.endless else (content or b"")[start:] if status == 200 else response.body
        headers = dict(response.headers)
        if status == 200 and start:
            status = 206 if body else 416
            span = f"{start}-{len(CONTENT) - 1}" if body else "*"
            headers["Content-Range"] = f"bytes {span}/{len(CONTENT)}"
        if response.endless:
            headers["Transfer-Encoding"] = "chunked"
        elif response.claim != -1:
            headers["Content-Length"] = str(len(body) if response.claim is None else response.claim)
        handler.send_response(status)
        for header, value in headers.items():
            handler.send_header(header, value)
        handler.end_headers()
        handler.wfile.write((bytes(len(body)) if response.garble else body)[: response.stop_after])
        while response.endless:
            handler.wfile.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
            self.sent += 65_536

    @property
    def ranges(self) -> list[str | None]:
        return [byte_range for _, byte_range in self.requests]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    server = Site()
    yield server
    server.close()


@pytest.fixture
def other() -> Iterator[Site]:
    server = Site()
    yield server
    server.close()


def get(site: Site, into: Path, *names: str, **options: Any) -> list[float]:
    """Fetch the file, or others, and return the pauses between attempts."""
    with pytest.MonkeyPatch.context() as patch:
        slept: list[float] = []
        patch.setattr(download.time, "sleep", slept.append)
        fetch(into, names or [NAME], site.url, **options)
    return slept


CUT = Response(stop_after=1000)
ELSEWHERE = Response(206, {"Content-Range": "bytes 0-1999/3000"}, body=CONTENT[:2000])
RESUMED: dict[str, tuple[bytes, list[Response], list[str | None]]] = {
    "dropped twice": (b"", [CUT, Response(stop_after=500), Response()], [None, "bytes=1000-", "bytes=1500-"]),
    "a range that is ignored": (b"", [CUT, Response(ignore_range=True)], [None, "bytes=1000-"]),
    "another part of the right length": (b"", [CUT, ELSEWHERE, Response()], [None, "bytes=1000-", None]),
    "only the name is missing": (CONTENT, [], ["bytes=3000-"]),
    "a leftover that is too long": (CONTENT + b"more", [], ["bytes=3004-", None]),
    "more than the rest that was due": (
        CONTENT[:5],
        [Response(206, {"Content-Range": "bytes 5-9/10"}, endless=True), Response()],
        ["bytes=5-", None],
    ),
}


@pytest.mark.parametrize("case", RESUMED)
def test_a_file_is_resumed_or_begun_again_until_it_is_whole(site: Site, tmp_path: Path, case: str) -> None:
    part, site.responses[NAME], ranges = RESUMED[case]
    if part:
        (tmp_path / "folder").mkdir()
        (tmp_path / f"{NAME}.part").write_bytes(part)
    get(site, tmp_path)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert site.ranges == ranges
    assert not list(tmp_path.rglob("*.part"))
    assert site.sent < 50_000_000
    site.requests.clear()
    assert fetch(tmp_path, [NAME], site.url) == DownloadResult(tmp_path, 1, 0)
    assert site.requests == [], "what is there is not asked for again"


ENDED: dict[str, tuple[Response, str, int]] = {
    "refused": (Response(401), "refused with 401", 1),
    "forbidden": (Response(403), "refused with 403", 1),
    "a long pause": (Response(429, {"Retry-After": "3600"}), "asks to wait 3,600 seconds", 1),
    "errors": (Response(500), f"did not come in {ATTEMPTS} attempts", ATTEMPTS),
    "a length never reached": (Response(claim=10**6, ignore_range=True), "did not come in", ATTEMPTS),
    "no length": (Response(claim=-1), "does not report the file's length", 1),
    "another encoding": (Response(headers={"Content-Encoding": "gzip"}), "another encoding", 1),
    "a length above the limit": (Response(claim=1_000_001), "larger than 1,000,000 bytes", 1),
    "no length and no end": (Response(endless=True), "larger than 1,000,000 bytes", 1),
    "not there": (Response(404), "none of the 1 files is there .404., such as folder/a.bin", 1),
}


@pytest.mark.parametrize("case", ENDED)
def test_pitfall_10_what_does_not_come_ends_after_bounded_attempts(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    response, message, attempts = ENDED[case]
    monkeypatch.setattr(download, "LARGEST", 1_000_000)
    site.responses[NAME] = [response]
    with pytest.raises(Unreachable, match=message) as caught:
        get(site, tmp_path)
    assert caught.value.do
    assert caught.value.where == f"{site.url}/{NAME}"
    assert len(site.requests) == attempts
    assert not (tmp_path / NAME).exists()
    assert site.sent < 50_000_000


def test_pitfalls_10_and_11_pauses_double_with_jitter_and_honour_retry_after(site: Site, tmp_path: Path) -> None:
    busy = [Response(503), Response(429, {"Retry-After": "soon"}), Response(429, {"Retry-After": "17"}), Response()]
    pauses = []
    for _ in range(2):
        site.responses[NAME] = list(busy)
        pauses.append(get(site, tmp_path))
        (tmp_path / NAME).unlink()
    assert pauses[0] != pauses[1]
    first, second, third = pauses[0]
    assert 0.5 <= first <= 1.5
    assert 1.0 <= second <= 3.0
    assert third == 17


def test_an_interruption_keeps_what_came_and_the_next_call_resumes(site: Site, tmp_path: Path) -> None:
    def stop(received: int, total: int | None, name: str) -> None:
        assert (total, name) == (len(CONTENT), NAME)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(site, tmp_path, progress=stop)
    assert (tmp_path / f"{NAME}.part").stat().st_size > 0
    get(site, tmp_path)
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_pitfall_10_a_file_that_is_not_there_is_named_and_the_others_come(site: Site, tmp_path: Path) -> None:
    assert fetch(tmp_path, ["b", NAME], site.url) == DownloadResult(tmp_path, 1, 1, ("b",))
    assert site.requests == [("b", None), (NAME, None)]


def test_a_gzip_file_that_does_not_unpack_is_fetched_anew(site: Site, tmp_path: Path) -> None:
    site.files["a.gz"] = gzip.compress(CONTENT)
    site.responses["a.gz"] = [Response(garble=True), Response()]
    assert get(site, tmp_path, "a.gz")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == CONTENT


def test_nobody_at_the_address_and_what_cannot_be_asked_for_or_written(site: Site, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site.url, served = f"http://127.0.0.1:{port}", site.url
    with pytest.raises(Unreachable, match="did not come in"):
        get(site, tmp_path)
    site.url = served
    with pytest.raises(BadInput, match="no address to fetch from"):
        fetch(tmp_path, [NAME], "ftp://127.0.0.1/x")
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(BadInput, match="cannot be written"):
        get(site, tmp_path / "file")


def test_redirects_are_followed_within_the_server_a_few_times(site: Site, tmp_path: Path) -> None:
    site.files["c"] = CONTENT
    site.responses = {NAME: [redirect("/b", endless=True)], "b": [redirect(f"{site.url}/c")]}
    get(site, tmp_path)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert site.sent < 50_000_000
    site.requests.clear()
    site.responses["circle"] = [redirect("/circle")]
    with pytest.raises(Unreachable, match=f"more than {REDIRECTS} times"):
        get(site, tmp_path, "circle")
    assert len(site.requests) == REDIRECTS + 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_redirect_to_another_server_is_followed_with_https_alone(
    site: Site, other: Site, tmp_path: Path, host: str
) -> None:
    site.responses[NAME] = [redirect(f"http://{host}:{other.port}/{NAME}")]
    with pytest.raises(Unreachable, match="without https"):
        get(site, tmp_path)
    assert other.requests == []
    site.responses[NAME] = [redirect(f"https://{host}:{other.port}/{NAME}")]
    # Nobody speaks TLS there: that it was tried is what shows.
    with pytest.raises(Unreachable, match="did not come in"):
        get(site, tmp_path)
