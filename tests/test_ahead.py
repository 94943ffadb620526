"""Pages drawn ahead: on a real server with a log, what stops it, and that a reader's visit finds what was made."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import waiting
from conftest import PATIENCE, ROOT
from prometheus_client.parser import text_string_to_metric_families
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest
from websockets.asyncio.client import connect

from mirage import store
from mirage.ui import ahead
from mirage.ui.entries import PAGES


async def visit(port: int, query: str, page: str = "") -> None:
    """Open a page as a browser would, and leave when it is drawn."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    async with connect(f"ws://127.0.0.1:{port}/_stcore/stream", max_size=None) as link:
        request = BackMsg()
        request.rerun_script.query_string, request.rerun_script.page_name = query, page
        await link.send(request.SerializeToString())
        async for raw in link:
            assert isinstance(raw, bytes)
            message = ForwardMsg.FromString(raw)
            early = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if message.WhichOneof("type") == "script_finished" and not early:
                return


class Server:
    """An explorer with its log."""

    def __init__(self, port: int, log: Path) -> None:
        self.port, self.log = port, log

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The lines of its log that tell of something."""
        lines = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines() if line[:1] == "{"]
        return [line for line in lines if line["event"] == kind]

    def misses(self) -> dict[str, float]:
        """How often each cache of the views had to make what it was asked for."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE) as answer:
            text = answer.read().decode()
        (family,) = (family for family in text_string_to_metric_families(text) if family.name == "mirage_cache")
        return {x.labels["cache"]: x.value for x in family.samples if x.labels["result"] == "miss"}

    def visit(self, query: str, page: str = "") -> None:
        """Open a page as a browser would, and leave when it is drawn."""
        asyncio.run(visit(self.port, query, page))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """An explorer of the bundled arenas, with a log."""
    env = {k: v for k, v in os.environ.items() if k not in ("MIRAGE_ARENAS", ahead.AHEAD)}
    env |= {"MIRAGE_LOG": "json", "MIRAGE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    log = tmp_path / "log"
    with waiting.port() as port, log.open("wb") as stream:
        command = [sys.executable, "-m", "streamlit", "run", "mirage/ui/serve.py", f"--server.port={port}"]
        process = subprocess.Popen(
            [*command, "--server.headless=true", "--server.fileWatcherType=none"],
            cwd=ROOT,
            env=env,
            stdout=stream,
            stderr=stream,
        )
        try:
            url = f"http://127.0.0.1:{port}/_stcore/health"
            waiting.until(lambda: waiting.answers(url), "the explorer answers", process=process)
            yield Server(port, log)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def drawn(server: Server, times: int) -> None:
    """Wait until every page was drawn ahead to its end so many times."""

    def done() -> bool:
        pages = [event["page"] for event in server.events("ahead") if not event["stopped"]]
        return all(pages.count(entry.name) >= times for entry in PAGES)

    waiting.until(done, f"every page is drawn ahead {times} times")


def test_when_a_reader_has_opened_an_arena_all_its_pages_are_drawn_once(server: Server) -> None:
    server.visit("arena=sample")
    drawn(server, 1)
    before = server.misses()
    assert sum(before.values()) > len(PAGES)
    for entry in PAGES:
        server.visit("arena=sample", entry.name)
    assert server.misses() == before, "a visit looked for something that was not drawn ahead"
    server.visit("arena=nomiracl")
    drawn(server, 2)
    finished = [event["page"] for event in server.events("ahead") if not event["stopped"]]
    assert sorted(finished) == sorted(2 * [entry.name for entry in PAGES]), "once for each of the two arenas"
    assert not server.events("error")
    assert not [event for event in server.events("ahead") if "kind" in event], "no page fails"
    visits = [event["page"] for event in server.events("rerun")]
    assert sorted(visits) == sorted([PAGES[0].name] * 2 + [entry.name for entry in PAGES]), "no visit of nobody's"


def test_only_a_server_draws_ahead_and_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "_instance", None)
    assert not ahead._possible()
    monkeypatch.setattr(Runtime, "_instance", Runtime.__new__(Runtime))
    assert ahead._possible()
    monkeypatch.setenv(ahead.AHEAD, "0")
    assert not ahead._possible()


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> ahead._State:
    """Nothing goes on in this process, which is taken for a server."""
    fresh = ahead._State()
    monkeypatch.setattr(ahead, "_state", fresh)
    monkeypatch.setattr(ahead, "_possible", lambda: True)
    return fresh


def test_a_reader_stops_what_is_drawn_ahead_and_nothing_begins_before_the_reader_is_done(
    state: ahead._State,
) -> None:
    arena = store.open_arena(store.bundled()["sample"])
    state.runner = MagicMock()
    view = ahead._View("app.py", "judges", "arena=sample", None)
    state.waiting.append(view)
    given: list[ahead._View | None] = []
    with ahead.reading(arena):
        state.runner.request_stop.assert_called_once_with()
        assert state.stopped
        thread = threading.Thread(target=lambda: given.append(ahead._next()), daemon=True)
        state.last = -ahead.QUIET * 2
        thread.start()
        thread.join(0.2)
        assert not given, "a page began while a reader's ran"
    thread.join(PATIENCE)
    assert given == [view]


def test_what_pages_import_is_imported_once_no_reader_waits(state: ahead._State) -> None:
    lines = list(ahead._imports())
    names = {line.module for line in lines if isinstance(line, ast.ImportFrom)}
    assert {"mirage.views", "mirage.charts"} <= names
    state.imports, state.readers = iter(lines[:1]), 1
    given: list[ast.stmt | None] = []
    thread = threading.Thread(target=lambda: given.append(ahead._next_import()), daemon=True)
    thread.start()
    thread.join(0.2)
    assert not given, "something was imported while a reader's page ran"
    with ahead._changed:
        state.readers = 0
        ahead._changed.notify_all()
    thread.join(PATIENCE)
    assert given == lines[:1]
    assert ahead._next_import() is None


def test_an_import_that_fails_keeps_nothing_from_being_drawn(state: ahead._State) -> None:
    state.imports, state.works = iter(ast.parse("import mirage.no_such_module\nimport mirage.marks").body), True
    ahead._work()
    assert state.imported
    assert not state.works


def test_where_pages_are_tested_nothing_is_drawn_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_state", ahead._State())
    page = AppTest.from_file(str(ROOT / "pages" / "methods.py"), default_timeout=PATIENCE).run()
    assert not page.exception
    assert ahead._state == ahead._State()
