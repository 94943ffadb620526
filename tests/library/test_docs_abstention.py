"""The page "When should it stay silent?": its blocks run, and its tables are complete."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from conftest import ROOT
from docs_page import run_blocks

from mirage.stages.abstain import LOSSES, SHOWN, Method

PAGE = (ROOT / "docs" / "abstention.md").read_text(encoding="utf-8")


def test_the_blocks_of_the_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = run_blocks("abstention.md")
    assert len(names["kept"]) == 11


def test_every_loss_method_and_column_is_on_the_page() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert {*LOSSES, *get_args(Method)} <= rows
    assert {*SHOWN} - {"language", "system", "area_low", "area_high"} <= rows
