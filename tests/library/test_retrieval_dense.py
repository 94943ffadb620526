"""Search by vectors of a service: exact, paid for once, and what a service can do wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from misbehaving import Act, Call, Service, embedded, error

from mirage import schema, store
from mirage.cli import app
from mirage.errors import NotEnoughData
from mirage.stages.retrieve.corpus import read_corpus
from mirage.stages.retrieve.dense import VectorSearch, nearest


def mirage(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


N = 150


def vector(text: str) -> list[float]:
    """The number in a text as a direction: texts with near numbers are near."""
    angle = int("".join(filter(str.isdigit, text)) or 0) / 200
    return [float(np.cos(angle)), float(np.sin(angle))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    queries = [schema.Query("en", f"q{n}", None, f"What is number {n}?", None) for n in (3, 70)]
    return store.write(tmp_path / "arena", {"queries": schema.from_rows("queries", queries)}, made_by="a test").path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    lines = [json.dumps({"docid": f"d{n}", "text": f"This is number {n}."}) for n in range(N)]
    (tmp_path / "corpus.en.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path / "corpus.en.jsonl"


def placed(call: Call, index: object) -> Act:
    """Vectors that all say they are the same text's."""
    data = [{"index": index, "embedding": vector(text)} for text in call.body["input"]]
    return Act(body=json.dumps({"data": data}).encode())


def command(path: Path, corpus: Path, service: Service) -> tuple[object, ...]:
    options = ("--model", "e", "--base-url", service.url, "--retries", 1, "--concurrency", 1, "--depth", 3)
    return ("retrieve", path, "--retriever", "dense", "--corpus", corpus, *options)


def lists(path: Path) -> dict[str, list[str]]:
    rows = store.open_arena(path).read("retrieved").sort_by("rank").to_pylist()
    by_query: dict[str, list[str]] = {}
    for row in rows:
        by_query.setdefault(row["query_id"], []).append(row["passage_id"])
    return by_query


def test_the_nearest_passages_are_brought_and_vectors_are_paid_for_once(path: Path, corpus: Path) -> None:
    with Service(lambda call: embedded(call, vector)) as service:
        told = mirage(*command(path, corpus, service))
        assert {query: ids[0] for query, ids in lists(path).items()} == {"q3": "d3", "q70": "d70"}
        assert set(lists(path)["q70"]) == {"d69", "d70", "d71"}
        assert all(call.path == "/v1/embeddings" for call in service.calls)
        assert len(service.calls) == 3, "152 texts in groups of 64"
        assert "3 calls made" in told
        mirage(*command(path, corpus, service))
        assert len(service.calls) == 3
        assert "0 calls would be made" in mirage(*command(path, corpus, service), "--dry-run")
    rows = store.open_arena(path).read("retrieved").to_pylist()
    assert {row["retriever"] for row in rows} == {"e"}
    assert max(row["score"] for row in rows) == pytest.approx(1, abs=1e-5)


def test_processes_bring_the_same_bytes_from_vectors_that_are_fetched_here(path: Path, tmp_path: Path) -> None:
    queries = [schema.Query(code, f"q{n}", None, f"Number {n}", None) for code in ("en", "fi") for n in (5, 90)]
    store.write(path, {"queries": schema.from_rows("queries", queries)}, made_by="a test")
    folder = tmp_path / "corpus"
    folder.mkdir()
    for code in ("en", "fi"):
        lines = [json.dumps({"docid": f"{code}{n}", "text": f"{code} {n}."}) for n in range(N)]
        (folder / f"corpus.{code}.jsonl").write_text("\n".join(lines) + "\n")
    other = store.copy(store.open_arena(path), tmp_path / "other").path
    with Service(lambda call: embedded(call, vector)) as service:
        mirage(*command(path, folder, service))
        sent = len(service.calls)
        told = mirage(*command(other, folder, service), "--engine", "processes", "--workers", 2)
        assert len(service.calls) == 2 * sent
        assert f"{sent} calls made" in told
        mirage(*command(other, folder, service), "--engine", "processes", "--workers", 2)
        assert len(service.calls) == 2 * sent
    here, there = (store.open_arena(arena).manifest["tables"]["retrieved"] for arena in (path, other))
    assert here == there
    assert len(store.open_arena(path).read("retrieved")) == 4 * 3


def test_a_text_without_a_vector_is_named_before_anything_is_compared(path: Path, corpus: Path) -> None:
    with Service(lambda call: embedded(call, vector)) as service:
        mirage(*command(path, corpus, service))
    search = VectorSearch(path, "another")
    with pytest.raises(NotEnoughData, match="another"):
        search(read_corpus(corpus, "en"), ["What is 3?"], 1)
    assert search(read_corpus(corpus, "en"), [], 1) == []


def test_a_dry_run_sends_and_writes_nothing(path: Path, corpus: Path) -> None:
    with Service() as service:
        told = mirage(*command(path, corpus, service), "--dry-run", "--price-in", 1)
        assert not service.calls
    assert "3 calls would be made" in told
    assert "retrieved" not in store.open_arena(path).tables
    assert not (path / "vectors.sqlite").exists()


