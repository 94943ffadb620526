"""Is one system better than another: verdicts, what queries could show, and what simulation says of the promises."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest
from arena_writer import make_answer, make_judgment, write_arena
from commands import mirage as run
from golden.cases import read_table
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import mirage
from mirage import schema
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, NotEnoughData, TableMissing, UnknownName
from mirage.ranking.board import leaderboard
from mirage.ranking.bootstrap import rate
from mirage.ranking.compare.comparing import compare_ratings, compare_systems
from mirage.ranking.compare.paired import (
    LanguageDifferences,
    PairedEstimate,
    estimate_difference,
    plan_queries,
    sign_test_power,
)
from mirage.ranking.compare.records import ComparisonReport
from mirage.ranking.settings import CompareSettings
from mirage.store.arena import Arena
from mirage.text.numbers import FORMATS
from mirage.views.comparison import comparison_view

SIMULATED = 200
"""Arenas of a simulation."""
WIDE = 3 * 0.0154
"""Three standard errors of a share of 5% of them."""


def in_english(values: Any, strata: Any = None) -> dict[str, LanguageDifferences]:
    """Differences in one language, of one stratum unless given."""
    values = np.asarray(values, dtype=float)
    ids = tuple(f"q{k}" for k in range(len(values)))
    return {"en": LanguageDifferences(ids, values, np.zeros(len(ids), np.intp) if strata is None else strata)}


def estimated(values: Any, reach: float | None, strata: Any = None, **how: Any) -> PairedEstimate:
    return estimate_difference(in_english(values, strata), reach=reach, **how)


def planned(values: Any, tests: int = 1) -> PairedEstimate:
    return plan_queries(estimated(values, 1.0, tests=tests), in_english(values), 1.0, tests)


def arena_of(path: Path, values: dict[str, dict[str, list[float | None]]], feature: str = "n_words") -> Arena:
    """An arena with one feature: by language and system the value on each query, null where there is none."""
    rows = [
        schema.Feature(code, f"q{k}", system, feature, value, None if value is not None else "made up")
        for code, systems in values.items()
        for system, numbers in systems.items()
        for k, value in enumerate(numbers)
    ]
    return write_arena(path, {"features": rows})


def outcomes_arena(path: Path, right: dict[str, dict[str, list[bool]]]) -> Arena:
    """An arena with outcomes: by language and system whether it is right, on relevant and other queries by turns."""
    rows = []
    for code, systems in right.items():
        for system, correct in systems.items():
            for k, is_right in enumerate(correct):
                subset = "non_relevant" if k % 2 else "relevant"
                outcome = "answered" if is_right == (subset == "relevant") else "abstained"
                rows.append(
                    schema.OutcomeRow(code, f"q{k}", system, "strict", subset, outcome, "made up", None, None, is_right)
                )
    return write_arena(path, {"outcomes": rows})


def of_words(first: list[float | None], second: list[float | None], tmp_path: Path, **how: Any) -> ComparisonReport:
    arena = arena_of(tmp_path / "words", {"en": {"new": first, "old": second}}, "length")
    return compare_systems(arena, "new", "old", CompareSettings(measure="feature:length", **how))


@pytest.mark.parametrize(("first", "verdict"), [(90.0, "higher"), (10.0, "lower")])
def test_pitfall_243_no_system_is_better_by_a_feature_without_a_better_direction(
    first: float, verdict: str, tmp_path: Path
) -> None:
    values = {"new": [first + k % 3 for k in range(30)], "old": [50.0] * 30}
    arena = arena_of(tmp_path / "words", {"en": values}, "length")
    view = comparison_view(arena, "new", "old", CompareSettings(measure="feature:length"))
    assert (view.overall.verdict, view.exit_code()) == (verdict, 0)
    said = f"{view.conclusion} {view.evidence} {' '.join(view.remarks)}"
    assert f"{verdict} values" in view.conclusion
    assert "neither direction is better" in said
    assert "better than" not in said


# What simulation says. Answers are right by an item-response model with a random difficulty of every query, lengths are
# log-normal with a random length of every query: nothing that the code itself assumes.


def right_or_wrong(rng: np.random.Generator, n: int, lead: float) -> np.ndarray:
    """Differences of two systems' right answers: logistic abilities `lead` apart, difficulties of a uniform spread."""
    difficulty = rng.uniform(-2.5, 2.0, n)
    chances = [1 / (1 + np.exp(difficulty - ability)) for ability in (lead, 0.0)]
    first, second = (rng.random(n) < chance for chance in chances)
    return first.astype(float) - second.astype(float)


