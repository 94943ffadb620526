"""Ratings against textbooks, other programs, properties, and simulations with known truth."""

import ast
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import choix
import numpy as np
import pyarrow as pa
import pytest
import reference
from commands import run_python
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_cases import battles, judged, maximum, ratings, simulate

import mirage
from mirage import open_arena, schema
from mirage.battles.counts import Battles, from_outcomes
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.board import remarks
from mirage.ranking.bootstrap import rate
from mirage.ranking.compare.comparing import compare_ratings
from mirage.ranking.judges import LabelJudge
from mirage.ranking.resample import query_weights

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "bradley_terry.json").read_text("utf-8"))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: c["name"])
def test_textbook_strengths(case: Mapping[str, Any]) -> None:
    order = np.argsort(case["systems"])
    wins = np.asarray(case["wins"])[np.ix_(order, order)]
    theta = maximum(battles(wins[None], systems=sorted(case["systems"]))).theta
    expected = np.asarray(case["strengths"])[order]
    if case["scale"] == "strength":
        strengths = np.exp(theta)
    else:
        strengths = theta - theta[sorted(case["systems"]).index(case["systems"][-1])]
    np.testing.assert_allclose(strengths, expected, atol=0.5 * 10.0 ** -case["decimals"] + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_reference_that_is_written_to_be_read(seed: int) -> None:
    """tests/fixtures/reference.py; also nothing near the maximum has a larger likelihood."""
    battles = simulate(seed)
    points = battles.shared("half").sum(axis=0).astype(float)
    theta = maximum(battles, ridge=1e-12).theta
    np.testing.assert_allclose(theta, reference.bradley_terry(points.tolist()), atol=1e-6)
    rng = np.random.default_rng(seed)
    best = reference.log_likelihood(theta, points.tolist())
    for _ in range(20):
        assert reference.log_likelihood(theta + rng.normal(0, 0.01, len(theta)), points.tolist()) < best


def test_every_draw_is_the_maximum_of_its_own_likelihood() -> None:
    """The chord iteration of the draws against choix on the same resamples."""
    battles = simulate(4, tie=0.0)
    draws = maximum(battles, draws=25, seed=9, ridge=1e-12).draws
    times = query_weights("en", battles, draws=25, seed=9)
    # Draws are kept as wide as the ratings vary (`records.widen_draws`).
    middle = maximum(battles, draws=1, ridge=1e-12).theta
    draws = middle + (draws - middle) / np.sqrt((60 + 1) / (60 - 1))
    for row, draw in zip(times, draws, strict=True):
        counts = np.tensordot(row, battles.wins, axes=1).astype(float)
        expected = choix.ilsr_pairwise_dense(counts, alpha=0, tol=1e-12)
        # A draw is found to ten times 1e-5, which is far below what the draws differ by.
        np.testing.assert_allclose(draw, expected - expected.mean(), atol=1e-4)


count = st.integers(1, 6)


@settings(max_examples=60)
@given(st.lists(count, min_size=12, max_size=12), st.integers(0, 3), st.integers(1, 3), st.integers(1, 5))
def test_more_wins_never_lower_a_rating_pitfall_38(cells: list[int], system: int, gap: int, extra: int) -> None:
    wins = np.zeros((1, 4, 4))
    wins[0][~np.eye(4, dtype=bool)] = cells
    better = wins.copy()
    better[0, system, (system + gap) % 4] += extra
    before, after = ratings(battles(wins), draws=1).theta, ratings(battles(better), draws=1).theta
    assert after[system] > before[system] - 1e-9


@settings(max_examples=40)
@given(st.lists(count, min_size=12, max_size=12), st.permutations(range(4)))
def test_relabelling_systems_permutes_the_result(cells: list[int], order: list[int]) -> None:
    wins = np.zeros((1, 4, 4))
    wins[0][~np.eye(4, dtype=bool)] = cells
    theta = ratings(battles(wins), draws=1).theta
    moved = ratings(battles(wins[:, order][:, :, order]), draws=1).theta
    np.testing.assert_allclose(moved, theta[order], atol=1e-8)


@pytest.mark.parametrize("counted", ["half", "davidson"])
@pytest.mark.parametrize("penalty", ["none", "jeffreys"])
def test_ties_bring_two_unequal_systems_nearer_by_every_model_pitfall_6(counted: str, penalty: str) -> None:
    wins = np.full((1, 4, 4), 3)
    wins[0, 0] = 6
    wins[0][np.eye(4, dtype=bool)] = 0
    ties = np.zeros_like(wins)
    ties[0, 0, 1] = ties[0, 1, 0] = 3
    before = ratings(battles(wins), draws=1, penalty=penalty).theta
    after = ratings(battles(wins, ties), draws=1, ties=counted, penalty=penalty).theta
    assert 0 < after[0] - after[1] < before[0] - before[1] - 0.05


def test_duplicating_every_battle_within_its_query_narrows_nothing_pitfall_36() -> None:
    battles = simulate(5)
    doubled = replace(battles, wins=2 * battles.wins, ties=2 * battles.ties)
    a, b = ratings(battles, draws=200), ratings(doubled, draws=200)
    np.testing.assert_allclose(a.theta, b.theta, atol=1e-5)
    np.testing.assert_allclose(a.interval(), b.interval(), atol=1e-3)
    np.testing.assert_allclose(maximum(battles).theta, maximum(doubled).theta, atol=1e-6)


def test_the_width_of_an_interval_does_not_depend_on_the_number_of_draws_pitfall_35() -> None:
    battles = simulate(6, queries=100)
    widths = [np.ptp(ratings(battles, draws=n, seed=1).interval(), axis=0).mean() for n in (200, 1000, 4000)]
    assert max(widths) / min(widths) < 1.1


def test_ranking_a_subset_uses_its_battles_alone_pitfall_33() -> None:
    battles = simulate(8, tie=0.0)
    for chosen in (("s00", "s03", "s05"), ("s07", "s01"), ("s02", "s04", "s06", "s00")):
        subset = battles.subset(chosen)
        indices = [battles.systems.index(s) for s in sorted(chosen)]
        counts = battles.wins.sum(axis=0).astype(float)[np.ix_(indices, indices)]
        expected = choix.ilsr_pairwise_dense(counts, alpha=0, tol=1e-12)
        np.testing.assert_allclose(maximum(subset, ridge=1e-12).theta, expected - expected.mean(), atol=1e-7)


def test_a_subset_with_an_unknown_system_names_the_nearest_pitfall_44() -> None:
    with pytest.raises(UnknownName, match="s07"):
        simulate(8).subset(["s00", "s77"])


def test_an_undefeated_system_is_finite_first_and_flagged_pitfall_34() -> None:
    battles = simulate(9)
    wins, ties = battles.wins.copy(), battles.ties.copy()
    wins[:, 3, :] += wins[:, :, 3] + ties[:, 3, :]
    wins[:, :, 3] = ties[:, 3, :] = ties[:, :, 3] = 0
    ranking = ratings(replace(battles, wins=wins, ties=ties), draws=50)
    assert np.isfinite(ranking.theta).all()
    assert np.isfinite(ranking.draws).all()
    assert ranking.ranks()[3] == 1
    assert ranking.groups == (tuple(s for s in battles.systems if s != "s03"), ("s03",))
    assert "s03" not in ranking.bounded
    rest = ratings(replace(battles, wins=wins, ties=ties).subset([s for s in battles.systems if s != "s03"])).theta
    others = np.delete(ranking.theta, 3)
    # What it is compared with does not change by who is unbeaten: less than a hundredth of what a query can move.
    np.testing.assert_allclose(others - others.mean(), rest, atol=2e-3)
    assert ranking.interval()[1, 3] == np.inf
    assert np.isfinite(ranking.interval()[0, 3])


def test_two_groups_that_never_met_are_reported() -> None:
    wins = np.zeros((1, 5, 5))
    wins[0, :3, :3] = 1 - np.eye(3)
    wins[0, 3, 4] = wins[0, 4, 3] = 1
    ranking = ratings(battles(wins))
    assert ranking.groups == (("s00", "s01", "s02"), ("s03", "s04"))
    assert ranking.bounded == ("s00", "s01", "s02")


def test_a_language_does_not_depend_on_others_and_the_joint_row_is_their_mean() -> None:
    several = {
        code: replace(battles, queries=tuple(f"{code}-{query}" for query in battles.queries))
        for code, battles in (("ar", simulate(11)), ("en", simulate(12)), ("zh", simulate(13)))
    }
    together, alone = rate(several, draws=50), rate({"en": several["en"]}, draws=50)
    assert together.languages["en"].draws.tobytes() == alone.languages["en"].draws.tobytes()
    joint = together.languages["all"]
    parts = [together.languages[code] for code in several]
    np.testing.assert_allclose(joint.theta, np.mean([p.theta for p in parts], axis=0), atol=1e-12)
    moved = [p.draws - p.draws.mean(axis=0) + p.theta for p in parts]
    np.testing.assert_allclose(joint.draws, np.mean(moved, axis=0), atol=1e-12)
    assert joint.n_queries == 180
    assert "all" not in alone.languages


def test_queries_of_several_languages_are_one_unit_pitfall_123() -> None:
    """An id weighs the same in all languages; the row of a language and its translation is that language's."""
    battles = simulate(11)
    twice = rate({"ar": battles, "en": battles}, draws=500)
    for name in ("theta", "queries_by_system", "n_queries"):
        np.testing.assert_allclose(getattr(twice.languages["all"], name), getattr(twice.languages["en"], name))
    np.testing.assert_array_equal(*(query_weights(c, battles, shared=battles.queries) for c in ("ar", "en")))
    widths = [np.ptp(twice.languages[code].interval(), axis=0).mean() for code in ("all", "en")]
    own = {code: replace(battles, queries=tuple(f"{code}-{q}" for q in battles.queries)) for code in ("ar", "en")}
    independent = rate(own, draws=500)
    # What is not of the queries, the prior's part of a draw, each language draws for itself.
    assert 0.9 < widths[0] / widths[1] <= 1.02
    assert np.ptp(independent.languages["all"].interval(), axis=0).mean() / widths[1] < 0.8
    assert (twice.unit, independent.unit) == ("query shared by languages", "query")
    assert "query across languages" in twice.method
    assert "across" not in independent.method


def test_a_system_absent_from_a_language_is_left_out_of_the_joint_row_by_name() -> None:
    ranking = rate({"ar": simulate(11), "en": simulate(12).subset([f"s{k:02}" for k in range(7)])}, draws=5)
    assert ranking.left_out == ("s07",)
    assert "s07" not in ranking.languages["all"].systems
    assert "s07" in ranking.languages["ar"].systems


def test_rating_changes_neither_its_input_nor_the_global_generator_pitfall_8() -> None:
    battles = simulate(14)
    wins, ties = battles.wins.copy(), battles.ties.copy()
    state = np.random.get_state()[1].tobytes()  # noqa: NPY002  # the global generator is what must not move
    ratings(battles)
    assert (battles.wins == wins).all()
    assert (battles.ties == ties).all()
    assert np.random.get_state()[1].tobytes() == state  # noqa: NPY002  # as above


def test_a_system_alone_has_no_battle_to_rate() -> None:
    nothing = np.zeros((2, 1, 1), dtype=np.uint8)
    single = Battles(("a",), ("q1", "q2"), nothing, nothing, np.zeros(2, dtype=np.intp), "j", "both")
    with pytest.raises(NotEnoughData, match="no battles to rate"):
        rate({"en": single}, draws=10)


# From rows to battles


def test_unparsed_verdicts_are_no_ties_pitfall_5() -> None:
    with pytest.raises(NotEnoughData, match="unparsed"):
        from_judgments(judged(("en", "q", "j", "x", "y", "unparsed")), judge="j")


def test_an_unknown_judge_and_a_battle_with_oneself_are_refused() -> None:
    with pytest.raises(UnknownName, match="gpt-4o"):
        from_judgments(judged(("en", "q", "gpt-4o", "x", "y", "A")), judge="gpt4o")
    with pytest.raises(BadInput, match="battles itself"):
        from_judgments(judged(("en", "q", "j", "x", "x", "A")), judge="j")


def outcome_table(rows: list[tuple[str, str, str, str, str]]) -> pa.Table:
    """Rows of language, query_id, system, subset, outcome."""
    right = {("relevant", "answered"), ("non_relevant", "abstained")}
    decided = ("answered", "abstained")
    return schema.from_columns(
        "outcomes",
        {
            "language": [r[0] for r in rows],
            "query_id": [r[1] for r in rows],
            "system": [r[2] for r in rows],
            "parser": ["strict"] * len(rows),
            "subset": [r[3] for r in rows],
            "outcome": [r[4] for r in rows],
            "rule": ["test"] * len(rows),
            "correct": [(r[3], r[4]) in right if r[4] in decided else None for r in rows],
        },
    )


def test_the_relevance_judge_prefers_what_is_right_and_only_that() -> None:
    table = outcome_table(
        [
            ("en", "q1", "a", "non_relevant", "abstained"),
            ("en", "q1", "b", "non_relevant", "answered"),
            ("en", "q1", "c", "non_relevant", "unparsed"),
            ("en", "q1", "d", "non_relevant", "missing"),
            ("en", "q1", "e", "non_relevant", "api_error"),
            *(("en", f"q{k}", "c", "non_relevant", "answered") for k in (2, 3)),
        ]
    )
    en = from_outcomes(table, skill="abstain")["en"]
    wins = {(en.systems[i], en.systems[j]) for _, i, j in np.argwhere(en.wins)}
    ties = {(en.systems[i], en.systems[j]) for _, i, j in np.argwhere(en.ties)}
    assert wins == {("a", "b"), ("a", "c")}
    assert ties == {("b", "c"), ("c", "b")}


def test_both_skills_weight_the_two_subsets_equally() -> None:
    """x is right on all 30 non-relevant queries, y on both of the 2 relevant ones: equal weights make them equal."""
    rows = []
    for k in range(30):
        rows += [("en", f"n{k}", "x", "non_relevant", "abstained"), ("en", f"n{k}", "y", "non_relevant", "answered")]
    for k in range(2):
        rows += [("en", f"r{k}", "x", "relevant", "abstained"), ("en", f"r{k}", "y", "relevant", "answered")]
    table = outcome_table(rows)
    assert ratings(from_outcomes(table, skill="both")["en"]).theta == pytest.approx([0, 0], abs=1e-6)
    assert ratings(from_outcomes(table, skill="abstain")["en"]).ranks().tolist() == [1, 2]
    assert ratings(from_outcomes(table, skill="answer")["en"]).ranks().tolist() == [2, 1]


def _decided(language: str, system: str, outcomes: dict[str, int], subset: str = "relevant") -> list[Any]:
    """Return rows of `outcome_table`: one system's outcomes on q0, q1, ..."""
    words = [word for word, n in outcomes.items() for _ in range(n)]
    return [(language, f"q{k}", system, subset, word) for k, word in enumerate(words)]


@pytest.mark.parametrize(*read_table("without_evidence"))
def test_a_system_without_evidence_has_no_rating_but_a_reason(counts: dict[str, int], ranked: bool) -> None:
    """In the language where it lacks evidence and over all languages; elsewhere and for the others nothing changes."""
    rows = [row for system in "ab" for code in ("en", "vi") for row in _decided(code, system, {"answered": 10})]
    table = outcome_table([*rows, *_decided("en", "z", {"abstained": 10}), *_decided("vi", "z", counts)])
    judge = LabelJudge(skill="answer")
    ranking = rate(judge.battles(table), draws=10, unranked=judge.find_unranked(table))
    assert "z" in ranking.languages["en"].systems
    assert ("z" in ranking.languages["vi"].systems) == ranked
    assert ("z" in ranking.languages["all"].systems) == ranked
    assert ("z" in ranking.unranked.get("vi", {})) == (not ranked)
    named = ("not ranked: z (Vietnamese", "no answers in Vietnamese: z")
    assert any(line.startswith(named) for line in remarks(ranking)) == (not ranked)


def test_a_language_of_unclassified_answers_has_no_ranking_and_no_share() -> None:
    """Vietnamese without a vocabulary: 60 answers, none classified, were ranked by the alphabet."""
    rows = [row for system in "abc" for row in _decided("vi", system, {"unparsed": 20})]
    with pytest.raises(NotEnoughData, match="0 of 20 answers classified") as failed:
        from_outcomes(outcome_table(rows), skill="answer")
    assert "mirage judge" in str(failed.value.do)
    rows += [row for system in "abc" for row in _decided("en", system, {"answered": 20})]
    judge, table = LabelJudge(skill="answer"), outcome_table(rows)
    ranking = rate(judge.battles(table), draws=10, unranked=judge.find_unranked(table))
    assert list(ranking.languages) == ["en"]
    assert set(ranking.unranked["vi"]) == {"a", "b", "c"}
    with pytest.raises(NotEnoughData, match="classified"):
        judge.battles(table, languages=["vi"])
    compared = compare_ratings(ranking, "a", "b")
    assert compared.overall.language == "en"
    row = next(row for row in compared.rows if row.language == "vi")
    assert row.difference is None
    assert "0 of 20" in str(row.reason)


def test_queries_of_one_kind_rank_by_what_there_is() -> None:
    """A file whose queries are all answerable, or all unanswerable, or one language each."""
    kinds = {"en": "relevant", "sw": "non_relevant"}
    rows = {
        code: [*_decided(code, "a", {"answered": 10}, kind), *_decided(code, "b", {"abstained": 10}, kind)]
        for code, kind in kinds.items()
    }
    best = {"en": [1, 2], "sw": [2, 1]}
    for codes in (("en",), ("sw",), ("en", "sw")):
        judge, table = LabelJudge(), outcome_table([row for code in codes for row in rows[code]])
        ranking = rate(judge.battles(table), draws=10, unranked=judge.find_unranked(table))
        assert {code: ranking.languages[code].ranks().tolist() for code in codes} == {c: best[c] for c in codes}
        words = {"en": "answerable queries only", "sw": "unanswerable queries only"}
        assert all(any(words[code] in line and code in line for line in remarks(ranking)) for code in codes)


def test_a_system_whose_verdicts_are_all_unparsed_has_no_rating() -> None:
    rows = [("q1", "a", "b", "A"), ("q2", "a", "b", "tie"), ("q1", "a", "z", "unparsed")]
    columns = dict(zip(("query_id", "system_a", "system_b", "verdict"), zip(*rows, strict=True), strict=True))
    ranking = mirage.rank(pa.table({name: list(values) for name, values in columns.items()}), draws=10)
    assert {system for row in ranking.languages.values() for system in row.systems} == {"a", "b"}
    assert any("z" in line for line in ranking.remarks)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="no battles"):
        rate({})
    with pytest.raises(BadInput, match="draws"):
        ratings(simulate(1), draws=0)
    with pytest.raises(BadInput, match="ties cannot be"):
        ratings(simulate(1), ties="none")
    with pytest.raises(NotEnoughData, match="once ties are dropped"):
        ratings(battles([[[0, 0], [0, 0]]], [[[0, 1], [1, 0]]]), ties="drop")
    with pytest.raises(BadInput, match="several judges"):
        rate({"en": simulate(1), "ar": replace(simulate(1), judge="another")})


# On the real battles


@pytest.mark.parametrize("skill", ["abstain", "answer"])
def test_the_real_battles_agree_with_choix(skill: schema.Skill) -> None:
    outcomes = open_arena("nomiracl").read("outcomes")
    by_language = from_outcomes(outcomes, skill=skill)
    assert len(by_language) == (17 if skill == "abstain" else 16)
    for of_language in by_language.values():
        ranking = maximum(of_language, draws=1, ridge=1e-12)
        counts = of_language.wins.sum(axis=0) + of_language.ties.sum(axis=0) / 2
        expected = choix.ilsr_pairwise_dense(counts.astype(float), alpha=0, tol=1e-12)
        np.testing.assert_allclose(ranking.theta, expected - expected.mean(), atol=1e-7)


def test_every_blas_has_one_thread_while_ratings_are_fitted() -> None:
    code = (
        "from mirage.ranking.threads import one_thread\n"
        "with one_thread():\n"
        "    import scipy.linalg\n"
        "    from threadpoolctl import threadpool_info\n"
        "    print({pool['filepath']: pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'})"
    )
    threads = ast.literal_eval(run_python(code, OPENBLAS_NUM_THREADS="2"))
    assert threads
    assert set(threads.values()) == {1}
