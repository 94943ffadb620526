"""The explorer's server as `mirage app` starts it: what it lets in, and that it asks nobody outside."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
import waiting
from commands import run_python
from conftest import PATIENCE, ROOT
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

RECORDER = """
import os, socket, urllib.parse
def record(address):
    host = address[0] if isinstance(address, tuple) else str(address)
    if isinstance(host, bytes):
        host = host.decode()
    if host not in ("127.0.0.1", "::1", "localhost", "", "0.0.0.0", None):
        with open(os.environ["RECORDED"], "a") as file:
            file.write(f"{host}\\n")
        raise OSError("no request leaves")
for name in ("connect", "connect_ex", "sendto"):
    def wrapped(self, *arguments, _old=getattr(socket.socket, name)):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            record(arguments[-1])
        return _old(self, *arguments)
    setattr(socket.socket, name, wrapped)
def looked_up(host, *arguments, _old=socket.getaddrinfo, **options):
    record((host,))
    return _old(host, *arguments, **options)
socket.getaddrinfo = looked_up
"""
"""Run by the server's Python before all else: it notes, and refuses, whatever would leave this machine."""


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    port: int
    process: subprocess.Popen[bytes]
    recorded: Path
    """The file that names what it tried to reach."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def outside(self) -> str:
        return self.recorded.read_text("utf-8") if self.recorded.exists() else ""

    def memory(self) -> int:
        """Return the bytes of memory that the server uses."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text("utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def ask(self, path: str, method: str = "GET", data: bytes | None = None, **headers: str) -> tuple[int, Message]:
        """Send a request: status, 0 where none came back, and headers."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if method != "GET":
            # Streamlit's token against forged requests: any reader's browser is given one.
            with waiting.DIRECT.open(f"http://{self.address}/_stcore/health", timeout=PATIENCE) as answer:
                token = SimpleCookie(answer.headers["Set-Cookie"])["_streamlit_xsrf"].value
            named |= {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}
        request = urllib.request.Request(f"http://{self.address}{path}", data, named, method=method)
        try:
            with waiting.DIRECT.open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers
        except urllib.error.URLError:
            # It was refused, and the connection closed, before all of its body was sent.
            return 0, Message()


@contextmanager
def serving(folder: Path, *options: str, **variables: str) -> Iterator[Served]:
    """`mirage app` on an arena, on a machine with a screen and a coding agent."""
    (folder / "sitecustomize.py").write_text(RECORDER, "utf-8")
    (folder / ".claude").mkdir()
    with waiting.port() as port:
        environment = (
            os.environ
            | {
                "DISPLAY": ":0",
                "HOME": str(folder),
                "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
                "RECORDED": str(folder / "recorded"),
                "MIRAGE_HOME": str(folder / "home"),
                "MIRAGE_CACHE_MB": "0",  # no process that computes pages ahead
            }
            | variables
        )
        arena = str(ROOT / "data" / "sample")
        command = [sys.executable, "-m", "mirage", "app", arena, "--port", str(port), *options]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
        served = Served(port, process, folder / "recorded")
        try:
            waiting.until(
                lambda: waiting.answers(f"http://{served.address}/_stcore/health"), "it answers", process=process
            )
            yield served
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.fixture(scope="module")
def served(module_path: Path) -> Iterator[Served]:
    with serving(module_path) as served:
        yield served


def link_to(served: Served, origin: str | None = None) -> Any:
    protocols = ["streamlit"]
    return connect(
        f"ws://{served.address}/_stcore/stream",
        origin=origin,  # type: ignore[arg-type]
        subprotocols=protocols,
        max_size=None,
        open_timeout=PATIENCE,
    )


async def visit(link: ClientConnection, page: str) -> str:
    """Open a page and read until it is drawn: the visit's id."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    request = BackMsg()
    request.rerun_script.page_name = page
    await link.send(request.SerializeToString())
    session = ""
    async for raw in link:
        assert isinstance(raw, bytes)
        message = ForwardMsg.FromString(raw)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            session = message.new_session.initialize.session_id
            assert not message.new_session.initialize.recommend_skills_install, "nothing writes to this machine"
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return session
    raise ConnectionError("the server is gone")


