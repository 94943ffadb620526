"""Runs that a test kills at a moment of its choice, without waiting for imports each time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SCRIPT = """
import os, sys
import pyarrow.compute, pyarrow.parquet
{script}
for _ in sys.stdin:
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""Starts a run for every line it reads, and says its process and how it ended."""


class Forks:
    """Runs in processes of their own, each forked from one that has imported everything.

    Args:
        script: defines `work()`, which is one run; it may read `sys.argv`.
        arguments: what it reads there.
    """

    def __init__(self, script: str, *arguments: object) -> None:
        command = [sys.executable, "-c", _SCRIPT.format(script=script), *map(str, arguments)]
        self._parent = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._pid = 0

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate()

    def start(self) -> None:
        """Start a run."""
        assert self._parent.stdin
        self._parent.stdin.write("\n")
        self._pid = self._read()

    def alive(self) -> bool:
        """Whether the run is there."""
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> int:
        """Kill the run; how it ended."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """How the run ended."""
        return self._read()

    def _read(self) -> int:
        assert self._parent.stdout
        return int(self._parent.stdout.readline())
