"""The proxy of docs/deploy.md, as it is printed there, before two explorers: one visit stays with one of them."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import waiting
from conftest import PATIENCE, ROOT
from websockets.asyncio.client import ClientConnection, connect

from mirage import store
from mirage.sources.simulated import simulate_arena

DEPLOY = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
HTTP, LOCATION = re.findall(r"^```nginx\n(.*?)^```$", DEPLOY, flags=re.MULTILINE | re.DOTALL)
HOST = "mirage.example.org"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
LOGIN, PASSWORD = "zoë", "a password"
READERS = 8

ROUND_ROBIN = "upstream turns {{ {servers} }}\n"
"""What the page warns of: each request to the next replica."""
CONFIGURATION = """
daemon off;
{user}
pid {here}/pid;
error_log {here}/error.log;
events {{ worker_connections 256; }}
http {{
    log_format where '$upstream_addr'; access_log {here}/access.log where;
    client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi;
    uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
    {http}
    server {{ listen 127.0.0.1:{port}; server_name {host}; {location} }}
    server {{ listen 127.0.0.1:{port}; server_name turns.example.org; {turns} }}
}}
"""


@contextmanager
def replicas(folder: Path, n: int) -> Iterator[list[int]]:
    """So many explorers with the settings of the page; their ports."""
    with ExitStack() as stack:
        ports = []
        for k in range(n):
            port = stack.enter_context(waiting.port())
            environment = os.environ | {
                "MIRAGE_ARENAS": str(folder / "arenas"),
                "MIRAGE_HOME": str(folder / "home"),
                "STREAMLIT_SERVER_ALLOWED_HOSTS": f"{HOST} turns.example.org",
                "STREAMLIT_SERVER_BASE_URL_PATH": "mirage",
                "PYTHONPATH": str(ROOT),
            }
            command = [sys.executable, "-m", "mirage", "app", "--port", str(port)]
            with (folder / f"replica-{k}.log").open("wb") as log:
                process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait, PATIENCE)
            stack.callback(process.terminate)
            health = f"http://127.0.0.1:{port}/mirage/_stcore/health"
            waiting.until(lambda health=health: waiting.answers(health), "the explorer answers", process=process)  # type: ignore[misc]
            ports.append(port)
        yield ports


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxy")


@pytest.fixture(scope="module")
def proxy(folder: Path) -> Iterator[tuple[int, list[int]]]:
    """The port of an nginx with the page's configuration, and those of the two explorers behind it."""
    if NGINX is None:
        if os.environ.get("CI"):
            pytest.fail("there is no nginx, and CI must test the configuration of docs/deploy.md")
        pytest.skip("there is no nginx (Debian: apt-get install nginx)")
    directory = folder
    # A file of the same content has the same address on both: every reader downloads another.
    for k, name in enumerate(("turns", *map(str, range(READERS)))):
        simulation = simulate_arena(systems=4, queries=8, languages=["en"], seed=k)
        store.write(directory / "arenas" / name, simulation.tables, made_by="a test", label="simulated")
    secret = subprocess.run(
        ["openssl", "passwd", "-apr1", PASSWORD], capture_output=True, text=True, check=True
    ).stdout.strip()
    (directory / "htpasswd").write_text(f"{LOGIN}:{secret}\n", encoding="utf-8")
    with replicas(directory, 2) as ports, waiting.port() as port:
        http, location = HTTP, LOCATION.replace("/etc/nginx/mirage.htpasswd", str(directory / "htpasswd"))
        for printed, real in zip(("127.0.0.1:8501", "127.0.0.1:8502"), ports, strict=True):
            assert printed in http
            http = http.replace(printed, f"127.0.0.1:{real}")
        http += ROUND_ROBIN.format(servers=" ".join(f"server 127.0.0.1:{replica_port};" for replica_port in ports))
        text = CONFIGURATION.format(
            user="user root;" if os.geteuid() == 0 else "",
            here=directory,
            http=http,
            port=port,
            host=HOST,
            location=location,
            turns=location.replace("http://mirage;", "http://turns;"),
        )
        (directory / "nginx.conf").write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [NGINX, "-p", str(directory), "-c", str(directory / "nginx.conf"), "-e", str(directory / "error.log")]
        )
        try:
            waiting.until(
                lambda: fetch(port, "/mirage/_stcore/health", HOST)[0] == 200, "the proxy answers", process=process
            )
            yield port, ports
        finally:
            process.terminate()
            process.wait(PATIENCE)


def credentials() -> str:
    return "Basic " + b64encode(f"{LOGIN}:{PASSWORD}".encode()).decode()


