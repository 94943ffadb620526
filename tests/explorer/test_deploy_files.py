"""The files of docs/deploy/: units, settings, container. What a machine without containers can run of them, it runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import CliRunner
from conftest import ROOT
from deployment import htpasswd, need_programs, row_of_ports
from starlette.applications import Starlette
from starlette.testclient import TestClient

from mirage import cli
from mirage.explorer.serve.replicas import need_nginx
from mirage.store.roles import ROLES, roles

DEPLOY = ROOT / "docs" / "deploy"


def settings() -> dict[str, str]:
    """The variables of docs/deploy/mirage.env."""
    lines = (DEPLOY / "mirage.env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def container() -> list[tuple[str, str]]:
    """The instructions of the Containerfile."""
    lines = (DEPLOY / "Containerfile").read_text(encoding="utf-8").splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines if line and not line.startswith("#")]


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd-analyze")
    # It asks for the program of the unit: one that is there takes its place.
    unit = (DEPLOY / "mirage.service").read_text(encoding="utf-8").replace("/opt/mirage/bin/mirage", sys.executable)
    (tmp_path / "mirage.service").write_text(unit, encoding="utf-8")
    command = [program, "verify", "--man=no", "--recursive-errors=no", str(tmp_path / "mirage.service")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    complaints = [line for line in result.stderr.splitlines() if "mirage.service" in line]
    assert complaints == []


@pytest.mark.parametrize("file", ["mirage.service", "Containerfile"])
def test_the_command_of_a_file_is_one_that_mirage_takes(file: str) -> None:
    from typer.main import get_command

    text = (DEPLOY / file).read_text(encoding="utf-8")
    if file == "Containerfile":
        words = [word for name, value in container() if name in ("ENTRYPOINT", "CMD") for word in json.loads(value)]
    else:
        (line,) = re.findall(r"^ExecStart=(.*)$", text, flags=re.MULTILINE)
        words = shlex.split(line)
    assert words[:2] == ["/opt/mirage/bin/mirage", "app"]
    app = get_command(cli.app).commands["app"]  # type: ignore[attr-defined]
    given = app.make_context("app", words[2:]).params
    assert given["workers"] == 2
    assert given["host"]


def test_the_settings_and_roles_are_sound_once_the_secrets_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = settings() | {"MIRAGE_HOME": str(tmp_path), "MIRAGE_ARENAS": "", ROLES: str(DEPLOY / "roles.toml")}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MIRAGE_VOTES_URL")
    monkeypatch.setenv("STREAMLIT_SERVER_ALLOWED_HOSTS", "mirage.example.org")
    result = CliRunner().invoke(cli.app, ["check", "--deployment", "--format", "json"])
    checks = {row["what"]: row for row in json.loads(result.stdout)}
    for name in (
        "hosts",
        "login",
        "MIRAGE_PROXY_SECRET",
        "STREAMLIT_SERVER_COOKIE_SECRET",
        "roles",
        "folder",
        "uploads",
    ):
        assert checks[name]["state"] == "fine", checks[name]
    assert checks["votes' database"]["state"] == "absent"
    assert roles().permit("zoë", "curator")
    assert "replace-this" not in result.stdout


def test_what_is_wrong_with_a_deployment_is_said_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = {
        "MIRAGE_LOGIN": "yes",
        "MIRAGE_PROXY_SECRET": "hunter2",
        ROLES: str(tmp_path / "none.toml"),
        "MIRAGE_UPLOAD_MB": "much",
        "MIRAGE_VOTES_URL": "postgresql://mirage:hunter2@127.0.0.1:1/votes",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(cli.app, ["check", "--deployment", "--format", "json"])
    assert result.exit_code == 2
    checks = {row["what"]: row for row in json.loads(result.stdout)}
    for name in ("login", "MIRAGE_PROXY_SECRET", "roles", "uploads", "votes' database"):
        assert checks[name]["state"] == "wrong"
        assert checks[name]["do"]
    assert "hunter2" not in result.stdout


def test_nginx_takes_the_configuration_of_tls(tmp_path: Path) -> None:
    need_programs()
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    subject = ["-subj", "/CN=mirage.example.org", "-days", "1", "-nodes", "-newkey", "rsa:2048"]
    command = ["openssl", "req", "-x509", *subject, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, capture_output=True, check=True)
    text = (DEPLOY / "tls.conf").read_text(encoding="utf-8").replace("443 ssl", f"127.0.0.1:{row_of_ports(1)} ssl")
    text = text.replace("/etc/ssl/mirage.pem", str(certificate)).replace("/etc/ssl/mirage.key", str(key))
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid; events {{}} http {{ {text} }}", encoding="utf-8")
    command = [need_nginx(), "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "log")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_services_fit_together() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    explorer, database = services["mirage"], services["votes"]
    assert (ROOT / explorer["build"]["dockerfile"]).is_file()
    assert f"@{'votes'}/{database['environment']['POSTGRES_USER']}" in explorer["environment"]["MIRAGE_VOTES_URL"]
    exposed = dict(container())["EXPOSE"]
    assert all(port.endswith(f":{exposed}") and port.startswith("127.0.0.1:") for port in explorer["ports"])
    folders = dict(pair.split("=") for name, value in container() if name == "ENV" for pair in value.split())
    mounted = {volume.split(":")[1] for volume in explorer["volumes"]}
    assert mounted == {folders["MIRAGE_HOME"], folders["MIRAGE_ARENAS"]}


def test_the_steps_of_the_container_run_in_a_virtual_environment_of_their_own(tmp_path: Path) -> None:
    """Those that need root or a distribution are only looked at. Packages that are here are not fetched again, and what
    builds the program comes from the package index, which may be absent.
    """
    steps = [value for name, value in container() if name == "RUN"]
    ours = [step for step in steps if "/opt/mirage" in step]
    assert all(step.startswith(("apt-get ", "useradd ")) for step in steps if step not in ours)
    source = tmp_path / "src"
    ignored = shutil.ignore_patterns(".*", "tests", "build", "docs", "benchmarks", "__pycache__")
    shutil.copytree(ROOT, source, ignore=ignored)
    shutil.copytree(ROOT / ".streamlit", source / ".streamlit")
    for step in ours:
        command = step.replace("/opt/mirage", str(tmp_path / "mirage")).replace("/src", str(source))
        command = command.replace("python -m venv", f"{shlex.quote(sys.executable)} -m venv", 1)
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env=environment)
        if (
            result.returncode
            and "pip install" in step
            and re.search("No matching distribution|connection", result.stderr)
        ):
            pytest.skip("no package index answers here")
        assert result.returncode == 0, result.stdout + result.stderr
        if "-m venv" in step:
            (packages,) = (tmp_path / "mirage" / "lib").glob("python*/site-packages")
            here = [path for path in sys.path if path.endswith("-packages")]
            (packages / "installed.pth").write_text("\n".join(here), encoding="utf-8")
    assert list((tmp_path / "mirage" / "lib").glob("python*/site-packages/mirage/_explorer/app.py"))


def test_names_and_passwords_are_a_file_that_openssl_makes(tmp_path: Path) -> None:
    need_programs()
    assert htpasswd(tmp_path / "names", "zoë").read_text(encoding="utf-8").startswith("zoë:$apr1$")


# The page docs/deploy.md

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
SHELL = [
    line for block in re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]


@pytest.mark.parametrize("line", [line for line in SHELL if line.startswith("mirage ")])
def test_a_command_of_the_page_is_one_that_mirage_takes(line: str, tmp_path: Path) -> None:
    from typer.main import get_command

    _, name, *words = shlex.split(line)
    get_command(cli.app).commands[name].make_context(name, words)  # type: ignore[attr-defined]


def test_the_pages_file_of_passwords_is_one_that_nginx_takes(tmp_path: Path) -> None:
    need_programs()
    (line,) = [line for line in SHELL if line.startswith("printf")]
    # The password is typed there; here it is given.
    command = line.replace("passwd -apr1", "passwd -apr1 secret")
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    assert re.fullmatch(r"zoë:\$apr1\$\S+\n", (tmp_path / "htpasswd").read_text(encoding="utf-8"))


def test_the_database_of_the_page_takes_votes() -> None:
    from postgres import BINARIES, Server

    from mirage.people.votes import Vote, Votes

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
    program = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "mirage").rglob("*.py"))
    variables = set(re.findall(r"\bMIRAGE_[A-Z_]+\b", PAGE))
    assert {name for name in variables if name not in program} == set()
    assert set(settings()) - {"MIRAGE_ARENAS"} <= variables | {"STREAMLIT_SERVER_COOKIE_SECRET"}


def test_without_the_extra_of_metrics_all_goes_on_and_metrics_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import mirage.explorer.serve
    from mirage.explorer.serve import metrics, serving

    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "mirage.explorer.serve.counts", raising=False)
    monkeypatch.delattr(mirage.explorer.serve, "counts", raising=False)
    monkeypatch.setattr(metrics, "has_prometheus", lambda: False)
    metrics.vote("kept")
    metrics.error("battle", ValueError())
    with metrics.rerun("battle"):
        pass
    parts = serving.parts()
    with TestClient(Starlette(routes=parts["routes"], middleware=parts["middleware"])) as client:
        assert client.get("/healthz").status_code == 200
        answer = client.get("/metrics")
    assert answer.status_code == 501
    assert "mirage-rag[ops]" in answer.text
