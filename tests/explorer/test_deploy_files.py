"""The files of docs/deploy/: units, settings, container. What a machine without containers can run of them, it runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from conftest import PATIENCE, ROOT
from waiting import port, until

from mirage import cli
from mirage.store.roles import ROLES, roles

DEPLOY = ROOT / "docs" / "deploy"


def settings() -> dict[str, str]:
    """The variables of docs/deploy/mirage.env."""
    lines = (DEPLOY / "mirage.env").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def container() -> list[tuple[str, str]]:
    """The instructions of the Containerfile."""
    lines = (DEPLOY / "Containerfile").read_text("utf-8").splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines if line and not line.startswith("#")]


def copy_context(target: Path) -> None:
    """Copy what a container is built from: the lines of .dockerignore that begin with a mark, but for the others."""
    lines = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[0] != "#"]
    assert lines[0] == "*"
    left_out = shutil.ignore_patterns(*(line.removeprefix("**/") for line in lines if line.startswith("**/")))
    for name in (line[1:] for line in lines if line.startswith("!")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, target / name)


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd-analyze")
    # It asks for the program of the unit: one that is there takes its place.
    unit = (DEPLOY / "mirage.service").read_text("utf-8").replace("/opt/mirage/bin/mirage", sys.executable)
    (tmp_path / "mirage.service").write_text(unit, "utf-8")
    command = [program, "verify", "--man=no", "--recursive-errors=no", str(tmp_path / "mirage.service")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    complaints = [line for line in result.stderr.splitlines() if "mirage.service" in line]
    assert complaints == []


@pytest.mark.parametrize("file", ["mirage.service", "Containerfile"])
def test_the_command_of_a_file_is_one_that_mirage_takes(file: str) -> None:
    from typer.main import get_command

    text = (DEPLOY / file).read_text("utf-8")
    if file == "Containerfile":
        words = [word for name, value in container() if name in ("ENTRYPOINT", "CMD") for word in json.loads(value)]
    else:
        (line,) = re.findall(r"^ExecStart=(.*)$", text, flags=re.MULTILINE)
        words = shlex.split(line)
    assert words[:2] == ["/opt/mirage/bin/mirage", "app"]
    app = get_command(cli.app).commands["app"]  # type: ignore[attr-defined]
    given = app.make_context("app", words[2:]).params
    assert given["port"] == 8501


class Upstream(BaseHTTPRequestHandler):
    """A server that sets a policy of its own."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Security-Policy", "frame-ancestors https://ours.example")
        self.end_headers()


def test_nginx_takes_the_configuration_and_its_own_errors_have_the_headers(tmp_path: Path) -> None:
    nginx = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
    if nginx is None:
        pytest.skip("there is no nginx")
    text = (DEPLOY / "proxy.conf").read_text("utf-8")
    with port() as own, port() as behind:
        text = text.replace("listen 80;", f"listen 127.0.0.1:{own};").replace("127.0.0.1:8501", f"127.0.0.1:{behind}")
        start = f"daemon off; master_process off; pid {tmp_path}/pid; events {{}} http {{ access_log off; {text} }}"
        (tmp_path / "nginx.conf").write_text(start, "utf-8")
        command = [nginx, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "log")]

        def ask(**more: str) -> tuple[int, list[list[str] | None]]:
            with closing(HTTPConnection("127.0.0.1", own, timeout=PATIENCE)) as link:
                link.request("GET", "/", headers={"Host": "mirage.example.org", **more})
                answer = link.getresponse()
                names = ("Content-Security-Policy", "Referrer-Policy", "X-Content-Type-Options")
                return answer.status, [answer.headers.get_all(name) for name in names]

        others = [["same-origin"], ["nosniff"]]
        process = subprocess.Popen(command)
        try:
            until(lambda: (tmp_path / "pid").exists(), "nginx answers", process=process)
            assert ask() == (502, [["frame-ancestors 'none'"], *others])
            assert ask(**{"Content-Length": "70000000"}) == (413, [["frame-ancestors 'none'"], *others])
            with ThreadingHTTPServer(("127.0.0.1", behind), Upstream) as server:
                Thread(target=server.serve_forever, daemon=True).start()
                assert ask() == (200, [["frame-ancestors https://ours.example"], *others])
                server.shutdown()
        finally:
            process.terminate()
            process.wait(PATIENCE)