def fetch(port: int, path: str, host: str, *, cookie: str = "", login: bool = True) -> tuple[int, bytes, str]:
    """Status, body and cookie of a request."""
    headers = {"Host": host, "X-Forwarded-User": "mallory"}
    headers |= {"Cookie": cookie} if cookie else {}
    headers |= {"Authorization": credentials()} if login else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return reply.status, reply.read(), (reply.headers["Set-Cookie"] or "").partition(";")[0]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b"", ""
    except OSError:
        return 0, b"", ""


async def received(link: ClientConnection, kind: str) -> Any:
    """The next message of a kind, with what was drawn before it."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    messages = []
    async for raw in link:
        assert isinstance(raw, bytes)
        message = ForwardMsg.FromString(raw)
        messages.append(message)
        if message.WhichOneof("type") == kind and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return messages
    raise ConnectionError("the server is gone")


async def visit(port: int, host: str, cookie: str, arena: str) -> tuple[str, ClientConnection]:
    """Open the Leaderboard and press a download: the address of the file, and the connection that keeps it there."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    headers = {"Authorization": credentials(), "Cookie": cookie}
    protocols: Any = ["streamlit"]
    link = await connect(
        f"ws://{host}/mirage/_stcore/stream",
        host="127.0.0.1",
        port=port,
        origin=f"http://{host}",  # type: ignore[arg-type]
        subprotocols=protocols,
        additional_headers=headers,
        max_size=None,
        open_timeout=PATIENCE,
    )
    request = BackMsg()
    request.rerun_script.query_string = f"arena={arena}"
    request.rerun_script.page_name = ""
    await link.send(request.SerializeToString())
    messages = await received(link, "script_finished")
    (session,) = {
        message.new_session.initialize.session_id for message in messages if message.WhichOneof("type") == "new_session"
    }
    buttons = [
        message.delta.new_element.download_button for message in messages if message.WhichOneof("type") == "delta"
    ]
    button = next(candidate for candidate in buttons if candidate.deferred_file_id)
    request = BackMsg()
    request.backend_operation_request.request_id = "download"
    request.backend_operation_request.session_id = session
    request.backend_operation_request.deferred_file.file_id = button.deferred_file_id
    await link.send(request.SerializeToString())
    (*_, answer) = await received(link, "backend_operation_response")
    assert not answer.backend_operation_response.error_msg
    return answer.backend_operation_response.deferred_file.url, link


def address(url: str) -> str:
    """Where a browser asks for a file of the page."""
    return url if url.startswith("/mirage/") else f"/mirage{url}"


def test_every_download_of_every_reader_is_there(proxy: tuple[int, list[int]]) -> None:
    port, ports = proxy

    async def read() -> None:
        for reader in range(READERS):
            status, _, cookie = fetch(port, "/mirage/", HOST)
            assert status == 200
            assert cookie.startswith("mirage_replica=")
            assert fetch(port, "/mirage/", HOST, cookie=cookie)[2] == "", "who has a cookie keeps it"
            url, link = await visit(port, HOST, cookie, str(reader))
            async with link:
                for _ in range(6):
                    status, body, _ = await asyncio.to_thread(fetch, port, address(url), HOST, cookie=cookie)
                    assert status == 200
                    assert body
                ports_with_file = [
                    replica_port
                    for replica_port in ports
                    if (await asyncio.to_thread(fetch, replica_port, address(url), HOST))[0] == 200
                ]
                assert len(ports_with_file) == 1, "one replica has it"

    asyncio.run(read())


def test_new_readers_are_spread_over_the_replicas(proxy: tuple[int, list[int]], folder: Path) -> None:
    port, ports = proxy
    for _ in range(64):  # that all are sent to one by chance has a probability of 2 ** -63
        assert fetch(port, "/mirage/_stcore/health", HOST)[0] == 200
    addresses = {f"127.0.0.1:{replica_port}" for replica_port in ports}
    log = folder / "access.log"
    waiting.until(lambda: addresses <= set(log.read_text(encoding="utf-8").split()), "both replicas have served")


def test_by_turns_downloads_are_lost(proxy: tuple[int, list[int]]) -> None:
    """What the configuration is there for: the same requests, to a proxy without the cookie."""
    port, _ = proxy

    async def read() -> list[int]:
        url, link = await visit(port, "turns.example.org", "", "turns")
        async with link:
            return [(await asyncio.to_thread(fetch, port, address(url), "turns.example.org"))[0] for _ in range(6)]

    statuses = asyncio.run(read())
    assert {200, 404} == set(statuses)


def test_without_the_password_nothing_is_served(proxy: tuple[int, list[int]]) -> None:
    port, _ = proxy
    for path in ("/mirage/", "/mirage/_stcore/health", "/mirage/_stcore/stream"):
        assert fetch(port, path, HOST, login=False)[0] == 401
