"""A whole deployment on this machine: `mirage app --workers`, its nginx, and what a browser would send to it."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

import pytest
import waiting
from conftest import PATIENCE, ROOT

from mirage.deploy.replicas import find_nginx

PASSWORD = "a password"


@dataclass(frozen=True)
class Deployment:
    """A deployment that runs."""

    port: int
    """Where nginx listens; the explorers are on the ports after it."""
    workers: int
    process: subprocess.Popen[bytes]
    """The command."""
    log: Path
    """What it and the explorers have written."""

    @property
    def ports(self) -> list[int]:
        """Those of the explorers."""
        return [self.port + 1 + k for k in range(self.workers)]

    def worker(self, port: int) -> int | None:
        """The process of the explorer on a port; None while there is none."""
        for environment in Path("/proc").glob("[0-9]*/environ"):
            try:
                variables = environment.read_bytes().split(b"\0")
                state = environment.with_name("stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if f"STREAMLIT_SERVER_PORT={port}".encode() in variables and state != "Z":
                return int(environment.parent.name)
        return None


def need_programs() -> None:
    """Skip where there is no nginx; fail in CI."""
    if find_nginx() is None or shutil.which("openssl") is None:
        if os.environ.get("CI"):
            pytest.fail("there is no nginx or openssl, and CI must run the deployment of docs/deploy.md")
        pytest.skip("there is no nginx or openssl (Debian: apt-get install nginx openssl)")


def row_of_ports(n: int) -> int:
    """The first of so many ports in a row that nobody listens on."""
    while True:
        with waiting.port() as first:
            taken = False
            for port in range(first, first + n):
                with socket.socket() as probe:
                    taken |= port > 65_535 or probe.connect_ex(("127.0.0.1", port)) == 0
            if not taken:
                return first


def htpasswd(file: Path, *names: str) -> Path:
    """A file of names, all with the same password."""
    command = ["openssl", "passwd", "-apr1", PASSWORD]
    secret = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    file.write_text("".join(f"{name}:{secret}\n" for name in names), encoding="utf-8")
    return file


@contextmanager
def deployed(
    folder: Path,
    *options: str,
    workers: int = 2,
    port: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Deployment]:
    """Run `mirage app --workers` until every explorer answers."""
    need_programs()
    port = port or row_of_ports(workers + 1)
    command = [sys.executable, "-m", "mirage", "app", "--workers", str(workers), "--port", str(port), *options]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {k: v for k, v in os.environ.items() if k != "MIRAGE_ARENAS"} | {"MIRAGE_HOME": str(folder / "home")}
    variables |= {"PYTHONPATH": path, "MIRAGE_LOG": "json", **(environment or {})}
    log = folder / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=stream, stderr=stream)
    deployment = Deployment(port, workers, process, log)
    try:
        for each in deployment.ports:
            waiting.until(lambda p=each: fetch(p, "/healthz").status == 200, "an explorer answers", process=process)  # type: ignore[misc]
        yield deployment
    finally:
        process.terminate()
        process.wait(PATIENCE)


@dataclass(frozen=True)
class Fetched:
    """What a request brought."""

    status: int
    """0 where there was no response."""
    body: bytes
    headers: Message

    @property
    def cookie(self) -> str:
        """The cookie that was set, as a browser sends it back."""
        return (self.headers["Set-Cookie"] or "").partition(";")[0]


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def credentials(login: str) -> str:
    """The header of a login."""
    return "Basic " + b64encode(f"{login}:{PASSWORD}".encode()).decode()


def fetch(port: int, path: str, host: str = "127.0.0.1", *, cookie: str = "", login: str = "") -> Fetched:
    """Get a path; redirects are not followed. The request claims to be a stranger's."""
    headers = {"Host": host, "X-Forwarded-User": "mallory"}
    headers |= {"Cookie": cookie} if cookie else {}
    headers |= {"Authorization": credentials(login)} if login else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    opener = urllib.request.build_opener(_Stay, urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=PATIENCE) as answer:
            return Fetched(answer.status, answer.read(), answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return Fetched(error.code, error.read(), error.headers)
    except (OSError, http.client.HTTPException):
        # Where nobody listens yet, a connection may be given the port as its own, and hears itself.
        return Fetched(0, b"", Message())
