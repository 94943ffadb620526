"""The page on repeats: its blocks run in their order, and what it says of the bundled arena is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner
from conftest import ROOT

from mirage.cli import app

PAGE = (ROOT / "docs" / "repeats.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language and content of each block."""


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for kind, content in BLOCKS:
        if kind == "python":
            exec(compile(content, "docs/repeats.md", "exec"), names)
            continue
        for command in content.splitlines():
            done = CliRunner().invoke(app, shlex.split(command)[1:])
            assert done.exit_code == 0, f"{command}: {done.output}"
    assert "One more judge shortens it by 11%" in done.stderr
