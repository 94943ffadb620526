"""The page on nuggets: its files come in, its commands and blocks run in their order."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs_page import run_blocks


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks("nuggets.md")
