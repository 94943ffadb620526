"""The paper's tournaments: against choix on lists of pairs, draws, failures, the width that follows an option."""

import itertools
from dataclasses import replace
from pathlib import Path

import choix
import numpy as np
import pytest
import small_arena
from arena_writer import make_judgment, write_arena
from commands import mirage
from commands import rows as rows_of

from benchmarks.simulated import simulate_arena
from mirage import schema
from mirage.battles.counts import Battles
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import NotEnoughData
from mirage.ranking.bootstrap import rate
from mirage.ranking.paper import play
from mirage.ranking.stage import tournament_rows
from mirage.store.arena import open_arena
from mirage.store.runs import settings_of


@pytest.fixture(scope="module")
def battles() -> dict[str, Battles]:
    simulation = simulate_arena(systems=6, queries=40, languages=["en", "sw"], seed=4, tie=0.2)
    return from_judgments(simulation.tables["judgments"], judge="judge")


def undefeated() -> dict[str, Battles]:
    """`a` always beats the others, who beat each other in turn."""
    rows = [
        make_judgment("en", f"q{q}", "j", *pair, "A" if "a" in pair or q % 2 else "B")
        for q in range(10)
        for pair in itertools.combinations("abc", 2)
    ]
    return from_judgments(schema.from_rows("judgments", rows), judge="j")


# --- what a tournament is ---------------------------------------------------------------------------------------------


def test_a_tournament_is_choix_on_the_pairs_of_the_drawn_queries_without_ties(battles: dict[str, Battles]) -> None:
    played = play(battles, tournaments=3, matches=30, seed=2)
    for code, result in played.languages.items():
        for queries, theta in zip(result.drawn, result.theta, strict=True):
            assert queries.shape == (30,)
            pairs = [
                (i, j)
                for q in queries
                for i, j in itertools.product(range(6), repeat=2)
                for _ in range(battles[code].wins[q, i, j])
            ]
            assert theta == pytest.approx(choix.ilsr_pairwise(6, pairs), abs=1e-7)


def test_two_orders_of_a_pair_are_two_matches() -> None:
    simulation = simulate_arena(systems=4, queries=20, languages=["en"], seed=4, orders=2)
    both = from_judgments(simulation.tables["judgments"], judge="judge")
    result = play(both, tournaments=1, matches=20, seed=0).languages["en"]
    counts = both["en"].wins[result.drawn[0]].sum(axis=0).astype(float)
    assert counts.sum() > 20 * 6
    assert result.theta[0] == pytest.approx(choix.ilsr_pairwise_dense(counts), abs=1e-9)


def test_a_languages_draws_depend_on_the_seed_and_not_on_other_languages(
    battles: dict[str, Battles],
) -> None:
    played = play(battles, tournaments=2, seed=1)
    alone = play({"sw": battles["sw"]}, tournaments=2, seed=1)
    assert (alone.languages["sw"].theta == played.languages["sw"].theta).all()
    calls: list[tuple[int, int]] = []
    other = play({"sw": battles["sw"]}, tournaments=2, seed=2, progress=lambda *count: calls.append(count))
    assert calls == [(1, 2), (2, 2)]
    assert (alone.languages["sw"].theta != other.languages["sw"].theta).any()
    assert (alone.languages["sw"].times().sum(axis=1) == 100).all()


# --- pitfalls ---------------------------------------------------------------------------------------------------------


def test_the_width_of_the_published_interval_is_an_option_and_ours_is_not(battles: dict[str, Battles]) -> None:
    """Pitfall 35: four times the drawn queries, half the width, for the same data."""

    def width(matches: int) -> float:
        low, high = play(battles, tournaments=200, matches=matches).languages["en"].interval()
        return float((high - low).mean())

    assert width(100) / width(400) == pytest.approx(2, rel=0.15)
    widths = [np.diff(rate(battles, draws=draws).languages["en"].interval(), axis=0).mean() for draws in (200, 800)]
    assert widths[0] / widths[1] == pytest.approx(1, rel=0.1)


def test_an_undefeated_system_stops_a_tournament_and_no_other_estimator_takes_over() -> None:
    """Pitfall 34."""
    played = play(undefeated(), tournaments=4, matches=8)
    result = played.languages["en"]
    assert result.fitted == 0
    assert set(result.failed.values()) == {"a never lost"}
    assert np.isnan(result.theta).all()
    assert played.remarks() == ["en: 4 of 4 tournaments have no rating; in number 0 a never lost"]
    with pytest.raises(NotEnoughData, match="none of 4 tournaments in en has a rating; in the first a never lost"):
        result.mean()
    table = played.table()
    schema.validate("tournaments", table)
    assert set(table["rating"].to_pylist()) == {None}
    assert set(table["reason"].to_pylist()) == {"a never lost"}


