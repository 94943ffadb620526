"""The sample arena: `make sample` gives what comes with the program, and the same files give the same bytes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import ROOT

from mirage import schema, store
from mirage.pipeline.sample import OVER, SEARCHES, build_sample, write_sample
from mirage.ranking.ranking import rank_by
from mirage.ranking.records import JOINT
from mirage.ranking.settings import RankSettings
from mirage.stages.features.stage import nugget_means
from mirage.stages.generate.baselines import BASELINES
from mirage.stages.generate.stage import whole_system
from mirage.stages.nuggets import TERMS
from mirage.text.languages import LANGUAGES

SAMPLE = ROOT / "data" / "sample"


def some_files(folder: Path, codes: tuple[str, ...]) -> Path:
    folder.mkdir(parents=True)
    for code in codes:
        shutil.copy(SAMPLE / "source" / f"{code}.json", folder)
    return folder


def test_the_bundled_sample_is_what_its_source_gives() -> None:
    arena = store.open_arena(SAMPLE)
    store.check(arena)
    built = build_sample(SAMPLE / "source", regressors=["linear"])
    assert set(arena.tables) == set(built)
    for name, table in built.items():
        if name == "importances":
            continue  # of the default, which is not fitted again here
        bundled, rebuilt = (schema.sort(name, rows) for rows in (arena.read(name), table))
        if name == "predictions":
            columns = ["language", "referee", "skill", "system", "rating", "judged", "outside"]
            bundled, rebuilt = (
                rows.filter(pc.equal(rows["regressor"], "linear")).select(columns) for rows in (bundled, rebuilt)
            )
        assert bundled.num_rows == rebuilt.num_rows, f"{name}: run make sample"
        for column in bundled.column_names:
            if pa.types.is_floating(bundled.schema.field(column).type):
                numbers = (t[column].to_numpy() for t in (bundled, rebuilt))
                np.testing.assert_allclose(*numbers, rtol=1e-6, atol=1e-9, err_msg=f"{name}.{column}: run make sample")
            else:
                assert bundled[column].equals(rebuilt[column]), f"{name}.{column}: run make sample"


def test_the_sample_says_what_it_is_and_is_small() -> None:
    arena = store.open_arena(SAMPLE)
    assert (arena.label, arena.manifest["licence"]) == ("sample", "CC0-1.0")
    assert len(arena.manifest["made"]["queries"]["from"]) == 2 * 18  # questions and nuggets
    assert arena.size < 5_000_000
    systems = set(arena.read("answers", columns=["system"])["system"].to_pylist())
    over = {whole_system(OVER, retriever) for retriever in SEARCHES}
    assert systems == {"reference", *BASELINES, *over}
    assert len(systems) <= 16
    assert set(arena.languages("judgments")) == set(LANGUAGES)


def test_the_judge_finds_six_tiers_or_more_and_relevance_only_the_reference_apart() -> None:
    arena = store.open_arena(SAMPLE)
    judged = rank_by(arena.read("judgments"), "heuristic", RankSettings(draws=20)).tiers[JOINT].tier
    assert len(set(judged.values())) >= 6
    by_fault = ["reference", "baseline/extract", "baseline/bm25-3", "baseline/no-best", "baseline/lead"]
    assert [judged[system] for system in by_fault] == sorted({judged[system] for system in by_fault})
    # Whoever always answers, or never, has half of what relevance counts: near misses are not told apart by words.
    by_labels = rank_by(arena.read("outcomes"), "relevance", RankSettings(draws=20)).tiers[JOINT].tier
    assert [system for system, tier in by_labels.items() if tier == 1] == ["reference"]


def test_answerable_queries_have_nuggets_and_answers_that_copy_less_state_fewer() -> None:
    arena = store.open_arena(SAMPLE)
    queries, bank = arena.read("queries").to_pylist(), arena.read("nuggets").to_pylist()
    answerable = {(row["language"], row["query_id"]) for row in queries if row["subset"] == "relevant"}
    assert {(row["language"], row["query_id"]) for row in bank} == answerable
    assert set(arena.read("nugget_assignments")["assigner"].to_pylist()) == {TERMS}
    stated = {
        row.system: row.mean or 0.0
        for row in nugget_means(arena)[1]
        if row.feature == "nugget_all_strict" and row.language == JOINT
    }
    assert stated["baseline/verbose"] > stated["baseline/extract"] > stated["baseline/half"] > stated["baseline/lead"]
    assert stated["baseline/abstain"] < 0.05


@pytest.mark.parametrize("code", LANGUAGES)
def test_retrievers_stay_in_the_language_and_find_relevant_among_near_misses(code: str) -> None:
    arena = store.open_arena(SAMPLE)
    lists, passages = (arena.read(name, languages=[code]).to_pylist() for name in ("retrieved", "passages"))
    known = {row["passage_id"] for row in passages}
    relevant = {(row["query_id"], row["passage_id"]) for row in passages if row["relevant"]}
    assert {row["passage_id"] for row in lists} <= known
    for retriever in SEARCHES:
        own = [row for row in lists if row["retriever"] == retriever]
        hits = {(row["query_id"], row["passage_id"]) for row in own} & relevant
        assert len(hits) > len(relevant) / 2
        # Some are passages of other queries.
        assert any(not row["passage_id"].startswith(row["query_id"]) for row in own)


def test_the_same_files_give_the_same_bytes_on_any_hash_seed(tmp_path: Path) -> None:
    source = some_files(tmp_path / "source", ("en", "th", "yo"))
    code = (
        "import sys; from pathlib import Path; from mirage.pipeline.sample import write_sample\n"
        "write_sample(Path(sys.argv[1]), Path(sys.argv[2]), regressors=['linear'])"
    )
    for seed in ("0", "1"):
        into = str(tmp_path / seed)
        result = subprocess.run(
            [sys.executable, "-c", code, str(source), into],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
    files = [
        {p.relative_to(tmp_path / seed): p.read_bytes() for p in (tmp_path / seed).rglob("*.*") if p.name != ".lock"}
        for seed in ("0", "1")
    ]
    assert files[0] == files[1]
    assert {path.parts[0] for path in files[0]} == {"manifest.json", *store.open_arena(tmp_path / "0").tables}


def test_the_sample_can_be_built_where_its_source_stands(tmp_path: Path) -> None:
    source = some_files(tmp_path / "sample" / "source", ("fi",))
    arena = write_sample(source, tmp_path / "sample", regressors=["linear"])
    assert arena.languages("queries") == ("fi",)
    assert write_sample(source, tmp_path / "sample", regressors=["linear"]).manifest == arena.manifest
    assert (source / "fi.json").exists()


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_heuristic_judge_puts_the_reference_first_and_english_answers_behind(code: str) -> None:
    arena = store.open_arena(SAMPLE)
    ratings = arena.read("ratings", languages=[code]).to_pylist()
    ranks = {(row["referee"], row["system"]): row["rank"] for row in ratings if row["skill"] == "both"}
    assert ranks["heuristic", "reference"] == 1
    assert ranks["heuristic", "baseline/bm25-3"] < ranks["heuristic", "baseline/lead"]
    if code != "en":
        assert ranks["heuristic", "baseline/english"] > ranks["heuristic", "baseline/bm25-3"]
