"""`mirage doctor` says what is fine, what is absent and what is wrong, each with what to do."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mirage import cli
from mirage.cli import doctor


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MIRAGE_ARENAS", raising=False)
    monkeypatch.delenv("MIRAGE_VOTES_URL", raising=False)
    return tmp_path / "home"


def checks(code: int = 0) -> dict[str, dict[str, str]]:
    done = CliRunner().invoke(cli.app, ["doctor", "--format", "json"])
    assert done.exit_code == code, done.output
    return {row["what"]: row for row in json.loads(done.stdout)}


def test_a_sound_installation_has_nothing_wrong_and_nothing_is_written(own_folder: Path) -> None:
    found = checks()
    assert {row["state"] for row in found.values()} <= {"fine", "absent"}
    assert {"Python", "mirage", "arena nomiracl", "arena sample", "votes", "port"} <= set(found)
    assert all(row["do"] for row in found.values() if row["state"] == "absent" and row["what"] != "votes")
    assert not own_folder.exists()


def test_a_damaged_arena_and_a_database_that_does_not_answer_are_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{", encoding="utf-8")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path / "broken"))
    monkeypatch.setenv("MIRAGE_VOTES_URL", "postgresql://nobody@127.0.0.1:1/votes")
    found = checks(code=2)
    assert (found["arena broken"]["state"], found["votes"]["state"]) == ("wrong", "wrong")
    assert found["arena broken"]["do"]
    assert found["votes"]["do"]


def test_an_extra_that_is_not_installed_is_absent_and_a_taken_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_EXTRAS", {"local": (("no_such_module",), "a test")})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(doctor, "PORT", taken.getsockname()[1])
        found = checks()
    assert found["extra local"]["state"] == "absent"
    assert "mirage[local]" in found["extra local"]["do"]
    assert "taken" in found["port"]["found"]


def test_the_version_is_printed() -> None:
    done = CliRunner().invoke(cli.app, ["--version"])
    assert (done.exit_code, done.stdout.split()[0]) == (0, "mirage")
