"""Pages drawn ahead, for nobody, while no reader waits: whoever opens one for the first time then finds its tables read
and its figures made.

Once a reader has the first page, what the other pages import is imported. When a reader has opened an arena, every page
of it is run once, one after the other, as soon as the explorer has been quiet for a moment. A reader's click stops the
page that is being drawn ahead at its next element, and it comes again later. What a page makes is kept where readers'
runs keep it (`kept.py`, the views); what it draws is thrown away.

The pages of an arena on object storage are left alone, since its files would be fetched for nobody, and so are those of
a reader's own arenas.
`MIRAGE_AHEAD=0` turns it off.
"""

from __future__ import annotations

import ast
import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from streamlit import runtime
from streamlit.proto.ClientState_pb2 import ContextInfo
from streamlit.runtime import Runtime
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.state import SessionState

from mirage.store import Arena, home, is_remote, lines
from mirage.ui import logs
from mirage.ui.entries import HOME, PAGES

AHEAD: Final = "MIRAGE_AHEAD"
"""Environment variable: `0` where nothing is to be drawn ahead."""
QUIET: Final = 1.5
"""Seconds since the last run for a reader, before a page is drawn ahead: until then a browser has drawn what it got."""
NOBODY: Final = "ahead"
"""The session that pages are drawn ahead for; Streamlit's own ids are UUIDs."""


@dataclass(frozen=True, slots=True)
class _View:
    """A page of an arena as a reader would see it first."""

    script: str
    page: str
    query: str
    context: ContextInfo | None
    """What the browser of the reader who opened the arena told of itself: its theme."""


def _imports() -> Iterator[ast.stmt]:
    """What the pages import, page by page."""
    for entry in PAGES:
        if entry.file.is_file():
            body = ast.parse("\n".join(text for _, text in lines(entry.file))).body
            yield from (line for line in body if isinstance(line, ast.Import | ast.ImportFrom))


@dataclass
class _State:
    """What goes on in this process."""

    readers: int = 0
    """Runs for readers."""
    last: float = 0.0
    """When the last of them ended, by `time.monotonic`."""
    imports: Iterator[ast.stmt] = field(default_factory=_imports, compare=False)
    """What is still to be imported; the pages are read as it is taken."""
    imported: bool = False
    """Whether all is."""
    waiting: list[_View] = field(default_factory=list)
    known: set[tuple[str, str]] = field(default_factory=set)
    """Arenas whose pages were drawn, or wait to be: address and version."""
    runner: ScriptRunner | None = None
    stopped: bool = False
    """Whether a reader has stopped it."""
    works: bool = False
    """Whether there is a thread that draws."""


_state = _State()
_changed = threading.Condition()


def for_nobody() -> bool:
    """Whether the page that is being drawn is drawn ahead."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.session_id == NOBODY


@contextmanager
def reading(arena: Arena) -> Iterator[None]:
    """A page's run. While it is a reader's, nothing is drawn ahead; afterwards the pages of the arena are."""
    if for_nobody() or not _possible():
        yield
        return
    with _changed:
        _state.readers += 1
        if _state.runner is not None:
            _state.stopped = True
            _state.runner.request_stop()
    try:
        yield
    finally:
        with _changed:
            _state.readers -= 1
            _state.last = time.monotonic()
            _want(arena)
            _changed.notify_all()


def _possible() -> bool:
    """Whether this is a server that may draw ahead; where pages are tested there is none."""
    return os.environ.get(AHEAD, "") != "0" and runtime.exists() and type(runtime.get_instance()) is Runtime


def _want(arena: Arena) -> None:
    """Have the pages of an arena drawn, unless they were."""
    _state.waiting += _views(arena)
    if (not _state.imported or _state.waiting) and not _state.works:
        _state.works = True
        threading.Thread(target=_work, daemon=True, name="ahead").start()


def _views(arena: Arena) -> list[_View]:
    """The pages of an arena that are to be drawn; none where they were, or may not be."""
    key = (str(arena.path), arena.version)
    context = get_script_run_ctx(suppress_warning=True)
    if key in _state.known or context is None or is_remote(arena.path):
        return []
    _state.known.add(key)
    name = next((name for name, path in home.all_arenas()[0].items() if path == arena.path), None)
    if name is None:
        return []
    query = urlencode({"arena": name})
    return [
        _View(context.main_script_path, "" if entry.name == HOME else entry.name, query, context.context_info)
        for entry in PAGES
        if entry.file.is_file()
    ]


def _work() -> None:
    """Import what waits, then draw it, one page at a time, whenever no reader does; end when nothing waits."""
    while (line := _next_import()) is not None:
        # A page that cannot be imported tells whoever opens it.
        with suppress(ImportError):
            exec(compile(ast.Module([line], []), "<imports of a page>", "exec"), {})  # noqa: S102  # our own pages' lines
    while (view := _next()) is not None:
        began, ended = time.perf_counter(), threading.Event()
        runner = _runner(view, ended)
        with _changed:
            _state.runner, _state.stopped = runner, False
        runner.start()
        ended.wait()
        with _changed:
            _state.runner = None
            if stopped := _state.stopped:
                _state.waiting.insert(0, view)
        _forget()
        ms = round(1000 * (time.perf_counter() - began), 1)
        logs.event("ahead", page=view.page or HOME, stopped=stopped, ms=ms)


def _next_import() -> ast.stmt | None:
    """What to import next, once no reader's run goes on; None where all is."""
    with _changed:
        while _state.readers:
            _changed.wait()
    line = next(_state.imports, None)
    _state.imported = line is None
    return line


def _next() -> _View | None:
    """The page to draw next, once it has been quiet; None where none waits."""
    with _changed:
        while _state.waiting:
            left = QUIET - (time.monotonic() - _state.last)
            if not _state.readers and left <= 0:
                return _state.waiting.pop(0)
            _changed.wait(None if _state.readers else left)
        _state.works = False
        return None


def _runner(view: _View, ended: threading.Event) -> ScriptRunner:
    """What runs a page as Streamlit runs it for a session, and keeps nothing of what it draws."""
    cache, loop = ScriptCache(), asyncio.new_event_loop()
    runner = ScriptRunner(
        session_id=NOBODY,
        main_script_path=view.script,
        session_state=SessionState(),
        uploaded_file_mgr=MemoryUploadedFileManager("/_stcore/upload_file"),
        script_cache=cache,
        initial_rerun_data=RerunData(query_string=view.query, page_name=view.page, context_info=view.context),
        user_info={},
        fragment_storage=MemoryFragmentStorage(),
        pages_manager=PagesManager(view.script, cache),
        event_loop=loop,
        on_script_error=partial(_failed, view.page),
    )

    def receive(_sender: Any, event: ScriptRunnerEvent, **_: Any) -> None:
        if event == ScriptRunnerEvent.SHUTDOWN:
            loop.close()
            ended.set()

    runner.on_event.connect(receive, weak=False)
    return runner


def _failed(page: str, problem: Exception) -> bool:
    """A page that fails for nobody fails again for whoever opens it, who is told; here it is only written down."""
    logs.event("ahead", page=page or HOME, kind=type(problem).__name__)
    return True


def _forget() -> None:
    """Let go of the files that the page has offered for download; Streamlit removes them after a run."""
    runtime.get_instance().media_file_mgr.clear_session_refs(NOBODY)
