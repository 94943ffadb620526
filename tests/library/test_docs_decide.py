"""The page on the choice of a system: its commands run in their order."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from commands import mirage
from conftest import ROOT

PAGE = (ROOT / "docs" / "decide.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language, name of the file and content of each block."""


def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").symlink_to(ROOT / "data")
    printed = []
    for kind, name, content in BLOCKS:
        if kind == "yaml":
            Path(name).write_text(content, encoding="utf-8")
            continue
        for command in content.splitlines():
            program, *words = shlex.split(command)
            if program == "cp":
                shutil.copytree(*words[1:])
                continue
            printed.append(mirage(*words).output)
    assert "for 1,000 answers" in printed[1]
    assert "excluded by the requirements" in printed[3]
