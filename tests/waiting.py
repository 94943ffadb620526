"""Waiting for what happens, and not for time to pass: a busy machine only makes a test longer."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import PATIENCE


def until(condition: Callable[[], object], what: str, *, process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until a condition holds; fail when it never does, or when the process that would bring it about has ended.

    Args:
        condition: asked again and again.
        what: what is waited for, for the message.
        process: who brings it about, if anybody.
    """
    end = time.monotonic() + PATIENCE
    while not condition():
        if process is not None and process.poll() is not None and not condition():
            pytest.fail(f"the program ended with {process.returncode} before this: {what}")
        if time.monotonic() > end:
            pytest.fail(f"not within {PATIENCE:.0f} seconds: {what}")
        time.sleep(0.02)


def answers(url: str) -> bool:
    """Whether a server answers at an address with 200."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def port() -> Iterator[int]:
    """A port of 127.0.0.1 that nobody else is given: a socket that never listens keeps it for the server to come."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
