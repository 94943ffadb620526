"""The page on corrected levels: its blocks run in their order, and its commands end as they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from typer.testing import CliRunner

from mirage.cli import app

PAGE = (ROOT / "docs" / "levels.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language and content of each block."""


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("build").mkdir()
    names: dict[str, Any] = {}
    for kind, content in BLOCKS:
        if kind == "python":
            exec(compile(content, "docs/levels.md", "exec"), names)
        for command in content.splitlines() if kind == "bash" else ():
            words, _, code = command.partition("# ends with ")
            done = CliRunner().invoke(app, shlex.split(words)[1:])
            assert done.exit_code == int(code or 0), f"{command}: {done.output}"
