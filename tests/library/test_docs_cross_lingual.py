"""The page on cross-lingual retrieval: its blocks run in their order, and its table has the sample's figures."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner
from conftest import ROOT
from sample_across import RETRIEVERS

from mirage import store
from mirage.cli import app
from mirage.stages.retrieve.attribution import OF_LANGUAGES

PAGE = (ROOT / "docs" / "cross-lingual.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "data" / "sample-across", tmp_path / "data" / "sample-across")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for kind, content in BLOCKS:
        if kind == "python":
            exec(compile(content, "docs/cross-lingual.md", "exec"), names)
        for command in content.splitlines() if kind == "bash" else ():
            program, *words = shlex.split(command)
            if program == "cp":
                shutil.copytree(words[-2], words[-1])
                continue
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, f"{command}: {done.output}"
    assert store.check(store.open_arena(Path("across")))
    own = names["own"].set_index("name")
    for name in RETRIEVERS:
        (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", PAGE, flags=re.MULTILINE)
        share, expected, preference, low, high = map(int, re.findall(r"[+-]?\d+(?=%| points| to|\))", row))
        assert (share, expected, preference) == tuple(
            round(100 * own.loc[name, column]) for column in ("share", "expected", "preference")
        )
        assert (low, high) == tuple(round(100 * own.loc[name, column]) for column in ("low", "high"))
    assert own.loc["bm25", "preference"] > 0.5, "BM25 finds little in other languages"
    consistency = names["consistency"]
    assert set(consistency.measure) == {"decision", "vital nuggets"}
    assert len(names["pairs"])
    assert len(names["verdicts"])


def test_the_causes_of_languages_are_on_the_page() -> None:
    assert set(OF_LANGUAGES) <= set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