def lengths(rng: np.random.Generator, n: int, lead: float) -> np.ndarray:
    """Differences of two systems' lengths, `lead` apart, that share the length of the query."""
    common = rng.gamma(4.0, 12.0, n)
    return common * (rng.lognormal(-0.08, 0.4, n) - rng.lognormal(-0.08, 0.4, n)) + lead


@pytest.mark.parametrize("n", [12, 60, 250])
@pytest.mark.parametrize(("draw", "reach"), [(right_or_wrong, 1.0), (lengths, None)])
def test_equal_systems_are_told_apart_in_at_most_a_twentieth_of_arenas(draw: Any, reach: float | None, n: int) -> None:
    rng = np.random.default_rng([1, n])
    wrong = covered = 0
    for _ in range(SIMULATED):
        differences = draw(rng, n, 0.0)
        estimate = estimated(differences, reach)
        if estimate.low is None or estimate.high is None:
            continue
        covered += estimate.low <= 0 <= estimate.high
        wrong += estimate.p <= 0.05 and not estimate.low <= 0 <= estimate.high
    assert wrong / SIMULATED <= 0.05 + WIDE
    assert covered / SIMULATED >= 0.95 - WIDE


@pytest.mark.parametrize("n", [40, 250])
@pytest.mark.parametrize(("draw", "lead"), [(right_or_wrong, 1.0), (lengths, 6.0)])
def test_intervals_of_unequal_systems_cover_what_they_promise(draw: Any, lead: float, n: int) -> None:
    truth = float(draw(np.random.default_rng(0), 2_000_000, lead).mean())
    rng = np.random.default_rng([2, n])
    covered = 0
    for _ in range(SIMULATED):
        differences = draw(rng, n, lead)
        estimate = estimated(differences, 1.0 if draw is right_or_wrong else None)
        covered += bool(estimate.low <= truth <= estimate.high)
    assert abs(covered / SIMULATED - 0.95) <= WIDE


def test_strata_of_unequal_size_weigh_the_same_and_cover() -> None:
    rng, covered = np.random.default_rng(3), 0
    strata = np.repeat([0, 1], [150, 30])
    truth = float(np.mean([right_or_wrong(np.random.default_rng(0), 2_000_000, lead).mean() for lead in (1.0, -0.5)]))
    for _ in range(SIMULATED):
        parts = [right_or_wrong(rng, 150, 1.0), right_or_wrong(rng, 30, -0.5)]
        estimate = estimated(np.concatenate(parts), 1.0, strata)
        covered += bool(estimate.low <= truth <= estimate.high)
        assert estimate.value == pytest.approx(np.mean([part.mean() for part in parts]))
    assert abs(covered / SIMULATED - 0.95) <= WIDE


@pytest.mark.parametrize(("n", "share"), [(20, 0.1), (40, 0.05), (60, 0.4), (250, 0.3)])
def test_the_detectable_difference_is_found_in_four_of_five_pitfall_216(n: int, share: float) -> None:
    """Of wins, ties and losses: with as many differing queries as there are, or more where it takes more."""
    rng, found, times = np.random.default_rng([4, n]), 0, 100
    sample = np.where(np.arange(n) < share * n, 1.0, 0.0) * np.where(np.arange(n) % 2, 1, -1)
    least = planned(sample).detectable
    assert least is not None
    differ = max(least, (share * n + 1) / (n + 1))
    for _ in range(times):
        u = rng.random(n)
        values = np.where(u < (differ + least) / 2, 1.0, np.where(u < differ, -1.0, 0.0))
        estimate = estimated(values, 1.0)
        found += estimate.p <= 0.05 and estimate.value > 0
    assert found / times == pytest.approx(0.8, abs=0.12)


