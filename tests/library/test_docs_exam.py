"""The page on a judge's exam: its files come in, its commands and blocks run in their order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from typer.testing import CliRunner

from mirage.cli import app

PAGE = (ROOT / "docs" / "exam.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language, name of the file and content of each block."""


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for kind, file, content in BLOCKS:
        if file:
            Path(file).write_text(content, encoding="utf-8")
        elif kind == "python":
            exec(compile(content, "docs/exam.md", "exec"), names)
        elif kind == "bash":
            for command in content.splitlines():
                done = CliRunner().invoke(app, shlex.split(command)[1:])
                assert done.exit_code == 0, f"{command}: {done.output}"
