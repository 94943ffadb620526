"""Rankings of battles counted by pairs that met: those of the table of all pairs, whatever the order of the rows."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_blocks_cases import blocked, verdicts

import mirage
from mirage import schema
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking import blocks as ranked
from mirage.ranking import board
from mirage.ranking.blocks import rate_blocks
from mirage.ranking.bootstrap import rate


@pytest.mark.parametrize(
    ("ties", "penalty", "soft"),
    [("half", "jeffreys", False), ("half", "none", False), ("drop", "jeffreys", False), ("half", "jeffreys", True)],
)
def test_ratings_records_and_tests_are_those_of_the_ranking_in_memory(ties: Any, penalty: Any, soft: bool) -> None:
    table = verdicts(9, 150, 8, seed=1, languages=("en", "sw"), soft=soft)
    whole = rate(from_judgments(table, judge="j"), ties=ties, penalty=penalty, draws=400)
    parts = rate_blocks(blocked(table, drop_ties=ties == "drop"), judge="j", ties=ties, penalty=penalty, draws=400)
    assert list(parts.languages) == list(whole.languages) == ["en", "sw", "all"]
    for code, row in whole.languages.items():
        other = parts.languages[code]
        np.testing.assert_allclose(other.theta, row.theta, atol=1e-6)
        np.testing.assert_array_equal(other.record, row.record)
        np.testing.assert_array_equal(other.queries_by_system, row.queries_by_system)
        assert (other.n_queries, other.unparsed, other.groups) == (row.n_queries, row.unparsed, row.groups)
        # Draws of other random numbers: as wide, to what 400 draws can tell.
        ratio = np.ptp(other.interval(), axis=0) / np.ptp(row.interval(), axis=0)
        assert 0.9 < ratio.mean() < 1.1
        assert parts.tests[code].systems == whole.tests[code].systems
        apart = np.sign(parts.tests[code].z) == np.sign(whole.tests[code].z)
        assert apart.all()
    columns = [
        name for name in schema.arrow_schema("ratings").names if name not in ("low", "high", "rank_low", "rank_high")
    ]
    fixed = [name for name in columns if name not in ("rating", "best")]
    assert parts.table().select(fixed).equals(whole.table().select(fixed))


def test_the_tests_of_fitted_differences_are_those_of_a_ranking_in_memory() -> None:
    table = verdicts(70, 300, 60, seed=2)
    whole = rate(from_judgments(table, judge="j"), draws=20)
    parts = rate_blocks(blocked(table), judge="j", draws=20)
    np.testing.assert_allclose(parts.tests["en"].z, whole.tests["en"].z, atol=1e-6)
    assert (parts.tests["en"].rank_ranges == whole.tests["en"].rank_ranges).all()
    np.testing.assert_allclose(parts.languages["en"].theta, whole.languages["en"].theta, atol=1e-6)


def test_the_sandwich_replaces_slow_draws_and_is_as_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = verdicts(8, 400, 6, seed=5)
    drawn = rate_blocks(blocked(table), judge="j")
    monkeypatch.setattr(ranked, "LONG", 100)
    normal = rate_blocks(blocked(table), judge="j")
    ratio = np.ptp(normal.languages["en"].interval(), axis=0) / np.ptp(drawn.languages["en"].interval(), axis=0)
    assert (np.abs(ratio - 1) < 0.2).all()
    assert (drawn.intervals, normal.intervals) == (("draws",), ("sandwich",))
    assert "sandwich" in normal.method
    assert "sandwich" not in drawn.method
    assert (normal.tests["en"].rank_ranges == drawn.tests["en"].rank_ranges).all()


def test_what_cannot_be_counted_is_refused_with_its_place() -> None:
    def table(**changes: Any) -> pa.Table:
        row = {
            "language": "en",
            "query_id": "q",
            "judge": "j",
            "system_a": "a",
            "system_b": "b",
            "verdict": "A",
            "points": None,
        }
        return pa.table({name: [value] for name, value in (row | changes).items()})

    for changes, error, words in (
        ({"system_b": "a"}, BadInput, "battles itself"),
        ({"verdict": "both"}, UnknownName, "both"),
        ({"verdict": "unparsed"}, NotEnoughData, "unparsed"),
    ):
        with pytest.raises(error, match=words):
            rate_blocks(blocked(table(**changes)), judge="j")
    with pytest.raises(BadInput, match="davidson"):
        rate_blocks(blocked(table()), judge="j", ties="davidson")
    with pytest.raises(NotEnoughData, match="ties are dropped"):
        rate_blocks(blocked(table(verdict="tie"), drop_ties=True), judge="j", ties="drop")


def test_battles_in_memory_are_counted_in_blocks_if_counts_would_fill_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table or CSV file of battles without query ids, whose counts by query and pair took 21 GB."""
    rows = [
        {"system_a": f"s{k % 5}", "system_b": f"s{(k % 5 + 1 + k % 3) % 5}", "verdict": "A" if k % 7 < 4 else "B"}
        for k in range(300)
    ]
    dense = mirage.rank(rows, draws=20)
    monkeypatch.setattr(board, "DENSE", 1000)
    by_pairs = mirage.rank(rows, draws=20)
    assert not by_pairs.battles
    assert any("pairs that met" in remark for remark in by_pairs.remarks)
    assert any("no query_id" in remark for remark in by_pairs.remarks)
    np.testing.assert_allclose(by_pairs.languages["und"].theta, dense.languages["und"].theta, atol=1e-6)
    assert by_pairs.languages["und"].n_queries == 300
    with pytest.raises(UnknownName, match="judge"):
        mirage.rank(rows, judge="k")


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_the_order_of_the_verdicts_changes_no_byte(seed: int) -> None:
    table = verdicts(5, 40, 4, seed=3, soft=True)
    shuffled = table.take(np.random.default_rng(seed).permutation(len(table)))
    first, second = (rate_blocks(blocked(rows), judge="j", draws=30) for rows in (table, shuffled))
    assert first.languages["en"].draws.tobytes() == second.languages["en"].draws.tobytes()
    assert first.table().equals(second.table())
