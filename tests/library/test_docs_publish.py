"""The page on boards: its blocks run in their order, and its figures are those of the benchmark."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from board_cases import make_arena
from commands import CliRunner
from conftest import ROOT

from benchmarks.forgeries import KINDS, STRENGTHS
from mirage import store
from mirage.cli import app

PAGE = (ROOT / "docs" / "publish.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def run(line: str) -> str:
    """Run a command of the page and return its output."""
    done = CliRunner().invoke(app, shlex.split(line)[1:])
    assert done.exit_code == 0, f"{line}\n{done.output}"
    return done.output


def test_the_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arena = make_arena(tmp_path / "arena")
    answers = [row for row in arena.read("answers").to_pylist() if row["system"] == "gpt-4"]
    for kind, text in BLOCKS:
        if "mirage submit" in text:
            own = store.copy(arena, tmp_path / "own").read("answers")
            rows = type(own).from_pylist([row | {"system": "mine"} for row in answers], schema=own.schema)
            store.upsert(tmp_path / "own", {"answers": store.by_key("answers", rows)}, made_by="a test")
        if kind == "bash":
            for line in text.splitlines():
                run(line)
            continue
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(text, "publish.md", "exec"), {})
        checked = run(printed.getvalue())
        assert "by the given key" in checked
        assert "publication 2" in checked
    assert "mine" in store.open_arena(tmp_path / "arena").read("answers")["system"].to_pylist()


def test_a_thousand_forgeries_were_found() -> None:
    rows = dict(re.findall(r"^\| (\w+) \|(.*)\|$", PAGE, flags=re.MULTILINE))
    cells = [cell.strip().split(" of ") for kind in KINDS for cell in rows[kind].split("|")[: len(STRENGTHS)]]
    assert all(found == tried for found, tried in cells)
    assert sum(int(tried) for _, tried in cells) >= 1_000
