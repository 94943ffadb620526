"""The page on your own judge: its files come in, and its blocks run in their order against a scripted model."""

from __future__ import annotations

import hashlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner
from conftest import ROOT
from misbehaving import Act, Call, Service, reply

from mirage import store
from mirage.cli import app
from mirage.stages.judge import BUNDLED

PAGE = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL)
"""Language, name of the file and content of each block."""


def scripted(call: Call) -> Act:
    """A judge that decides by the prompt alone, with a verdict or with points."""
    digit = hashlib.sha256(call.content.encode()).digest()[0]
    verdict = "ABC"[digit % 3] if "[[A]]" in call.content else str(digit % 5 + 1)
    return reply(f"Both are weighed.\n\n[[{verdict}]]")


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").symlink_to(ROOT / "data")
    names: dict[str, Any] = {}
    with Service(scripted) as service:
        for kind, file, content in BLOCKS:
            if file:
                Path(file).write_text(content, encoding="utf-8")
            elif kind == "python":
                exec(compile(content, "docs/judge.md", "exec"), names)
            elif kind == "bash":
                for command in content.splitlines():
                    words = [service.url if word.startswith("http://") else word for word in shlex.split(command)[1:]]
                    done = CliRunner().invoke(app, words)
                    assert done.exit_code == 0, f"{command}: {done.output}"
    arena = store.open_arena(Path("build/criteria"))
    judges = set(
        arena.sql("SELECT DISTINCT judge FROM judgments WHERE starts_with(judge, 'gpt-4o')")["judge"].to_pylist()
    )
    assert judges == {"gpt-4o", *(f"gpt-4o: {name}" for name in ("groundedness", "tone", "depth", "friendly"))}
    assert "depth" in arena.read("scores")["measure"].to_pylist()


def test_the_page_names_every_bundled_criterion() -> None:
    assert all(f"`{name}`" in PAGE for name in BUNDLED)