@pytest.mark.parametrize("kind", ["two orders", "smooth", "unbounded"])
@pytest.mark.parametrize("n", [40, 150])
def test_the_detectable_difference_of_graded_values_is_found_in_four_of_five(kind: str, n: int) -> None:
    rng, reach = np.random.default_rng([5, n]), None if kind == "unbounded" else 1.0

    def draw(lead: float) -> np.ndarray:
        if kind == "unbounded":
            return lengths(rng, n, lead)
        sizes = (
            rng.choice([0, 0.5, 1], n, p=[0.4, 0.4, 0.2]) if kind == "two orders" else np.abs(rng.beta(2, 2, n) - 0.5)
        )
        mean = 0.4 if kind == "two orders" else 0.1875
        return sizes * np.where(rng.random(n) < (1 + lead / mean) / 2, 1, -1)

    least = [(planned(d) if reach else estimated(d, None)).detectable for d in (draw(0.0) for _ in range(15))]
    found = [estimated(draw(float(size)), reach).low > 0 for size in least for _ in range(8)]  # type: ignore[arg-type,operator]
    assert np.mean(found) == pytest.approx(0.8, abs=0.12)


@pytest.mark.parametrize(*read_table("needed_queries"))
def test_so_many_queries_in_all_are_asked_for_definition_16(
    wins: int, losses: int, ties: int, tests: int, needed: int | None
) -> None:
    """The smallest number at which the exact sign test has 80% power, by adding up all outcomes of it; none where it is
    decided, five queries differ, both win equally often, or nine differ of the ten that 15 languages need."""
    values = np.repeat([1.0, -1.0, 0.0], [wins, losses, ties])
    estimate = planned(values, tests)
    n, m, level = len(values), wins + losses, 0.05 / tests

    def power(total: int) -> float:
        chances = [(m + 1) / (n + 1) * won for won in (wins / (m + 1), 1 - wins / (m + 1))]
        return sum(
            float(stats.multinomial.pmf([b, c, total - b - c], total, [*chances, 1 - sum(chances)]))
            for b in range(total + 1)
            for c in range(total + 1 - b)
            if b > c and stats.binomtest(b, b + c).pvalue <= level
        )

    assert estimate.needed == needed or estimate.p <= 0.05
    if needed is not None and needed < 60:
        assert power(needed) >= 0.8 > max(power(needed - k) for k in (1, 2, 3))
        assert sign_test_power(needed, (m + 1) / (n + 1), wins / (m + 1), level) == pytest.approx(power(needed))


@given(
    st.lists(st.tuples(st.sampled_from([-1, -0.5, 0, 0.5, 1]), st.integers(0, 2)), min_size=1, max_size=30),
    st.booleans(),
    st.floats(0, 1),
    st.integers(1, 3),
)
@example([(1, 0)] * 5 + [(0.25, 0)] + [(0, 0)] * 14, False, 0.0, 1)  # p is exactly 5%
def test_p_interval_and_verdict_are_one_statement_pitfall_202(
    rows: list[tuple[float, int]], whole: bool, margin: float, tests: int
) -> None:
    values = np.array([np.trunc(value) if whole else value for value, _ in rows])
    _, strata = np.unique([kind for _, kind in rows], return_inverse=True)
    there, back = (estimated(sign * values, 1.0, strata, tests=tests) for sign in (1, -1))
    assert (there.value, there.p) == pytest.approx((-back.value, back.p))
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))  # type: ignore[operator]
    assert -1 <= there.low <= there.value <= there.high <= 1  # type: ignore[operator]
    assert (there.p <= 0.05) == (there.low > 0 or there.high < 0)  # type: ignore[operator]
    assert planned(values, tests).needed is None or there.p > 0.05 or strata.any()
    if whole and len(set(strata.tolist())) == 1:
        won, lost = int((values > 0).sum()), int((values < 0).sum())
        exact = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
        assert there.p == pytest.approx(min(1, tests * exact))
        if not won:
            assert there.low == pytest.approx(
                -stats.beta.ppf(1 - 0.025 / tests, lost + 1, len(values) - lost) if lost < len(values) else -1
            )


def rare(share: float, n: int) -> Any:
    """Differences to one side."""
    return lambda rng: -(rng.random(n) < share).astype(float)


@pytest.mark.parametrize(("share", "n"), [(0.03, 20), (0.05, 40), (0.1, 60)])
def test_rare_differences_cover_and_are_seldom_equivalent_pitfall_216(share: float, n: int) -> None:
    rng = np.random.default_rng([216, n])
    estimates = [estimated(rare(share, n)(rng), 1.0) for _ in range(SIMULATED)]
    assert np.mean([e.low <= -share <= e.high for e in estimates]) >= 0.95 - WIDE  # type: ignore[operator]
    assert np.mean([-share <= e.low for e in estimates]) <= 0.025 + WIDE  # type: ignore[operator]


