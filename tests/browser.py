"""What the browser tests share: the explorer on a free port, a real chromium, and an ear for errors and requests.

    with browser.server(arenas=folder) as url, browser.chromium() as start:
        page = start()
        page.goto(f"{url}/answers")
        ...
        assert page.errors == [] and page.outside == []

Mark tests that use it with `pytest.mark.browser`: without a chromium they are skipped with a reason, under CI they
fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest
from conftest import PATIENCE, ROOT
from waiting import answers, port, until

from mirage.ui.tour import KEPT

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
_QUIET = 300
"""Milliseconds in which what an action asks for has left the browser."""


@dataclass
class Opened:
    """A browser page and what was heard while it ran."""

    page: Any
    """Playwright's page."""
    errors: list[str] = field(default_factory=list)
    """Console errors and uncaught exceptions."""
    outside: list[str] = field(default_factory=list)
    """Requests to anything but this machine."""
    dialogs: list[str] = field(default_factory=list)
    """Dialogs that opened (they are dismissed)."""

    _asked: bool = False
    """Whether a run of the script was asked for that is not done yet."""
    _begun: bool = False
    """Whether a run has begun since it was last asked for."""

    def settle(self) -> None:
        """Wait until every run of the script that was asked for is done and the page stands still."""
        end = time.monotonic() + PATIENCE
        while True:
            self.page.wait_for_timeout(_QUIET)
            self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
            self.page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
            if not self._asked:
                return
            if time.monotonic() > end:
                pytest.fail(f"the page did not stand still within {PATIENCE:.0f} seconds")

    def listen(self, link: Any) -> None:
        """Follow what the page and the explorer say to each other."""
        link.on("framesent", self._sent)
        link.on("framereceived", self._received)
        link.on("close", lambda _: setattr(self, "_asked", False))

    def _sent(self, raw: bytes | str) -> None:
        from streamlit.proto.BackMsg_pb2 import BackMsg

        if isinstance(raw, bytes) and BackMsg.FromString(raw).WhichOneof("type") == "rerun_script":
            self._asked, self._begun = True, False

    def _received(self, raw: bytes | str) -> None:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        if not isinstance(raw, bytes):
            return
        message = ForwardMsg.FromString(raw)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._begun = True
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            # A run that had begun before it was asked for again is not the one that was asked for.
            self._asked = self._asked and not self._begun

    def press(self, key: str) -> None:
        """Press a key once the page listens: while it is still drawn, its buttons are not there to hear it."""
        self.settle()
        self.page.keyboard.press(key)

    @property
    def heard(self) -> tuple[list[str], list[str], list[str]]:
        """What should be three empty lists: errors, requests to the outside, dialogs."""
        shown = self.page.locator("[data-testid=stDialog], [data-testid=stException]").all_inner_texts()
        return self.errors, self.outside, self.dialogs + shown


def show(opened: Opened, link: str) -> Any:
    """Open a link, wait until the page stands still, and return Playwright's page."""
    opened.page.goto(link)
    opened.page.wait_for_selector("h1")
    opened.settle()
    return opened.page


def mark_places(page: Any, key: str) -> list[tuple[float, float]]:
    """Where the marks of a drawing are in the window, in pixels: those that look alike are one path."""
    places = page.locator(f".st-key-{key} .drawing").evaluate("""root => {
      const box = root.querySelector(".field svg").getBoundingClientRect()
      return JSON.parse(root.json).marks.map(([share, y]) => [box.left + share * box.width, box.top + y])
    }""")
    return [(x, y) for x, y in places]


@contextmanager
def server(arenas: Path | None = None, **environment: str) -> Iterator[str]:
    """Run the explorer and yield its address.

    Args:
        arenas: value of MIRAGE_ARENAS; the bundled arenas alone if None.
        environment: further variables; MIRAGE_HOME should be one, so that no test sees the user's own arenas.
    """
    env = {k: v for k, v in os.environ.items() if k != "MIRAGE_ARENAS"} | environment
    if arenas is not None:
        env["MIRAGE_ARENAS"] = str(arenas)
    with port() as number:
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            "app.py",
            f"--server.port={number}",
            "--server.fileWatcherType=none",
        ]
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        url = f"http://127.0.0.1:{number}"
        try:
            until(lambda: answers(f"{url}/_stcore/health"), "the explorer answers", process=process)
            yield url
        finally:
            process.terminate()
            process.wait(PATIENCE)


