"""`mirage evaluate` of whole systems: retrieve, answer from each retriever, nuggets, features, judge, rank."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from commands import CliRunner
from misbehaving import FAILURES, Act, Call, Service, reply
from run_cases import FAST, few, ran
from sample_source import read_nuggets, read_sample

from mirage import llm, pipeline, schema, store
from mirage.cli import app
from mirage.errors import UnknownName
from mirage.stages.generate.baselines import BASELINES
from mirage.stages.judge.stage import BattleSample
from mirage.stages.retrieve.bm25 import Hit
from mirage.stages.retrieve.corpus import Corpus
from mirage.stages.retrieve.stage import RetrieveSettings, retrieve

SOURCE = Path(__file__).resolve().parents[2] / "data" / "sample" / "source"
RETRIEVERS = ("backwards", "bm25", "rrf")
QUERIES = 6
"""Queries of the arena."""
WANTED: dict[str, Any] = {"retrievers": RETRIEVERS, "depth": 3, "sample": BattleSample(queries=2)}


def backwards(corpus: Corpus, queries: Sequence[str], depth: int) -> list[list[Hit]]:
    """Searches badly: the last passages, whatever is asked for."""
    n = len(corpus.passages)
    return [[(n - k, 1.0 / k) for k in range(1, min(n, depth) + 1)] for _ in queries]


def run(path: Path, **options: Any) -> dict[str, pipeline.StepReport]:
    dry = options.pop("dry", False)
    request = pipeline.RunSettings(**FAST | WANTED | options)
    return {report.step: report for report in pipeline.run_all(path, request, made_by="a test", dry=dry)}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample's texts and nuggets, to whose queries a bad retriever has brought passages."""
    path = tmp_path_factory.mktemp("whole") / "arena"
    sample = read_sample(SOURCE)
    nuggets = [
        schema.Nugget(n.language, n.query_id, n.nugget_id, n.text, n.importance, n.passage_id, "a test")
        for n in read_nuggets(SOURCE)
    ]
    store.write(path, few(sample | {"nuggets": schema.from_rows("nuggets", nuggets)}, n=3), made_by="a test")
    retrieve(path, RetrieveSettings("bm25", "backwards", depth=6), made_by="a test", search=backwards)
    return path


@pytest.fixture(scope="module")
def ready(begun: Path) -> Path:
    """It, after a whole run."""
    path = Path(shutil.copytree(begun, begun.parent / "ready"))
    assert {report.state for report in run(path).values() if report.step != "generate"} == {"ran"}
    return path


@pytest.fixture
def arena(ready: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ready, tmp_path / "arena"))


def values(path: Path, table: str, column: str) -> set[str]:
    return set(pc.unique(store.open_arena(path).read(table)[column]).to_pylist())


def test_a_run_goes_from_retrieving_to_the_ranking_of_whole_systems(ready: Path) -> None:
    whole = {f"{name}+{retriever}" for name in BASELINES for retriever in RETRIEVERS}
    assert values(ready, "retrieved", "retriever") == set(RETRIEVERS)
    systems = values(ready, "answers", "system")
    assert systems == {*BASELINES, *whole, "reference"}
    assert values(ready, "nugget_assignments", "assigner") == {"baseline/terms"}
    for table in ("outcomes", "features", "ratings"):
        assert values(ready, table, "system") == systems
    assert {"nugget_vital", "nugget_all"} <= values(ready, "features", "feature")
    assert values(ready, "ratings", "judge") == {"relevance", "heuristic"}
    depths = store.open_arena(ready).sql("SELECT DISTINCT depth FROM answers WHERE retriever IS NOT NULL")
    assert depths["depth"].to_pylist() == [3]
    assert store.check(store.open_arena(ready))


def test_the_retriever_decides_what_a_whole_system_is_worth(ready: Path) -> None:
    from mirage import api

    rows = api.attribution(store.open_arena(ready))
    lost = {r["system"]: r["share"] for r in rows if r["language"] == "all" and r["cause"] == "not_retrieved"}
    assert lost["baseline/bm25+backwards"] > lost["baseline/bm25+bm25"]


def test_a_second_run_skips_everything(arena: Path) -> None:
    before = store.open_arena(arena).version
    reports = run(arena)
    assert {(r.state, r.why) for r in reports.values() if r.step not in ("generate", "retrieve")} == {
        ("skipped", "up to date")
    }
    assert store.open_arena(arena).version == before


