"""A PostgreSQL server for tests: Debian's own binaries, a cluster that is gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
SETTINGS = ("fsync=off", "shared_buffers=16MB", "max_connections=120", "unix_socket_directories=")


class Server:
    """One cluster on a port of its own; PostgreSQL refuses to run as root, so root lends it another user."""

    def __init__(self) -> None:
        if not BINARIES:
            reason = "PostgreSQL is not installed: apt-get install postgresql"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        self._as: list[str] = []
        self.folder = Path(tempfile.mkdtemp(prefix="mirage-postgres-"))
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._run("initdb", "-D", "data", "-U", "mirage", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def url(self, database: str = "postgres") -> str:
        """Address of one of its databases."""
        return f"postgresql://mirage:secret@127.0.0.1:{self.port}/{database}"

    def create(self, name: str) -> str:
        """A new, empty database; its address."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        options = " ".join(
            f"-c {setting}" for setting in (*SETTINGS, f"port={self.port}", "listen_addresses=127.0.0.1")
        )
        self._run("pg_ctl", "-D", "data", "-l", "log", "-o", options, "-w", "start")

    def stop(self) -> None:
        """Stop it as a crash would."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def remove(self) -> None:
        """Stop it and remove the cluster."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        for _ in range(50):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(0.1)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(BINARIES[-1] / program), *arguments]
        with (self.folder / f"{program}.log").open("w", encoding="utf-8") as log:
            result = subprocess.run(
                command, cwd=self.folder, stdout=log, stderr=log, check=False, env={"PATH": os.environ["PATH"]}
            )
        if result.returncode:
            output = "\n".join(p.read_text(encoding="utf-8") for p in sorted(self.folder.glob("*log")))
            raise RuntimeError(f"{program} failed:\n{output}")
