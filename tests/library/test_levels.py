"""Levels corrected by people's labels: the estimator, and files of labels."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_writer import add_rows, make_answer, make_query, read_rows, write_arena
from commands import mirage as run
from conftest import ROOT
from votes_cases import evidence

import mirage
from mirage import schema
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people.levels.labels import import_labels, label_measures, read_labels
from mirage.people.levels.levels import correct_levels
from mirage.stats.powered_mean import powered_mean
from mirage.store.arena import open_arena

SYSTEMS = ("able", "bold")
ONE = np.zeros(400, dtype=np.intp)


def labelled(n: int, *, rate: float = 0.3, wrong: float = 0.1, of: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """Labels on n of some answers, and a judge who is wrong at a rate."""
    rng = np.random.default_rng(seed)
    y = (rng.random(of) < rate).astype(float)
    said = np.where(rng.random(of) < wrong, 1 - y, y)
    labels = np.where(np.arange(of) < n, y, np.nan)
    return labels, said


def mean_of(labels: Any, said: Any, **options: Any) -> Any:
    return powered_mean(labels, said, np.arange(len(labels)), ONE[: len(labels)], **options)


def test_a_good_judge_narrows_the_interval_and_a_useless_one_does_not_widen_it() -> None:
    for wrong, most in ((0.05, 0.75), (0.5, 1.05), (0.95, 1.05)):
        labels, said = labelled(80, wrong=wrong)
        mean, alone = mean_of(labels, said), mean_of(labels, said, lam=0.0)
        assert (mean.high - mean.low) / (alone.high - alone.low) < most
        assert mean.low < 0.3 < mean.high


def test_labels_alone_have_wilson_like_intervals() -> None:
    labels, said = labelled(100)
    alone = mean_of(labels, said, lam=0.0)
    assert alone.value == pytest.approx(float(np.nanmean(labels)))
    assert alone.high - alone.low == pytest.approx(2 * 1.96 * (alone.value * (1 - alone.value) / 100) ** 0.5, rel=0.05)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_labels_that_are_all_equal_have_an_interval_within_the_range(value: float) -> None:
    labels = np.where(np.arange(400) < 30, value, np.nan)
    mean = mean_of(labels, np.full(400, value))
    assert mean.value == value
    assert 0 <= mean.low < mean.high <= 1
    assert mean.high - mean.low > 0.05


def test_a_label_or_two_strata_without_labels_have_no_estimate() -> None:
    labels, said = labelled(1)
    with pytest.raises(NotEnoughData):
        mean_of(labels, said)


def test_where_all_are_labelled_predictions_have_no_weight() -> None:
    labels, said = labelled(400)
    mean = mean_of(labels, said)
    assert mean.lam == 0
    assert mean.value == pytest.approx(float(labels.mean()))


def test_parallel_queries_count_once() -> None:
    labels, said = labelled(100, of=200)
    twice, told = np.tile(labels, 2), np.tile(said, 2)
    strata = np.repeat([0, 1], 200)
    own = powered_mean(twice, told, np.arange(400), strata)
    shared = powered_mean(twice, told, np.tile(np.arange(200), 2), strata)
    assert shared.high - shared.low > 1.25 * (own.high - own.low)


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.98])
def test_intervals_hold_with_20_labels_at_any_rate(rate: float) -> None:
    rng, held = np.random.default_rng(int(100 * rate)), []
    for _ in range(150):
        y = (rng.random(200) < rate).astype(float)
        said = np.where(rng.random(200) < 0.1, 1 - y, y)
        mean = mean_of(np.where(np.arange(200) < 20, y, np.nan), said)
        held.append(mean.low <= rate <= mean.high)
    assert np.mean(held) > 0.89


# --- arenas -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    """An arena with three languages of 60 parallel queries, two systems, and labels in all but one of them."""
    path = module_path / "arena"
    rng = np.random.default_rng(11)
    queries, answers, outcomes, scores = [], [], [], []
    for code in ("en", "sw", "te"):
        for k in range(60):
            subset = "relevant" if k % 2 else "non_relevant"
            queries.append(make_query(code, f"{code}{k}", subset, f"question {k}"))
            for system in SYSTEMS:
                right = rng.random() < (0.85 if system == "able" else 0.5)
                answered = right == (subset == "relevant")
                text = f"answer {k} of {system}" if answered else "I cannot answer."
                answers.append(make_answer(code, f"{code}{k}", system, text))
                seen = answered if rng.random() < 0.95 else not answered
                word = "answered" if seen else "abstained"
                for parser in ("published", "strict"):
                    correct = (word == "answered") == (subset == "relevant")
                    row = schema.OutcomeRow(
                        code, f"{code}{k}", system, parser, subset, word, "rule", None, None, correct
                    )
                    outcomes.append(row)
                if code != "te" and k < 50:
                    scores.append(
                        schema.Score(code, f"{code}{k}", system, "answered", "amina", True, answered, 0, 1, None)
                    )
    tables = {"queries": queries, "answers": answers, "outcomes": outcomes, "scores": scores}
    return write_arena(path, tables, title="Levels").path


def test_levels_have_the_measured_rate_beside_them(folder: Path) -> None:
    rows = list(mirage.levels(mirage.open_arena(folder), "rate"))
    of = {(row["language"], row["subset"], row["system"]): row for row in rows}
    checked, other = of["en", "relevant", "able"], of["te", "relevant", "able"]
    assert checked["status"] == "corrected"
    assert checked["labels"] == 25
    assert checked["n"] == 30
    assert checked["low"] < 0.15 < checked["high"]
    assert other["labels"] == 0
    assert (other["status"] == "not checked") == (other["corrected"] is None)
    assert other["reason"]
    assert of["all", "relevant", "bold"]["corrected"] > of["all", "relevant", "able"]["corrected"]


def test_a_language_without_labels_takes_no_others_and_all_is_the_mean(folder: Path) -> None:
    result = correct_levels(read_labels(mirage.open_arena(folder), "rate"))
    assert {row.status for row in result.rows if row.language == "te"} == {"not checked"}
    assert all(row.reason for row in result.rows if row.status != "corrected")
    for joint in (row for row in result.rows if row.language == "all"):
        own = [r for r in result.rows if (r.subset, r.system) == (joint.subset, joint.system) and r is not joint]
        known = [row.corrected for row in own if row.corrected is not None]
        assert joint.corrected == pytest.approx(np.mean(known), abs=1e-12)
        assert "te" in (joint.reason or "")


def test_labels_come_from_a_file_and_stale_ones_are_counted(folder: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    shutil.copytree(folder, arena)
    file = tmp_path / "labels.csv"
    text = next(row for row in read_rows(arena, "answers") if row["language"] == "te")
    query, system = text["query_id"], text["system"]
    head = "language,query_id,system,rater,value,answer\n"
    file.write_text(f"{head}te,{query},{system},juma,answered,another text\nte,te1,able,juma,0,\n", "utf-8")
    result = import_labels(arena, file, made_by="test")
    assert (result.labels, result.changed) == (1, 1)
    file.write_text(f"{head}te,{query},{system},juma,1,another text\n", "utf-8")
    with pytest.raises(NotEnoughData):
        import_labels(arena, file, made_by="test")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("en,en1,able,juma,2,", "value"),
        ("en,en1,able,juma,x,", "value"),
        ("en,en1,able,,1,", "rater"),
        ("en,nowhere,able,juma,1,", "nowhere"),
        ("xx,en1,able,juma,1,", "xx"),
        ("en,en1,able,juma,1,\nen,en1,able,juma,0,", "before"),
    ],
)
def test_an_invalid_label_rejects_the_file(folder: Path, tmp_path: Path, line: str, word: str) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(f"language,query_id,system,rater,value,answer\n{line}\n", "utf-8")
    before = open_arena(folder).version
    with pytest.raises(BadInput, match=word) as caught:
        import_labels(folder, file, made_by="test")
    assert str(file) in str(caught.value)
    assert open_arena(folder).version == before


def test_the_command_prints_every_level_or_says_which_command_brings_labels(folder: Path) -> None:
    assert "te" in run("report", "levels", folder, "--format", "json").stdout
    assert "mirage votes import" in run("report", "levels", ROOT / "data" / "sample", code=2).output


def test_scores_on_a_scale_are_corrected_by_programs(folder: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    shutil.copytree(folder, arena)
    rng, rows = np.random.default_rng(2), []
    for answer in read_rows(arena, "answers"):
        key = answer["language"], answer["query_id"], answer["system"]
        value = float(rng.integers(1, 5))
        said = min(max(value + rng.normal(0, 0.5), 1), 4)
        rows.append(schema.Score(*key, "helpful", "judge", False, said, 1, 4, None))
        if rng.random() < 0.5:
            rows.append(schema.Score(*key, "helpful", "amina", True, value, 1, 4, None))
    labels = read_labels(add_rows(arena, scores=rows), "score:helpful")
    result = correct_levels(labels)
    corrected = [row for row in result.rows if row.status == "corrected"]
    assert corrected
    assert all(1 <= row.low <= row.corrected <= row.high <= 4 for row in corrected)  # type: ignore[operator]
    assert float(np.mean([row.width for row in corrected])) < 0.8  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        read_labels(open_arena(arena), "score:nothing")


def test_a_system_without_labels_is_not_checked(folder: Path) -> None:
    labels = read_labels(mirage.open_arena(folder), "rate")
    known = np.array([key[2] == "able" for key in labels.keys])
    bare = replace(labels, labels=np.where(known, labels.labels, np.nan))
    rows = correct_levels(bare).rows
    assert {row.status for row in rows if row.system == "bold"} == {"not checked"}
    few = correct_levels(replace(labels, labels=np.where(np.arange(len(known)) < 2, labels.labels, np.nan)))
    assert not any("corrected by" in line for line in few.notes()), "nothing is said to be both"


# --- votes of the Spot check page -------------------------------------------------------------------------------------


def test_votes_on_citations_become_the_share_that_supports(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "arena"
    shutil.copytree(folder, path)
    answers = open_arena(path).read("answers", languages=["en"]).to_pylist()
    features = [
        schema.Feature("en", row["query_id"], row["system"], "citation_precision", k % 3 / 2, None)
        for k, row in enumerate(answers)
    ]
    passages = [
        schema.Passage("en", query, f"p{k}", k, None, f"passage {k} of {query}", None)
        for query in dict.fromkeys(row["query_id"] for row in answers)
        for k in (1, 2, 3)
    ]
    arena = add_rows(path, features=features, passages=passages)
    rows = [
        evidence(
            arena=arena.name,
            shown=None,
            language="en",
            query_id=row["query_id"],
            system=row["system"],
            passage_id=passage,
            vote=word,
        )
        for row in answers
        for passage, word in (("p1", "yes"), ("p2", "no"), ("p3", "unclear"))
    ]
    labels = read_labels(arena, "feature:citation_precision", rows)
    assert set(labels.labels.tolist()) == {0.5}
    assert labels.n_labels() == len(answers)
    assert "feature:citation_precision" in label_measures(arena, rows)
    (row, *_) = correct_levels(labels).rows
    assert row.corrected == pytest.approx(0.5)
    assert 0 <= row.low < 0.5 < row.high <= 1  # type: ignore[operator]
