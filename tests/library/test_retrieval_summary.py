"""What an arena says of its retrievers, and of where its answers were lost: by command and from Python."""

import json
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import mirage as run

import mirage
from mirage import schema
from mirage.errors import NotEnoughData, UnknownName
from mirage.store.arena import Arena

N = 12


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Two languages. `good` brings the relevant passage first, `bad` for a third of the queries only; each feeds a
    system, and the one over `good` ignores it for a quarter of them.
    """
    rows: dict[str, list[Any]] = {name: [] for name in ("queries", "passages", "retrieved", "answers", "outcomes")}
    for code in ("fi", "sw"):
        for n in range(N):
            key = code, f"q{n:02}"
            rows["queries"].append(schema.Query(*key, "relevant", "Kuka?", None))
            rows["passages"] += [
                schema.Passage(*key, "yes", 2, None, "Hän.", True),
                schema.Passage(*key, "no", 1, None, "Joku.", False),
            ]
            brought = {"good": ["yes", "no"], "bad": ["no", "yes" if n % 3 == 0 else "other"]}
            for name, ids in brought.items():
                rows["retrieved"] += [
                    schema.Retrieved(*key, name, passage, rank, None, None, None)
                    for rank, passage in enumerate(ids, start=1)
                ]
            outcomes = {"m+good": "abstained" if n % 4 == 0 else "answered", "m+bad": "answered", "m": "answered"}
            for system, outcome in outcomes.items():
                own = None if system == "m" else system.removeprefix("m+")
                rows["answers"].append(schema.Answer(*key, system, "On.", "ok", None, None, None, None, own, own and 2))
                right = outcome == "answered"
                rows["outcomes"].append(
                    schema.OutcomeRow(*key, system, "strict", "relevant", outcome, "made up", None, None, right)
                )
    return write_arena(tmp_path / "arena", rows)


def values(rows: Any, *names: str) -> dict[tuple[str, ...], Any]:
    return {tuple(row[name] for name in names): row for row in rows}


def test_every_retriever_is_measured_given_among_them(arena: Arena) -> None:
    rows = values(mirage.retrieval_measures(arena, measures=["R@2", "RR@10"]), "language", "retriever", "measure")
    assert {retriever for _, retriever, _ in rows} == {"given", "good", "bad"}
    assert rows["all", "good", "R@2"]["mean"] == rows["all", "given", "R@2"]["mean"] == 1
    assert rows["all", "bad", "R@2"]["mean"] == pytest.approx(1 / 3)
    assert rows["fi", "given", "RR@10"]["mean"] == 0.5, "the relevant passage is given second"
    assert rows["fi", "bad", "judged@2"]["mean"] == pytest.approx((1 + 1 / 3) / 2), "`other` has no label"
    low, mean, high = (rows["all", "bad", "R@2"][name] for name in ("low", "mean", "high"))
    assert 0 <= low < mean < high <= 1
    ns = (rows["all", "bad", "R@2"]["n"], rows["fi", "bad", "R@2"]["n"])
    assert ns == (N, N), "both languages ask the same queries"


def test_planted_failures_are_put_where_they_belong(arena: Arena) -> None:
    shares = values(mirage.attribution(arena), "language", "system", "cause")
    for code in ("fi", "sw"):
        assert shares[code, "m+bad", "not_retrieved"]["k"] == N - N // 3
        assert shares[code, "m+good", "ignored"]["k"] == N // 4
        assert shares[code, "m", "right"]["share"] == 1
    row = shares["all", "m+bad", "not_retrieved"]
    assert row["share"] == pytest.approx(2 / 3)
    assert row["low"] < row["share"] < row["high"]
    single = mirage.attribution(arena, answers=True)
    assert len(single) == 3 * 2 * N
    assert all(row["evidence"] for row in single)


def test_what_is_not_there_is_said(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        mirage.retrieval_measures(arena, measures=["F1@10"])
    bare = write_arena(tmp_path / "bare", {"passages": arena.read("passages").slice(0, 0)})
    with pytest.raises(NotEnoughData):
        mirage.retrieval_measures(bare)


def test_the_command_prints_it(arena: Arena) -> None:
    command = ("report", "retrieval", arena.path, "--format", "json")
    rows = json.loads(run(*command, "--measures", "nDCG@10,R@2").stdout)
    assert {row["language"] for row in rows} == {"all"}
    assert {row["measure"] for row in rows} == {"nDCG@10", "R@2", "judged@10", "judged@2"}
    every = json.loads(run(*command, "--by", "language").stdout)
    assert {row["language"] for row in every} == {"all", "fi", "sw"}
    single = json.loads(run("report", "failures", arena.path, "--answers", "--format", "json").stdout)
    assert len(single) == 3 * 2 * N