def test_some_failed_tournaments_are_counted_and_the_mean_is_over_the_others() -> None:
    few = simulate_arena(systems=5, queries=12, languages=["en"], seed=1)
    played = play(from_judgments(few.tables["judgments"], judge="judge"), tournaments=60, matches=4)
    result = played.languages["en"]
    assert 0 < len(result.failed) < 60
    assert result.fitted == 60 - len(result.failed)
    assert np.isfinite(result.mean()).all()
    assert np.isnan(result.theta[sorted(result.failed)]).all()
    assert result.rated == result.fitted / 60 < 0.95
    with pytest.raises(NotEnoughData, match=f"{result.fitted} of 60 tournaments have a rating"):
        result.interval()
    (*rows,) = tournament_rows(played)
    assert {(row["low"], row["high"], row["rated"]) for row in rows} == {(None, None, result.rated)}
    assert all(row["rating"] is not None and "under 95%" in row["reason"] for row in rows)
    nulls = [row["draw"] for row in played.table().to_pylist() if row["rating"] is None]
    assert set(nulls) == set(result.failed)


def test_from_95_percent_of_the_tournaments_there_is_an_interval_and_below_none(battles: dict[str, Battles]) -> None:
    result = play(battles, tournaments=40).languages["en"]
    assert not result.failed
    for failed, expected in ((2, True), (3, False)):
        theta = result.theta.copy()
        theta[:failed] = np.nan
        changed = replace(result, theta=theta, failed=dict.fromkeys(range(failed), "no maximum"))
        assert changed.rated == (40 - failed) / 40
        assert (changed.lacking is None) is expected
        (*rows,) = tournament_rows(replace(play(battles, tournaments=1), languages={"en": changed}))
        assert all((row["low"] is not None) is expected and (row["reason"] is None) is expected for row in rows)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def arena(tmp_path: Path, battles: dict[str, Battles]) -> Path:
    simulation = simulate_arena(systems=6, queries=40, languages=["en", "sw"], seed=4, tie=0.2)
    return write_arena(tmp_path / "a", dict(simulation.tables), label="simulated").path


def test_paper_mode_prints_the_published_interval_and_says_so(arena: Path, battles: dict[str, Battles]) -> None:
    result = mirage("rank", "paper", arena, "--judge", "judge", "--draws", 20, "--format", "csv")
    rows, message = rows_of(result), result.stderr
    expected = play(battles, tournaments=20)
    assert [row["language"] for row in rows] == ["en"] * 6 + ["sw"] * 6
    assert [int(row["rank"]) for row in rows] == [1, 2, 3, 4, 5, 6] * 2
    result = expected.languages["sw"]
    best = int(np.argmax(result.mean()))
    assert (rows[6]["system"], float(rows[6]["rating"])) == (result.systems[best], result.mean()[best])
    assert (float(rows[6]["low"]), float(rows[6]["high"])) == tuple(result.interval()[:, best])
    assert {row["tournaments"] for row in rows} == {"20"}
    assert "as published: choix.ilsr_pairwise" in message
    assert "ties dropped; mean and 95% percentiles over 20 tournaments of 100 drawn queries" in message
    assert "the width follows the number of drawn queries" in message


def test_paper_mode_stores_every_tournament_beside_those_of_other_judges(arena: Path) -> None:
    command = ("rank", "paper", arena, "--judge", "judge", "--draws", 5, "--store")
    mirage(*command)
    once = {p.name: p.read_bytes() for p in arena.rglob("*.parquet")}
    mirage(*command)
    assert {p.name: p.read_bytes() for p in arena.rglob("*.parquet")} == once
    opened = open_arena(arena)
    assert opened.rows("tournaments") == 2 * 5 * 6
    assert (settings_of(opened, "tournaments", "judge") or {})["method"] == "published"
    assert "ratings" not in opened.tables


def test_paper_mode_by_relevance_and_without_any_rating(tmp_path: Path) -> None:
    folder = small_arena.write(tmp_path).path
    by_labels = mirage("rank", "paper", folder, "--judge", "relevance", "--draws", 3, "--format", "csv")
    assert {row["language"] for row in rows_of(by_labels)} == {"en", "fi"}
    verdicts = [
        make_judgment("en", "q", "j", "x", "y", "A"),
        make_judgment("en", "q2", "j", "x", "y", "tie"),
    ]
    other = write_arena(tmp_path / "b", {"judgments": verdicts}).path
    result = mirage("rank", "paper", other, "--judge", "j", "--draws", 3, "--format", "csv")
    assert [(row["system"], row["rating"], row["rank"], row["failed"]) for row in rows_of(result)] == [
        ("x", "", "", "3"),
        ("y", "", "", "3"),
    ]
    assert "3 of 3 tournaments have no rating; in number 0 x never lost; y never won" in result.stderr
