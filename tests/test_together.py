"""What a page draws is sent in few pieces: in order, nothing lost, at once where it takes long."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import waiting
from conftest import PATIENCE
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from mirage.ui import together as module
from mirage.ui.together import stop, together


class Context:
    """Streamlit's context of a run, as far as it matters here."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self._enqueue = self.sent.append
        self.interrupted = False

    def yield_check(self) -> None:
        if self.interrupted:
            raise StopException

    def draw(self, message: str) -> None:
        self._enqueue(message)


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Context:
    context = Context()
    monkeypatch.setattr(module, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(module, "LONGEST", PATIENCE)
    return context


def test_what_is_drawn_is_sent_when_it_is_done_in_its_order(context: Context) -> None:
    with together():
        for message in "abc":
            context.draw(message)
        assert context.sent == []
    context.draw("d")
    assert context.sent == list("abcd")


def test_within_another_it_waits_for_the_outer_one(context: Context) -> None:
    with together():
        context.draw("a")
        with together():
            context.draw("b")
        context.draw("c")
        assert context.sent == []
    assert context.sent == list("abc")


def test_what_takes_long_comes_as_it_is_drawn(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 0.01)
    with together():
        context.draw("a")
        with together():
            context.draw("b")
            waiting.until(lambda: context.sent == ["a", "b"], "what was drawn is sent while a page counts")
            context.draw("c")
            assert context.sent == list("abc")
    assert context.sent == list("abc")


def test_nothing_overtakes_what_waits(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser fails over a part whose container comes after it."""
    monkeypatch.setattr(module, "LONGEST", 0.02)

    def send(message: str) -> None:
        time.sleep(0.001)
        context.sent.append(message)

    context._enqueue = send
    with together():
        for k in range(200):
            context.draw(str(k))
            time.sleep(0.0005)
    assert context.sent == [str(k) for k in range(200)]


@pytest.mark.parametrize("problem", [StopException, ValueError])
def test_what_was_drawn_before_a_page_ends_early_is_sent(context: Context, problem: type[Exception]) -> None:
    def page() -> None:
        with together():
            context.draw("a")
            raise problem

    with pytest.raises(problem):
        page()
    assert context.sent == ["a"]


def test_a_reader_who_clicks_on_ends_the_run_at_the_next_message(context: Context) -> None:
    def page() -> None:
        with together():
            context.draw("a")
            context.interrupted = True
            context.draw("b")

    with pytest.raises(StopException):
        page()
    assert context.sent == ["a"]


def test_without_a_run_nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "get_script_run_ctx", lambda **_: None)
    with together():
        pass


def test_streamlit_has_what_this_stands_on() -> None:
    fields = ScriptRunContext.__dataclass_fields__
    assert {"_enqueue", "yield_check"} <= set(fields), "pages are still shown, but in more pieces"


def test_a_page_that_stops_shows_what_it_has_drawn(tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(
        "import streamlit as st\n"
        "from mirage.ui.together import stop, together\n"
        "with together():\n"
        "    st.text('before')\n"
        "    stop()\n"
        "    st.text('after')\n"
    )
    page = AppTest.from_file(script, default_timeout=PATIENCE).run()
    assert [text.value for text in page.text] == ["before"]
    assert not page.exception
    with pytest.raises(StopException):
        stop()


def test_nobody_stops_a_page_in_the_way_that_waits(request: pytest.FixtureRequest) -> None:
    root = request.config.rootpath
    calls: list[Any] = [
        path
        for path in [*(root / "pages").glob("*.py"), *(root / "mirage" / "ui").glob("*.py")]
        if "st.stop()" in path.read_text(encoding="utf-8") and path.name != "together.py"
    ]
    assert calls == []
