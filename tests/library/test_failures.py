"""Failed answers: empty, an error, or missing among the queries that a system was asked."""

import json
from pathlib import Path
from typing import Any

import pytest
from arena_writer import make_answer, make_judgment, write_arena
from commands import mirage as run
from commands import write_jsonl

import mirage
from mirage import schema
from mirage.battles.judge import judges
from mirage.people.votes import raters
from mirage.ranking.board import leaderboard
from mirage.store.arena import open_arena
from mirage.views.board import BoardChoice, board_view
from mirage.views.comparison import comparison_view

N = 30
YES, NO = "It was built in 18{k} [1].", "The documents do not say."


def answer(system: str, k: int) -> dict[str, Any]:
    """`good` is right, `flaky` too where it does not fail, `poor` never abstains, `dead` always fails."""
    text = NO if k % 2 and system != "poor" else YES.format(k=k)
    ways = [
        {"answer": None},
        {"answer": ""},
        {"answer": "", "status": "empty"},
        {"answer": None, "status": "api_error"},
    ]
    return ways[k % 4] if system == "dead" or (system == "flaky" and k % 3 == 0) else {"answer": text}


def records(language: str = "en", systems: tuple[str, ...] = ("good", "flaky", "poor", "dead")) -> list[dict[str, Any]]:
    return [
        {"query_id": f"q{k}", "question": f"When was bridge {k} built?", "contexts": [YES.format(k=k)]}
        | {"system": system, "language": language, "ground_truth": NO if k % 2 else YES.format(k=k)}
        | answer(system, k)
        for k in range(10, 10 + N)
        for system in systems
    ]


def verdicts(judge: str) -> list[dict[str, Any]]:
    """Both orders of every pair that a judge saw: it prefers none of the given answers."""
    pairs = [("good", "flaky"), ("good", "poor"), ("flaky", "poor")]
    rows = [
        {"language": "en", "query_id": f"q{k}", "judge": judge, "system_a": a, "system_b": b, "verdict": "tie"}
        for k in range(10, 10 + N)
        for pair in pairs
        for a, b in (pair, pair[::-1])
    ]
    return [row for row in rows if "flaky" not in (row["system_a"], row["system_b"]) or int(row["query_id"][1:]) % 3]


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An arena in which a third of one system's answers failed and all of another's, with labels and a judge."""
    monkeypatch.chdir(tmp_path)
    run("evaluate", write_jsonl(tmp_path / "a.jsonl", *records()), "--into", "a")
    run("import", write_jsonl(tmp_path / "v.jsonl", *verdicts("m")), "--into", "a")
    return tmp_path / "a"


@pytest.mark.parametrize("judge", ["relevance", "m"])
def test_a_failed_answer_loses_to_any_that_is_not_wrong_whoever_decides(failing: Path, judge: str) -> None:
    """Pitfall 201: a system with a third of its answers null tied for first, without a word."""
    arena = open_arena(failing)
    assert judge in judges(arena)
    view = board_view(arena, BoardChoice((judge,)))
    rows = {row["system"]: row for row in view.rows.to_pylist()}
    assert {system: row["failed"] for system, row in rows.items()} == {"good": 0, "flaky": 10, "poor": 0}
    assert view.ranking.unranked["en"]["dead"] == "no answer"
    assert rows["good"]["rank"] == 1
    assert rows["good"]["rank_low"] == rows["good"]["rank_high"] == 1 or judge == "m"
    assert rows["flaky"]["rating"] < rows["good"]["rating"]
    (said,) = [line for line in view.remarks if "flaky 10 of 30 failed" in line]
    assert "count as wrong" in said
    dropped = mirage.rank(arena, judge=judge, failures="drop")
    kept = {row["system"]: row["rating"] for row in leaderboard(dropped).to_pylist()}
    assert kept["flaky"] == pytest.approx(kept["good"], abs=0.02)
    assert any("flaky 10 of 30 failed" in line and "left out" in line for line in dropped.remarks)
    command = run("rank", failing, "--judge", judge, "--failures", "drop", "--format", "json")
    assert {row["system"]: row["rating"] for row in json.loads(command.stdout)} == pytest.approx(kept)


def test_two_failures_tie_and_a_failure_ties_a_wrong_answer(failing: Path) -> None:
    arena = open_arena(failing)
    ranking = mirage.rank(arena, judge="relevance", draws=10)
    battles = ranking.battles["en"]
    flaky, poor, good = (battles.systems.index(system) for system in ("flaky", "poor", "good"))
    for q, name in enumerate(battles.queries):
        k = int(name[1:])
        if k % 3 == 0:
            assert battles.wins[q, good, flaky] == 1
            assert (battles.ties if k % 2 else battles.wins)[q, poor, flaky] == 1


@pytest.mark.parametrize("systems", [("good", "flaky"), ("good", "flaky", "poor")])
def test_no_row_at_all_means_not_asked_and_every_door_says_so(
    systems: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a system that answers a third of the others' queries, and a hundred of its own, would gain."""
    monkeypatch.chdir(tmp_path)
    rows = [row for row in records(systems=systems) if row["answer"] or row["system"] != "flaky"]
    write_jsonl(tmp_path / "a.jsonl", *rows)
    evaluated = run("evaluate", "a.jsonl", "--into", "a")
    arena, ranked = open_arena(tmp_path / "a"), run("rank", "a")
    view = board_view(arena)
    for said in (evaluated.output, ranked.output, " ".join(view.remarks), view.on_failures):
        assert "no row of flaky on 10 of 30 queries" in said.replace("No row", "no row")
    for measure in ("rating", "rate"):
        row = mirage.compare(arena, "flaky", "good", measure=measure).overall
        assert (row.n_queries, row.unpaired, row.difference) == (20, 10, 0)
    ratings = {row["system"]: row for row in leaderboard(mirage.rank(arena)).to_pylist()}
    assert ratings["flaky"]["rating"] == pytest.approx(ratings["good"]["rating"], abs=0.02)
    assert ratings["flaky"]["failed"] == 0
    assert ratings["flaky"]["n"] == 20


