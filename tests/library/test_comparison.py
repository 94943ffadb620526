"""Is one system better than another: verdicts, what queries could show, and what simulation says of the promises."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from commands import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import mirage
from mirage import schema
from mirage.battles.verdict_rows import from_judgments
from mirage.cli import app
from mirage.errors import BadInput, NotEnoughData, TableMissing, UnknownName
from mirage.ranking.bootstrap import rate
from mirage.ranking.compare.comparing import compare_ratings, compare_systems
from mirage.ranking.compare.paired import more_queries, paired_estimate
from mirage.ranking.compare.records import ComparisonReport
from mirage.ranking.settings import CompareSettings
from mirage.store import writing
from mirage.store.arena import Arena, open_arena
from mirage.views.comparison import comparison_view

SIMULATED = 800
"""Arenas of a simulation: a share of 5% then has a standard error of 0.8 points."""


def flat(differences: np.ndarray) -> np.ndarray:
    """Queries of one stratum."""
    return np.zeros(len(differences), dtype=np.intp)


def arena_of(path: Path, values: dict[str, dict[str, list[float | None]]], feature: str = "n_words") -> Arena:
    """An arena with one feature: by language and system the value on each query, null where there is none."""
    rows = [
        schema.Feature(code, f"q{k}", system, feature, value, None if value is not None else "made up")
        for code, systems in values.items()
        for system, numbers in systems.items()
        for k, value in enumerate(numbers)
    ]
    writing.write(path, {"features": schema.from_rows(schema.Feature, rows)}, made_by="a test")
    return open_arena(path)


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
    writing.write(path, {"outcomes": schema.from_rows(schema.OutcomeRow, rows)}, made_by="a test")
    return open_arena(path)


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
        estimate = paired_estimate(differences, flat(differences), reach=reach)
        if estimate.low is None or estimate.high is None:
            continue
        covered += estimate.low <= 0 <= estimate.high
        wrong += estimate.p <= 0.05 and not estimate.low <= 0 <= estimate.high
    assert wrong / SIMULATED <= 0.05 + 2 * 0.0077
    assert covered / SIMULATED >= 0.93


@pytest.mark.parametrize("n", [40, 250])
@pytest.mark.parametrize(("draw", "lead"), [(right_or_wrong, 1.0), (lengths, 6.0)])
def test_intervals_of_unequal_systems_cover_what_they_promise(draw: Any, lead: float, n: int) -> None:
    truth = float(draw(np.random.default_rng(0), 2_000_000, lead).mean())
    rng = np.random.default_rng([2, n])
    covered = 0
    for _ in range(SIMULATED):
        differences = draw(rng, n, lead)
        estimate = paired_estimate(differences, flat(differences), reach=1.0 if draw is right_or_wrong else None)
        covered += bool(estimate.low <= truth <= estimate.high)
    assert 0.93 <= covered / SIMULATED <= 0.97


def test_strata_of_unequal_size_weigh_the_same_and_cover() -> None:
    rng, covered = np.random.default_rng(3), 0
    strata = np.repeat([0, 1], [150, 30])
    truth = float(np.mean([right_or_wrong(np.random.default_rng(0), 2_000_000, lead).mean() for lead in (1.0, -0.5)]))
    for _ in range(SIMULATED):
        parts = [right_or_wrong(rng, 150, 1.0), right_or_wrong(rng, 30, -0.5)]
        estimate = paired_estimate(np.concatenate(parts), strata, reach=1.0)
        covered += bool(estimate.low <= truth <= estimate.high)
        assert estimate.value == pytest.approx(np.mean([part.mean() for part in parts]))
    assert 0.93 <= covered / SIMULATED <= 0.97


@pytest.mark.parametrize("n", [30, 200])
def test_the_detectable_difference_is_detected_in_four_of_five(n: int) -> None:
    rng = np.random.default_rng([4, n])
    large = lengths(rng, 500_000, 0.0)
    detectable = paired_estimate(large[:n], flat(large[:n]), reach=None).detectable
    assert detectable is not None
    # What n queries detect rests on the true spread: that of half a million queries, brought to n.
    estimate = paired_estimate(large, flat(large), reach=None)
    assert estimate.error is not None
    assert detectable == pytest.approx(2.85 * estimate.error * (len(large) / n) ** 0.5, rel=0.3)
    seen = detected = 0
    for _ in range(SIMULATED):
        differences = lengths(rng, n, 0.0)
        of_zero = paired_estimate(differences, flat(differences), reach=None)
        detected += paired_estimate(differences + of_true(of_zero, estimate, n), flat(differences), reach=None).low > 0
        seen += 1
    assert 0.75 <= detected / seen <= 0.85


def of_true(of_few: Any, of_many: Any, n: int) -> float:
    """The difference that n queries detect by their true spread."""
    return float(of_few.detectable / of_few.error * of_many.error * (of_many.n_queries / n) ** 0.5)


@pytest.mark.parametrize(("lead", "margin"), [(3.0, 0.0), (0.0, 6.0), (2.0, 6.0), (4.0, 5.0)])
def test_so_many_more_queries_decide_in_four_of_five(lead: float, margin: float) -> None:
    rng = np.random.default_rng([5, int(lead), int(margin)])
    # A sample that looks just as the truth is, so that the number asked for is that of the truth.
    sample = lengths(rng, 60, 0.0)
    sample = (sample - sample.mean()) / sample.std(ddof=1) * lengths(rng, 500_000, 0.0).std() + lead
    estimate = paired_estimate(sample, flat(sample), reach=None)
    need = more_queries(estimate, margin)
    assert need.more is not None
    total, decided = 60 + need.more, 0
    for _ in range(SIMULATED):
        differences = lengths(rng, total, lead)
        drawn = paired_estimate(differences, flat(differences), reach=None)
        decided += drawn.low > 0 or drawn.high < 0 or (-margin <= drawn.low and drawn.high <= margin)
    assert 0.75 <= decided / SIMULATED <= 0.85
    assert need.low is not None
    assert need.low <= need.more <= (need.high or need.more)
    assert (need.high is None) == (margin == 0)


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
    rng, wrong, covered, times = np.random.default_rng(6), 0, 0, 400
    for _ in range(times):
        row = by_rating(judged(rng, 40, {"a": 0.0, "b": 0.0, "c": 0.5}), "a", "b").overall
        wrong += row.p <= 0.05
        assert (row.p <= 0.05) == (not row.low <= 0 <= row.high)
        covered += row.low <= 0 <= row.high
    assert wrong / times <= 0.05 + 2 * 0.011
    assert 0.93 - 0.011 <= covered / times <= 0.97 + 0.011


def test_no_number_of_queries_is_promised_to_tell_twins_apart_pitfall_130() -> None:
    rng = np.random.default_rng(130)
    rows = [by_rating(judged(rng, 40, {"a": 0.0, "b": 0.0, "c": 0.5}), "a", "b").overall for _ in range(5)]
    undecided = [row for row in rows if row.verdict == "inconclusive"]
    assert len(undecided) >= 3
    for row in undecided:
        assert (row.more, row.more_high) == (None, None)
        assert row.more_low > 0
        assert row.reason


def test_ratings_are_told_apart_as_often_as_the_detectable_difference_promises() -> None:
    from scipy.special import stdtr, stdtrit

    rng, n, times = np.random.default_rng(13), 60, 300
    strengths = {"a": 0.53, "b": 0.0, "c": 0.5}
    truth = by_rating(judged(rng, 20_000, strengths), "a", "b").overall.difference
    rows = [by_rating(judged(rng, n, strengths), "a", "b").overall for _ in range(times)]
    half, more = stdtrit(n - 1, 0.975), stdtrit(n - 1, 0.8)
    error = np.mean([row.detectable for row in rows]) / (half + more)
    promised = stdtr(n - 1, truth / error - half)
    assert 0.7 < promised < 0.9
    assert abs(np.mean([row.p <= 0.05 and row.difference > 0 for row in rows]) - promised) <= 0.05


def test_a_system_that_never_wins_is_worse_with_no_lower_bound() -> None:
    rng = np.random.default_rng(7)
    report = by_rating(judged(rng, 60, {"a": 0.0, "b": 9.0}), "a", "b")
    row = report.overall
    assert row.verdict == "worse"
    assert row.low is None
    assert row.high is not None
    assert row.high < 0
    assert row.detectable is None
    assert row.reason is not None
    assert (by_rating(judged(rng, 60, {"a": 9.0, "b": 0.0}), "a", "b").overall.verdict) == "better"
    assert report.exit_code() == 1


def test_ratings_that_only_tie_are_not_told_apart() -> None:
    ties = judged(np.random.default_rng(8), 40, {"a": 0.0, "b": 0.0})
    ties = ties.set_column(ties.column_names.index("verdict"), "verdict", pa.array(["tie"] * len(ties)))
    row = by_rating(ties, "a", "b").overall
    assert row.verdict == "inconclusive"
    assert row.difference == pytest.approx(0)
    assert row.p == 1
    assert row.differing == 0
    assert by_rating(ties, "a", "b", margin=2.0).overall.verdict == "equivalent"


def test_the_difference_of_ratings_is_that_of_the_ranking(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    tables = [judged(rng, 30, {"a": 0.0, "b": 0.4, "c": 1.0}, code) for code in ("en", "fi")]
    writing.write(tmp_path / "arena", {"judgments": pa.concat_tables(tables)}, made_by="a test")
    arena = open_arena(tmp_path / "arena")
    ranking = mirage.rank(arena, draws=100)
    report = compare_systems(arena, "a", "b", CompareSettings(draws=100, moved=1000))
    for row in report.rows:
        gap = ranking.difference("a", "b", language=row.language)
        assert (row.difference, row.low, row.high) == (gap.value, gap.low, gap.high)
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
    assert (row.low, row.high, row.detectable, row.more) == (None,) * 4
    assert row.reason is not None
    assert row.difference == first[0] - second[0]  # type: ignore[operator]


def test_identical_systems_are_equivalent_within_what_so_many_queries_can_show(tmp_path: Path) -> None:
    same = [bool(k % 3) for k in range(400)]
    arena = outcomes_arena(tmp_path / "arena", {"en": {"new": same, "old": same}})
    few = compare_systems(arena, "new", "old", CompareSettings(measure="rate", margin=0.001)).overall
    assert few.verdict == "inconclusive"
    assert "400 queries" in (few.reason or "")
    row = compare_systems(arena, "new", "old", CompareSettings(measure="rate", margin=0.05)).overall
    assert (row.verdict, row.difference, row.differing, row.p, row.reason) == ("equivalent", 0.0, 0, 1.0, None)
    assert -0.05 < row.low < 0 < row.high < 0.05
    assert (row.more, row.more_low, row.more_high) == (0, 0, 0)


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


def test_holm_holds_over_the_languages_and_the_overall_row_stands_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    noise = {f"{a}{b}": rng.normal(0, 1, 30) for a, b in zip("abdefhijkl", "abgnrurtap", strict=True)}
    codes = ("ar", "bn", "de", "en", "es", "fa", "fi", "fr", "hi", "id")
    values = {
        code: {"new": (part + 50 + (0.4 if code == "ar" else 0.0)).tolist(), "old": [50.0] * 30}
        for code, part in zip(codes, noise.values(), strict=True)
    }
    report = compare_systems(
        arena_of(tmp_path / "arena", values, "length"), "new", "old", CompareSettings(measure="feature:length")
    )
    languages = report.rows[:-1]
    assert report.overall.language == "all"
    assert report.overall.p == report.overall.p_holm
    assert all(row.p_holm >= row.p for row in languages)
    assert min(row.p_holm for row in languages) == pytest.approx(min(10 * min(row.p for row in languages), 1))
    assert report.overall.difference == pytest.approx(np.mean([row.difference for row in languages]))
    for row in languages:
        assert (row.verdict in ("better", "worse")) == (row.p_holm <= 0.05)


def test_one_worse_language_ends_a_gate_that_all_languages_together_would_pass(tmp_path: Path) -> None:
    right = {
        "en": {"new": [True] * 200, "old": [False] * 200},
        "sw": {"new": [False] * 60, "old": [True] * 60},
        "te": {"new": [True] * 60, "old": [True] * 60},
    }
    arena = outcomes_arena(tmp_path / "arena", {code: right[code] for code in ("en", "sw")} | {"te": right["te"]})
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
        schema.Judgment("en", f"q{k:02}", "judge-x", a, b, "A" if k < won else "B", None, None, None)
        for (a, b), won in wins.items()
        for k in range(n)
    ]
    writing.write(path, {"judgments": schema.from_rows(schema.Judgment, rows)}, made_by="a test")
    return open_arena(path)


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


@given(st.integers(2, 400), st.floats(0.005, 0.9))
def test_two_runs_with_equal_values_are_equivalent_unless_many_queries_could_differ(n: int, margin: float) -> None:
    estimate = paired_estimate(np.zeros(n), flat(np.zeros(n)), reach=1.0)
    otherwise = 1 - 0.025 ** (1 / n)
    assert estimate.otherwise == pytest.approx(otherwise)
    assert (estimate.low, estimate.high) == pytest.approx((-otherwise, otherwise))
    if otherwise > margin:
        more = more_queries(estimate, margin).more
        assert more is not None
        bounds = [1 - 0.025 ** (1 / (n + extra)) for extra in (more - 1, more)]
        assert bounds[1] <= margin * (1 + 1e-9)
        assert bounds[0] > margin * (1 - 1e-9)


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


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40),
    st.floats(0, 3, allow_nan=False),
)
def test_swapping_the_systems_mirrors_the_comparison(pairs: list[tuple[int, int]], margin: float) -> None:
    differences = np.array([a - b for a, b in pairs], dtype=float)
    there, back = (paired_estimate(sign * differences, flat(differences), reach=3.0) for sign in (1, -1))
    assert there.value == -back.value
    assert there.p == pytest.approx(back.p)
    if there.low is None or there.high is None:
        assert len(pairs) == 1
        return
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))  # type: ignore[operator]
    assert -3 <= there.low <= there.value <= there.high <= 3
    need, mirrored = more_queries(there, margin), more_queries(back, margin)
    assert (need.more is None) == (mirrored.more is None)
    if need.more is not None and need.low is not None:
        assert need.low <= need.more


# The command


def command(*words: str) -> Any:
    return CliRunner().invoke(app, ["compare", *words])


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arena whose `good` is better than `base`, whose `bad` is worse, and whose `like` differs on two queries."""
    path = tmp_path_factory.mktemp("gates") / "arena"
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


