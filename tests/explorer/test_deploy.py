"""`mirage app --workers`: nginx, two explorers and PostgreSQL, as docs/deploy.md has them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import browser
import objects
import pytest
import waiting
from conftest import PATIENCE, ROOT
from deployment import Deployment, credentials, deployed, fetch, htpasswd, row_of_ports
from page_spot_check_cases import Session
from postgres import Server
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from mirage.errors import BadInput
from mirage.explorer.serve import nginx
from mirage.people.votes import Vote, Votes

HOST = "mirage.example.org"
ARENA = "stored"
"""Name of the arena on object storage."""
VOTERS = [f"voter-{n}" for n in range(20)]
LOGINS = ["zoë", *VOTERS]
SECRET_TEXTS = ("zoë", "voter-", "a-secret", "Authorization", "arena=")


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    server = Server()
    try:
        yield server.create("votes")
    finally:
        server.remove()


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[objects.Storage]:
    """An object storage with the sample, copied by its command, under another name."""
    with objects.storage() as storage:
        home = {"MIRAGE_HOME": str(tmp_path_factory.mktemp("copy"))}
        command = [sys.executable, "-m", "mirage", "copy", "data/sample", f"s3://{objects.BUCKET}/{ARENA}"]
        subprocess.run(command, env=os.environ | storage.environment | home, cwd=ROOT, check=True, capture_output=True)
        yield storage


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, database: str, storage: objects.Storage) -> Iterator[Deployment]:
    """Two explorers of the bundled arenas and of one on object storage; votes need a login, which nginx asks for."""
    folder = tmp_path_factory.mktemp("deployment")
    options = ["--host", HOST, "--host", "127.0.0.1", "--htpasswd", str(htpasswd(folder / "names", *LOGINS))]
    settings = {"MIRAGE_VOTES_URL": database, "MIRAGE_LOGIN": "required", **storage.environment}
    settings |= {"MIRAGE_ARENAS": f"s3://{objects.BUCKET}/{ARENA}", "MIRAGE_CACHE": str(folder / "cache")}
    with deployed(folder, *options, environment=settings) as deployment:
        yield deployment


@pytest.fixture
def site(running: Deployment) -> Deployment:
    """The deployment with each reader at the explorer that their cookie names: a test before may have killed one."""

    def stays(k: int) -> bool:
        response = fetch(running.port, "/", HOST, cookie=f"{nginx.COOKIE}={k}", login="zoë")
        return response.status == 200 and response.cookie == ""

    for k in range(running.workers):
        waiting.until(lambda k=k: stays(k), f"explorer {k} serves", process=running.process)  # type: ignore[misc]
    return running


def link_to(site: Deployment, login: str, cookie: str = "") -> Any:
    """A reader's connection through nginx."""
    protocols: Any = ["streamlit"]
    return connect(
        f"ws://{HOST}/_stcore/stream",
        host="127.0.0.1",
        port=site.port,
        origin=f"http://{HOST}",  # type: ignore[arg-type]
        subprotocols=protocols,
        additional_headers={"Authorization": credentials(login), "X-Forwarded-User": "mallory", "Cookie": cookie},
        max_size=None,
        open_timeout=PATIENCE,
    )


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


