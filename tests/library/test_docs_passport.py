"""The page on passports: its commands and blocks run in their order, and its figures are of all languages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from typer.testing import CliRunner

from mirage.cli import app
from mirage.people.exam.passport import FAMILIES

PAGE = (ROOT / "docs" / "passport.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for kind, content in BLOCKS:
        if kind == "python":
            exec(compile(content, "docs/passport.md", "exec"), names)
        elif kind == "bash":
            for command in content.splitlines():
                done = CliRunner().invoke(app, shlex.split(command)[1:])
                assert done.exit_code == 0, f"{command}: {done.output}"


def test_the_computed_table_has_every_fault() -> None:
    table = PAGE.split("<!-- passport -->")[1].split("<!-- /passport -->")[0]
    assert all(f"| {family.title} |" in table for family in FAMILIES.values())
    assert "18 languages" in table
    for figure in re.findall(r"\]\((passport-\w+\.png)\)", PAGE):
        assert (ROOT / "docs" / figure).read_bytes().startswith(b"\x89PNG")
