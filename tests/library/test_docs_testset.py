"""The page on test sets: its files are written, its commands and blocks run in their order, against a local service."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from commands import mirage, rows
from conftest import ROOT
from misbehaving import Service
from testset_cases import ScriptedModel

from mirage import store

PAGE = (ROOT / "docs" / "testset.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language, name of the file and content of each block."""
ADDRESS = "http://localhost:8000/v1"


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    names: dict[str, Any] = {}
    with Service(ScriptedModel()) as service:
        for kind, file, content in BLOCKS:
            here = content.replace(ADDRESS, service.url)
            if file:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(content, encoding="utf-8")
            elif kind == "python":
                exec(compile(here, "docs/testset.md", "exec"), names)
            elif kind == "bash":
                for command in here.splitlines():
                    mirage(*shlex.split(command)[1:])
    arena = store.open_arena(tmp_path / "build" / "bridges")
    subsets = [(row["language"], row["subset"]) for row in arena.read("queries").to_pylist()]
    assert {pair: subsets.count(pair) for pair in subsets} == {
        (code, subset): 2 for code in ("de", "sw") for subset in ("relevant", "non_relevant")
    }
    printed = rows(mirage("rates", "build/bridges", "--format", "csv"))
    rates = {(row["language"], row["system"], row["subset"]): row["rate"] for row in printed}
    for code in ("de", "sw"):
        assert float(rates[code, "bold", "non_relevant"]) == 1
        assert float(rates[code, "careful", "non_relevant"]) == 0
        assert float(rates[code, "bold", "relevant"]) == float(rates[code, "careful", "relevant"]) == 0
