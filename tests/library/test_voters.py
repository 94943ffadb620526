"""Votes of few people, of whom each favours some systems: every door clusters them, or says whose votes they are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_writer import make_judgment, write_arena
from commands import CliRunner

import mirage
from mirage import schema
from mirage.cli import app

SYSTEMS = ("a", "b", "c")


def votes(seed: int, people: int, each: int, taste: float, *, lead: float = 0.0) -> list[dict[str, Any]]:
    """Votes of people on pairs of three systems, two of them equal, by logits of a person's own."""
    rng, rows = np.random.default_rng((217, seed)), []
    strength = np.array([lead, 0.0, 0.0])
    for person in range(people):
        own = strength + rng.normal(0, taste, 3)
        for k in range(each):
            i, j = sorted(rng.choice(3, 2, replace=False).tolist())
            won = rng.random() < 1 / (1 + np.exp(own[j] - own[i]))
            row = {
                "query_id": f"q{person}-{k}",
                "system_a": SYSTEMS[i],
                "system_b": SYSTEMS[j],
                "verdict": "AB"[not won],
            }
            rows.append(row | {"voter": f"p{person}"})
    return rows


def covers(rows: list[dict[str, Any]], first: str = "a", second: str = "b") -> tuple[bool, bool]:
    gap = mirage.rank(rows, draws=200).difference(first, second)
    row = mirage.compare(rows, first, second, draws=50).overall
    return bool(gap.low is None or gap.low <= 0 <= (gap.high or 99)), bool(row.low <= 0 <= row.high)


@pytest.mark.parametrize(("people", "each"), [(10, 60), (20, 30)])
def test_intervals_of_repeated_votes_hold_for_other_people_pitfall_217(people: int, each: int) -> None:
    """With a taste of one logit, intervals over queries alone cover 62 to 72%."""
    inside = [covers(votes(k, people, each, 1.0)) for k in range(30)]
    unnamed = [
        [{key: row[key] for key in row if key != "voter"} for row in votes(k, people, each, 1.0)] for k in range(15)
    ]
    assert np.mean(inside, axis=0) == pytest.approx(1, abs=0.17)
    assert np.mean([covers(rows) for rows in unnamed]) < 0.85


def test_votes_of_one_each_and_a_people_of_one_mind_are_as_wide_as_queries() -> None:
    rows = votes(1, 300, 1, 0.0)
    alone = mirage.rank(rows, draws=100).difference("a", "b")
    bare = mirage.rank([{k: v for k, v in row.items() if k != "voter"} for row in rows], draws=100).difference("a", "b")
    assert (alone.low, alone.high) == (bare.low, bare.high)


def test_below_ten_people_every_door_says_whose_votes_they_are(tmp_path: Path) -> None:
    rows = votes(2, 5, 40, 1.0)
    said = "of these 5 people only"
    assert said in repr(mirage.rank(rows, draws=50))
    assert said in repr(mirage.compare(rows, "a", "b", draws=50))
    table = schema.from_rows(
        schema.Judgment,
        [make_judgment("en", r["query_id"], "people", r["system_a"], r["system_b"], r["verdict"]) for r in rows],
    )
    table = schema.from_columns(
        "judgments",
        {name: table[name] for name in table.column_names}
        | {"person": [True] * len(rows), "voter": [row["voter"] for row in rows]},
    )
    path = str(write_arena(tmp_path / "arena", {"judgments": table}).path)
    for words in (["rank", path], ["compare", path, "a", "b"]):
        assert said in " ".join(CliRunner().invoke(app, words).stderr.split())
    assert "other people" in repr(mirage.rank(votes(3, 12, 20, 1.0), draws=50))
