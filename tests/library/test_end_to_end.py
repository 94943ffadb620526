"""The whole way through a real OpenAI-compatible server: `transformers serve` with a tiny model made on the spot.

What a model of random weights writes can be read neither as an answer with its parts nor as a grade or a verdict: every
stage has to say so, and to count it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner
from run_cases import few
from sample_source import read_nuggets, read_sample
from tiny_model import Server, make, needed

from mirage import schema
from mirage.cli import app
from mirage.stages.generate.baselines import BASELINES
from mirage.store import arena as arenas
from mirage.store import writing
from mirage.store.arena import open_arena
from mirage.store.ledger import NAME, Ledger

SOURCE = Path(__file__).resolve().parents[2] / "data" / "sample" / "source"
GRADED = ("answer_overlap_score", "fluency_score")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    needed()
    folder = tmp_path_factory.mktemp("served")
    with Server(make(folder / "tiny-chat"), folder) as server:
        yield server


@pytest.fixture(scope="module")
def connection(server: Server) -> list[str]:
    """The options that lead every command to the server."""
    options = ["--model", server.model, "--provider", "transformers", "--base-url", server.url]
    return [*options, "--max-tokens", "24", "--concurrency", "2", "--price-in", "1", "--price-out", "2"]


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Four queries in each of two languages, with the answers of the reference."""
    path = tmp_path / "arena"
    writing.write(path, few(read_sample(SOURCE)), made_by="a test")
    return path


def invoke(*words: str | Path) -> str:
    """Run a command that must succeed; what it prints."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, (words, result.output)
    return result.stdout


def mirage(*words: str | Path) -> list[dict[str, Any]]:
    """Run a command; what it prints as JSON."""
    return list(json.loads(invoke(*words, "--format", "json")))


def go(arena: Path, connection: list[str]) -> None:
    """Answer, grade and judge by the served model."""
    mirage("generate", arena, "--system", "tiny", *connection)
    mirage("measure", "outcomes", arena)
    mirage("measure", "features", arena, "--reference", "reference", *connection)
    mirage("judge", arena, "--judge", "tiny-judge", *connection)


def test_a_served_model_answers_is_graded_and_judges_and_nothing_is_asked_twice(
    server: Server, connection: list[str], arena: Path
) -> None:
    go(arena, connection)
    opened = open_arena(arena)
    assert arenas.check(opened)

    answers = [row for row in opened.read("answers").to_pylist() if row["system"] == "tiny"]
    assert len(answers) == opened.rows("queries") == 8
    assert {row["status"] for row in answers} <= {"ok", "truncated", "empty"}
    with Ledger(arena / NAME, read_only=True) as ledger:
        for row in answers:
            call = ledger.get(row["call"])
            assert call is not None
            assert call["text"] == row["text"]
            assert 0 < call["tokens_out"] <= 24

    outcomes = [row["outcome"] for row in opened.read("outcomes").to_pylist() if row["system"] == "tiny"]
    assert len(outcomes) == 2 * 8
    assert outcomes.count("unparsed") >= len(outcomes) / 2

    grades = [row for row in opened.read("features").to_pylist() if row["feature"] in GRADED]
    assert len(grades) == 2 * opened.rows("answers")
    assert sum(row["value"] is None for row in grades) > len(grades) / 2
    assert "no grade could be read" in {row["reason"] for row in grades}

    verdicts = opened.read("judgments").to_pylist()
    assert {row["judge"] for row in verdicts} == {"tiny-judge"}
    assert len(verdicts) == 2 * 8
    unparsed = [row for row in verdicts if row["verdict"] == "unparsed"]
    assert len(unparsed) >= len(verdicts) / 2
    assert all(row["rationale"] and row["reason"] for row in unparsed)

    requests = server.requests()
    go(arena, connection)
    assert server.requests() == requests


def test_a_served_model_and_baselines_go_from_retrieval_to_the_ranking(
    server: Server, connection: list[str], tmp_path: Path
) -> None:
    arena = tmp_path / "arena"
    sample = read_sample(SOURCE)
    nuggets = [
        schema.Nugget(n.language, n.query_id, n.nugget_id, n.text, n.importance, n.passage_id, "a test")
        for n in read_nuggets(SOURCE)
    ]
    writing.write(arena, few(sample | {"nuggets": schema.from_rows("nuggets", nuggets)}, "en", 3), made_by="a test")
    steps: list[tuple[str | Path, ...]] = [
        ("generate", "retrieve", arena, "--depth", "3"),
        ("evaluate", arena, "--baselines", "--judge", "relevance"),
        ("generate", arena, "--system", "tiny", *connection),
        ("generate", arena, "--system", "tiny+bm25", "--retriever", "bm25", "--depth", "3", *connection),
        ("measure", arena),
        ("measure", "features", arena, *connection),
        ("judge", arena, "--judge", "tiny-judge", "--pairs", "6", *connection),
        ("rank", arena, "--judge", "relevance", "--draws", "20", "--store"),
    ]
    for step in steps:
        invoke(*step)

    opened = open_arena(arena)
    assert arenas.check(opened)
    rows = opened.read("answers").to_pylist()
    systems = {"tiny+bm25", "tiny", "reference", *BASELINES}
    assert {row["system"] for row in rows} == systems
    assert {row["retriever"] for row in rows if row["system"] == "tiny+bm25"} == {"bm25"}
    shown = {row["query_id"] for row in opened.read("retrieved").to_pylist()}
    assert shown == {"en-01", "en-02", "en-09"}
    with Ledger(arena / NAME, read_only=True) as ledger:
        for row in rows:
            if row["system"] == "tiny+bm25":
                call = ledger.get(row["call"])
                assert call is not None
                assert call["text"] == row["text"]
    assert opened.read("judgments")["judge"].to_pylist().count("tiny-judge") == 2 * 6
    assigned = opened.read("nugget_assignments").to_pylist()
    assert {row["system"] for row in assigned} == systems
    causes = mirage("report", "failures", arena)
    assert "tiny+bm25" in {row["system"] for row in causes}

    requests = server.requests()
    for step in steps:
        invoke(*step)
    assert server.requests() == requests