@contextmanager
def chromium() -> Iterator[Callable[..., Opened]]:
    """Yield `start(width=1440, height=900, scheme="light", tour=False)`: it opens a page in a profile for these.

    A reader with `tour` is new here; without, one who has dismissed the tour.
    """
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("there is no chromium, and CI must run the browser tests")
        pytest.skip("there is no chromium; install it, or name it in the variable CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        @cache
        def profile(width: int, height: int, scheme: str, tour: bool) -> Any:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            if not tour:
                context.add_init_script(f"try {{ localStorage.setItem('{KEPT}', 'done') }} catch {{ }}")
            return context

        def start(*, width: int = 1440, height: int = 900, scheme: str = "light", tour: bool = False) -> Opened:
            opened = Opened(profile(width, height, scheme, tour).new_page())
            opened.page.set_default_timeout(PATIENCE * 1000)
            opened.page.on("websocket", opened.listen)
            opened.page.on("console", lambda message: _heard(opened, message))
            opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
            opened.page.on("request", lambda request: _asked(opened, request.url))
            opened.page.on("dialog", lambda dialog: (opened.dialogs.append(dialog.message), dialog.dismiss()))
            return opened

        try:
            yield start
        finally:
            browser.close()


PROBE = re.compile(r"/[a-z_]+/_stcore/(health|host-config)")
"""On a deep link Streamlit's client looks for its server under the page's own path first, and does not find it: these
two answers of 404 are its way of finding out, and the browser reports them as errors."""


def _heard(opened: Opened, message: Any) -> None:
    probe = PROBE.fullmatch(urlsplit(message.location.get("url", "")).path) and "status of 404" in message.text
    if message.type == "error" and not probe:
        opened.errors.append(f"{message.text} ({message.location.get('url', '')})")


def _asked(opened: Opened, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
        opened.outside.append(url)


WIDTH = 1280
"""Of every picture, in pixels."""
BATTLE = "arena=sample&referee=heuristic&languages=en"
PICTURES = {
    "leaderboard": ("", 688),
    "hallucination": ("hallucination", 728),
    "battle": (f"battle?{BATTLE}&a=reference&b=baseline%2Fbm25-3", 760),
    "features": ("features", 720),
    "answers": ("answers?arena=sample&languages=ar", 720),
    "judges": ("judges?arena=sample", 720),
    "spot-check": ("spot_check?arena=sample&language=en", 760),
    "surrogate": ("surrogate", 720),
    "your-model": ("your_model?arena=sample", 560),
}
"""What the README and the tour show: picture, link, and the height at which it ends."""


WITHOUT = """words => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(words, "")
}"""
"""Takes words out of what a page shows: where the checkout lies is no reader's business."""


def pictures(into: Path) -> None:
    """Draw the pictures of the README and the tour, from the bundled arenas alone."""
    from PIL import Image

    with TemporaryDirectory() as home, server(MIRAGE_HOME=home) as url, chromium() as start:
        for name, (link, height) in PICTURES.items():
            opened = start(width=WIDTH, height=height)
            opened.page.goto(f"{url}/{link}")
            opened.page.wait_for_selector("h1")
            opened.settle()
            if name == "spot-check":
                field = opened.page.get_by_role("textbox", name="Your name", exact=True)
                field.fill("a reader")
                opened.press("Enter")
                opened.page.wait_for_selector(".mg-answer, .mg-query")
                opened.settle()
            opened.page.wait_for_timeout(2000)  # tables and charts are drawn after the page has come
            opened.page.evaluate(WITHOUT, f"{ROOT}/")
            shot = Image.open(BytesIO(opened.page.screenshot()))
            # 256 colours are all that a page of text has, and a third of the bytes.
            shot.convert("RGB").quantize(256).save(into / f"{name}.png", optimize=True)
            opened.page.close()


if __name__ == "__main__":
    pictures(ROOT / "docs")
