"""docs/ask.md: its file turns questions on, its program asks and votes, its commands read the rows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from commands import CliRunner
from conftest import ROOT
from streaming_service import Script, StreamingService

from benchmarks.ask import CHOOSERS, DRAWS, pairs
from mirage import store
from mirage.cli import app

PAGE = (ROOT / "docs" / "ask.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
SCRIPTS = {
    "small-instruct": Script(("##Reason: It enters the ocean near Goolwa [en-01#3]. ", "##Answer: Goolwa.")),
    "large-instruct": Script(("I do not know.",)),
}


def test_the_page_from_its_file_to_the_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "data" / "sample", "board")
    ((name, text),) = [(name, text) for kind, name, text in BLOCKS if kind == "yaml"]
    (program,) = [text for kind, _, text in BLOCKS if kind == "python"]
    commands = [line for kind, _, text in BLOCKS if kind == "bash" for line in text.splitlines()]
    with StreamingService(SCRIPTS) as service:
        Path(name).write_text(re.sub(r"http://\S+", service.url, text), encoding="utf-8")
        exec(compile(program, "docs/ask.md", "exec"), {})  # the page's own program
    assert "Goolwa" in capsys.readouterr().out
    assert commands.pop(0) == "mirage app board"  # a server: test_page_ask.py opens its page
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
    (row,) = store.open_arena(Path("board/ask")).read("judgments").to_pylist()
    assert (row["judge"], row["verdict"]) == ("people", "A")
    assert row["voter"] in Path("votes.csv").read_text(encoding="utf-8")
    assert "River Murray" in Path("battles.jsonl").read_text(encoding="utf-8")


def test_the_votes_that_a_choice_of_pairs_saves_are_those_of_the_benchmark() -> None:
    table = PAGE.partition("<!-- pairs -->")[2].partition("<!-- /pairs -->")[0]
    assert f"{DRAWS} draws" in PAGE
    assert all(name in table for name in CHOOSERS)
    for what, means in pairs():
        assert f"| {what} | {' | '.join(f'{mean:.0f}' for mean in means)} |" in table


def test_the_times_are_those_of_the_last_benchmark() -> None:
    written = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## ask\n(.*?)(?=^## )", written, flags=re.MULTILINE | re.DOTALL)
    lines = [re.findall(r"(\d+) ms, at most (\d+) ms", line) for line in section.splitlines() if "at one time" in line]
    table = [re.findall(r"(\d+) ms \((\d+)\)", line) for line in PAGE.splitlines() if line.startswith("| from ")]
    assert [list(column) for column in zip(*table, strict=True)] == lines
    closed, tokens = re.findall(r"at most ([\d.]+) (?:s|tokens)", section.splitlines()[-2])
    assert f"within {closed} s, at most {tokens} tokens" in " ".join(PAGE.split())