def judged(rng: np.random.Generator, n: int, strengths: dict[str, float], language: str = "en") -> pa.Table:
    """Verdicts on all pairs: Thurstone's model, with a strength of each system that varies from query to query."""
    names = sorted(strengths)
    columns: dict[str, list[str]] = {
        k: [] for k in ("language", "query_id", "judge", "system_a", "system_b", "verdict")
    }
    for k in range(n):
        level = {name: strengths[name] + rng.normal(0, 0.6) for name in names}
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                gap = level[a] - level[b] + rng.normal(0, 1)
                verdict = "tie" if abs(gap) < 0.15 else "A" if gap > 0 else "B"
                for column, value in zip(columns.values(), (language, f"q{k}", "j", a, b, verdict), strict=True):
                    column.append(value)
    return schema.from_columns("judgments", columns)


def by_rating(table: pa.Table, first: str, second: str, **how: Any) -> ComparisonReport:
    return compare_ratings(rate(from_judgments(table), draws=200), first, second, **how)


def test_ratings_of_equal_systems_are_told_apart_in_at_most_a_twentieth_and_cover() -> None:
    rng, wrong, covered = np.random.default_rng(6), 0, 0
    for _ in range(SIMULATED):
        row = by_rating(judged(rng, 40, {"a": 0.0, "b": 0.0, "c": 0.5}), "a", "b").overall
        wrong += row.p <= 0.05
        assert (row.p <= 0.05) == (not row.low <= 0 <= row.high)
        covered += row.low <= 0 <= row.high
    assert wrong / SIMULATED <= 0.05 + WIDE
    assert covered / SIMULATED >= 0.95 - WIDE


def test_systems_that_meet_are_compared_by_their_points_against_each_other() -> None:
    rng = np.random.default_rng(7)
    table = judged(rng, 60, {"a": 0.0, "b": 0.6, "c": 0.3})
    row = by_rating(table, "a", "b").overall
    pairs = [r for r in table.to_pylist() if {r["system_a"], r["system_b"]} == {"a", "b"}]
    won = sum({"A": 1, "B": -1, "tie": 0}[r["verdict"]] for r in pairs)
    assert row.difference == pytest.approx(won / 60)
    assert row.board == rate(from_judgments(table), draws=2).difference("a", "b").value
    twice = pa.concat_tables([table, table])
    assert by_rating(twice, "a", "b").overall.p == pytest.approx(row.p)
    assert by_rating(table, "a", "b", margin=2.0).overall.verdict in ("equivalent", "worse")
    assert by_rating(judged(rng, 60, {"a": 0.0, "b": 9.0}), "a", "b").exit_code() == 1


def by_people(seed: int, people: int, each: int, queries: int, shift: float = 0.0) -> list[dict[str, Any]]:
    """Votes of people with a taste, on two systems."""
    rng = np.random.default_rng(seed)
    taste, ease = rng.normal(shift, 0.7, people), rng.normal(0, 0.5, queries)
    return [
        {"query_id": f"q{q}", "system_a": "a", "system_b": "b", "voter": f"v{v}"}
        | {"verdict": "A" if rng.normal() < taste[v] + ease[q] else "B"}
        for v in range(people)
        for q in rng.choice(queries, each, replace=False).tolist()
    ]


def test_a_voter_in_several_languages_is_one_cluster_of_all() -> None:
    """Renamed in one language, the same votes are of more people, and only the row of all languages knows more."""
    votes = [row | {"language": code} for code in ("en", "fi") for row in by_people(3, 20, 30, 60)]
    votes += [row | {"system_b": "c"} for row in votes]
    renamed = [row | {"voter": row["voter"] + row["language"]} for row in votes]
    one, more = (
        {row["language"]: row["high"] - row["low"] for row in leaderboard(mirage.rank(rows)).to_pylist()[::3]}
        for rows in (votes, renamed)
    )
    assert one["en"] == pytest.approx(more["en"])
    assert one["all"] > 1.2 * more["all"]
    one, more = (mirage.compare(rows, "a", "b").rows[-1] for rows in (votes, renamed))
    assert one.high - one.low > 1.2 * (more.high - more.low)