def test_the_settings_and_roles_are_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROLES, str(DEPLOY / "roles.toml"))
    assert roles().permit("zoë@example.org", "curator")
    assert settings()["MIRAGE_LOGIN"] == "required"


def test_the_container_reads_alone_until_it_is_given_roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (step,) = (value for name, value in container() if name == "RUN" and value.startswith("install "))
    subprocess.run(["sh", "-c", step.replace("/etc", str(tmp_path))], check=True)
    variables = dict(word.split("=", 1) for name, value in container() if name == "ENV" for word in shlex.split(value))
    monkeypatch.setenv(ROLES, variables[ROLES].replace("/etc", str(tmp_path)))
    assert not roles().permit("", "voter")
    assert variables["STREAMLIT_SERVER_ALLOWED_HOSTS"].split() == ["localhost", "127.0.0.1"]


def test_the_steps_of_the_container_run_in_a_virtual_environment_of_their_own(tmp_path: Path) -> None:
    """Those that need root or a distribution are only looked at. Packages that are here, and what builds the program is
    among them, are not fetched again.
    """
    steps = [value for name, value in container() if name == "RUN"]
    ours = [step for step in steps if "/opt/mirage" in step]
    assert all(step.startswith(("useradd ", "install ")) for step in steps if step not in ours)
    source = tmp_path / "src"
    copy_context(source)
    others = {".git", ".venv", "tests", "secrets.toml", "ledger.sqlite", "votes.sqlite", "__pycache__"}
    assert not others & {path.name for path in source.rglob("*")}
    for step in ours:
        command = step.replace("/opt/mirage", str(tmp_path / "mirage")).replace("/src", str(source))
        command = command.replace("python -m venv", f"{shlex.quote(sys.executable)} -m venv", 1)
        command = command.replace("pip install", "pip install --no-build-isolation", 1)
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env=environment)
        assert result.returncode == 0, result.stdout + result.stderr
        if "-m venv" in step:
            (packages,) = (tmp_path / "mirage" / "lib").glob("python*/site-packages")
            here = [path for path in sys.path if path.endswith("-packages")]
            (packages / "installed.pth").write_text("\n".join(here), "utf-8")
    assert list((tmp_path / "mirage" / "lib").glob("python*/site-packages/mirage/_explorer/app.py"))


# The page docs/deploy.md

PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
SHELL = [
    line
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("line", [line for line in SHELL if line.startswith("mirage ")])
def test_a_command_of_the_page_is_one_that_mirage_takes(line: str) -> None:
    from typer.main import get_command

    _, name, *words = shlex.split(line)
    get_command(cli.app).commands[name].make_context(name, words)  # type: ignore[attr-defined]


def test_the_database_of_the_page_takes_votes() -> None:
    from postgres import BINARIES, Server

    from mirage.people.votes.database import Votes
    from mirage.people.votes.kinds import Vote

    server = Server()
    try:
        options = ["--host", "127.0.0.1", "--port", str(server.port), "--username", "mirage", "--no-password"]
        (line,) = [line for line in SHELL if line.startswith("createdb")]
        # The test's cluster has its user already; its first database has the name of none.
        program, *words = shlex.split(line)
        subprocess.run([BINARIES[-1] / program, *options, "--maintenance-db", "postgres", *words], check=True)
        with Votes(server.url("mirage")) as votes:
            assert votes.rows(Vote) == []
    finally:
        server.remove()


def test_every_file_and_variable_of_the_page_is_there() -> None:
    files = set(re.findall(r"`(docs/deploy/[\w.]+)`", PAGE))
    assert files
    assert all((ROOT / file).is_file() for file in files)
    program = "".join(path.read_text("utf-8") for path in (ROOT / "mirage").rglob("*.py"))
    variables = set(re.findall(r"\bMIRAGE_[A-Z_]+\b", PAGE))
    assert {name for name in variables if name not in program} == set()
    assert {name for name in settings() if name.startswith("MIRAGE_")} <= variables
