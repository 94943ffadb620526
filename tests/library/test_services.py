"""The service is part of what a reply is kept under, and a dry run refuses what a run refuses."""

from pathlib import Path

import pytest
from commands import mirage
from commands import mirage as generating
from generating_cases import command, shown, write
from judge_cases import arena as arena
from judge_cases import judgments, run, says
from misbehaving import Service

from mirage.battles.judge import HEURISTIC
from mirage.llm.presets import Endpoint
from mirage.store.arena import open_arena

CLOSED = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("address", "service"),
    [
        ("https://API.example.org/v1/", "https://api.example.org/v1"),
        ("https://api.example.org:443/v1", "https://api.example.org/v1"),
        ("http://localhost:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://[::1]:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://gpu-1:80/v1", "http://gpu-1/v1"),
    ],
)
def test_an_address_names_its_service_in_one_spelling(address: str, service: str) -> None:
    assert Endpoint(address).service == service
    assert Endpoint(address, name="ours").service == "ours"


def test_pitfall_103_another_service_gives_its_own_verdicts(arena: Path) -> None:
    with Service(lambda call: says("A")) as service:
        run(arena, service)
        n = len(judgments(arena, "j"))
    closed = ("judge", arena, "--judge", "other", "--model", "m", "--base-url", CLOSED, "--retries", 0)
    mirage(*closed, code=2)
    assert not judgments(arena, "other")
    with Service(lambda call: says("B")) as service:
        run(arena, service, name="other")
        assert len(service.calls) == n
    assert {row["verdict"] for row in judgments(arena, "other")} == {"B"}


def test_one_judge_has_one_service_until_all_its_verdicts_are_made_again(arena: Path) -> None:
    with Service(lambda call: says("A")) as first, Service(lambda call: says("B")) as second:
        run(arena, first)
        n = len(first.calls)
        refusal = run(arena, second, code=2).stderr
        assert first.url in refusal
        assert "--replace" in refusal
        # Some alone would leave verdicts of two services under one name.
        run(arena, second, "--replace", "--languages", "en", code=2)
        assert not second.calls
        run(arena, second, "--replace")
        assert len(second.calls) == n
        assert {row["verdict"] for row in judgments(arena, "j")} == {"B"}
        run(arena, second)
        assert len(second.calls) == n, "nothing is asked twice"
        second.behave = lambda call: says("C")
        run(arena, second, "--replace", "--languages", "en")
        again = len(second.calls)
        assert n < again < 2 * n
        run(arena, second)
        assert len(second.calls) == again
        assert {row["verdict"] for row in judgments(arena, "j") if row["language"] == "en"} == {"tie"}
        assert {row["verdict"] for row in judgments(arena, "j") if row["language"] != "en"} == {"B"}


def test_a_service_with_a_name_may_move(arena: Path) -> None:
    with Service(lambda call: says("A")) as service:
        run(arena, service, "--service", "lab")
    with Service(lambda call: says("B")) as service:
        run(arena, service, "--service", "lab")
        assert not service.calls


def test_answers_of_two_services_are_not_mixed_into_a_system(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=2)
    with Service() as first, Service() as second:
        generating(*command(path, first))
        told = generating(*command(path, second), code=2).stderr
        assert first.url in told
        assert not second.calls
        generating(*command(path, second, "--replace"))
        assert second.calls
    assert {row["outcome"] for row in shown(path)} == {"ok"}


def test_an_extra_body_is_read_from_a_settings_file_and_is_another_call(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=1, languages=("de",))
    file = tmp_path / "service.toml"
    file.write_text('[extra_body]\nreasoning_effort = "low"\nprovider = {order = ["lab"]}\n')
    with Service() as service:
        generating(*command(path, service))
        generating(*command(path, service, "--settings", file, system="other"))
        generating(*command(path, service, "--settings", file, system="third"))
        first, second = (call.body for call in service.calls)
    assert second == {**first, "reasoning_effort": "low", "provider": {"order": ["lab"]}}


WRONG = [
    ["--provider", "nosuch"],
    ["--provider", "openai"],
    ["--base-url", "gopher://x"],
    ["--base-url", CLOSED, "--key-env", "NOT_SET_ANYWHERE"],
    ["--base-url", CLOSED, "--budget", "1"],
    ["--base-url", CLOSED, "--workers", "2"],
    ["--base-url", CLOSED, "--engine-args", "1", "--engine", "vllm"],
]
COMMANDS = {
    "generate": ["--system", "s"],
    "judge": ["--judge", "j"],
    "measure nuggets": ["--create"],
    "measure support": [],
    "measure features": [],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_pitfall_120_a_dry_run_refuses_what_a_run_refuses(
    arena: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("OPENAI_API_KEY", "NOT_SET_ANYWHERE"):
        monkeypatch.delenv(variable, raising=False)
    for options in WRONG:
        arguments = [*name.split(), arena, *COMMANDS[name], "--model", "m", *options]
        refusal = mirage(*arguments, "--dry-run", code=2).stderr
        assert "to do" in refusal
        assert mirage(*arguments, code=2).stderr == refusal


def test_a_dry_run_refuses_a_name_that_a_run_refuses(arena: Path) -> None:
    with Service(lambda call: says("A")) as service:
        run(arena, service)
        for more in (["--temperature", 0.7], []):
            name = "j" if more else HEURISTIC
            assert run(arena, service, "--dry-run", *more, name=name, code=2).stderr
    assert open_arena(arena).tables
