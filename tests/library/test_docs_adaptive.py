"""The page on adaptive judging: its commands and blocks run in their order, through a loopback judge."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner
from conftest import ROOT
from judge_cases import answers, says, texts
from misbehaving import Act, Call, Service

from mirage import store
from mirage.cli import app

PAGE = (ROOT / "docs" / "adaptive.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
URL = "http://localhost:8000/v1"
SYSTEMS = ("a", "b", "c", "d")


def first_by_name(call: Call) -> Act:
    """Prefer the system whose name sorts first."""
    first, second = re.findall(r"##Answer: (\w+) on", call.content)[:2]
    return says("A" if first < second else "B")


def test_the_blocks_of_the_page_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    store.write(Path("my-arena"), {**texts(8), "answers": answers(SYSTEMS, 8)}, made_by="a test")
    with Service(first_by_name) as service:
        for kind, text in BLOCKS:
            if kind == "python":
                exec(compile(text.replace(URL, service.url), "docs/adaptive.md", "exec"), {})
                continue
            for line in text.replace("\\\n", " ").splitlines():
                words = [service.url if word == URL else word for word in shlex.split(line)[1:]]
                done = CliRunner().invoke(app, words)
                assert done.exit_code == 0, f"{line}: {done.output}"
        assert max(service.requests.values()) == 1
    rows: list[dict[str, Any]] = store.open_arena(Path("my-arena")).read("judgments").to_pylist()
    assert {row["judge"] for row in rows} == {"gpt-4o"}
    assert all(row["inclusion"] for row in rows)
    assert re.search(r"\ba\b", done.output)


def test_the_table_has_the_figures_of_the_last_benchmark() -> None:
    written = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## adaptive\n(.*?)(?=^## )", written, flags=re.MULTILINE | re.DOTALL)
    kinds = {
        "six groups of equal systems": "six groups of equal systems, 20%",
        "qualities spread evenly": "qualities spread evenly, 20%",
        "the same, pairs off Bradley-Terry by 0.15 logits": "spread evenly, pairs off Bradley-Terry by 0.15, 20%",
        "Chatbot Arena, people": "20 systems of Chatbot Arena by people, 20%",
    }
    table = re.findall(
        r"^\| (.*?) ?\| (adaptive|random pairs|Swiss) \| (\S+)% \| (\S+)% \| (\S+)% \|$", PAGE, re.MULTILINE
    )
    assert len(table) == 3 * len(kinds)
    kind = ""
    for board, design, found, same, covered in table:
        kind = kinds[board] if board else kind
        (row,) = [line for line in section.splitlines() if line.startswith(f"| {kind}") and f": {design} |" in line]
        assert f"{float(found):.1f}% of the pairs" in row
        assert f"same tiers on {same}% of boards" in row
        assert f"the truth in {covered}%" in row