ORIGINS = (
    *("http://evil.example", "https://203.0.113.9", "null", "file://", "http://127.0.0.1", "", "x" * 5_000),
    *("http://127.0.0.1.evil.example", "http://[::ffff:8.8.8.8]:80", "http://user@evil.example:8501"),
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_site_is_refused_and_no_request_leaves(served: Served, origin: str) -> None:
    async def knock() -> None:
        with pytest.raises(InvalidStatus) as refused:
            async with link_to(served, origin):
                pass
        assert refused.value.response.status_code == 403

    asyncio.run(knock())
    assert served.ask("/_stcore/health", Origin=origin)[0] == 403
    assert served.outside() == ""


def test_its_own_page_connects_and_no_request_leaves(served: Served) -> None:
    async def read() -> None:
        for origin in (None, f"http://{served.address}", f"HTTP://{served.address}"):
            async with link_to(served, origin) as link:
                assert await visit(link, "")

    asyncio.run(read())
    assert served.outside() == ""


HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def test_every_answer_has_the_headers_and_metrics_are_none(served: Served) -> None:
    assert served.ask("/_stcore/metrics")[0] == served.ask("/_stcore/metrics/", X_Forwarded_For="127.0.0.1")[0] == 404
    answers = [served.ask(path) for path in ("/", "/answers", "/_stcore/health", "/_stcore/metrics", "/media/none")]
    answers += [served.ask("/", "POST"), served.ask("/", Origin="http://evil.example")]
    answers += [served.ask(f"/_stcore/upload_file/x/{size}", "PUT", b"x") for size in range(2)]
    assert {status for status, _ in answers} == {200, 403, 404, 405}
    assert [{name: headers[name] for name in HEADERS} for _, headers in answers] == [HEADERS] * len(answers)

    async def knock() -> None:
        for host, origin in (("evil.example", None), (served.address, "http://evil.example")):
            with pytest.raises(InvalidStatus) as refused:
                async with connect(f"ws://{host}/_stcore/stream", origin=origin, host="127.0.0.1", port=served.port):  # type: ignore[arg-type]
                    pass
            assert {name: refused.value.response.headers[name] for name in HEADERS} == HEADERS

    asyncio.run(knock())


FORM = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n%s\r\n--b--\r\n'


def test_pitfall_234_files_come_from_who_may_upload_and_one_at_a_time(tmp_path: Path) -> None:
    roles = tmp_path / "roles.toml"
    roles.write_text('default = "reader"', "utf-8")
    site = "https://portal.example.org"

    def put(served: Served, visit: str, name: object, size: int = 50_000_000, **headers: str) -> int:
        data = FORM % bytes(size)
        if headers:
            data = b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)
        path = f"/_stcore/upload_file/{visit}/{name}"
        return served.ask(path, "PUT", data, Content_Type="multipart/form-data; boundary=b", **headers)[0]

    async def read(served: Served) -> None:
        async with link_to(served) as link:
            reader = await visit(link, "your_model")
            before = served.memory()
            assert {put(served, name, n) for name in (reader, "none") for n in range(2)} <= {0, 403}
            assert served.memory() < before + 100_000_000
        roles.write_text('default = "curator"', "utf-8")
        async with link_to(served) as link, link_to(served) as other:
            name, elsewhere = await visit(link, "your_model"), await visit(other, "answers")
            assert put(served, elsewhere, 0, 9) == put(served, reader, 0, 9) == 403, "on another page, or before"
            assert put(served, name, 0, 70_000_000) in (0, 413)
            assert put(served, name, 0, 9, Content_Length="9", Transfer_Encoding="chunked") == 411, "it claims less"
            assert [put(served, name, n) for n in range(4)] == [204] * 4
            assert served.memory() < before + 180_000_000, "the last one stands for the earlier ones"
            roles.write_text('default = "reader"', "utf-8")
            assert put(served, name, 9, 9) == 403, "a change of roles counts at once"
            roles.write_text('default = "curator"', "utf-8")
            assert put(served, name, 9, 9) == 204
        waiting.until(lambda: put(served, name, 10, 9) == 403, "the visit has ended")

    options = ("--metrics", "--frame-ancestors", site)
    with serving(tmp_path, *options, MIRAGE_ROLES=str(roles), STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="1") as served:
        asyncio.run(read(served))
        status, headers = served.ask("/_stcore/metrics")
        assert (status, headers["Content-Security-Policy"]) == (200, f"frame-ancestors {site}")


def test_static_files_are_compressed_for_readers_on_other_machines(tmp_path: Path) -> None:
    from starlette.applications import Starlette
    from starlette.responses import StreamingResponse
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.testclient import TestClient

    from mirage.explorer.server import CompressedStatic

    script = "let a = 1;\n" * 50_000
    (tmp_path / "a.js").write_text(script, "utf-8")
    (tmp_path / "a.woff2").write_text(script, "utf-8")
    routes = [
        Mount("/static", StaticFiles(directory=tmp_path)),
        Route("/media", lambda _: StreamingResponse(iter([script]))),
    ]
    app = CompressedStatic(Starlette(routes=routes))

    def size(path: str, client: str, **headers: str) -> int:
        response = TestClient(app, client=(client, 1)).get(path, headers={"Accept-Encoding": "gzip"} | headers)
        assert response.text in (script, script[:100])
        return int(response.headers.get("Content-Length", 0)) if "content-encoding" not in response.headers else -1

    assert size("/static/a.js", "203.0.113.9") == size("/static/a.js", "2001:db8::1") == -1
    for client in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "testclient"):
        assert size("/static/a.js", client) == len(script)
    assert size("/static/a.js", "203.0.113.9", **{"Accept-Encoding": "br"}) == len(script)
    assert size("/static/a.js", "203.0.113.9", Range="bytes=0-99") == 100
    assert size("/static/a.woff2", "203.0.113.9") == len(script)
    assert size("/media", "203.0.113.9") == 0


def test_errors_on_a_page_lead_nowhere_outside() -> None:
    """No links to search engines, whatever the address is."""
    code = "from streamlit import config; import json; config.get_config_options(); print(json.dumps([config.get_option(n) for n in ('client.showErrorLinks', 'browser.serverAddress')]))"  # noqa: E501
    links, address = json.loads(run_python(code))
    assert str(links).lower() == "false"
    assert address == "localhost"