def graded(seed: int) -> list[dict[str, Any]]:
    """Points between 0 and 1 on two systems in two languages, of which one has more queries."""
    rng = np.random.default_rng(seed)
    points = np.clip(rng.normal(0.62, 0.25, 36), 0, 1).tolist()
    return [
        {"query_id": f"q{k}", "language": "en" if k % 3 else "fi", "system_a": "a", "system_b": "b", "points": x}
        | {"verdict": "A" if x > 0.5 else "B"}
        for k, x in enumerate(points)
    ]


@pytest.mark.parametrize(
    "rows",
    [
        *(by_people(seed, 8, 60, 60) for seed in (1, 2)),
        *(by_people(seed, 20, 20, 60, 0.4) for seed in (1, 2)),
        *(graded(seed) for seed in range(4)),
    ],
)
def test_two_systems_have_one_test_interval_and_win_rate_in_every_door_pitfall_202(rows: Any) -> None:
    ranking = mirage.rank(rows, draws=100)
    scope = list(ranking.languages)[-1]
    row, tests = mirage.compare(ranking, "a", "b").overall, ranking.tests[scope]
    assert tests.adjusted[tests.index_of("a", "b")] == pytest.approx(row.p)
    ahead = row.p <= 0.05
    board = {r["system"]: r for r in leaderboard(ranking, scope).to_pylist()}
    first, other = sorted(board, key=lambda system: -board[system]["rating"])
    assert ahead == (board[first]["low"] > 0) == (board[other]["high"] < 0) == (board[first]["best"] == "best")
    said = ranking.remarks[0]
    assert ("ahead of" in said) == ahead
    if ahead:
        ends = sorted((1 + end) / 2 if first == "a" else (1 - end) / 2 for end in (row.low, row.high))
        rates = (FORMATS["rate"].write(x) for x in (*ends, (1 + abs(row.difference)) / 2))
        assert all(text in said for text in rates), said
        assert f"against {other}" in said


def test_systems_that_never_meet_are_compared_by_the_board_and_never_equivalent() -> None:
    rng = np.random.default_rng(8)
    table = judged(rng, 60, {"a": 0.0, "b": 0.1, "c": 0.3})
    apart = table.filter(pa.compute.equal(table["system_b"], "c"))
    report = by_rating(apart, "a", "b", margin=50.0)
    gap = rate(from_judgments(apart), draws=200).difference("a", "b")
    assert (report.unit, report.overall.difference) == ("logits", gap.value)
    assert report.overall.verdict == "inconclusive"
    assert report.overall.queries_needed is None


def test_a_pair_that_never_meets_has_its_own_interval_whatever_the_board_adjusts() -> None:
    names, found = [f"s{k}" for k in range(8)], 0
    for seed in range(12):
        table = judged(np.random.default_rng((48, seed)), 30, dict.fromkeys(names, 0.0) | {"s0": 1.0, "z": 0.3})
        ranking = rate(from_judgments(table.filter(pa.compute.equal(table["system_b"], "z"))), draws=200)
        (code,), row = ranking.languages, compare_ratings(ranking, "s0", "s1").overall
        tests, pair = ranking.tests[code], ranking.tests[code].index_of("s0", "s1")
        low, high = ranking.languages[code].differences("s1", system="s0")[1:, 0]
        assert (row.p <= 0.05) == (not row.low <= 0 <= row.high)
        expected = (high - low) / 2 * (1 + stats.t.ppf(0.8, row.n_queries - 1) / stats.t.ppf(0.975, row.n_queries - 1))
        assert row.detectable == pytest.approx(expected, rel=1e-3)
        found += row.p <= 0.05 < tests.adjusted[pair] and low > 0
    assert found, "the board leaves some together that a comparison separates"


def test_ratings_that_only_tie_are_equivalent_within_an_unseen_query() -> None:
    ties = judged(np.random.default_rng(8), 40, {"a": 0.0, "b": 0.0})
    ties = ties.set_column(ties.column_names.index("verdict"), "verdict", pa.array(["tie"] * len(ties)))
    row = by_rating(ties, "a", "b", margin=0.05).overall
    assert (row.verdict, row.p, row.differing) == ("inconclusive", 1, 0)
    assert by_rating(ties, "a", "b", margin=0.1).overall.verdict == "equivalent"


