"""The page on audits: its blocks run in their order, and what it says of the result is so."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from conftest import ROOT
from docs_page import run_blocks

from mirage.people import votes
from mirage.stats import label_errors

PAGE = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")


def test_the_blocks_of_the_page_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(votes.URL, raising=False)
    names = run_blocks("audit.md")
    assert {path.name for path in tmp_path.glob("*.html")} == {"audit-en.html", "audit-de.html"}
    assert all(row["labels"] == "audited" for row in names["rates"])
    printed = capsys.readouterr().out.split("\n")
    assert sum(line.startswith(("non_relevant ", "relevant ")) for line in printed) == 2
    assert f"at least {label_errors.LEAST_OWN} audited" in PAGE.replace("\n", " ")
    assert f" {label_errors.LEAST_AUDITED} audited" in PAGE.replace("\n", " ")


def test_the_figure_is_that_of_its_script() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "site" / "audit.py"))
    assert script["FILE"].read_text(encoding="utf-8") == script["page"](), "run: make docs"


def test_the_table_is_that_of_the_benchmark() -> None:
    rows = re.findall(
        r"^\| (\d+) queries, (\d+) audited, .*? coverage \| ([\d.]+)% \(([\d.]+)% to ([\d.]+)%\)",
        (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert len(rows) == 48
    for queries, audited in {row[:2] for row in rows}:
        means, lows, highs = zip(*(map(float, row[2:]) for row in rows if row[:2] == (queries, audited)), strict=True)
        cells = f"{sum(means) / len(means):.1f}% | {min(lows):.1f}% | {max(highs):.1f}%"
        assert f"| {queries} | {audited} | {cells} |" in PAGE
        assert min(lows) > 92.5
