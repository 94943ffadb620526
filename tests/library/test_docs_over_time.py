"""The page on runs over time: its commands and blocks run in their order, a month apart, through a loopback judge."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import CliRunner
from conftest import ROOT
from judge_cases import says
from misbehaving import Act, Call, Service

from mirage import schema, store
from mirage.cli import app
from mirage.text import dates

PAGE = (ROOT / "docs" / "over-time.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
URL = "http://localhost:8000/v1"
QUERIES = 24
SUBSETS: tuple[schema.Subset, ...] = ("relevant", "non_relevant")


def make_arena(path: Path) -> None:
    """Write an arena with queries, half of them without an answer in the passages, and one other system."""
    keys = [("en", f"q{k}", SUBSETS[k % 2]) for k in range(QUERIES)]
    tables = {
        "queries": schema.from_rows(
            "queries", [schema.Query(*key, f"When was house {key[1]} built?", None) for key in keys]
        ),
        "passages": schema.from_rows(
            "passages",
            [
                schema.Passage(*key[:2], "p1", 1, "House", f"House {key[1]} was built.", key[2] == "relevant")
                for key in keys
            ],
        ),
        "answers": schema.from_rows(
            "answers",
            [schema.Answer(*key[:2], "other", "It was built in 1902 [1].", "ok", "rag", None, None) for key in keys],
        ),
    }
    store.write(path, tables, made_by="a test")


def save_answers(path: Path, right: int) -> None:
    """Write answers of a system that decides correctly on the first queries."""
    texts = ("It was built in 1902 [1].", "I don't know.")
    rows = [
        {"language": "en", "query_id": f"q{k}", "system": "mine", "text": texts[(k % 2) ^ (k >= right)]}
        for k in range(QUERIES)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def months() -> Iterator[str]:
    """Yield the first day of one month after the other."""
    return iter([f"2026-{month:02}-01" for month in range(1, 13)])


def test_the_blocks_of_the_page_run_a_month_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    make_arena(Path("my-arena"))
    save_answers(Path("october.jsonl"), QUERIES // 2)
    save_answers(Path("november.jsonl"), QUERIES)
    month = months()
    printed = {}

    def prefer_first(_: Call) -> Act:
        return says("A")

    with Service(prefer_first) as service:
        for kind, text in BLOCKS:
            day = next(month)
            monkeypatch.setattr(dates, "today", lambda day=day: day)
            if kind == "python":
                exec(compile(text, "docs/over-time.md", "exec"), {})
                continue
            for line in text.replace("\\\n", " ").splitlines():
                words = [service.url if word == URL else word for word in shlex.split(line)[1:]]
                done = CliRunner().invoke(app, words)
                assert done.exit_code == 0, f"{line}: {done.output}"
                printed[" ".join(words[:2])] = done.output
    assert "mine@2026-10-01" in printed["arena runs"]
    assert "better" in printed["compare my-arena"]
    assert "1.00" in printed["judges my-arena"]
    out = capsys.readouterr().out
    assert "mine@2026-10-01 better" in out
