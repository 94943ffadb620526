"""The page on passports: its commands and blocks run in their order, and its figures are of all languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from docs_page import run_blocks

from mirage.people.exam.passport import FAMILIES

PAGE = (ROOT / "docs" / "passport.md").read_text(encoding="utf-8")


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks("passport.md")


def test_the_computed_table_has_every_fault() -> None:
    table = PAGE.split("<!-- passport -->")[1].split("<!-- /passport -->")[0]
    assert all(f"| {family.title} |" in table for family in FAMILIES.values())
    assert "18 languages" in table
    for figure in re.findall(r"\]\((passport-\w+\.png)\)", PAGE):
        assert (ROOT / "docs" / figure).read_bytes().startswith(b"\x89PNG")
