"""The whole way through a real OpenAI-compatible server: `transformers serve` with a tiny model made on the spot.

What a model of random weights writes can be read neither as an answer with its parts nor as a grade or a verdict: every
stage has to say so, and to count it.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from arena_writer import read_rows, write_arena
from commands import mirage
from run_cases import few
from sample_source import read_nuggets, read_sample
from tiny_model import Server, make, needed

from mirage import schema
from mirage.stages.generate.baselines import BASELINES
from mirage.store import arena as arenas
from mirage.store.arena import open_arena
from mirage.store.ledger import NAME, Ledger

SOURCE = Path(__file__).resolve().parents[2] / "data" / "sample" / "source"
GRADED = ("answer_overlap_score", "fluency_score")


@pytest.fixture(scope="module")
def server(module_path: Path) -> Iterator[Server]:
    needed()
    with Server(make(module_path / "tiny-chat"), module_path) as server:
        yield server


@pytest.fixture(scope="module")
def connection(server: Server) -> list[str]:
    """The options that lead every command to the server."""
    options = ["--model", server.model, "--provider", "transformers", "--base-url", server.url]
    return [*options, "--max-tokens", "24", "--concurrency", "2", "--price-in", "1", "--price-out", "2"]


def test_a_served_model_goes_from_retrieval_to_the_ranking_and_is_asked_once(
    server: Server, connection: list[str], tmp_path: Path
) -> None:
    arena = tmp_path / "arena"
    sample = read_sample(SOURCE)
    nuggets = [
        schema.Nugget(n.language, n.query_id, n.nugget_id, n.text, n.importance, n.passage_id, "a test")
        for n in read_nuggets(SOURCE)
    ]
    write_arena(arena, few(sample | {"nuggets": schema.from_rows("nuggets", nuggets)}, "en", 3))
    steps = [
        ("generate", "retrieve", arena, "--depth", "3"),
        ("evaluate", arena, "--baselines", "--judge", "relevance"),
        ("generate", arena, "--system", "tiny", *connection),
        ("generate", arena, "--system", "tiny+bm25", "--retriever", "bm25", "--depth", "3", *connection),
        ("measure", arena),
        ("measure", "features", arena, "--reference", "reference", *connection),
        ("judge", arena, "--judge", "tiny-judge", "--pairs", "6", *connection),
        ("rank", arena, "--judge", "relevance", "--draws", "20", "--store"),
    ]
    for step in steps:
        mirage(*step)

    opened = open_arena(arena)
    assert arenas.check(opened)
    rows = read_rows(opened, "answers")
    made = ("tiny", "tiny+bm25")
    systems = {*made, "reference", *BASELINES}
    assert {row["system"] for row in rows} == systems
    assert {row["retriever"] for row in rows if row["system"] == "tiny+bm25"} == {"bm25"}
    assert {row["query_id"] for row in read_rows(opened, "retrieved")} == {"en-01", "en-02", "en-09"}
    answers = [row for row in rows if row["system"] in made]
    assert len(answers) == 2 * opened.rows("queries") == 6
    assert {row["status"] for row in answers} <= {"ok", "truncated", "empty"}
    with Ledger(arena / NAME, read_only=True) as ledger:
        for row in answers:
            call = ledger.get(row["call"])
            assert call["text"] == row["text"]
            assert 0 < call["tokens_out"] <= 24

    outcomes = [row["outcome"] for row in read_rows(opened, "outcomes") if row["system"] in made]
    assert len(outcomes) == 2 * 6
    assert outcomes.count("unparsed") >= len(outcomes) / 2
    grades = [row for row in read_rows(opened, "features") if row["feature"] in GRADED]
    assert len(grades) == 2 * opened.rows("answers")
    assert sum(row["value"] is None for row in grades) > len(grades) / 2
    assert "no grade could be read" in {row["reason"] for row in grades}
    verdicts = [row for row in read_rows(opened, "judgments") if row["judge"] == "tiny-judge"]
    assert len(verdicts) == 2 * 6
    unparsed = [row for row in verdicts if row["verdict"] == "unparsed"]
    assert len(unparsed) >= len(verdicts) / 2
    assert all(row["rationale"] and row["reason"] for row in unparsed)
    assert {row["system"] for row in read_rows(opened, "nugget_assignments")} == systems
    causes = json.loads(mirage("report", "failures", arena, "--format", "json").stdout)
    assert "tiny+bm25" in {row["system"] for row in causes}

    requests = server.requests()
    for step in steps:
        mirage(*step)
    assert server.requests() == requests