def test_other_nuggets_match_and_measure_again_and_nothing_before(arena: Path) -> None:
    bank = store.open_arena(arena).read("nuggets")
    store.write(arena, {"nuggets": bank.slice(0, len(bank) - 1)}, made_by="another command")
    reports = list(run(arena, retrievers=("bm25",)).values())
    assert ran(reports)[:2] == ["nuggets by terms", "features"]


def test_lists_of_another_origin_are_used_and_stay(begun: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(begun, tmp_path / "arena"))
    retrieve(path, RetrieveSettings("bm25", "bm25", depth=2), made_by="a test")
    before = store.open_arena(path).read("retrieved")
    reports = run(path, retrievers=("bm25",), end="baselines")
    assert reports["retrieve bm25"].state == "skipped"
    assert reports["baselines over bm25"].state == "ran"
    assert store.open_arena(path).read("retrieved").equals(before)


def test_a_dry_run_changes_nothing_and_says_what_would_be_retrieved(begun: Path) -> None:
    before = store.open_arena(begun).version
    reports = run(begun, dry=True)
    assert store.open_arena(begun).version == before
    steps = ("retrieve bm25", "retrieve rrf", "baselines over bm25", "nuggets by terms")
    assert {reports[step].state for step in steps} == {"would run"}


def test_a_retriever_that_is_not_there_is_refused_before_anything_is_written(begun: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(begun, tmp_path / "arena"))
    before = store.open_arena(path).version
    for name in ("bm52", "given"):
        with pytest.raises(UnknownName):
            run(path, retrievers=("bm25", name))
    assert store.open_arena(path).version == before


def test_nothing_to_fuse_is_told_and_the_rest_runs(tmp_path: Path) -> None:
    store.write(tmp_path / "arena", few(read_sample(SOURCE), "en"), made_by="a test")
    reports = run(tmp_path / "arena", retrievers=("bm25", "rrf"), end="outcomes")
    assert reports["retrieve rrf"].state == reports["baselines over rrf"].state == "skipped"
    assert reports["retrieve rrf"].why
    assert reports["baselines over rrf"].why
    assert reports["baselines over bm25"].state == reports["outcomes"].state == "ran"


def test_through_a_misbehaving_service_the_same_command_goes_on_to_the_end(begun: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(begun, tmp_path / "arena"))
    number = 0

    def behave(call: Call) -> Act:
        nonlocal number
        number += 1
        # It misbehaves in every way of the fixture, and then answers.
        return FAILURES[number // 3 % len(FAILURES)]() if number % 3 == 1 else reply("##Answer: It is so. [[3]] [[A]]")

    with Service(behave) as service:
        limits = llm.Limits(retries=0, backoff=0, timeout=2)
        model = pipeline.RunModel(
            llm.ChatModel(llm.Settings("m", max_tokens=50), limits, llm.resolve(base_url=service.url))
        )
        options: dict[str, Any] = {"model": model, "system": "m", "retrievers": ("bm25",), "end": "outcomes"}
        first = run(path, **options)
        assert "unfinished" in {first["generate m"].state, first["generate m+bm25"].state}
        for _ in range(30):
            if not any(report.state == "unfinished" for report in run(path, **options).values()):
                break
        assert {report.state for report in run(path, **options).values()} == {"skipped"}
        assert len(service.calls) >= 2 * QUERIES
    rows = [row for row in store.open_arena(path).read("answers").to_pylist() if row["system"] in ("m", "m+bm25")]
    assert len(rows) == 2 * QUERIES
    assert {(row["system"], row["retriever"], row["depth"]) for row in rows} == {
        ("m", None, None),
        ("m+bm25", "bm25", 3),
    }
    assert not [row for row in rows if row["status"] == "api_error"]


def test_the_command(begun: Path, tmp_path: Path) -> None:
    path = shutil.copytree(begun, tmp_path / "arena")
    words = [
        "evaluate",
        str(path),
        "--retriever",
        "bm25",
        "--depth",
        "2",
        "--to",
        "baselines",
        "--baselines",
        "--format",
        "csv",
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    steps = {row["step"]: row["state"] for row in csv.DictReader(io.StringIO(result.stdout))}
    assert steps == dict.fromkeys(("retrieve bm25", "baselines", "baselines over bm25"), "ran")
