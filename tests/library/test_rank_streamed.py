"""Rankings of battles a block of queries at a time: the same as in memory, whatever the order of the pieces."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_streamed_cases import COLUMNS, openers, verdicts

import mirage
from mirage import schema, store
from mirage.battles import blocks, from_judgments
from mirage.battles.blocks import count_blocks
from mirage.cli import app
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm.engines.processes import Processes
from mirage.ranking import large, streamed
from mirage.ranking.bootstrap import rate
from mirage.ranking.settings import RankSettings
from mirage.ranking.streamed import rate_blocks


@pytest.mark.parametrize(
    ("ties", "penalty", "soft"),
    [("half", "jeffreys", False), ("half", "none", False), ("drop", "jeffreys", False), ("half", "jeffreys", True)],
)
def test_ratings_records_and_tests_are_those_of_the_ranking_in_memory(ties: Any, penalty: Any, soft: bool) -> None:
    table = verdicts(9, 150, 8, seed=1, languages=("en", "sw"), soft=soft)
    whole = rate(from_judgments(table, judge="j"), ties=ties, penalty=penalty, draws=400)
    parts = rate_blocks(
        openers(table, drop_ties=ties == "drop"), referee="j", ties=ties, penalty=penalty, draws=400, intervals="draws"
    )
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
        assert parts.tiers[code].systems == whole.tiers[code].systems
        apart = np.sign(parts.tiers[code].t) == np.sign(whole.tiers[code].t)
        assert apart.all()
    columns = [
        name for name in schema.arrow_schema("ratings").names if name not in ("low", "high", "rank_low", "rank_high")
    ]
    fixed = [name for name in columns if name not in ("rating", "tier")]
    assert parts.table().select(fixed).equals(whole.table().select(fixed))


def test_the_tests_of_fitted_differences_are_those_of_a_ranking_in_memory() -> None:
    table = verdicts(70, 300, 60, seed=2)
    whole = rate(from_judgments(table, judge="j"), draws=20)
    parts = rate_blocks(openers(table), referee="j", draws=20, intervals="draws")
    np.testing.assert_allclose(parts.tiers["en"].t, whole.tiers["en"].t, atol=1e-6)
    np.testing.assert_allclose(parts.tiers["en"].df, whole.tiers["en"].df)
    assert parts.tiers["en"].tiers == whole.tiers["en"].tiers
    np.testing.assert_allclose(parts.languages["en"].theta, whole.languages["en"].theta, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 7, 100, 10_000]))
@settings(max_examples=8, deadline=None)
def test_the_order_of_the_verdicts_and_the_size_of_the_pieces_change_no_byte(seed: int, size: int) -> None:
    table = verdicts(5, 40, 4, seed=3, soft=True)
    shuffled = table.take(np.random.default_rng(seed).permutation(len(table)))
    first = rate_blocks(openers(table), referee="j", draws=30, intervals="draws")
    second = rate_blocks(openers(shuffled, size=size), referee="j", draws=30, intervals="draws")
    assert first.languages["en"].draws.tobytes() == second.languages["en"].draws.tobytes()
    assert first.table().equals(second.table())


def test_blocks_hold_whole_queries_and_every_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "QUERIES", 10)
    table = verdicts(6, 200, 5, seed=4)
    battles = from_judgments(table, judge="j")["en"]
    with count_blocks(table.select(COLUMNS).to_batches(max_chunksize=64)) as counted:
        parts = list(counted.blocks())
        assert len(parts) > 10
        assert sum(part.n_queries for part in parts) == counted.n_queries == len(battles.queries)
        assert sum(len(part.query) for part in parts) == counted.n_cells
        taken = sum(float(part.first.sum() + part.second.sum()) for part in parts)
        folder = counted.buckets.folder
    assert taken == battles.record().sum() / 2
    assert not folder.exists()


def test_sandwich_draws_are_as_wide_as_the_bootstrap_if_nobody_nearly_always_wins() -> None:
    table = verdicts(8, 400, 6, seed=5)
    drawn = rate_blocks(openers(table), referee="j", intervals="draws")
    normal = rate_blocks(openers(table), referee="j", intervals="sandwich")
    ratio = np.ptp(normal.languages["en"].interval(), axis=0) / np.ptp(drawn.languages["en"].interval(), axis=0)
    assert (np.abs(ratio - 1) < 0.2).all()
    assert normal.intervals == ("sandwich",)
    assert "sandwich" in normal.method
    assert "sandwich" not in drawn.method
    assert normal.tiers["en"].tiers == drawn.tiers["en"].tiers


def test_the_sandwich_is_taken_where_draws_would_take_long_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    table = verdicts(4, 30, 4, seed=6)
    assert rate_blocks(openers(table), referee="j", draws=20).intervals == ("draws",)
    monkeypatch.setattr(streamed, "LONG", 100)
    assert rate_blocks(openers(table), referee="j", draws=20).intervals == ("sandwich",)


def test_the_truth_lies_in_the_intervals() -> None:
    """Two systems, 0.8 points of a battle expected: theta differs by log(0.8 / 0.2)."""
    inside = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 9])
        won = rng.random(300) < 0.8
        table = pa.table(
            {
                "language": ["en"] * 300,
                "query_id": [str(k) for k in range(300)],
                "system_a": ["a"] * 300,
                "system_b": ["b"] * 300,
                "verdict": np.where(won, "A", "B").tolist(),
                "points": pa.nulls(300, pa.float64()),
            }
        )
        difference = rate_blocks(openers(table), referee="j", draws=200).difference("a", "b")
        assert difference.low is not None
        assert difference.high is not None
        inside += difference.low <= np.log(4) <= difference.high
    assert inside >= 34  # under 34 of 40 has a chance of 0.4% at 95%


def test_what_cannot_be_counted_is_refused_with_its_place() -> None:
    def table(**changes: Any) -> pa.Table:
        row = {"language": "en", "query_id": "q", "system_a": "a", "system_b": "b", "verdict": "A", "points": None}
        return pa.table({name: [value] for name, value in (row | changes).items()})

    for changes, error, words in (
        ({"system_b": "a"}, BadInput, "battles itself"),
        ({"verdict": "both"}, UnknownName, "both"),
        ({"verdict": "unparsed"}, NotEnoughData, "unparsed"),
    ):
        with pytest.raises(error, match=words):
            rate_blocks(openers(table(**changes)), referee="j")
    with pytest.raises(BadInput, match="davidson"):
        rate_blocks(openers(table()), referee="j", ties="davidson")
    with pytest.raises(NotEnoughData, match="ties are dropped"):
        rate_blocks(openers(table(verdict="tie"), drop_ties=True), referee="j", ties="drop")


def test_a_large_file_or_arena_is_ranked_without_reading_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = verdicts(6, 60, 6, seed=7, languages=("en", "fi"))
    path = tmp_path / "battles.parquet"
    pq.write_table(table, path)
    small = mirage.rank(path, draws=50)
    monkeypatch.setattr(large, "LARGE", 100)
    ranking = mirage.rank(path, draws=50)
    np.testing.assert_allclose(ranking.languages["all"].theta, small.languages["all"].theta, atol=1e-6)
    assert any("block" in line for line in ranking.remarks)
    assert not any("block" in line for line in small.remarks)
    assert ranking.to_pandas("fi")["tier"].notna().all()
    with pytest.raises(UnknownName, match="judge"):
        mirage.rank(path, judge="k")

    rows = table.append_column("rationale", pa.nulls(len(table), pa.string()))
    keys = [name for name in schema.key("judgments") if name in rows.column_names]
    unique = rows.group_by(keys).aggregate([("verdict", "min"), ("points", "max")])
    judgments = schema.from_columns(
        "judgments", {**{k: unique[k] for k in keys}, "verdict": unique["verdict_min"], "points": unique["points_max"]}
    )
    arena = store.write(tmp_path / "arena", {"judgments": judgments}, made_by="a test")
    assert mirage.rank(arena, draws=50).remarks[-1].startswith("counted in blocks")
    for place in (path, tmp_path / "arena"):
        result = CliRunner().invoke(app, ["rank", str(place), "--judge", "j", "--draws", "50", "--format", "csv"])
        assert result.exit_code == 0, result.output
        systems = {row["system"] for row in csv.DictReader(result.stdout.splitlines())}
        assert systems == set(table["system_a"].to_pylist()) | set(table["system_b"].to_pylist())
    result = CliRunner().invoke(app, ["rank", str(path), "--judge", "j", "--store"])
    assert result.exit_code == 2
    result = CliRunner().invoke(app, ["rank", str(arena.path), "--judge", "j", "--draws", "50", "--store"])
    assert result.exit_code == 0, result.output
    kept = store.open_arena(arena.path)
    assert store.check(kept)
    again = mirage.rank(kept, judge="j", draws=50)
    order = [(name, "ascending") for name in ("language", "system")]
    assert kept.read("ratings").sort_by(order).to_pylist() == again.table().sort_by(order).to_pylist()
    store.write(arena.path, {"judgments": judgments.slice(0, 400)}, made_by="a test")
    with pytest.raises(store.Outdated):
        large.keep_ratings(kept, again, made_by="a test")


def test_counting_in_processes_makes_the_bytes_of_counting_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "battles.parquet"
    pq.write_table(verdicts(6, 80, 6, seed=9, languages=("en", "fi"), soft=True), path, row_group_size=100)
    files = large.VerdictFiles.of_file(path)
    assert files is not None
    here = large.rank_files(files, RankSettings(draws=20))
    there = large.rank_files(files, RankSettings(draws=20), executor=Processes(2))
    assert there.table().equals(here.table())
    for code, row in here.languages.items():
        assert there.languages[code].draws.tobytes() == row.draws.tobytes()
    monkeypatch.setattr(large, "LARGE", 100)
    command = ["rank", str(path), "--draws", "20", "--format", "csv"]
    outputs = [
        CliRunner().invoke(app, [*command, *more]).stdout for more in ([], ["--engine", "processes", "--workers", "2"])
    ]
    assert outputs[0] == outputs[1] != ""
    by_hand = mirage.rank(path, draws=20, executor=Processes(2))
    assert by_hand.table().equals(mirage.rank(path, draws=20).table())
    assert any("blocks of queries" in remark for remark in by_hand.remarks)
    refused = CliRunner().invoke(app, [*command, "--address", "127.0.0.1:1"])
    assert refused.exit_code == 2


def test_a_worker_says_what_it_cannot_count(tmp_path: Path) -> None:
    path = tmp_path / "battles.parquet"
    pq.write_table(pa.table({"system_a": ["x"], "system_b": ["x"], "verdict": ["A"]}), path)
    files = large.VerdictFiles.of_file(path)
    assert files is not None
    with pytest.raises(BadInput, match="battles itself"):
        large.rank_files(files, executor=Processes(1))


@given(st.integers(2, blocks.MOST_SYSTEMS), st.floats(0, 1, exclude_max=True))
def test_a_pair_tells_its_systems(systems: int, share: float) -> None:
    pairs = systems * (systems - 1) // 2
    for pair in {0, int(share * pairs), pairs - 1}:
        (i,), (j,) = blocks.systems_of(np.array([pair], dtype=np.int32), systems)
        assert 0 <= i < j < systems
        assert i * (2 * systems - i - 1) // 2 + j - i - 1 == pair
    if systems < 100:
        every = blocks.systems_of(np.arange(pairs), systems)
        np.testing.assert_array_equal(every, np.triu_indices(systems, 1))


def test_a_file_without_ids_takes_every_battle_for_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE", 10)
    path = tmp_path / "battles.parquet"
    pq.write_table(verdicts(4, 50, 3, seed=8).select(["system_a", "system_b", "verdict"]), path)
    ranking = mirage.rank(path, draws=20)
    assert ranking.languages["und"].n_queries == 150


def test_counts_that_would_fill_the_memory_are_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "battles.parquet"
    pq.write_table(verdicts(4, 50, 3, seed=8), path)
    files = large.VerdictFiles.of_file(path)
    assert files is not None
    assert not files.large
    monkeypatch.setattr(large, "DENSE", 4 * 4 * 50 - 1)
    assert files.large
    monkeypatch.setattr(large, "DENSE", 4 * 4 * 50)
    assert not files.large
    assert large.VerdictFiles.of_file(tmp_path / "absent.parquet") is None


def test_battles_in_memory_are_counted_in_blocks_if_counts_would_fill_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table or CSV file of battles without query ids, whose counts by query and pair took 21 GB."""
    rows = [
        {"system_a": f"s{k % 5}", "system_b": f"s{(k % 5 + 1 + k % 3) % 5}", "verdict": "A" if k % 7 < 4 else "B"}
        for k in range(300)
    ]
    dense = mirage.rank(rows, draws=20)
    monkeypatch.setattr(large, "DENSE", 1000)
    blocks = mirage.rank(rows, draws=20)
    assert not blocks.battles
    assert any("blocks of queries" in remark for remark in blocks.remarks)
    assert any("no query_id" in remark for remark in blocks.remarks)
    np.testing.assert_allclose(blocks.languages["und"].theta, dense.languages["und"].theta, atol=1e-6)
