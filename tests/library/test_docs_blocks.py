"""Every code block of the guide is run: by a test of its page, by the tables here, or not, with a reason beside it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from commands import CliRunner
from conftest import ROOT
from misbehaving import Service, reply

from mirage.cli import app

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r'^```(\w*)(?: ([\w-]+))?(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)

RUN_BY = {
    "README.md": "library/test_docs.py",
    "abstention.md": "library/test_docs_abstention.py",
    "adaptive.md": "library/test_docs_adaptive.py",
    "api.md": "library/test_api.py",
    "ask.md": "library/test_docs_ask.py",
    "audit.md": "library/test_docs_audit.py",
    "data.md": "library/test_docs_data.py",
    "cross-lingual.md": "library/test_docs_cross_lingual.py",
    "decide.md": "library/test_docs_decide.py",
    "deploy.md": "explorer/test_deploy_files.py",
    "error-analysis.md": "library/test_notes.py",
    "evaluate-your-model.md": "library/test_docs_evaluate.py",
    "exam.md": "library/test_docs_exam.py",
    "extend.md": "library/test_extend.py",
    "gate.md": "library/test_docs_gate.py",
    "judge.md": "library/test_docs_judge.py",
    "levels.md": "library/test_docs_levels.py",
    "logs.md": "library/test_docs_data.py",
    "models.md": "library/test_docs_models.py",
    "nuggets.md": "library/test_docs_nuggets.py",
    "over-time.md": "library/test_docs_over_time.py",
    "passport.md": "library/test_docs_passport.py",
    "repeats.md": "library/test_docs_repeats.py",
    "retrieval.md": "library/test_docs_retrieval.py",
    "spot-check.md": "library/test_votes_cli.py",
    "take-out.md": "library/test_exporting_tables.py",
    "testset.md": "library/test_docs_testset.py",
}
"""Test of each page whose blocks build on each other."""

NOT_RUN = {
    ("CONTRIBUTING.md", "make test-fast "): "runs this test; test_docs.py looks the targets up",
    ("install.md", "make app"): "installs from the network; CI does it",
    ("install.md", "pip install '.[explorer]'"): "installs from the network; test_install.py runs the wheel",
    ("install.md", "pip install ."): "installs from the network; test_install.py runs the wheel with these packages",
    ("install.md", ".venv/bin/pip install torch"): "installs from the network; CI does it",
    ("storage.md", "pip install 'mirage-rag[storage]'"): "needs a bucket; test_storage.py copies and ranks on S3",
    ("cluster.md", "#!/bin/bash"): "needs Slurm; the commands inside are those of other blocks",
    ("cluster.md", "pip install 'PATH[models,ray]'"): "installs from the network",
    ("cluster.md", "ray start --head "): "needs two machines; test_cluster.py starts Ray on this one",
    ("cluster.md", "mirage generate arena --system mine --model m --base-url http://10.0.0.9"): "needs a Ray cluster",
    (
        "cluster.md",
        "mirage measure features arena --engine ray ",
    ): "needs a Ray cluster; test_cluster.py runs the engine",
    ("cluster.md", "mirage measure features arena --nli "): "needs a Ray cluster and a model's weights",
    ("cluster.md", "mirage generate arena --system mine --model org/model "): "needs GPUs; tests/engines runs vLLM",
    ("cluster.md", "ray job submit "): "needs a Ray cluster",
}
"""Reasons by page and start of a block; test_docs_site.py looks up its commands and options."""

SKIPPED_LINES = ("mirage rank s3://",)
"""Lines of blocks that run, which need another machine."""


@dataclass(frozen=True)
class Block:
    """A fenced block that can be run."""

    page: str
    kind: str
    text: str

    @property
    def reason(self) -> str:
        """The reason not to run it, or nothing."""
        starts = [start for page, start in NOT_RUN if page == self.page and self.text.startswith(start)]
        return NOT_RUN[self.page, max(starts, key=len)] if starts else ""


def executable(page: Path) -> list[Block]:
    """The blocks of a page in Python or for a shell; a block without a language is one if it begins with a command."""
    found = []
    for kind, _, _, text in FENCE.findall(page.read_text(encoding="utf-8")):
        command = re.match(r"(\.venv/bin/)?(mirage|make|pip|ray|uv) ", text)
        if kind in ("python", "diff", "bash", "sh", "console") or (not kind and command):
            found.append(Block(page.name, kind, text))
    return found


BLOCKS = [block for page in PAGES for block in executable(page)]
HERE = [block for block in BLOCKS if block.page not in RUN_BY and not block.reason]


def test_a_page_has_a_test_that_reads_it() -> None:
    for page, test in RUN_BY.items():
        assert page in (ROOT / "tests" / test).read_text(encoding="utf-8"), f"{test} does not read {page}"
    assert set(RUN_BY) <= {block.page for block in BLOCKS}


def test_a_reason_belongs_to_a_block() -> None:
    for page, start in NOT_RUN:
        assert any(block.page == page and block.text.startswith(start) for block in BLOCKS), (page, start)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the arenas that the guide speaks of: `my-arena` and `arena`, and a file of battles."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    for name in ("my-arena", "arena"):
        shutil.copytree(ROOT / "data" / "sample", tmp_path / name)
    verdicts = ["A", "B", "tie", "A"]
    pair = {"judge": "gpt-4o", "system_a": "x", "system_b": "y"}
    rows = [pair | {"query_id": f"q{n}", "verdict": verdict} for n, verdict in enumerate(verdicts)]
    pd.DataFrame(rows).to_parquet(tmp_path / "battles.parquet")
    judged = [
        {"language": "sw", "query_id": "sw-01", "judge": "gpt-4o", "system_a": a, "system_b": b, "verdict": verdict}
        for a, b, verdict in (("reference", "fluent", "A"), ("fluent", "reference", "B"))
    ]
    file = tmp_path / "judged.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in judged), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["import", "judgments", str(file), "--into", "my-arena"])
    assert result.exit_code == 0, result.output
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("block", HERE, ids=lambda block: f"{block.page}: {block.text[:40]}")
def test_a_block_runs(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    if block.kind == "python":
        names: dict[str, Any] = {}
        exec(compile(block.text, block.page, "exec"), names)
        return
    with Service(lambda _: reply("##Reason: the first passage says so. ##Answer: Yes.")) as service:
        for line in block.text.replace("\\\n", " ").splitlines():
            if line.startswith(SKIPPED_LINES) or not line.strip():
                continue
            program, *words = shlex.split(line, comments=True)
            assert program.removeprefix(".venv/bin/") == "mirage", f"no test runs this line of {block.page}: {line}"
            words = [service.url if word.startswith("http://") else word for word in words]
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"{line}\n{result.output}"