def test_a_stopped_run_goes_on(path: Path, corpus: Path) -> None:
    def second_fails(call: Call) -> Act:
        return error(500) if "number 127." in call.content else embedded(call, vector)

    with Service(second_fails) as service:
        mirage(*command(path, corpus, service), code=2)
        sent = len(service.calls)
        assert "retrieved" not in store.open_arena(path).tables
        service.behave = lambda call: embedded(call, vector)
        mirage(*command(path, corpus, service))
        assert len(service.calls) == sent + 1, "only what had failed"
    assert lists(path)["q3"][0] == "d3"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda call: Act(body=b'{"data": []}'),
        lambda call: Act(body=b"not json"),
        lambda call: embedded(call, lambda text: [[1.0], [2.0]]),  # type: ignore[arg-type,list-item]
        lambda call: embedded(call, lambda text: []),
        lambda call: embedded(call, lambda text: [10**400, 1]),
        lambda call: embedded(call, lambda text: [1e300, 1.0]),
        lambda call: embedded(call, lambda text: [float("inf"), 1.0]),
        lambda call: embedded(call, lambda text: [float(len(text))] * (2 + len(text) % 2)),
        lambda call: embedded(call, lambda text: ["1", "2"]),  # type: ignore[list-item]
        lambda call: embedded(call, lambda text: [True, False]),
        lambda call: placed(call, 0),
        lambda call: placed(call, float("inf")),
        lambda call: placed(call, "0"),
        lambda call: error(404),
    ],
)
def test_what_is_no_vector_is_an_error(path: Path, corpus: Path, wrong: object) -> None:
    with Service(wrong) as service:  # type: ignore[arg-type]
        assert "to do" in mirage(*command(path, corpus, service), code=2)
        assert "retrieved" not in store.open_arena(path).tables
        # Nothing of it was kept: the same command gets sound vectors.
        service.behave = lambda call: embedded(call, vector)
        mirage(*command(path, corpus, service))
    assert lists(path)["q3"][0] == "d3"


def test_vectors_that_are_none_are_asked_for_again(path: Path, corpus: Path) -> None:
    with Service(lambda call: embedded(call, vector if call.number > 1 else lambda _: [])) as service:
        mirage(*command(path, corpus, service))
        assert len(service.calls) == 6
    assert lists(path)["q70"][0] == "d70"


def test_vectors_of_another_service_are_asked_for(path: Path, corpus: Path) -> None:
    with Service(lambda call: embedded(call, vector)) as first, Service(lambda call: embedded(call, vector)) as other:
        mirage(*command(path, corpus, first))
        mirage(*command(path, corpus, other))
        assert len(first.calls) == len(other.calls) == 3
        mirage(*command(path, corpus, first), "--service", "mine")
        mirage(*command(path, corpus, other), "--service", "mine")
        assert (len(first.calls), len(other.calls)) == (6, 3)


def test_a_number_of_tokens_that_cannot_be_is_not_believed(path: Path, corpus: Path) -> None:
    def behave(call: Call) -> Act:
        answer = json.loads(embedded(call, vector).body)
        return Act(body=json.dumps({**answer, "usage": {"prompt_tokens": 10**30, "total_tokens": 1e30}}).encode())

    with Service(behave) as service:
        told = mirage(*command(path, corpus, service), "--price-in", 1)
    assert "Token counts of 3 calls are estimates" in told


def test_a_vector_of_another_length_is_an_error(path: Path, corpus: Path) -> None:
    def longer(call: Call) -> Act:
        return embedded(call, lambda text: [1.0, 2.0, 3.0] if "number 127." in call.content else vector(text))

    with Service(longer) as service:
        assert "3 numbers" in mirage(*command(path, corpus, service), code=2)
        # Also where those before come from the ledger.
        service.behave = lambda call: embedded(call, lambda _text: [1.0, 2.0, 3.0])
        assert "3 numbers" in mirage(*command(path, corpus, service), code=2)


def test_a_budget_stops_it(path: Path, corpus: Path) -> None:
    with Service(lambda call: embedded(call, vector)) as service:
        told = mirage(*command(path, corpus, service), "--price-in", 1_000_000, "--budget", 1, code=2)
    assert "budget" in told


@settings(max_examples=60)
@given(st.integers(0, 50), st.integers(1, 5), st.integers(1, 12), st.integers(1, 60), st.integers(0, 10**6))
def test_blocks_find_what_one_product_finds(n: int, queries: int, depth: int, block: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Whole numbers: products are exact, and many are equal.
    vectors = rng.integers(-2, 3, (n, 3)).astype("<f4")
    wanted = rng.integers(-2, 3, (queries, 3)).astype("<f4")
    products = wanted @ vectors.T
    expected = [np.lexsort((np.arange(n), -row))[:depth].tolist() for row in products]
    assert [[row for row, _ in hits] for hits in nearest(wanted, vectors, depth, block=block)] == expected
