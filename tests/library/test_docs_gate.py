"""The page on the gate: its commands end as it says, and its workflow passes, fails or asks for more as its data do."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import CliRunner
from conftest import ROOT

from mirage.cli import app

PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language, name of the file and content of each block."""
COMMANDS = [line for kind, _, content in BLOCKS if kind == "bash" for line in content.splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_ends_as_it_says(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").symlink_to(ROOT / "data")
    words, _, code = command.partition("# ends with ")
    done = CliRunner().invoke(app, shlex.split(words)[1:])
    assert done.exit_code == int(code), done.output


def judgments(wins: int, losses: int) -> list[dict[str, str]]:
    """Verdicts of a judge on `new` and `old`, in both orders by turns."""
    rows = []
    for k in range(wins + losses):
        won, swapped = k < wins, k % 2 == 1
        pair = ("old", "new") if swapped else ("new", "old")
        verdict = "A" if won != swapped else "B"
        row = {"language": "en", "query_id": f"q{k}", "judge": "j", "system_a": pair[0], "system_b": pair[1]}
        rows.append(row | {"verdict": verdict})
    return rows


@pytest.mark.parametrize(("wins", "losses", "code"), [(40, 10, 0), (10, 40, 1), (6, 5, 3)])
def test_the_workflow_runs_and_its_job_ends_as_the_data_say(wins: int, losses: int, code: int, tmp_path: Path) -> None:
    (content,) = [content for kind, _, content in BLOCKS if kind == "yaml"]
    steps = yaml.safe_load(content)["jobs"]["gate"]["steps"]
    rows = (json.dumps(row) for row in judgments(wins, losses))
    (tmp_path / "judgments.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    summary = tmp_path / "summary.md"
    program = f'mirage() {{ {shlex.quote(sys.executable)} -m mirage "$@"; }}\n'
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(summary)}
    ended = 0
    for step in steps:
        if "run" not in step or step["run"].startswith("pip ") or (ended and step.get("if") != "always()"):
            continue
        script = ["bash", "-e", "-c", program + step["run"]]
        done = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, code), done.stderr
        ended = ended or done.returncode
    assert ended == code
    assert ("✅" in summary.read_text(encoding="utf-8")) == (code == 0)
    assert (tmp_path / "build" / "gate.xml").is_file()
