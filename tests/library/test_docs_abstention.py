"""The page "When should it stay silent?": its blocks run, and its tables are complete."""

from __future__ import annotations

import re
import shlex
from typing import Any, get_args

import pytest
from conftest import ROOT
from typer.testing import CliRunner

from mirage.cli import app
from mirage.stages.abstain import LOSSES, SHOWN, Method

PAGE = (ROOT / "docs" / "abstention.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_blocks_of_the_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for kind, content in BLOCKS:
        if kind == "python":
            exec(compile(content, "docs/abstention.md", "exec"), names)
        else:
            done = CliRunner().invoke(app, shlex.split(content)[1:])
            assert done.exit_code == 0, done.output
    assert len(names["kept"]) == 11


def test_every_loss_method_and_column_is_on_the_page() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert {*LOSSES, *get_args(Method)} <= rows
    assert {*SHOWN} - {"language", "system", "area_low", "area_high"} <= rows
