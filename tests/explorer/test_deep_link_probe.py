"""What the browser tests leave out of the console errors is Streamlit's own: a bare app of two pages gives the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import browser
import pytest
from conftest import PATIENCE
from waiting import answers, port, until

APP = """
import streamlit as st

def first():
    st.title("first")

def second():
    st.title("second")

st.navigation([st.Page(first, default=True), st.Page(second)]).run()
"""


@pytest.mark.browser
def test_a_bare_app_of_two_pages_gives_the_same_two_answers_of_404_on_a_deep_link(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text(APP, encoding="utf-8")
    with port() as number:
        command = [sys.executable, "-m", "streamlit", "run", "bare.py", f"--server.port={number}"]
        command += ["--server.headless=true", "--server.fileWatcherType=none", "--browser.gatherUsageStats=false"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{number}"
            until(lambda: answers(f"{url}/_stcore/health"), "the bare app answers", process=process)
            with browser.chromium() as start:
                opened = start()
                errors: list[str] = []
                opened.page.on("console", lambda m: errors.append(m.location["url"]) if m.type == "error" else None)
                browser.show(opened, f"{url}/second")
                paths = sorted(urlsplit(address).path for address in errors)
                assert paths == ["/second/_stcore/health", "/second/_stcore/host-config"]
                assert all(browser.PROBE.fullmatch(path) for path in paths)
                assert opened.errors == []
        finally:
            process.terminate()
            process.wait(PATIENCE)
