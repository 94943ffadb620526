"""`mirage measure features`: what is measured with which tools, and what stays."""

import shutil
from pathlib import Path

import pyarrow.compute as pc
import pytest
from arena_writer import make_answer, make_query, write_arena
from commands import mirage
from conftest import ROOT
from misbehaving import Service, error, reply
from typer.testing import Result

from mirage import schema
from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.stages.features.measuring import measure
from mirage.stages.features.settings import MeasureSettings
from mirage.store.arena import open_arena


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "sample", ignore=shutil.ignore_patterns("source"))
    return tmp_path / "sample"


def test_a_reference_brings_the_overlap_and_the_others_stay(arena: Path) -> None:
    before = open_arena(arena).read("features")
    after = measure(arena, MeasureSettings(["answer_rougeL"], "concise"), made_by="test").read("features")
    assert set(after["feature"].to_pylist()) == set(before["feature"].to_pylist())
    reference_rows = after.filter(
        pc.and_(pc.equal(after["feature"], "answer_rougeL"), pc.equal(after["system"], "reference"))
    )
    assert reference_rows["value"].null_count < len(reference_rows)
    length = [table.filter(pc.equal(table["feature"], "length")).to_pylist() for table in (before, after)]
    assert length[0] == length[1]


def test_an_unknown_feature_or_reference_changes_nothing(arena: Path) -> None:
    version = open_arena(arena).version
    with pytest.raises(UnknownName):
        measure(arena, MeasureSettings(["nonsense"]), made_by="test")
    with pytest.raises(UnknownName):
        measure(arena, MeasureSettings(reference="nobody"), made_by="test")
    assert open_arena(arena).version == version


def test_a_folder_that_is_no_arena_is_not_made_one(tmp_path: Path) -> None:
    with pytest.raises(ArenaError):
        measure(tmp_path / "none", made_by="test")
    assert not (tmp_path / "none").exists()


def test_a_model_that_is_no_model_is_refused_with_what_to_do(arena: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput) as caught:
        measure(arena, MeasureSettings(["reranker_score"], reranker=str(tmp_path / "empty")), made_by="test")
    assert caught.value.do


# Grades by a model

ANSWERED = "Score: [[4]]"


def features(arena: Path, service: Service | None, *args: str, code: int = 0) -> Result:
    """Run the command in this process."""
    options = [] if service is None else ["--model", "tiny", "--base-url", service.url, "--retries", "0"]
    return mirage("measure", "features", arena, *options, *args, code=code)


def small(path: Path) -> Path:
    """An arena of three queries with answers of two systems."""
    keys = [("en", f"q{i}") for i in range(3)]
    tables = {
        "queries": [make_query(*key, None, f"Query {key[1]}?") for key in keys],
        "passages": [schema.Passage(*key, "p#0", 1, "T", "Text.", True) for key in keys],
        "answers": [
            make_answer(*key, system, f"##Answer: {system} on {key[1]}.", template="rag")
            for key in keys
            for system in ("ours", "theirs")
        ],
    }
    return write_arena(path, tables, title="Small", label="simulated").path


def grades(arena: Path, feature: str = "fluency_score") -> list[float | None]:
    table = open_arena(arena).read("features")
    return table.filter(pc.equal(table["feature"], feature))["value"].to_pylist()


PRICES = ("--price-in", "1000", "--price-out", "1000")


def test_failed_grades_have_cost_and_reason_and_the_same_command_asks_again(tmp_path: Path) -> None:
    arena = small(tmp_path / "a")
    with Service(lambda call: error(500, "no room") if "theirs" in call.content else reply(ANSWERED)) as service:
        result = features(arena, service, "--only", "fluency_score", *PRICES)
        assert "3 calls made" in result.stderr
        assert "300 prompt tokens and 60 reply tokens, 0.36 in" in result.stderr
        assert "3 grades have no value; rerun the command to retry failed calls: HTTP 500: no room" in result.stderr
        assert sorted(grades(arena), key=str) == [4.0, 4.0, 4.0, None, None, None]
        service.behave = lambda call: reply(ANSWERED)
        result = features(arena, service, "--only", "fluency_score", *PRICES)
        assert "3 calls made, 3 cached replies" in result.stderr
        assert "failed" not in result.stderr
        assert grades(arena) == [4.0] * 6
        assert set(service.answered.values()) == {1}


def test_a_silent_grader_is_an_error_and_what_needs_no_model_is_measured(tmp_path: Path) -> None:
    arena = small(tmp_path / "a")
    with Service(lambda call: error(500, "no room")) as service:
        result = features(arena, service, code=2)
    assert "every call failed: HTTP 500: no room" in result.stderr
    assert "6 grades have no value" in result.stderr
    assert grades(arena) == [None] * 6
    assert None not in grades(arena, "length")


def test_a_budget_leaves_grades_for_the_next_command(tmp_path: Path) -> None:
    arena = small(tmp_path / "a")
    with Service(lambda call: reply(ANSWERED)) as service:
        options = ("--only", "fluency_score", *PRICES, "--max-tokens", "40", "--concurrency", "1", "--budget")
        result = features(arena, service, *options, "0.6")
        left = grades(arena).count(None)
        assert 0 < left < 6
        assert f"{left:,} grades have no value: the budget was reached" in result.stderr
        features(arena, service, *options, "100")
        assert None not in grades(arena)
        assert set(service.requests.values()) == {1}


def test_a_dry_run_says_what_would_be_asked_of_whom_and_its_cost_and_sends_nothing(tmp_path: Path) -> None:
    arena = small(tmp_path / "a")
    files = sorted(arena.rglob("*"))
    with Service(lambda call: reply(ANSWERED)) as service:
        result = features(arena, service, "--dry-run", "--reference", "ours", *PRICES)
        assert service.calls == []
        assert sorted(arena.rglob("*")) == files
        # The reference is not graded against itself.
        assert "9 calls would be made, at most" in result.stderr
        assert "in the currency of the prices" in result.stderr
        features(arena, service, "--reference", "ours")
        assert len(service.calls) == 9
        result = features(arena, service, "--dry-run", "--reference", "ours")
        assert "0 calls would be made, at most, 9 cached replies" in result.stderr
        result = features(arena, service, "--dry-run", "--only", "length")
        assert "0 calls would be made" in result.stderr
        features(arena, service, "--dry-run", "--only", "nonsense", code=2)
    assert "--model" in features(arena, None, "--dry-run").stderr
