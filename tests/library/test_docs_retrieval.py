"""The page "Was it the retriever or the model?": its blocks run in their order, and its tables are complete."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any, get_args

import pytest
from commands import CliRunner
from conftest import ROOT

from mirage import store
from mirage.cli import app
from mirage.stages.retrieve.attribution import CAUSES
from mirage.stages.retrieve.stage import Kind

PAGE = (ROOT / "docs" / "retrieval.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language, name of the file and content of each block."""


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "data" / "sample")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for kind, name, content in BLOCKS:
        if name:
            Path(name).write_text(content, encoding="utf-8")
        elif kind == "python":
            exec(compile(content, "docs/retrieval.md", "exec"), names)
        for command in content.splitlines() if kind == "bash" else ():
            program, *words = shlex.split(command)
            if program == "cp":
                shutil.copytree(words[-2], words[-1])
                continue
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, f"{command}: {done.output}"
    assert store.check(store.open_arena(Path("whole")))
    assert (names["lost"].k > 0).any(), "two passages are too few for some queries"


def test_every_retriever_and_every_cause_is_on_the_page() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert {*get_args(Kind), *CAUSES} <= rows
