"""Downloads from a server that redirects, never ends or sends more than it said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mirage.errors import Unreachable
from mirage.io.sources.download import REDIRECTS, fetch

Act = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A server on this machine whose answer to each path is a function."""

    def __init__(self) -> None:
        self.acts: dict[str, Act] = {}
        self.requests: list[str] = []
        self.sent = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
                """Say nothing."""

            def do_GET(self) -> None:
                site.requests.append(self.path)
                self.close_connection = True
                site.acts[self.path](self)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Clients that hang up are part of the play."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def file(self, content: bytes, **headers: str) -> Act:
        def act(handler: BaseHTTPRequestHandler) -> None:
            head(handler, 200, **{"Content-Length": str(len(content)), **headers})
            handler.wfile.write(content)

        return act

    def endless(self, status: int, **headers: str) -> Act:
        """A chunked body that ends only when the client hangs up."""

        def act(handler: BaseHTTPRequestHandler) -> None:
            head(handler, status, **{"Transfer-Encoding": "chunked", **headers})
            while True:
                handler.wfile.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                self.sent += 65_536

        return act


def head(handler: BaseHTTPRequestHandler, status: int, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()


def redirect(to: str) -> Act:
    return lambda handler: head(handler, 302, Location=to, **{"Content-Length": "0"})


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


def get(site: Site, into: Path, **options: Any) -> bytes:
    fetch(into, ["a.txt"], site.url, sleep=lambda seconds: None, **options)
    return (into / "a.txt").read_bytes()


def test_a_file_without_a_length_that_never_ends_is_cut_off_and_leaves_nothing(site: Site, tmp_path: Path) -> None:
    site.acts["/a.txt"] = site.endless(200)
    with pytest.raises(Unreachable, match="larger than 1,000,000 bytes"):
        get(site, tmp_path, largest=1_000_000)
    assert site.sent < 50_000_000
    assert len(site.requests) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_says_it_is_too_large_is_not_begun(site: Site, tmp_path: Path) -> None:
    site.acts["/a.txt"] = site.file(b"x", **{"Content-Length": "1000001"})
    with pytest.raises(Unreachable, match="larger than 1,000,000 bytes"):
        get(site, tmp_path, largest=1_000_000)
    assert list(tmp_path.iterdir()) == []


def test_more_than_the_rest_that_was_due_is_not_taken(site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.txt.part").write_bytes(b"12345")
    whole = site.file(b"1234567890")

    def act(handler: BaseHTTPRequestHandler) -> None:
        if handler.headers.get("Range"):
            site.endless(206, **{"Content-Range": "bytes 5-9/10"})(handler)
        else:
            whole(handler)

    site.acts["/a.txt"] = act
    assert get(site, tmp_path) == b"1234567890"
    assert site.sent < 50_000_000


def test_a_redirect_within_the_server_is_followed(site: Site, tmp_path: Path) -> None:
    site.acts |= {"/a.txt": redirect("/b.txt"), "/b.txt": redirect(f"{site.url}/c.txt"), "/c.txt": site.file(b"there")}
    assert get(site, tmp_path) == b"there"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_redirect_to_another_server_without_https_is_refused(
    site: Site, other: Site, tmp_path: Path, host: str
) -> None:
    other.acts["/a.txt"] = other.file(b"from elsewhere")
    site.acts["/a.txt"] = redirect(f"http://{host}:{other.port}/a.txt")
    with pytest.raises(Unreachable, match="without https"):
        get(site, tmp_path)
    assert other.requests == []
    assert list(tmp_path.iterdir()) == []


def test_a_redirect_to_an_https_server_is_followed(site: Site, other: Site, tmp_path: Path) -> None:
    site.acts["/a.txt"] = redirect(f"https://127.0.0.1:{other.port}/a.txt")
    # Nobody speaks TLS there: that it was tried is what shows.
    with pytest.raises(Unreachable, match="did not come in"):
        get(site, tmp_path)
    assert len(site.requests) > 1


def test_redirects_in_a_circle_and_endless_bodies_of_redirects_end(site: Site, tmp_path: Path) -> None:
    site.acts["/a.txt"] = redirect("/a.txt")
    with pytest.raises(Unreachable, match=f"more than {REDIRECTS} times"):
        get(site, tmp_path)
    assert len(site.requests) == REDIRECTS + 1
    site.acts |= {"/a.txt": site.endless(302, Location="/b.txt"), "/b.txt": site.file(b"there")}
    assert get(site, tmp_path) == b"there"
    assert site.sent < 50_000_000