@pytest.mark.parametrize("judge", ["nuggets", "people: clear", "m"])
def test_two_systems_alone_lose_by_failures_on_every_query_whoever_decides(tmp_path: Path, judge: str) -> None:
    """No judge is asked about a failed answer, so that its verdicts miss these queries."""
    keys = [("en", f"q{k}", system) for k in range(N) for system in ("good", "flaky")]
    made = [key for key in keys if key[2] == "good" or int(key[1][1:]) % 3]
    rows = {
        "answers": [make_answer(*key, "A." if key in made else "") for key in keys],
        "nuggets": [schema.Nugget(*key[:2], "n0", "A fact.", "vital", None, "m") for key in keys[::2]],
        "nugget_assignments": [schema.NuggetAssignment(*key, "n0", "m", "support", None, None, None) for key in made],
        "scores": [schema.Score(*key, "clear", "amina", True, 3.0, 1.0, 4.0, None) for key in made],
        "judgments": [make_judgment(*key[:2], "m", "good", "flaky", "tie") for key in made if key[2] == "flaky"],
    }
    write_arena(tmp_path / "a", rows)
    raters.judge_by_scores(tmp_path / "a", "clear", made_by="a test")
    arena = open_arena(tmp_path / "a")
    (first, _) = leaderboard(mirage.rank(arena, judge=judge, draws=100)).to_pylist()
    assert (first["system"], first["wins"], first["ties"], first["losses"], first["best"]) == (
        "good",
        10,
        20,
        0,
        "best",
    )
    row = mirage.compare(arena, "good", "flaky", judge=judge).overall
    assert (row.n_queries, row.unpaired, row.verdict) == (N, 0, "better")
    assert row.difference == pytest.approx(1 / 3)


def test_a_language_in_which_a_system_failed_everything_fails_a_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    systems = ("good", "flaky", "poor")
    silent = {"answer": None, "status": None}
    finnish = [row | (silent if row["system"] == "flaky" else {}) for row in records("fi", systems)]
    write_jsonl(tmp_path / "a.jsonl", *records("en", systems), *finnish)
    evaluated = run("evaluate", "a.jsonl", "--into", "a")
    assert "no answers in Finnish: flaky" in evaluated.output
    view = board_view(open_arena(tmp_path / "a"))
    assert view.rows["system"].to_pylist() == ["good", "poor"]
    assert view.ranking.failed["fi"]["flaky"][0] == 0
    report = comparison_view(open_arena(tmp_path / "a"), "poor", "flaky")
    assert {row.language for row in report.rows if row.difference is None} == {"fi"}
    assert "Finnish" in report.overall.reason
    assert "1 of 2 languages" in report.evidence
    assert "flaky: no answer" in report.evidence
    for extra, code in (((), 0), (("--require",), 3)):
        run("compare", "a", "good", "flaky", "--measure", "rate", *extra, code=code)


@pytest.mark.parametrize("measure", ["rating", "rate"])
def test_a_comparison_counts_failed_answers_by_every_measure(failing: Path, measure: str) -> None:
    arena = open_arena(failing)
    report = mirage.compare(arena, "good", "flaky", measure=measure)
    assert report.overall.n_queries == N
    assert report.overall.verdict == "better"
    assert any("10 of flaky" in note for note in report.notes)
    dropped = mirage.compare(arena, "good", "flaky", measure=measure, failures="drop")
    assert dropped.overall.n_queries == N - 10
    assert dropped.overall.difference == 0
    assert mirage.compare(arena, "flaky", "good", measure=measure).overall.verdict == "worse"


@pytest.mark.parametrize("measure", ["rating", "rate"])
def test_queries_that_both_failed_are_counted_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measure: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = records(systems=("good", "flaky"))
    rows += [{**row, "system": "twin"} for row in rows if row["system"] == "flaky"]
    write_jsonl(tmp_path / "a.jsonl", *rows)
    run("evaluate", "a.jsonl", "--into", "a")
    report = mirage.compare(open_arena(tmp_path / "a"), "flaky", "twin", measure=measure)
    assert report.overall.n_queries == N - 10
    assert any("10 queries that both failed" in note for note in report.notes)
