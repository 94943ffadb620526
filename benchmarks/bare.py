"""Bare Streamlit apps that the explorer's costs are measured against: a table of 20 rows and a chart."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mirage.store.bundled import shipped_folder

PAGE = """
import pandas as pd
import streamlit as st
st.title("{title}")
rows = pd.DataFrame({{"system": [f"s{{k}}" for k in range(20)], "rating": range(20)}})
st.dataframe(rows)
"""
VEGA = 'st.vega_lite_chart(rows, {"mark": "bar", "encoding": {"x": {"field": "system"}, "y": {"field": "rating"}}})\n'
PLOTLY = (
    'st.plotly_chart({"data": [{"type": "bar", "x": list(rows["system"]), "y": list(rows["rating"])}], "layout": {}})\n'
)
BUTTON = """
if st.button("Vote"):
    st.session_state["n"] = st.session_state.get("n", 0) + 1
st.text(f"{st.session_state.get('n', 0)} of many")
"""
TITLES = ("First", "Second")


@contextmanager
def served(script: Path) -> Iterator[tuple[str, int]]:
    """A server of a script with the explorer's settings.

    Yields:
        Its address and process.
    """
    command = ["-m", "streamlit", "run", str(script), "--server.headless=true", "--server.address=127.0.0.1"]
    with running(command, "--server.port", shipped_folder()) as (address, process):
        yield address, process.pid


@contextmanager
def running(
    command: Sequence[str], port_option: str, folder: Path, env: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a Streamlit server in Python on a free port, from its start until the block ends.

    Args:
        command: arguments of Python.
        port_option: the option that takes the port.
        folder: the working directory.
        env: environment variables; those of this process unless given.

    Yields:
        Its address, once it answers, and the process.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, *command, f"{port_option}={port}"], cwd=folder, env=env, stdout=quiet, stderr=quiet
    )
    try:
        until_ready(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield f"127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait(30)


def until_ready(address: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until an address answers, or the process has ended."""
    while process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.05)


def page(folder: Path) -> Path:
    """A page alone, its chart drawn by Vega."""
    script = folder / "bare.py"
    script.write_text(PAGE.format(title="Bare") + VEGA, encoding="utf-8")
    return script


def app(folder: Path) -> Path:
    """Two pages, their charts drawn by Plotly as the explorer's are; the second has a button that counts."""
    for title, rest in zip(TITLES, ("", BUTTON), strict=True):
        (folder / f"{title.lower()}.py").write_text(PAGE.format(title=title) + PLOTLY + rest, encoding="utf-8")
    pages = ", ".join(f'st.Page("{title.lower()}.py", title="{title}")' for title in TITLES)
    script = folder / "bare_app.py"
    script.write_text(f"import streamlit as st\nst.navigation([{pages}]).run()\n", encoding="utf-8")
    return script
