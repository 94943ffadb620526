"""Judges weighted by their reliability: what is recovered, what the test says, and judges that say nothing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from commands import mirage as command

import mirage
from mirage.errors import BadInput, NotEnoughData, UnknownName

SYSTEMS = ("s0", "s1", "s2", "s3")


def drawn(
    seed: int, weights: dict[str, float], queries: int = 40, position: dict[str, float] | None = None
) -> list[dict[str, Any]]:
    """Verdicts of every judge on every two systems of each query, in a random order."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(0.9, -0.9, len(SYSTEMS))
    rows = []
    for q, (i, j) in itertools.product(range(queries), itertools.combinations(range(len(SYSTEMS)), 2)):
        for judge, weight in weights.items():
            first, second = (i, j) if rng.random() < 0.5 else (j, i)
            z = weight * (theta[first] - theta[second]) + (position or {}).get(judge, 0.0)
            rows.append(
                {
                    "query_id": f"q{q}",
                    "judge": judge,
                    "system_a": SYSTEMS[first],
                    "system_b": SYSTEMS[second],
                    "verdict": "A" if rng.random() < 1 / (1 + np.exp(-z)) else "B",
                }
            )
    return rows


def test_weights_are_recovered_up_to_their_scale() -> None:
    truth = {"sharp": 2.0, "blunt": 0.7, "guess": 0.0}
    scale = float(np.sqrt(np.mean([value**2 for value in truth.values()])))
    result = mirage.rank_by_reliability(drawn(1, truth, 150))
    for judge in result.judges:
        assert judge.low is not None
        assert judge.high is not None
        assert judge.low - 0.1 <= truth[judge.judge] / scale <= judge.high + 0.1
    assert result.p is not None
    assert result.p < 0.001
    assert [row.system for row in result.systems] == list(SYSTEMS)
    assert np.sqrt(np.mean([(judge.weight or 0) ** 2 for judge in result.judges])) == pytest.approx(1)


def test_equal_judges_are_seldom_said_to_differ() -> None:
    low = sum((mirage.rank_by_reliability(drawn(s, {"a": 1, "b": 1, "c": 1}, 30)).p or 1) < 0.05 for s in range(25))
    assert low <= 4


def test_a_judge_that_names_the_first_has_no_weight_and_a_bias() -> None:
    rows = drawn(3, {"good": 1.5, "other": 1.2})
    rows += [{**row, "judge": "first", "verdict": "A"} for row in rows if row["judge"] == "good"]
    result = mirage.rank_by_reliability(rows)
    first = next(judge for judge in result.judges if judge.judge == "first")
    assert first.weight == pytest.approx(0, abs=0.25)
    assert (first.position or 0) > 2
    assert [row.system for row in result.systems] == list(SYSTEMS)


def test_an_opposed_judge_gets_a_negative_weight() -> None:
    result = mirage.rank_by_reliability(drawn(4, {"a": 1.2, "b": 1.2, "opposed": -1.2}))
    weights = {judge.judge: judge.weight or 0 for judge in result.judges}
    assert weights["opposed"] < 0 < weights["a"]
    plain, weighted = ({row.system: getattr(row, name) for row in result.systems} for name in ("plain", "weighted"))
    assert weighted["s0"] - weighted["s3"] > plain["s0"] - plain["s3"]


def test_twins_have_the_same_weight_and_do_not_break_the_test() -> None:
    rows = drawn(5, {"a": 1.2, "b": 0.4})
    twins = rows + [{**row, "judge": "c"} for row in rows if row["judge"] == "a"]
    result = mirage.rank_by_reliability(twins)
    weights = {judge.judge: judge.weight for judge in result.judges}
    assert weights["a"] == pytest.approx(weights["c"], abs=1e-3)
    assert result.p is not None
    same = [row for row in twins if row["judge"] != "b"]
    assert mirage.rank_by_reliability(same).p is None


def test_one_judge_is_not_weighted() -> None:
    result = mirage.rank_by_reliability(drawn(6, {"a": 1.0}))
    assert result.p is None
    assert "one judge" in (result.reason or "")
    assert all(row.plain == row.weighted for row in result.systems)
    assert not result.moved


def test_voters_are_weighted_one_by_one() -> None:
    rows = [
        {**row, "voter": row["judge"], "judge": "people"}
        for row in drawn(7, {"ada": 1.8, "bob": 1.0, "noise": 0.0}, 60)
    ]
    weights = {judge.judge: judge.weight or 0 for judge in mirage.rank_by_reliability(rows).judges}
    assert weights["people: noise"] < weights["people: bob"] < weights["people: ada"]


def test_too_few_queries_and_bad_requests_have_a_reason() -> None:
    few = mirage.rank_by_reliability(drawn(8, {"a": 1.0, "b": 0.5, "c": 1.0}, 2))
    assert few.p is None
    assert "few" in (few.reason or "")
    with pytest.raises(UnknownName, match="nobody"):
        mirage.rank_by_reliability(drawn(8, {"a": 1.0}, 2), judges=["nobody"])
    with pytest.raises(NotEnoughData):
        mirage.rank_by_reliability(mirage.open_arena("sample"), languages=["xx"])
    with pytest.raises(BadInput):
        mirage.rank_by_reliability([{"system_a": "x"}])


def test_the_command_prints_weights_and_both_ratings() -> None:
    told = command("rank", "sample", "--reliability", "--languages", "te").output
    assert "weight" in told
    assert "heuristic" in told
    assert "own" in command("rank", "sample", "--reliability", "--paper", code=2).output
