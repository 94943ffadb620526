"""A simulated arena holds what it says: valid tables, the truth it was drawn from, and the same bytes every time."""

import pyarrow.compute as pc
import pytest
from scipy.stats import kendalltau

from benchmarks.simulated import simulate_arena
from mirage import schema
from mirage.battles.verdict_rows import from_judgments
from mirage.ranking.bootstrap import rate


def test_the_tables_keep_the_contract_and_have_the_asked_size() -> None:
    simulation = simulate_arena(systems=5, queries=7, languages=["sw", "en"], seed=3)
    for name, table in simulation.tables.items():
        schema.validate(name, table)
        assert table == schema.sort(name, table)
    sizes = {name: table.num_rows for name, table in simulation.tables.items()}
    assert sizes == {"queries": 14, "features": 2 * 7 * 5 * 11, "judgments": 2 * 7 * 10}
    assert set(simulation.theta) == {"sw", "en"}
    for theta in simulation.theta.values():
        assert sum(theta.values()) == pytest.approx(0)


def test_a_ranking_finds_the_truth_and_features_follow_it() -> None:
    simulation = simulate_arena(queries=200, languages=["en"], seed=5)
    ranking = rate(from_judgments(simulation.tables["judgments"], judge="judge"), draws=2).languages["en"]
    truth = [simulation.theta["en"][system] for system in ranking.systems]
    assert kendalltau(ranking.theta, truth)[0] > 0.85
    means = simulation.tables["features"].group_by(["system", "feature"]).aggregate([("value", "mean")]).to_pylist()
    grade = {row["system"]: row["value_mean"] for row in means if row["feature"] == "answer_overlap_score"}
    assert kendalltau([grade[system] for system in ranking.systems], truth)[0] > 0.5


def test_orders_share_ties_and_the_leaning_to_the_first_are_as_asked() -> None:
    simulation = simulate_arena(
        systems=6, queries=80, languages=["en"], seed=2, orders=2, first=1.0, tie=0.3, share=0.5
    )
    rows = simulation.tables["judgments"]
    shown = {(r["query_id"], r["system_a"], r["system_b"]) for r in rows.to_pylist()}
    assert all((q, b, a) in shown for q, a, b in shown)
    assert 0.4 < rows.num_rows / (80 * 15 * 2) < 0.6
    counts = {r["values"]: r["counts"] for r in pc.value_counts(rows["verdict"]).to_pylist()}
    assert 0.25 < counts["tie"] / rows.num_rows < 0.35
    assert counts["A"] > 1.5 * counts["B"]
