"""`mirage features`: what is measured with which tools, and what stays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pytest
from conftest import ROOT

from mirage import pipeline, store
from mirage.errors import ArenaError, BadInput, UnknownName


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "sample", ignore=shutil.ignore_patterns("source"))
    return tmp_path / "sample"


def test_a_reference_brings_the_overlap_and_the_others_stay(arena: Path) -> None:
    before = store.open_arena(arena).read("features")
    after = pipeline.measure(arena, made_by="test", only=["answer_rougeL"], reference="baseline/bm25").read("features")
    assert set(after["feature"].to_pylist()) == set(before["feature"].to_pylist())
    own = after.filter(pc.and_(pc.equal(after["feature"], "answer_rougeL"), pc.equal(after["system"], "reference")))
    assert own["value"].null_count < len(own)
    length = [t.filter(pc.equal(t["feature"], "length")).to_pylist() for t in (before, after)]
    assert length[0] == length[1]


def test_an_unknown_feature_or_reference_changes_nothing(arena: Path) -> None:
    version = store.open_arena(arena).version
    with pytest.raises(UnknownName):
        pipeline.measure(arena, made_by="test", only=["nonsense"])
    with pytest.raises(UnknownName):
        pipeline.measure(arena, made_by="test", reference="nobody")
    assert store.open_arena(arena).version == version


def test_a_folder_that_is_no_arena_is_not_made_one(tmp_path: Path) -> None:
    with pytest.raises(ArenaError):
        pipeline.measure(tmp_path / "none", made_by="test")
    assert not (tmp_path / "none").exists()


def test_a_model_that_is_no_model_is_refused_with_what_to_do(arena: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput) as caught:
        pipeline.measure(arena, made_by="test", only=["reranker_score"], rerank=str(tmp_path / "empty"))
    assert caught.value.do


def test_the_command_prints_means_and_plans_nothing(arena: Path) -> None:
    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mirage", "features", str(arena), *args]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    done = run("--only", "length", "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("language,system,feature,mean,mean_low,mean_high,n,total,coverage\n")
    planned = run("--dry-run")
    assert planned.returncode == 2
    assert "mirage run DIR" in planned.stderr
