"""Several answers of one system to one query: what is imported, and rates whose unit is the query."""

import json
from pathlib import Path

import numpy as np
import pytest
from arena_writer import read_rows
from commands import mirage, rows, write_jsonl
from generating_cases import generate, write
from misbehaving import Service, reply

import mirage as api
from mirage import schema
from mirage.stages.outcomes.rates import rate_of_clusters
from mirage.stages.outcomes.tables import sample_outcomes
from mirage.store.arena import open_arena

YES, NO = "Yes, answer is present.", "I don't know."


def records(system: str, answered: list[list[bool]]) -> list[dict[str, object]]:
    """Answers to queries without a relevant passage: for each query, whether each sample answers."""
    return [
        {"query_id": f"q{q}", "language": "en", "system": system, "text": YES if wrong else NO, "template": "vanilla"}
        | {"sample": k}
        for q, samples in enumerate(answered)
        for k, wrong in enumerate(samples)
    ]


def imported(folder: Path, answered: dict[str, list[list[bool]]]) -> Path:
    n = max(map(len, answered.values()))
    queries = [{"query_id": f"q{q}", "language": "en", "text": f"{q}?", "subset": "non_relevant"} for q in range(n)]
    found = [record for system, samples in answered.items() for record in records(system, samples)]
    for name, lines in (("queries", queries), ("answers", found)):
        write_jsonl(folder / f"{name}.jsonl", *lines)
        mirage("import", folder / f"{name}.jsonl", "--into", folder / "arena")
    mirage("measure", "outcomes", folder / "arena")
    return folder / "arena"


def test_further_answers_are_samples_and_the_first_is_the_answer(tmp_path: Path) -> None:
    path = imported(tmp_path, {"s": [[True, False, True], [False, False, False]], "t": [[True], [True]]})
    arena = open_arena(path)
    assert [(row["query_id"], row["system"]) for row in read_rows(arena, "answers")] == [
        (q, s) for q in ("q0", "q1") for s in ("s", "t")
    ]
    samples = read_rows(arena, "samples")
    assert [(row["query_id"], row["system"], row["sample"]) for row in samples] == [
        (q, "s", k) for q in ("q0", "q1") for k in (1, 2)
    ]
    assert [row["text"] == YES for row in samples] == [False, True, False, False]
    outcomes = sample_outcomes(arena)
    assert outcomes is not None
    strict = [row["outcome"] for row in outcomes.to_pylist() if row["parser"] == "strict"]
    assert sorted(strict) == ["abstained"] * 3 + ["answered"]


def test_a_rate_averages_the_answers_to_a_query_first(tmp_path: Path) -> None:
    path = imported(tmp_path, {"s": [[True, True, True, True], [False], [False], [False]], "t": [[True]] * 4})
    by_system = {
        row["system"]: row
        for row in rows(mirage("report", "rates", path, "--format", "csv"))
        if row["language"] == "en"
    }
    assert float(by_system["s"]["rate"]) == pytest.approx(1 / 4), "not 4 of 7"
    assert [by_system["s"][name] for name in ("n", "answers", "as_published_n")] == ["4", "7", "4"]
    assert float(by_system["t"]["rate"]) == 1
    table = api.rates(api.open_arena(path)).to_pandas()
    assert table[(table.system == "s") & (table.language == "en")].rate.item() == pytest.approx(1 / 4)


def test_repeated_answers_that_never_differ_do_not_narrow_an_interval() -> None:
    _, low, high = rate_of_clusters([[(k % 2, 1) for k in range(40)]])
    _, again_low, again_high = rate_of_clusters([[(3 * (k % 2), 3) for k in range(40)]])
    assert (again_low, again_high) == pytest.approx((low, high))
    _, independent_low, independent_high = rate_of_clusters([[(1 + k % 2, 3) for k in range(40)]])
    assert independent_high - independent_low < again_high - again_low


@pytest.mark.parametrize("spread", [0.0, 0.5, 4.0])
def test_intervals_over_queries_hold_the_rate_as_often_as_they_say(spread: float) -> None:
    """Beta-distributed queries: spread 0 is one probability for all, 4 nearly all queries always or never wrong."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        chance = rng.beta(0.3 / (spread or 1e-9), 0.7 / (spread or 1e-9), 60) if spread else np.full(60, 0.3)
        _, low, high = rate_of_clusters([[(int(k), 3) for k in rng.binomial(3, chance)]])
        held += low <= 0.3 <= high
    assert 0.92 <= held / 400 <= 0.99


@pytest.mark.parametrize("sample", [-1, 1.5, 10_000, "two"])
def test_a_sample_without_a_sensible_number_is_one_error(tmp_path: Path, sample: object) -> None:
    record = {"query_id": "q", "language": "en", "system": "s", "text": "x", "sample": sample}
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(record) + "\n", "utf-8")
    refused = mirage("import", path, "--into", tmp_path / "a", code=2)
    assert "sample" in refused.stderr
    assert "answers.jsonl:1" in refused.stderr


def test_two_different_answers_as_one_sample_are_refused(tmp_path: Path) -> None:
    lines = [{"query_id": "q", "language": "en", "system": "s", "text": text, "sample": 1} for text in ("x", "y")]
    path = tmp_path / "answers.jsonl"
    write_jsonl(path, *lines)
    assert "sample 1" in mirage("import", path, "--into", tmp_path / "a", code=2).stderr


def test_samples_are_asked_once_each_within_one_budget(tmp_path: Path) -> None:
    path = write(tmp_path / "arena", n=3, languages=("en",))
    with Service(lambda call: reply(f"##Answer: number {call.number}.")) as service:
        planned = generate(path, service, "--samples", "3", "--dry-run")
        assert "9 calls" in planned.stderr
        for _ in range(2):
            generate(path, service, "--samples", "3")
            assert len(service.calls) == 9, "no call is paid for twice"
        arena = open_arena(path)
        assert {row["text"] for row in read_rows(arena, "answers")} == {"##Answer: number 1."}
        samples = {(row["query_id"], row["sample"]): row["text"] for row in read_rows(arena, "samples")}
        assert samples == {(f"q{q:03}", k): f"##Answer: number {k + 1}." for q in range(3) for k in (1, 2)}
        prices = ("--price-in", "0", "--price-out", "1e6", "--max-tokens", "20", "--concurrency", "1")
        generate(path, service, "--samples", "3", *prices, "--budget", "100", system="other")
        assert len(service.calls) == 9 + 5, "each reply costs 20"
        refused = generate(path, service, "--samples", "2", "--replace", code=2)
    assert "--replace" in refused.stderr
    assert open_arena(path).rows("samples") == 6 + 2


def test_samples_go_with_their_system(tmp_path: Path) -> None:
    path = imported(tmp_path, {"s": [[True, False]] * 2, "t": [[True, True]] * 2})
    mirage("arena", "remove", path, "s")
    assert {row["system"] for row in read_rows(path, "samples")} == {"t"}
    assert schema.key("samples")[-1] == "sample"
