"""The page "Evaluate your own model in ten minutes": its commands run in its order, and print what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import waiting
from commands import CliRunner
from conftest import ROOT
from misbehaving import Service, reply
from tiny_model import Server

from mirage import store
from mirage.cli import app

PAGE = (ROOT / "docs" / "evaluate-your-model.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(bash|text)(?: (\w+))?\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
JUDGED = "Assistant A cites its passages. [[A]]"
GRADED = "Fluent. [[4]]"


def behave(body: object) -> str:
    """What the service says: an answer, a verdict or a grade, by what it is asked."""
    text = json.dumps(body)
    if "[[A]]" in text:
        return JUDGED
    return "##Reason: the first passage says so. ##Answer: Yes." if "##Reason" in text else GRADED


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the page finds in a checkout."""
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "data" / "sample")
    record = {"question": "When was the old bridge over the river built?", "contexts": ["It was built in 1902."]}
    answers = [record | {"system": name, "answer": f"{name}: in 1902 [1]."} for name in ("new", "old")]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def test_every_command_runs_in_the_order_of_the_page_and_prints_what_it_says(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    last, commands = "", []
    with Service(lambda call: reply(behave(call.body))) as service:
        for kind, label, text in BLOCKS:
            if kind == "text":
                printed = numbers(text)
                # Tokens are estimated from texts that may be corrected; what the page says must stay about right.
                assert numbers(last) == pytest.approx(printed, rel=0.25, abs=1), last
                continue
            for line in text.splitlines() if not label else ():
                words = shlex.split(line)
                commands.append(words[:2])
                if words[0] == "cp":
                    subprocess.run(words, check=True)
                elif words[0] == "export":
                    monkeypatch.setenv(*words[1].split("="))
                else:
                    assert words[0] == "mirage"
                    options = [service.url if word.startswith(("http://", "https://")) else word for word in words[1:]]
                    result = CliRunner().invoke(app, options)
                    assert result.exit_code == 0, f"{line}\n{result.output}"
                    last = result.stderr
        assert any(call.headers.get("authorization") == "Bearer your-key" for call in service.calls)
    assert [words[1] for words in commands if words[0] == "mirage"] == [
        *("generate", "generate", "show", "run", "judge", "judge", "judges", "rank", "rank", "run", "run")
    ]
    arena = store.open_arena(here / "my-arena")
    assert store.check(arena)
    judgments = arena.read("judgments")
    rows = [row for row in judgments.to_pylist() if row["judge"] == "gpt-4o"]
    assert len(rows) >= 160
    assert {row["verdict"] for row in rows} == {"A"}
    systems = set(arena.read("answers")["system"].to_pylist())
    assert {"my-model", "my-model-2"} <= systems
    assert "fluency_score" in arena.read("features")["feature"].to_pylist()


def test_a_file_is_evaluated_as_the_page_says(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "your-key")
    lines = [line for _, label, text in BLOCKS if label == "file" for line in text.splitlines()]
    assert len(lines) == 3
    with Service(lambda call: reply(behave(call.body))) as service:
        for line in lines:
            words = [service.url if word.startswith("https://") else word for word in shlex.split(line)[1:]]
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"{line}\n{result.output}"
            assert bool(service.calls) is ("--yes" in words)
    assert "gpt-4o" in store.open_arena(here / "answers-arena").read("judgments")["judge"].to_pylist()


def test_the_model_is_served_as_the_tests_of_the_whole_way_serve_theirs(tmp_path: Path) -> None:
    (line,) = [text for _, label, text in BLOCKS if label == "serve"]
    words = shlex.split(line)
    served = Server(tmp_path / "model", tmp_path).command
    assert [word for word in words if word.startswith("--")] == [word for word in served if word.startswith("--")]
    assert words[:2] == [Path(served[0]).name, served[1]]


def test_the_explorer_opens_on_the_arena(here: Path) -> None:
    (line,) = [text for _, label, text in BLOCKS if label == "app"]
    shutil.copytree(here / "data" / "sample", here / "my-arena")
    with waiting.port() as port:
        run_and_end(line, port)


def run_and_end(line: str, port: int) -> None:
    command = [sys.executable, "-m", *shlex.split(line), "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        health = f"http://127.0.0.1:{port}/_stcore/health"
        waiting.until(lambda: waiting.answers(health), "the explorer answers", process=process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(waiting.PATIENCE)
