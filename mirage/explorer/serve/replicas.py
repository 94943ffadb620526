"""Supervised explorers: one process per port, behind nginx if installed.

Processes that end are restarted, with a backoff while they end quickly. A termination signal stops all of them.
Replicas share the folders, the votes' database and the environment's secrets, nothing else.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from mirage.errors import BadInput
from mirage.store.bundled import shipped_folder

PROXY_SECRET = "MIRAGE_PROXY_SECRET"  # noqa: S105  # a name
"""Environment variable: shared secret that makes explorers trust the proxy's headers."""
COOKIE_SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"  # noqa: S105  # a name
"""Environment variable: Streamlit's cookie secret, which all replicas must share for logins."""
SCRIPT = Path(__file__).with_name("serve.py")
"""Script that Streamlit runs in a deployment."""
SOON = 10.0
"""Seconds of uptime below which the backoff grows."""
LONGEST = 30.0
"""Maximum backoff in seconds."""
_PATIENCE = 15.0
"""Grace period in seconds before a process is killed."""


@dataclass
class _Kept:
    """A process that is restarted when it ends."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    pause: float = 0.5
    due: float = 0.0

    def look(self, tell: Callable[[str], None]) -> None:
        """Start the process if it is not running and its backoff is over."""
        now = time.monotonic()
        if self.process is not None:
            if self.process.poll() is None:
                return
            tell(f"{self.name} exited with {self.process.returncode}; restarting")
            self.pause = min(2 * self.pause, LONGEST) if now - self.began < SOON else 0.5
            self.process, self.due = None, now + self.pause
        if now >= self.due:
            self.began = now
            # Only this process holds the other end of the child's stdin, which closes when it ends.
            self.process = subprocess.Popen(  # noqa: S603  # our own programs
                self.command,
                env=dict(self.environment),
                cwd=shipped_folder(),
                stdin=subprocess.PIPE,
                start_new_session=True,
            )

    def end(self) -> None:
        """Send the process a termination signal."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def wait(self, until: float) -> None:
        """Wait for its end until a deadline, then kill it."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class Keeper:
    """Supervisor that restarts processes until it is stopped."""

    tell: Callable[[str], None]
    """Callback for log lines."""
    _kept: list[_Kept] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def explorer(self, port: int, environment: Mapping[str, str]) -> None:
        """Add an explorer on a local port."""
        settings = {
            "STREAMLIT_SERVER_PORT": str(port),
            "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
            "STREAMLIT_SERVER_HEADLESS": "true",
            "STREAMLIT_SERVER_SHOW_EMAIL_PROMPT": "false",
            "STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE": "true",
            "MIRAGE_KEPT": "1",
        }
        command = [sys.executable, "-m", "streamlit", "run", str(SCRIPT)]
        self._kept.append(_Kept(f"the explorer on port {port}", command, {**environment, **settings}))

    def nginx(self, configuration: Path, environment: Mapping[str, str]) -> None:
        """Add nginx with a complete configuration, in its own folder."""
        folder = configuration.parent
        command = [need_nginx(), "-p", str(folder), "-c", str(configuration), "-e", str(folder / "error.log")]
        self._kept.append(_Kept("nginx", command, environment))

    def run(self) -> None:
        """Supervise all processes until a termination signal (SIGTERM, SIGINT, SIGHUP), then stop them."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)
        try:
            while not self._over.is_set():
                for kept in self._kept:
                    kept.look(self.tell)
                self._over.wait(0.1)
        finally:
            for kept in self._kept:
                kept.end()
            until = time.monotonic() + _PATIENCE
            for kept in self._kept:
                kept.wait(until)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._over.set()


def find_nginx() -> str | None:
    """Find the program nginx, which distributions install outside the usual PATH; None if it is missing."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def need_nginx() -> str:
    """Return the path of nginx, as `find_nginx`, or raise.

    Raises:
        BadInput: if there is none.
    """
    program = find_nginx()
    if program is None:
        raise BadInput(
            "nginx is not installed; several explorers need it",
            do="install it (Debian: apt-get install nginx), or write a configuration for another: --nginx-conf FILE",
        )
    return program


def shared_environment(environment: Mapping[str, str], hosts: Sequence[str], *, own_proxy: bool) -> dict[str, str]:
    """Return the environment of all replicas; shared secrets that the deployment does not set are generated.

    Args:
        environment: the deployment's.
        hosts: host names.
        own_proxy: whether this run starts the proxy, so that a generated secret suffices.
    """
    shared = dict(environment)
    shared.setdefault(COOKIE_SECRET, secrets.token_hex(32))
    shared.setdefault("STREAMLIT_SERVER_ALLOWED_HOSTS", " ".join(hosts))
    if own_proxy:
        shared.setdefault(PROXY_SECRET, secrets.token_hex(32))
    return shared