def test_the_difference_of_ratings_is_that_of_the_ranking(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    tables = [judged(rng, 30, {"a": 0.0, "b": 0.4, "c": 1.0}, code) for code in ("en", "fi")]
    arena = write_arena(tmp_path / "arena", {"judgments": pa.concat_tables(tables)})
    ranking = mirage.rank(arena, draws=100)
    report = compare_systems(arena, "a", "b", CompareSettings(draws=100, moved=1000))
    for row in report.rows:
        assert row.board == ranking.difference("a", "b", language=row.language).value
    assert [row.language for row in report.rows] == ["en", "fi", "all"]
    # The queries are those that the battles of the two decide, by count.
    rows = [row for table in tables for row in table.to_pylist() if {row["system_a"], row["system_b"]} == {"a", "b"}]
    points = Counter[tuple[str, str]]()
    for row in rows:
        won = row[{"A": "system_a", "B": "system_b"}.get(row["verdict"], "judge")]
        points[row["language"], row["query_id"]] += {"a": 1, "b": -1}.get(won, 0)
    assert {(m.language, m.query_id): m.difference for m in report.moved} == {k: v for k, v in points.items() if v}
    assert report == compare_systems(arena, "a", "b", CompareSettings(draws=100, moved=1000))


@pytest.mark.parametrize(("first", "second"), [([3.0], [5.0]), ([3.0, 3.0, 3.0], [3.0, 3.0, 3.0])])
def test_without_a_spread_of_an_unbounded_measure_there_is_no_interval(
    tmp_path: Path, first: list[float | None], second: list[float | None]
) -> None:
    row = of_words(first, second, tmp_path, margin=100.0).overall
    assert row.verdict == "inconclusive"
    assert (row.low, row.high, row.detectable, row.queries_needed) == (None,) * 4
    assert row.reason is not None
    assert row.difference == first[0] - second[0]  # type: ignore[operator]


def test_identical_systems_are_equivalent_within_what_so_many_queries_can_show(tmp_path: Path) -> None:
    same = [bool(k % 3) for k in range(400)]
    arena = outcomes_arena(tmp_path / "arena", {"en": {"new": same, "old": same}})
    few = compare_systems(arena, "new", "old", CompareSettings(measure="rate", margin=0.001)).overall
    assert few.verdict == "inconclusive"
    assert "0 queries" in (few.reason or "")
    row = compare_systems(arena, "new", "old", CompareSettings(measure="rate", margin=0.05)).overall
    assert (row.verdict, row.difference, row.differing, row.p, row.reason) == ("equivalent", 0.0, 0, 1.0, None)
    assert -0.05 < row.low < 0 < row.high < 0.05
    assert row.queries_needed is None


def test_a_difference_of_rates_is_that_of_the_rates(tmp_path: Path) -> None:
    rng = np.random.default_rng(10)
    right = {
        code: {name: (rng.random(80) < p).tolist() for name, p in (("new", 0.8), ("old", 0.6))} for code in ("en", "sw")
    }
    arena = outcomes_arena(tmp_path / "arena", right)
    rates = {(row["language"], row["subset"], row["system"]): row["rate"] for row in mirage.rates(arena)}
    for row in compare_systems(arena, "new", "old", CompareSettings(measure="rate")).rows:
        gaps = [rates[row.language, s, "old"] - rates[row.language, s, "new"] for s in ("relevant", "non_relevant")]
        assert row.difference == pytest.approx(sum(gaps) / 2)


def test_languages_are_corrected_for_their_number_and_one_alone_for_none(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    right = {code: {name: (rng.random(60) < p).tolist() for name, p in (("new", 0.8), ("old", 0.6))} for code in "abc"}
    arena = outcomes_arena(tmp_path / "arena", {f"{code}r": row for code, row in right.items()})
    settings = CompareSettings(measure="rate")
    report = compare_systems(arena, "new", "old", settings)
    assert report.n_tests == 3
    for row in report.rows[:-1]:
        alone = compare_systems(arena, "new", "old", replace(settings, languages=(row.language,))).overall
        assert row.p == pytest.approx(min(1, 3 * alone.p))
        assert row.low < alone.low < alone.high < row.high
        assert (row.verdict in ("better", "worse")) == (row.p <= 0.05) == (row.low > 0 or row.high < 0)
    assert report.overall.difference == pytest.approx(np.mean([row.difference for row in report.rows[:-1]]))


def test_one_worse_language_ends_a_gate_that_all_languages_together_would_pass(tmp_path: Path) -> None:
    right = {
        "en": {"new": [True] * 200, "old": [False] * 200},
        "sw": {"new": [False] * 60, "old": [True] * 60},
        "te": {"new": [True] * 60, "old": [True] * 60},
    }
    arena = outcomes_arena(tmp_path / "arena", right)
    report = compare_systems(arena, "new", "old", CompareSettings(measure="rate"))
    assert report.worse == ("sw",)
    assert report.exit_code() == 1


def test_queries_of_one_system_alone_are_counted_and_left_out(tmp_path: Path) -> None:
    row = of_words([1.0, 2.0, None, 4.0], [2.0, 4.0, 9.0, None], tmp_path).overall
    assert (row.n_queries, row.unpaired, row.difference) == (2, 2, -1.5)
    with pytest.raises(NotEnoughData):
        of_words([1.0, None], [None, 2.0], tmp_path / "apart")


def test_where_lower_is_better_the_sign_is_turned(tmp_path: Path) -> None:
    values = {"en": {"new": [0.0, 1.0, 0.0], "old": [2.0, 2.0, 3.0]}}
    arena = arena_of(tmp_path / "arena", values, "n_unknown_citations")
    report = compare_systems(arena, "new", "old", CompareSettings(measure="feature:n_unknown_citations"))
    assert report.overall.difference == pytest.approx(2.0)
    assert (report.moved[0].query_id, report.moved[0].difference) == ("q2", 3.0)


def test_two_runs_of_a_system_go_together_by_key(tmp_path: Path) -> None:
    today = arena_of(tmp_path / "today", {"en": {"bot": [5.0, 6.0, 7.0, 9.0]}}, "length")
    yesterday = arena_of(tmp_path / "yesterday", {"en": {"bot": [4.0, 4.0, 6.0]}, "fi": {"bot": [1.0]}}, "length")
    report = compare_systems(today, "bot", settings=CompareSettings(measure="feature:length"), against=yesterday)
    assert {row.language: (row.n_queries, row.unpaired) for row in report.rows} == {
        "en": (3, 1),
        "fi": (0, 1),
        "all": (3, 2),
    }
    assert report.rows[0].difference == pytest.approx(4 / 3)
    with pytest.raises(BadInput):
        compare_systems(today, "bot", against=yesterday)


def test_ratings_of_two_runs_are_those_of_one_arena_with_both(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    right = {name: (rng.random(60) < p).tolist() for name, p in (("new", 0.8), ("old", 0.6), ("other", 0.7))}
    both = outcomes_arena(tmp_path / "both", {"en": right})
    today = outcomes_arena(tmp_path / "today", {"en": {"new": right["new"], "other": right["other"]}})
    yesterday = outcomes_arena(tmp_path / "yesterday", {"en": {"new": right["old"]}})
    expected = compare_systems(both, "new", "old", CompareSettings(judge="relevance"))
    report = compare_systems(today, "new", settings=CompareSettings(judge="relevance"), against=yesterday)
    assert report.overall.difference == pytest.approx(expected.overall.difference, abs=1e-6)
    assert report.overall.n_queries == 60
    assert report.overall.verdict == expected.overall.verdict == "better"
    assert (report.first, report.second) == ("new", "new (yesterday)")


def judged_arena(path: Path, wins: dict[tuple[str, str], int], n: int = 60) -> Arena:
    """An arena with verdicts: of each pair, how many of the queries the first wins; the second wins the others."""
    rows = [
        make_judgment("en", f"q{k:02}", "judge-x", a, b, "A" if k < won else "B")
        for (a, b), won in wins.items()
        for k in range(n)
    ]
    return write_arena(path, {"judgments": rows})


def test_runs_that_a_judge_saw_apart_meet_through_the_others(tmp_path: Path) -> None:
    today = judged_arena(tmp_path / "today", {("bot", "x"): 50, ("bot", "y"): 45, ("x", "y"): 30})
    yesterday = judged_arena(tmp_path / "yesterday", {("bot", "x"): 20, ("y", "bot"): 45, ("x", "y"): 1})
    report = compare_systems(today, "bot", against=yesterday)
    assert report.overall.verdict == "better"
    assert report.overall.difference == pytest.approx(np.log(5) + np.log(2) - 0.35, abs=0.5)
    back = compare_systems(yesterday, "bot", against=today)
    assert back.overall.verdict == "worse"
    apart = judged_arena(tmp_path / "apart", {("bot", "z"): 20})
    with pytest.raises(NotEnoughData):
        compare_systems(today, "bot", against=apart)
    with pytest.raises(UnknownName):
        compare_systems(today, "bot", "nobody", against=yesterday)


@pytest.mark.parametrize(
    ("second", "options", "error"),
    [
        ("new", {}, BadInput),
        ("nobody", {}, UnknownName),
        ("old", {"margin": -1.0}, BadInput),
        ("old", {"margin": float("nan")}, BadInput),
        ("old", {"measure": "beauty"}, UnknownName),
        ("old", {"measure": "feature:beauty"}, UnknownName),
        ("old", {"measure": "rate"}, TableMissing),
        ("old", {"measure": "feature:length", "judge": "j"}, BadInput),
        ("old", {"languages": ("fi",)}, UnknownName),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, second: str, options: dict[str, Any], error: type[Exception]
) -> None:
    arena = arena_of(tmp_path / "arena", {"en": {"new": [1.0, 2.0], "old": [2.0, 3.0]}}, "length")
    with pytest.raises(error):
        compare_systems(arena, "new", second, CompareSettings(**{"measure": "feature:length"} | options))


# The command


@pytest.fixture(scope="module")
def gates(module_path: Path) -> Path:
    """An arena whose `good` is better than `base`, whose `bad` is worse, and whose `like` differs on two queries."""
    path = module_path / "arena"
    base = [k % 2 == 0 for k in range(60)]
    systems = {
        "base": base,
        "good": [True] * 60,
        "bad": [False] * 60,
        "like": [not right if k < 2 else right for k, right in enumerate(base)],
        "<&|bad": [False] * 60,
    }
    outcomes_arena(path, dict.fromkeys(("en", "sw"), systems))
    return path


@pytest.mark.parametrize(*read_table("gates"))
def test_the_exit_code_the_junit_file_and_the_summary_say_the_same(
    gates: Path, tmp_path: Path, system: str, options: list[str], code: int
) -> None:
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = ("compare", gates, system, "base", "--measure", "rate", *options)
    done = run(*words, "--junit", junit, "--markdown", summary, "--format", "json", code=code)
    if code == 2:
        assert not junit.exists()
        return
    rows = json.loads(done.stdout)
    suite = ElementTree.parse(junit).getroot()[0]
    assert [case.get("classname") for case in suite] == ["mirage.compare"] * len(rows)
    assert (int(suite.get("failures", "")) > 0) == (code != 0)
    assert len(suite.findall(".//failure")) == int(suite.get("failures", ""))
    text = summary.read_text("utf-8")
    assert ("✅" in text) == (code == 0)
    assert rows[-1]["verdict"] in text
    assert all(query["query_id"] in text for query in rows[-1]["moved"])


def test_names_cannot_break_the_files(gates: Path, tmp_path: Path) -> None:
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = ("compare", gates, "<&|bad", "base", "--measure", "rate", "--junit", junit)
    run(*words, "--markdown", summary, code=1)
    names = [case.get("name") or "" for case in ElementTree.parse(junit).getroot()[0]]
    assert all("<&|bad" in name for name in names)
    table = [line for line in summary.read_text("utf-8").splitlines() if line.startswith("| ")]
    widths = {len(line.replace("\\|", "").split("|")) for line in table}
    assert widths == {10, 7}


def test_a_comparison_by_nuggets_is_that_of_the_scores(tmp_path: Path) -> None:
    keys = [f"q{k}" for k in range(8)]
    bank = [schema.Nugget("en", q, f"n{i}", f"fact {i}", "vital", None, "a test") for q in keys for i in range(2)]
    rng = np.random.default_rng(12)
    stated = {(q, s, i): bool(rng.random() < c) for q in keys for s, c in (("new", 0.9), ("old", 0.3)) for i in (0, 1)}
    given_to = [
        schema.NuggetAssignment("en", q, s, f"n{i}", "m", "support" if yes else "not_support", None, None, None)
        for (q, s, i), yes in stated.items()
    ]
    answers = [make_answer("en", q, s, f"An answer of {s}.") for q in keys for s in ("new", "old")]
    tables = {
        "answers": answers,
        "nuggets": bank,
        "nugget_assignments": given_to,
    }
    arena = write_arena(tmp_path / "arena", tables)
    row = compare_systems(arena, "new", "old", CompareSettings(measure="nuggets")).overall
    share = {name: np.mean([yes for (_, s, _), yes in stated.items() if s == name]) for name in ("new", "old")}
    assert row.difference == pytest.approx(share["new"] - share["old"])
    assert row.n_queries == 8
