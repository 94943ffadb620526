"""A judge's preference for its own maker's systems, told apart from their being better."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from golden.cases import read_table

from mirage import schema
from mirage.stages.judge.family import family_preferences


def judged(rows: list[tuple[Any, ...]]) -> pa.Table:
    """Judgments of (language, query, judge, shown first, shown second, verdict)."""
    return schema.from_rows("judgments", [schema.Judgment(*row, None, None, None) for row in rows])


def draw(bias: float, *, queries: int, seed: int) -> pa.Table:
    """Verdicts of two judges; gpt-4o adds `bias` logits to its own family."""
    rng = np.random.default_rng(seed)
    strength = {"gpt-4": 1.0, "aya-101": 0.0, "llama-3": -0.5}
    rows = []
    for q in range(queries):
        quality = {name: value + rng.normal(0, 0.8) for name, value in strength.items()}
        for judge in ("gpt-4o", "command-r"):
            for a, b in (("gpt-4", "aya-101"), ("llama-3", "gpt-4"), ("aya-101", "llama-3")):
                lead = quality[a] - quality[b] + bias * (judge == "gpt-4o") * ((a == "gpt-4") - (b == "gpt-4"))
                verdict = "A" if rng.random() < 1 / (1 + np.exp(-lead)) else "B"
                rows.append(("en", f"q{q}", judge, a, b, verdict))
    return judged(rows)


def of(table: pa.Table, judge: str) -> Any:
    (row,) = [row for row in family_preferences(table) if row.judge == judge and row.language == "en"]
    return row


def test_the_shares_are_those_counted_by_hand() -> None:
    table = judged(
        [
            ("en", "q1", "gpt-4o", "gpt-4", "aya-101", "A"),
            ("en", "q1", "gpt-4o", "aya-101", "gpt-4", "tie"),
            ("en", "q2", "gpt-4o", "aya-101", "gpt-4", "B"),
            ("en", "q3", "gpt-4o", "aya-101", "llama-3", "A"),
            ("en", "q4", "gpt-4o", "gpt-4", "aya-101", "unparsed"),
            ("en", "q1", "command-r", "aya-101", "gpt-4", "A"),
            ("en", "q2", "command-r", "gpt-4", "aya-101", "tie"),
            ("en", "q4", "command-r", "gpt-4", "aya-101", "A"),
        ]
    )
    row = of(table, "gpt-4o")
    assert (row.maker, row.battles, row.queries) == ("OpenAI", 2, 2)
    assert row.share == pytest.approx((0.75 + 1) / 2)
    assert row.others == pytest.approx((0 + 0.5) / 2)
    assert row.difference == pytest.approx(row.share - row.others)
    assert row.low < row.difference < row.high


def test_a_better_family_is_no_preference() -> None:
    inside = [of(draw(0.0, queries=60, seed=seed), "gpt-4o") for seed in range(60)]
    assert np.mean([row.share for row in inside]) > 0.6
    covered = np.mean([row.low <= 0 <= row.high for row in inside])
    assert 0.88 <= covered <= 1


def test_a_preference_is_found() -> None:
    row = of(draw(1.5, queries=150, seed=3), "gpt-4o")
    assert row.low > 0.05


def test_the_interval_knows_that_battles_share_a_query() -> None:
    table = draw(0.5, queries=40, seed=5)
    once = of(table, "gpt-4o")
    rows = table.to_pylist()
    twin = [row | {"system_a": row["system_a"] + "-twin", "system_b": row["system_b"] + "-twin"} for row in rows]
    doubled = of(pa.Table.from_pylist(rows + twin, schema=table.schema), "gpt-4o")
    assert doubled.battles == 2 * once.battles
    assert doubled.difference == pytest.approx(once.difference)
    assert doubled.high - doubled.low == pytest.approx(once.high - once.low)


@pytest.mark.parametrize(*read_table("families_apart"))
def test_what_cannot_be_compared_has_a_reason(rows: list[tuple[Any, ...]], reason: str) -> None:
    preferences = family_preferences(judged(rows))
    assert {row.difference for row in preferences} == {None}
    assert all(row.reason is not None and reason in row.reason for row in preferences)


def test_several_languages_have_a_row_of_all() -> None:
    rows = draw(0.0, queries=5, seed=1).to_pylist()
    table = pa.Table.from_pylist(rows + [row | {"language": "sw"} for row in rows])
    preferences = family_preferences(table)
    assert [(row.judge, row.language) for row in preferences] == [
        (judge, code) for judge in ("command-r", "gpt-4o") for code in ("en", "sw", "all")
    ]
