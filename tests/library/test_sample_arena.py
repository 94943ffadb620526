"""The sample arena: `make sample` gives what comes with the program, and the same files give the same bytes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import ROOT

from mirage import schema, store
from mirage.battles.referee import Referee
from mirage.io.sources.sample_answers import ANSWERS
from mirage.io.sources.sample_nuggets import NUGGETS
from mirage.people.exam import exam
from mirage.pipeline.sample import BASELINES, SEARCHES, build_sample, write_sample
from mirage.pipeline.sample_judges import FIRST, LENGTH
from mirage.pipeline.sample_systems import CHARACTERS, GUESSER, WRITTEN
from mirage.ranking.arena import rank_arena
from mirage.ranking.nugget_battles import nugget_battles
from mirage.ranking.records import JOINT
from mirage.ranking.settings import RankSettings
from mirage.ranking.surrogate.evaluate import leave_one_out
from mirage.ranking.surrogate.training import training
from mirage.stages.features.stage import nugget_means
from mirage.stages.generate.stage import whole_system
from mirage.stages.judge.stats import judge_stats
from mirage.stages.nuggets import TERMS
from mirage.stages.retrieve.attribution import CAUSES, OF_LANGUAGES
from mirage.stages.retrieve.causes import CAUSED_BY, causes
from mirage.text.languages import LANGUAGES

SAMPLE = ROOT / "data" / "sample"
WHOLE = {whole_system(GUESSER, retriever) for retriever in SEARCHES}
SYSTEMS = {"reference", *BASELINES, *WHOLE, *CHARACTERS} - {GUESSER}


@pytest.fixture(scope="module")
def arena() -> store.Arena:
    return store.open_arena(SAMPLE)


def some_files(folder: Path, codes: tuple[str, ...]) -> Path:
    for part in ("", NUGGETS, ANSWERS):
        (folder / part).mkdir(parents=True)
        for code in codes:
            shutil.copy(SAMPLE / "source" / part / f"{code}.json", folder / part)
    return folder


def test_the_bundled_sample_is_what_its_source_gives(arena: store.Arena) -> None:
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


def test_the_sample_says_what_it_is_and_is_small(arena: store.Arena) -> None:
    assert (arena.label, arena.manifest["licence"]) == ("sample", "CC0-1.0")
    assert len(arena.manifest["made"]["queries"]["from"]) == 3 * 18  # questions, nuggets and written answers
    assert arena.size < 5_000_000
    assert set(arena.read("answers", columns=["system"])["system"].to_pylist()) == SYSTEMS
    assert set(arena.languages("judgments")) == set(LANGUAGES)


def test_it_says_what_is_written_made_by_rule_computed_and_simulated(arena: store.Arena) -> None:
    about = arena.manifest["about"]
    assert all(word in about for word in ("Written", "by rule", "no model", "Computed", "Simulated"))
    assert all(name in about for name in (*CHARACTERS, FIRST, LENGTH))
    cards = {row["system"]: row["source"] for row in arena.read("systems").to_pylist()}
    assert set(cards) == SYSTEMS - {"reference", *BASELINES}
    assert all("no model" in text for text in cards.values())
    rows = arena.read("judgments").to_pylist()
    simulated = [row for row in rows if row["judge"] != "heuristic"]
    assert {row["judge"] for row in simulated} == {FIRST, LENGTH}
    assert all(row["judge"].startswith("simulated/") for row in simulated)
    assert all(row["rationale"].startswith("Simulated") for row in simulated)
    assert not any(row["person"] for row in rows)


def test_no_system_wins_everywhere_and_each_has_its_character(arena: store.Arena) -> None:
    scores: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in arena.read("features").to_pylist():
        if row["feature"] == "nugget_vital_strict" and row["value"] is not None:
            scores[row["language"], row["query_id"]][row["system"]] = row["value"]
    for system in SYSTEMS - {"reference"}:
        assert any(of_query[system] < max(of_query.values()) for of_query in scores.values()), system
    means: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in arena.read("features").to_pylist():
        if row["value"] is not None:
            means[row["system"], row["feature"]].append(row["value"])
    mean = {key: sum(values) / len(values) for key, values in means.items()}
    assert mean["uncited", "n_citations"] == mean["fluent", "citation_Recall@10"] == 0
    assert mean["concise", "length"] < mean["thorough", "length"] < mean["padded", "length"]
    assert mean["english", "english_language"] > 0.9 > 0.1 > mean["english", "target_language"]
    vital = {system: mean[system, "nugget_vital_strict"] for system in SYSTEMS - {"reference"}}
    assert vital["thorough"] > vital["concise"] > vital["cautious"] > vital["half"] > vital["fluent"]
    assert vital["guesser+trigrams"] > vital["guesser+words"]


def test_nugget_scores_separate_six_tiers(arena: store.Arena) -> None:
    tier = rank_arena(arena, Referee.nuggets(), RankSettings(draws=20)).ranking.tiers[JOINT].tier
    assert set(tier) == SYSTEMS - {"reference"}
    assert len(set(tier.values())) >= 6
    order = ["thorough", "concise", "cautious", "half", "fluent", "baseline/abstain"]
    assert [tier[system] for system in order] == [1, 2, 3, 4, 5, 6]


def test_a_surrogate_without_nuggets_predicts_the_ranking_by_nuggets(arena: store.Arena) -> None:
    features = arena.read("features")
    plain = features.filter(pc.invert(pc.starts_with(features["feature"], "nugget")))
    seen = training(plain, nugget_battles(arena).verdicts, Referee.nuggets())
    assert not any(name.startswith("nugget") for name in seen.features)
    quality = {row.language: row for row in leave_one_out(seen, "ridge").quality()}
    assert quality[JOINT].tau > 0.7


def test_the_stored_surrogate_predicts_the_heuristic_judge(arena: store.Arena) -> None:
    rows = [row for row in arena.read("predictions").to_pylist() if row["language"] == JOINT]
    own = [row for row in rows if row["referee"] == "heuristic" and row["default"]]
    parts = [row["tau_part"] for row in own if row["tau_part"] is not None]
    # In some languages `english` wins no battle: there its rating has no bound, and over all it is not predicted.
    assert {row["system"] for row in own} >= SYSTEMS - {"english"}
    assert sum(parts) / len(parts) > 0.7


def test_relevance_and_the_heuristic_judge_agree_on_the_ends(arena: store.Arena) -> None:
    judged = rank_arena(arena, Referee.judge("heuristic"), RankSettings(draws=20)).ranking.tiers[JOINT].tier
    assert len(set(judged.values())) >= 5
    assert judged["thorough"] < judged["cautious"] < judged["fluent"] < judged["english"]
    labels = rank_arena(arena, Referee.relevance(), RankSettings(draws=20)).ranking.table().to_pylist()
    ratings = {row["system"]: row["rating"] for row in labels if row["language"] == JOINT}
    assert ratings["reference"] > ratings["thorough"] > ratings["half"] > ratings["copier"]


def test_every_cause_of_a_failure_occurs(arena: store.Arena) -> None:
    tables = {name: arena.read(name) for name in CAUSED_BY if name in arena.tables}
    found = {(row.attribution.system, row.attribution.cause) for row in causes(tables)}
    assert {cause for _, cause in found} == set(CAUSES) - set(OF_LANGUAGES)
    assert {system for system, cause in found if cause == "not_retrieved"} == WHOLE
    assert ("cautious", "ignored") in found
    assert ("thorough", "right_refusal") in found


def test_judges_show_their_planted_faults(arena: store.Arena) -> None:
    stats = {row.judge: row for row in judge_stats(arena.read("judgments")) if row.language == JOINT}
    assert stats[FIRST].first_low is not None
    assert stats[FIRST].first_low > 0.6
    assert stats[FIRST].flip_rate > 0.3 > stats[LENGTH].flip_rate
    assert stats[LENGTH].first_rate == pytest.approx(0.5, abs=0.01)
    known = {row.judge: row.measures["known"].value for row in exam(arena, draws=20).exams if row.language == JOINT}
    assert known["heuristic"] > known[FIRST]
    texts = {
        (row["language"], row["query_id"], row["system"]): len(row["text"]) for row in arena.read("answers").to_pylist()
    }
    longer: dict[str, list[bool]] = defaultdict(list)
    for row in arena.read("judgments").to_pylist():
        a, b = (texts[row["language"], row["query_id"], row[side]] for side in ("system_a", "system_b"))
        if row["verdict"] in ("A", "B") and a != b:
            longer[row["judge"]].append((a > b) == (row["verdict"] == "A"))
    shares = {name: sum(won) / len(won) for name, won in longer.items()}
    assert shares[LENGTH] > 0.75 > 0.65 > shares["heuristic"]


def test_nuggets_have_a_full_matrix_by_construction_and_by_terms(arena: store.Arena) -> None:
    queries, bank = arena.read("queries").to_pylist(), arena.read("nuggets").to_pylist()
    answerable = {(row["language"], row["query_id"]) for row in queries if row["subset"] == "relevant"}
    assert {(row["language"], row["query_id"]) for row in bank} == answerable
    assigned = arena.read("nugget_assignments").to_pylist()
    by_terms, by_construction = (
        {(row["nugget_id"], row["system"]) for row in assigned if row["assigner"] == name} for name in (TERMS, WRITTEN)
    )
    assert by_terms == {(row["nugget_id"], system) for row in bank for system in SYSTEMS}
    assert by_construction == {(row["nugget_id"], system) for row in bank for system in SYSTEMS - {"reference"}}
    # Words alone find most of what is stated in other words, and little of what is not.
    decided = {(row["assigner"], row["nugget_id"], row["system"]): row["assignment"] for row in assigned}
    thorough = [(row["nugget_id"], "thorough") for row in bank]
    stated = [key for key in thorough if decided[WRITTEN, *key] == "support"]
    assert 0.6 < sum(decided[TERMS, *key] == "support" for key in stated) / len(stated) < 0.95
    nuggets = [row["nugget_id"] for row in bank]
    invented = [name for name in nuggets if decided[WRITTEN, name, "fluent"] != "support"]
    assert sum(decided[TERMS, name, "fluent"] == "support" for name in invented) / len(invented) < 0.02


def test_nugget_scores_are_those_of_the_construction(arena: store.Arena) -> None:
    stated = {
        row.system: row.mean
        for row in nugget_means(arena)[1]
        if row.feature == "nugget_all_strict" and row.language == JOINT
    }
    assert stated["thorough"] > stated["half"] > stated["fluent"]
    assert stated["baseline/abstain"] == 0


@pytest.mark.parametrize("code", LANGUAGES)
def test_retrievers_stay_in_the_language_and_find_relevant_among_near_misses(arena: store.Arena, code: str) -> None:
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
    source = some_files(tmp_path / "source", ("en", "th"))
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
