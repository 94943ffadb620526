"""`mirage check` says what is fine, what is absent and what is wrong, each with what to do."""

import json
import socket
from pathlib import Path

import pytest
from commands import mirage

from mirage.cli import installation


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MIRAGE_ARENAS", raising=False)
    monkeypatch.delenv("MIRAGE_VOTES_URL", raising=False)
    return tmp_path / "home"


def checks(code: int = 0) -> dict[str, dict[str, str]]:
    result = mirage("check", "--format", "json", code=code)
    return {row["what"]: row for row in json.loads(result.stdout)}


def test_a_sound_installation_has_nothing_wrong_and_nothing_is_written(own_folder: Path) -> None:
    results = checks()
    assert {row["state"] for row in results.values()} <= {"fine", "absent"}
    assert {"mirage", "arena nomiracl", "arena sample", "votes", "port"} <= set(results)
    assert all(row["do"] for row in results.values() if row["state"] == "absent" and row["what"] != "votes")
    assert not own_folder.exists()


def test_a_damaged_arena_and_a_database_that_does_not_answer_are_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{", "utf-8")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path / "broken"))
    monkeypatch.setenv("MIRAGE_VOTES_URL", "postgresql://nobody@127.0.0.1:1/votes")
    results = checks(code=2)
    assert (results["arena broken"]["state"], results["votes"]["state"]) == ("wrong", "wrong")
    assert results["arena broken"]["do"]
    assert results["votes"]["do"]


def test_an_extra_that_is_not_installed_is_absent_and_a_taken_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "EXTRAS", {"local": (("no_such_module",), "a test")})
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        monkeypatch.setattr(installation, "PORT", listener.getsockname()[1])
        results = checks()
    assert results["extra local"]["state"] == "absent"
    assert "mirage-rag[local]" in results["extra local"]["do"]
    assert "taken" in results["port"]["message"]


def test_the_version_is_printed() -> None:
    assert mirage("--version").stdout.split()[0] == "mirage"
