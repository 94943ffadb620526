"""`mirage app` is a server and a child that computes ahead: what ends the command ends both, and nothing stays."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import waiting
from conftest import PATIENCE, ROOT
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


@contextmanager
def explorer(home: Path, *, ignored: bool = False) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """`mirage app` in a session of its own, once it answers; whatever it started is killed in the end."""
    with waiting.port() as port:
        command = [sys.executable, "-m", "mirage", "app", str(ROOT / "data" / "sample"), "--port", str(port)]
        screens = ("DISPLAY", "WAYLAND_DISPLAY")
        environment = {name: value for name, value in os.environ.items() if name not in screens}
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(
            ["nohup", *command] if ignored else command,
            cwd=home,
            env=environment | {"MIRAGE_HOME": str(home), "PYTHONPATH": str(ROOT)},
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
            preexec_fn=hear_signals,
        )
        try:
            url = f"http://127.0.0.1:{port}/_stcore/health"
            waiting.until(lambda: waiting.answers(url), "the explorer answers", process=process)
            yield process, port
        finally:
            for member in members(process.pid):
                os.kill(member, signal.SIGKILL)
            process.wait()


def hear_signals() -> None:
    """Take back what whoever started the tests ignores: a job in the background hears no Ctrl-C."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def members(session: int) -> list[int]:
    """The processes of a session that are there and no zombies."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            processes.append(int(path.parent.name))
    return processes


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP", "SIGKILL"])
def test_a_signal_to_the_command_ends_the_server_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    with explorer(tmp_path) as (process, port):
        assert len(members(process.pid)) <= 2, "the server, and the child until it is done"
        with connect(f"ws://127.0.0.1:{port}/_stcore/stream", open_timeout=PATIENCE) as reader:
            process.send_signal(signal.Signals[name])
            process.wait(PATIENCE)
            with suppress(ConnectionClosed):
                while True:
                    reader.recv(PATIENCE)
        waiting.until(lambda: members(process.pid) == [], "the child is gone")
        assert not waiting.answers(f"http://127.0.0.1:{port}/_stcore/health")


@pytest.mark.skipif(shutil.which("nohup") is None, reason="there is no nohup")
def test_a_command_that_outlives_its_terminal_stays_and_still_ends_on_request(tmp_path: Path) -> None:
    with explorer(tmp_path, ignored=True) as (process, port):
        process.send_signal(signal.SIGHUP)
        assert waiting.answers(f"http://127.0.0.1:{port}/_stcore/health")
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        assert members(process.pid) == []


def test_a_port_that_is_taken_is_told_by_the_exit_code(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "mirage", "app", "--port", port]
        result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, text=True)
    assert result.returncode == 1
    assert port in result.stdout + result.stderr