async def download(link: ClientConnection, query: str) -> str:
    """Open the Leaderboard and press a download: the address of the file."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    request = BackMsg()
    request.rerun_script.query_string = query
    await link.send(request.SerializeToString())
    messages = await received(link, "script_finished")
    (session,) = {m.new_session.initialize.session_id for m in messages if m.WhichOneof("type") == "new_session"}
    panels = [m.delta.add_block.popover for m in messages if m.WhichOneof("type") == "delta"]
    opened = request.rerun_script.widget_states.widgets.add()
    opened.id = next(panel.id for panel in panels if panel.label == "Download")
    opened.bool_value = True
    await link.send(request.SerializeToString())
    messages = await received(link, "script_finished")
    buttons = [m.delta.new_element.download_button for m in messages if m.WhichOneof("type") == "delta"]
    button = next(candidate for candidate in buttons if candidate.deferred_file_id)
    request = BackMsg()
    request.backend_operation_request.request_id = "download"
    request.backend_operation_request.session_id = session
    request.backend_operation_request.deferred_file.file_id = button.deferred_file_id
    await link.send(request.SerializeToString())
    (*_, answer) = await received(link, "backend_operation_response")
    assert not answer.backend_operation_response.error_msg
    return str(answer.backend_operation_response.deferred_file.url)


# One address, several explorers


def test_a_visit_and_its_download_stay_with_the_explorer_that_the_cookie_names(site: Deployment) -> None:
    async def read() -> None:
        for k, port in enumerate(site.ports):
            cookie = f"{nginx.COOKIE}={k}"
            assert fetch(site.port, "/", HOST, cookie=cookie, login="zoë").cookie == "", "who has a cookie keeps it"
            async with link_to(site, "zoë", cookie) as link:
                url = await download(link, f"arena={ARENA}&languages=" + ["en", "de"][k])
                for _ in range(4):
                    file = await asyncio.to_thread(fetch, site.port, url, HOST, cookie=cookie, login="zoë")
                    assert file.status == 200
                    assert file.body
                assert (await asyncio.to_thread(fetch, port, url)).status == 200

    asyncio.run(read())


def test_new_readers_are_spread_and_get_a_cookie(site: Deployment) -> None:
    cookies = {fetch(site.port, "/", HOST, login="zoë").cookie for _ in range(64)}
    assert cookies == {f"{nginx.COOKIE}={k}" for k in range(site.workers)}
    assert fetch(site.port, "/", HOST, cookie=f"{nginx.COOKIE}=99", login="zoë").cookie in cookies


def test_health_and_readiness_need_no_login_and_everything_else_does(site: Deployment) -> None:
    assert fetch(site.port, "/healthz", HOST).status == 200
    ready = fetch(site.port, "/readyz", "10.0.0.7")
    assert (ready.status, json.loads(ready.body)) == (200, {"arenas": True, "votes": True})
    for path in ("/", "/_stcore/health", "/_stcore/stream", "/metrics"):
        assert fetch(site.port, path, HOST).status in (401, 404), path
        assert fetch(site.port, path, "evil.example", login="zoë").status == 421, path
    for path in ("/metrics", "/_stcore/metrics"):
        assert fetch(site.port, path, HOST, login="zoë").status == 404, "counts are for the keeper alone"


def test_every_response_has_the_headers_of_security(site: Deployment) -> None:
    requests = [("/", "zoë", HOST), ("/", "", HOST), ("/static/nothing", "zoë", HOST), ("/", "", "evil.example")]
    requests += [("/_stcore/metrics", "zoë", HOST), ("/healthz", "", HOST), ("/healthz", "", "evil.example")]
    for path, login, host in requests:
        response = fetch(site.port, path, host, login=login)
        assert not any(character.isdigit() for character in response.headers["Server"]), "not a version"
        if response.status >= 400:
            assert b"nginx/" not in response.body
        for name, value in nginx.HEADERS.items():
            assert response.headers.get_all(name) == [value], (path, name)
    challenge = fetch(site.port, "/", HOST).headers["WWW-Authenticate"]
    assert 'charset="UTF-8"' in challenge


def test_the_explorers_count_and_log_without_names_or_texts(site: Deployment) -> None:
    async def read() -> None:
        async with link_to(site, "zoë", f"{nginx.COOKIE}=0") as link:
            await download(link, f"arena={ARENA}")

    asyncio.run(read())

    def page() -> str:
        return fetch(site.ports[0], "/metrics").body.decode()

    # A run is counted when it has ended, which may be after its page has come.
    waiting.until(lambda: 'mirage_rerun_seconds_count{page="leaderboard"}' in page(), "a run is counted")
    counts = page()
    for line in ('mirage_rerun_seconds_count{page="leaderboard"}', 'path="_stcore/stream"', "mirage_cache_total"):
        assert line in counts, line
    assert "mirage_votes_waiting 0.0" in counts
    waiting.until(lambda: b'"event": "rerun"' in site.log.read_bytes(), "a run is in the log")
    lines = site.log.read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    assert {"request", "rerun"} <= {event["event"] for event in events}
    for text in SECRET_TEXTS:
        assert text not in counts
        assert not any(text in line for line in lines if line.startswith("{")), text


# An explorer dies


async def crowd(site: Deployment, acknowledged: dict[str, str], killed: asyncio.Event) -> None:
    """Each votes, connects again where the connection is lost, and ends with a vote after an explorer was killed."""

    async def voter(n: int, login: str) -> None:
        cookie, after = f"{nginx.COOKIE}={n % site.workers}", False
        while not after:
            with suppress(ConnectionClosed, ConnectionError, InvalidStatus, TimeoutError, OSError):
                async with link_to(site, login, cookie) as link:
                    session = Session(link, login)
                    await session.send(query=f"arena={ARENA}")
                    while not after:
                        after = killed.is_set()
                        token = await session.vote(("A is better", "B is better", "Tie")[len(acknowledged) % 3])
                        assert token not in acknowledged
                        acknowledged[token] = login

    async def end() -> None:
        while len(set(acknowledged.values())) < len(VOTERS):
            await asyncio.sleep(0.01)
        process = site.worker(site.ports[0])
        assert process
        os.kill(process, signal.SIGKILL)
        killed.set()

    await asyncio.wait_for(asyncio.gather(end(), *(voter(n, login) for n, login in enumerate(VOTERS))), PATIENCE)


def test_a_worker_is_killed_while_twenty_vote_and_every_acknowledged_vote_is_there(
    site: Deployment, database: str, storage: objects.Storage
) -> None:
    first = site.worker(site.ports[0])
    acknowledged: dict[str, str] = {}
    asyncio.run(crowd(site, acknowledged, asyncio.Event()))
    with Votes(database) as db:
        kept = {row.vote_id: row.voter for row in db.rows(Vote)}
    assert acknowledged.items() <= kept.items(), "every vote, under the name of the login"
    assert set(kept.values()) - {"zoë"} == set(VOTERS), "a name that a browser claims is nobody's"
    assert any(request.path.endswith(".parquet") for request in storage.requests), "its answers lie there alone"
    waiting.until(lambda: fetch(site.ports[0], "/healthz").status == 200, "it is started again", process=site.process)
    assert site.worker(site.ports[0]) not in (None, first)


@pytest.mark.browser
def test_a_reader_keeps_the_view_elsewhere_and_votes_under_a_name_in_utf_8(site: Deployment, database: str) -> None:
    from playwright.sync_api import TimeoutError as NotYet
    from playwright.sync_api import sync_playwright

    assert browser.CHROMIUM
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser.CHROMIUM, args=["--no-sandbox"])
        context = chromium.new_context(http_credentials={"username": "zoë", "password": "a password"})
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"http://127.0.0.1:{site.port}/answers?arena={ARENA}&languages=de")
        page.get_by_role("heading", level=1, name="Answers", exact=True).wait_for()
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        assert not [text for text in errors if "Content Security Policy" in text]
        (cookie,) = (c["value"] for c in context.cookies() if c["name"] == nginx.COOKIE)
        view = page.url
        assert "languages=de" in view
        process = site.worker(site.ports[int(cookie)])
        assert process
        os.kill(process, signal.SIGKILL)

        def moved() -> bool:
            page.wait_for_timeout(100)
            return any(c["value"] != cookie for c in context.cookies() if c["name"] == nginx.COOKIE)

        waiting.until(moved, "the reader is with another explorer")
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        assert page.url == view
        page.get_by_role("heading", level=1, name="Answers", exact=True).wait_for()
        tie, showed = page.get_by_role("button", name="Tie"), []
        while not tie.is_visible():
            # A reader whose page does not come loads it again.
            assert len(showed) < 5, (showed, errors, site.log.read_text(encoding="utf-8")[-5000:])
            page.goto(f"http://127.0.0.1:{site.port}/spot_check?arena={ARENA}&language=en")
            with suppress(NotYet):
                tie.wait_for(timeout=200 * PATIENCE)
            showed.append(page.inner_text("body"))
        tie.click()
        page.get_by_role("button", name="Undo").wait_for()
        with Votes(database) as db:
            assert [row.vote for row in db.rows(Vote, voter="zoë")] == ["tie"]
        chromium.close()


# The processes


def test_what_ends_the_command_ends_all_also_when_it_is_killed(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with deployed(tmp_path, "--nginx-conf", str(tmp_path / "site.conf"), workers=1) as deployment:
            deployment.process.send_signal(number)
            assert deployment.process.wait(PATIENCE) == (0 if number == signal.SIGTERM else -number)
            waiting.until(lambda d=deployment: d.worker(d.ports[0]) is None, "the explorer has ended")  # type: ignore[misc]


# The configuration


def check(tmp_path: Path, settings: nginx.Site) -> subprocess.CompletedProcess[str]:
    """What nginx says of a configuration."""
    from deployment import need_programs

    from mirage.explorer.serve.replicas import need_nginx

    need_programs()
    file = tmp_path / "nginx.conf"
    file.write_text(nginx.standalone(nginx.site(settings), tmp_path, root=os.geteuid() == 0), encoding="utf-8")
    command = [need_nginx(), "-t", "-p", str(tmp_path), "-c", str(file), "-e", str(tmp_path / "error.log")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("path", ["", "mirage", "/a/b/"])
def test_nginx_takes_what_is_written(tmp_path: Path, workers: int, path: str) -> None:
    listen = f"127.0.0.1:{row_of_ports(1)}"
    settings = nginx.Site(range(9001, 9001 + workers), listen, ["a.example", "*.b.example"], path, None, "s" * 16)
    result = check(tmp_path, settings)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        {"hosts": ["a; return 200"]},
        {"hosts": []},
        {"listen": "80; evil"},
        {"path": "a b"},
        {"secret": 'a"; proxy_set_header X "'},
        {"secret": "short"},
        {"htpasswd": Path('/a"b')},
    ],
)
def test_syntax_of_nginx_is_refused_and_a_secret_is_not_shown(wrong: dict[str, Any]) -> None:
    sound: dict[str, Any] = {"ports": [9001], "listen": "80", "hosts": ["a.example"]}
    nginx.site(nginx.Site(**sound))
    with pytest.raises(BadInput) as caught:
        nginx.site(nginx.Site(**(sound | wrong)))
    assert "evil" not in str(caught.value) or "secret" not in wrong
    assert "proxy_set_header" not in str(caught.value)
