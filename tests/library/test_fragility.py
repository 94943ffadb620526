"""How few battles, queries or voters change the first place or tier: checked by ranking what is left."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from commands import mirage as command
from commands import rows as printed

import mirage
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.fragility import fragility

Battle = dict[str, Any]
STRENGTHS = {"ant": 1.0, "bee": 0.7, "cat": -0.2, "dog": -0.8}


def drawn(seed: int, queries: int, strengths: dict[str, float] = STRENGTHS, languages: int = 1) -> list[Battle]:
    """Battles of every two systems on each query."""
    rng = np.random.default_rng(seed)
    rows = []
    for code, q in itertools.product(("en", "sw", "te")[:languages], range(queries)):
        for a, b in itertools.combinations(sorted(strengths), 2):
            chance = 1 / (1 + np.exp(strengths[b] - strengths[a]))
            verdict = "tie" if rng.random() < 0.1 else "A" if rng.random() < chance else "B"
            rows.append({"language": code, "query_id": f"{code}{q}", "system_a": a, "system_b": b, "verdict": verdict})
    return rows


def first(rows: Iterable[Battle]) -> str:
    ranking = mirage.rank(list(rows), draws=1)
    row = list(ranking.languages.values())[-1]
    return row.systems[int(np.argmax(row.theta))]


def left(rows: list[Battle], result: Any) -> list[Battle]:
    """The battles that are not in the set."""
    gone = {(r.language, r.query_id, r.first, r.second, r.voter) for r in result.removed}
    return [
        row
        for row in rows
        if not {
            (row["language"], row["query_id"], row["system_a"], row["system_b"], None),
            (row["language"], row["query_id"], None, None, None),
            (None, None, None, None, row.get("voter")),
        }
        & gone
    ]


@pytest.mark.parametrize("unit", ["battle", "query"])
@pytest.mark.parametrize("languages", [1, 3])
def test_removing_the_set_changes_the_first_place(unit: Any, languages: int) -> None:
    rows = drawn(3, 40, languages=languages)
    before = first(rows)
    result = mirage.fragility(rows, unit=unit)
    assert result.system == before
    assert result.needed == len(result.removed) == len(set(result.removed))
    rest = left(rows, result)
    assert len(rest) < len(rows)
    assert first(rest) == result.other != before
    assert f"{result.needed:,} of" in result.sentence


def test_a_unit_less_does_not_change_it() -> None:
    rows = drawn(5, 20)
    result = mirage.fragility(rows)
    before, gone = first(rows), left(rows, result)
    removed = [row for row in rows if row not in gone]
    assert len(removed) > 1
    for row in removed[:-1]:
        assert first([*gone, row]) == before


@pytest.mark.parametrize("seed", range(2))
def test_no_smaller_set_exists_where_all_can_be_tried(seed: int) -> None:
    close = {"ant": 0.6, "bee": 0.4, "cat": -1.0}
    rows = drawn(seed, 4, close)
    result = mirage.fragility(rows)
    if result.needed is None:
        return
    before = first(rows)
    for size in range(1, min(result.needed, 3)):
        for gone in itertools.combinations(range(len(rows)), size):
            rest = [row for k, row in enumerate(rows) if k not in gone]
            if {row["system_a"] for row in rest} | {row["system_b"] for row in rest} == set(close):
                assert first(rest) == before, f"{size} are enough, not {result.needed}"


def test_the_first_tier_changes_with_the_set() -> None:
    rows = drawn(1, 60, {"ant": 1.2, "bee": 0.2, "cat": -0.6})
    tier = mirage.rank(rows, draws=1).tiers["en"].tier
    assert tier["ant"] == 1
    assert tier["bee"] == 2
    result = mirage.fragility(rows, change="first tier")
    after = mirage.rank(left(rows, result), draws=1).tiers["en"].tier
    assert result.other == "bee"
    assert after["bee"] == 1
    assert result.needed is not None
    assert result.needed < (mirage.fragility(rows).needed or len(rows))


def test_a_voter_who_decides_the_first_place_is_named() -> None:
    honest = drawn(7, 40, {"ant": 2.0, "bee": 0.2, "cat": -1.5})
    rows = [{**row, "voter": f"v{k % 10}", "time": f"2026-11-{k % 7 + 1:02}"} for k, row in enumerate(honest)]
    mark = {"language": "en", "voter": "mallory", "time": "2026-12-24T10:00:00Z"}
    # Among battles of equal influence the set takes the first by name.
    forged = [{**mark, "query_id": f"a{k}", "system_a": "bee", "system_b": "ant", "verdict": "A"} for k in range(50)]
    assert (first(rows), first(rows + forged)) == ("ant", "bee")
    by_voter = mirage.fragility(rows + forged, unit="voter")
    assert by_voter.needed == 1
    assert by_voter.removed[0].voter == "mallory"
    shared = {origin.kind: origin for origin in reversed(mirage.fragility(rows + forged).shared)}
    assert shared["voter"].name == "mallory"
    assert shared["voter"].p < 0.05
    assert shared["day"].name == "2026-12-24"


def test_sets_at_random_seldom_share_an_origin_by_the_test() -> None:
    low = 0
    for seed in range(8):
        rows = drawn(100 + seed, 30, {"ant": 0.4, "bee": 0.2, "cat": 0.0, "dog": -0.3})
        rng = np.random.default_rng(seed)
        voted = [{**row, "voter": f"v{rng.integers(12)}"} for row in rows]
        low += any(origin.kind == "voter" and origin.p < 0.05 for origin in mirage.fragility(voted).shared)
    assert low <= 2


def test_what_nothing_changes_has_a_reason() -> None:
    rows = [
        {"query_id": f"q{k}", "system_a": a, "system_b": b, "verdict": "A"}
        for k in range(20)
        for a, b in (("ant", "bee"),)
    ]
    result = mirage.fragility(rows)
    assert result.needed is None
    assert result.reason
    assert result.reason in result.sentence
    one_tier = mirage.fragility(drawn(2, 4), change="first tier")
    assert one_tier.needed is None
    assert "tier" in (one_tier.reason or "")


def test_bad_requests_are_one_error() -> None:
    rows = drawn(2, 10)
    with pytest.raises(NotEnoughData, match="voter"):
        mirage.fragility(rows, unit="voter")
    ranking = mirage.rank(rows, draws=1)
    with pytest.raises(UnknownName, match="xx"):
        fragility(ranking, language="xx")
    with pytest.raises(BadInput, match="ties"):
        fragility(mirage.rank(rows, draws=1, ties="davidson"))


def test_relevance_labels_and_verdicts_of_a_judge_are_tested_alike() -> None:
    arena = mirage.open_arena("nomiracl")
    result = mirage.fragility(arena, judge="relevance", languages=["sw"], unit="query")
    assert result.system == "gpt-4-azure"
    assert result.needed is None or result.needed > 5
    done = command("rank", "sample", "--judge", "heuristic", "--fragility", "--languages", "te", "--format", "csv")
    listed = printed(done)
    found = [row for row in listed if (row["change"], row["unit"]) == ("first place", "battle")]
    assert len(found) == int(found[0]["needed"])
    assert all(row["removed_query"].startswith("te-") for row in found)
    assert (
        "plain ranking"
        in command("rank", "sample", "--fragility", "--consistent", "--judge", "heuristic", code=2).output
    )