@pytest.mark.parametrize(
    ("system", "options", "code"),
    [
        ("good", ["--require"], 0),
        ("bad", [], 1),
        ("bad", ["--require"], 1),
        ("like", [], 0),
        ("like", ["--require"], 3),
        ("like", ["--require", "--margin", "0.5"], 0),
        ("nobody", [], 2),
    ],
)
def test_the_exit_code_the_junit_file_and_the_summary_say_the_same(
    gates: Path, tmp_path: Path, system: str, options: list[str], code: int
) -> None:
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = [str(gates), system, "base", "--measure", "rate", *options]
    done = command(*words, "--junit", str(junit), "--markdown", str(summary), "--format", "json")
    assert done.exit_code == code, done.output
    if code == 2:
        assert not junit.exists()
        return
    rows = json.loads(done.stdout)
    suite = ElementTree.parse(junit).getroot()[0]
    assert [case.get("classname") for case in suite] == ["mirage.compare"] * len(rows)
    assert (int(suite.get("failures", "")) > 0) == (code != 0)
    assert len(suite.findall(".//failure")) == int(suite.get("failures", ""))
    text = summary.read_text(encoding="utf-8")
    assert ("✅" in text) == (code == 0)
    assert rows[-1]["verdict"] in text
    assert all(query["query_id"] in text for query in rows[-1]["moved"])


def test_names_cannot_break_the_files(gates: Path, tmp_path: Path) -> None:
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = ["<&|bad", "base", "--measure", "rate", "--junit", str(junit)]
    assert command(str(gates), *words, "--markdown", str(summary)).exit_code == 1
    names = [case.get("name") or "" for case in ElementTree.parse(junit).getroot()[0]]
    assert all("<&|bad" in name for name in names)
    table = [line for line in summary.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
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
    answers = [
        schema.Answer("en", q, s, f"An answer of {s}.", "ok", None, None, None) for q in keys for s in ("new", "old")
    ]
    tables = {
        "answers": schema.from_rows(schema.Answer, answers),
        "nuggets": schema.from_rows(schema.Nugget, bank),
        "nugget_assignments": schema.from_rows(schema.NuggetAssignment, given_to),
    }
    arena = writing.write(tmp_path / "arena", tables, made_by="a test")
    row = compare_systems(arena, "new", "old", CompareSettings(measure="nuggets")).overall
    share = {name: np.mean([yes for (_, s, _), yes in stated.items() if s == name]) for name in ("new", "old")}
    assert row.difference == pytest.approx(share["new"] - share["old"])
    assert row.n_queries == 8
