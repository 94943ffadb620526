"""A judge's ranking corrected by votes: right where the judge is not, no wider than the votes alone, or a reason."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import refuses
from votes_agreement_cases import ballot

import mirage
from benchmarks import coverage
from benchmarks.correction import LIKES_FIRST, REAL, alone, load, repeat, simulate, trials, truth, wrong_about_two
from benchmarks.simulated import simulate_arena as arena
from mirage.battles.decision import Battle, Decision, decisions
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, NotEnoughData
from mirage.people.votes.correct import (
    LEAST_EACH,
    LEAST_QUERIES,
    Correction,
    correct,
    correction_needs,
    join_corrections,
)
from mirage.people.votes.kinds import UNNAMED, Vote
from mirage.people.votes.powered import Data, curvature, powered_estimate, pseudo_inverse
from mirage.ranking.bootstrap import rate

SYSTEMS = 6
THETA = np.linspace(1, -1, SYSTEMS)


def test_with_a_biased_judge_the_corrected_interval_covers_and_the_other_misses() -> None:
    both, of_votes, of_judge = repeat(3, THETA, wrong_about_two(SYSTEMS), 120, queries=100, votes=100)
    assert 0.93 <= both.covers <= 0.97
    assert of_judge.by_system[[0, 3]].max() < 0.2, "the systems that the judge is wrong about"
    assert both.error < 0.75 * of_votes.error, "the judge is worth something"


def test_a_judge_that_knows_nothing_costs_no_width() -> None:
    nothing = dataclasses.replace(wrong_about_two(SYSTEMS), likeness=0.0)
    both, of_votes, _ = repeat(3, THETA, nothing, 40, queries=100, votes=100)
    assert both.error < 1.02 * of_votes.error


@pytest.mark.parametrize("chosen", [False, True])
def test_a_judge_that_likes_what_it_sees_first_covers(chosen: bool) -> None:
    """Votes plainly random, or chosen by the queue with known chances."""
    both, of_votes, _ = repeat(5, THETA, LIKES_FIRST, 80, queries=100, votes=120, chosen=chosen)
    assert 0.93 <= both.covers <= 0.98
    assert both.error < 1.02 * of_votes.error


def corrected(
    log: list[Vote], verdicts: dict[Battle, Decision], *, language: str = "sw", judge: str = "judge", **options: Any
) -> Correction:
    return correct(log, verdicts, language=language, judge=judge, **options)


def cast(verdicts: dict[Battle, Decision], n: int, seed: int = 0) -> list[Vote]:
    """Random votes that mostly say what the judge says."""
    rng = np.random.default_rng(seed)
    battles = sorted(verdicts)
    ballots = []
    for k in rng.permutation(len(battles))[:n]:
        language, query, a, b = battles[k]
        word = ["A", "B", "tie"][verdicts[battles[k]].label] if rng.random() < 0.8 else str(rng.choice(["A", "B"]))
        ballots.append(ballot(0, word, language=language, query_id=query, system_a=a, system_b=b, voter=f"v{k % 10}"))
    return ballots


@pytest.fixture(scope="module")
def judge_decisions() -> dict[Battle, Decision]:
    simulation = arena(systems=5, queries=60, languages=["sw"], seed=1, orders=2)
    return decisions(simulation.tables["judgments"])["judge"]


def test_where_people_say_what_the_judge_says_nothing_is_corrected(judge_decisions: dict[Battle, Decision]) -> None:
    word = {1.0: "A", 0.0: "B", 0.5: "tie"}
    sure = {
        battle: Decision({1.0: 0, 0.0: 1, 0.5: 2}[verdict.points], verdict.points, True)
        for battle, verdict in judge_decisions.items()
        if verdict.points in word
    }
    everybody = [
        ballot(0, word[verdict.points], language=battle[0], query_id=battle[1], system_a=battle[2], system_b=battle[3])
        for battle, verdict in sure.items()
    ]
    whole = corrected(everybody, sure, lam=0.0)
    third = {lam: corrected(everybody[::3], sure, lam=lam) for lam in (None, 0.0, 1.0)}
    assert np.abs(third[1.0].theta - whole.theta).max() < 1e-5, "the judge whole is everybody"
    off = {lam: float(np.abs(correction.theta - whole.theta).max()) for lam, correction in third.items()}
    assert off[None] < off[0.0] / 2
    assert third[None].lam > 0.7
    assert (third[None].error < third[0.0].error).all()


def test_votes_alone_on_everything_are_the_ranking_of_rank() -> None:
    simulation = arena(systems=5, queries=60, languages=["sw"], seed=4)
    table = simulation.tables["judgments"]
    verdicts = decisions(table)["judge"]
    everybody = [
        ballot(0, row["verdict"], **{n: row[n] for n in ("language", "query_id", "system_a", "system_b")})
        for row in table.to_pylist()
    ]
    correction = corrected(everybody, verdicts, lam=0.0)
    ranking = rate(from_judgments(table, judge="judge"), penalty="none").languages["sw"]
    assert correction.systems == ranking.systems
    assert np.abs(correction.theta - ranking.theta).max() < 1e-5
    assert (correction.ranks() == ranking.ranks()).all()
    assert np.allclose(correction.error, ranking.draws.std(axis=0), rtol=0.2), (
        "the sandwich and the bootstrap of queries"
    )


def test_the_record_says_how_it_was_made_and_what_was_left_out(judge_decisions: dict[Battle, Decision]) -> None:
    some = cast(judge_decisions, 90)
    skip = dataclasses.replace(some[0], vote="skip", voter="other", vote_id="s")
    unknown = dataclasses.replace(some[0], query_id="nowhere", vote_id="u")
    preferred = [dataclasses.replace(vote, control=False, vote="B", vote_id=f"p{k}") for k, vote in enumerate(some)]
    correction = corrected([*some, skip, unknown, *preferred], judge_decisions)
    plain = corrected([*some, unknown], judge_decisions)
    assert (correction.theta == plain.theta).all(), "only votes on battles drawn at random"
    assert (correction.n_votes, correction.n_battles) == (91, 600)
    assert len(correction.voters) == 10
    assert correction.votes.sum() == 182
    for part in (
        "600 battles judged by judge",
        "91 votes of 10 people",
        f"lambda {correction.lam:.2f}",
    ):
        assert part in correction.method
    rows = correction.table().to_pylist()
    assert [row["system"] for row in rows] == list(correction.systems)
    assert all(row["low"] < row["rating"] < row["high"] for row in rows)
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in rows)
    assert correction.table().equals(corrected([*some[::-1], skip, unknown], judge_decisions).table())


def test_two_people_on_one_battle_are_one_battle_of_their_mean(judge_decisions: dict[Battle, Decision]) -> None:
    some = cast(judge_decisions, 80)
    twice = [*some, *(dataclasses.replace(vote, voter="second", vote_id=f"2{k}") for k, vote in enumerate(some))]
    first, second = (corrected(ballots, judge_decisions) for ballots in (some, twice))
    assert (first.theta == second.theta).all()
    assert (first.covariance == second.covariance).all(), "the same opinion twice is no more information"
    assert second.n_votes == 160


def in_languages(verdicts: dict[Battle, Decision], *codes: str) -> list[Correction]:
    """The same battles in several languages, with votes of their own."""
    corrections = []
    for k, code in enumerate(codes):
        of_language = {(code, *battle[1:]): verdict for battle, verdict in verdicts.items()}
        corrections.append(corrected(cast(of_language, 90 + 30 * k, seed=k), of_language, language=code))
    return corrections


def test_languages_together_are_their_mean_and_the_least_sure_widens_it(
    judge_decisions: dict[Battle, Decision],
) -> None:
    parts = in_languages(judge_decisions, "te", "ar", "sw")
    both = join_corrections(parts)
    assert (both.language, both.languages) == ("all", ("ar", "sw", "te"))
    assert np.allclose(both.theta, np.mean([part.theta for part in parts], axis=0))
    assert np.allclose(both.error**2, np.sum([part.error**2 for part in parts], axis=0) / 9)
    assert np.allclose(both.covariance.sum(axis=0), 0)
    assert both.n_votes == sum(part.n_votes for part in parts)
    assert (both.votes == np.sum([part.votes for part in parts], axis=0)).all()
    assert both.voters == tuple(f"v{k}" for k in range(10)), "who votes in two languages is one person"
    assert (both.df > parts[0].df).all()
    assert (both.df <= sum(part.df for part in parts)).all()
    assert "the mean over 3 languages" in both.method
    assert {row.language for row in both.rows()} == {"all"}
    assert join_corrections(parts[::-1]).table().equals(both.table())


def test_only_systems_of_all_languages_are_put_together(judge_decisions: dict[Battle, Decision]) -> None:
    first, second = in_languages(judge_decisions, "ar", "te")
    fewer = {battle: verdict for battle, verdict in judge_decisions.items() if first.systems[0] not in battle}
    third = corrected(cast(fewer, 120), fewer)
    both = join_corrections([first, second, third])
    assert both.systems == first.systems[1:]
    assert abs(both.theta.sum()) < 1e-9
    shifted = [correction.theta[-4:] - correction.theta[-4:].mean() for correction in (first, second, third)]
    assert np.allclose(both.theta, np.mean(shifted, axis=0))


def test_what_does_not_go_together_is_refused(judge_decisions: dict[Battle, Decision]) -> None:
    first, second = in_languages(judge_decisions, "ar", "te")
    with pytest.raises(NotEnoughData, match="two corrected languages"):
        join_corrections([first])
    with pytest.raises(NotEnoughData, match="two corrected languages"):
        join_corrections([])
    with pytest.raises(BadInput, match="cannot be joined"):
        join_corrections([first, first])
    with pytest.raises(BadInput, match="cannot be joined"):
        join_corrections([first, dataclasses.replace(second, judge="other")])


def test_the_joint_interval_covers_where_the_judge_alone_does_not() -> None:
    """Three languages with a judge that is wrong in the same way in each: 120 arenas."""
    from scipy.special import stdtrit

    rng = np.random.default_rng(8)
    thetas = [THETA, THETA[::-1] / 2, np.roll(THETA, 2)]
    real = np.mean([truth(theta) for theta in thetas], axis=0)
    hits = {"corrected": [], "judge": []}
    blank = np.zeros(SYSTEMS, dtype=np.int64)
    for _ in range(120):
        parts: dict[str, list[Correction]] = {name: [] for name in hits}
        for code, theta in zip(("ar", "en", "te"), thetas, strict=True):
            data, judged = simulate(rng, theta, wrong_about_two(SYSTEMS), queries=100, votes=60)
            by_judge = dataclasses.replace(data, human=judged, weight=np.ones_like(data.weight))
            for name, sample, lam in (("corrected", data, None), ("judge", by_judge, 0.0)):
                fit = powered_estimate(sample, lam)
                n = sample.n_queries_voted
                parts[name].append(
                    Correction(
                        code, "j", tuple("abcdef"), fit.theta, fit.covariance, np.full(SYSTEMS, n - 1.0), fit.lam,
                        blank, blank, 60, ("v",), n, 1500,
                    )
                )  # fmt: skip
        for name, corrections in parts.items():
            both = join_corrections(corrections)
            assert np.allclose(both.interval()[1] - both.theta, stdtrit(both.df, 0.975) * both.error)
            low, high = both.interval()
            hits[name].append((low <= real) & (real <= high))
    assert 0.93 <= np.mean(hits["corrected"]) <= 0.975
    assert np.mean(hits["judge"], axis=0)[[0, 3]].max() < 0.1


def test_votes_of_few_people_have_a_rating_without_an_interval(judge_decisions: dict[Battle, Decision]) -> None:
    few = [dataclasses.replace(vote, voter=f"v{k % 9}") for k, vote in enumerate(cast(judge_decisions, 150))]
    correction = corrected(few, judge_decisions)
    assert {(row.low, row.high, row.rank_low, row.rank_high) for row in correction.rows()} == {(None,) * 4}
    assert all(np.isfinite(row.rating) for row in correction.rows())
    assert "9 people" in correction.method
    joint = join_corrections([correction, *in_languages(judge_decisions, "te")])
    assert joint.rows()[0].low is None, "of the language with the fewest people nothing is known"
    unnamed = [dataclasses.replace(vote, voter=UNNAMED) for vote in few]
    assert corrected(unnamed, judge_decisions).rows()[0].low is not None


def test_people_who_favour_systems_widen_the_interval(judge_decisions: dict[Battle, Decision]) -> None:
    """Each person always prefers the systems of a half; dealt out at random over people the same votes say more."""
    rng, battles = np.random.default_rng(2), sorted(judge_decisions)
    loved = [set(rng.permutation([f"sim-{k:02}" for k in range(1, 6)])[:2]) for _ in range(12)]
    log = []
    for k in range(360):
        language, query, a, b = battles[rng.integers(len(battles))]
        likes = (a in loved[k % 12]) - (b in loved[k % 12])
        word = "A" if likes > 0 else "B" if likes < 0 else str(rng.choice(["A", "B"]))
        log.append(ballot(0, word, language=language, query_id=query, system_a=a, system_b=b, voter=f"v{k % 12}"))
    dealt = [dataclasses.replace(vote, voter=f"v{rng.integers(12)}") for vote in log]
    same, mixed = (corrected(of, judge_decisions, lam=0.0) for of in (log, dealt))
    assert np.allclose(same.theta, mixed.theta)
    assert same.error.mean() > 1.2 * mixed.error.mean()
    assert (same.df == 11).all()


def test_votes_that_are_too_few_or_do_not_connect_are_refused_with_a_reason(
    judge_decisions: dict[Battle, Decision],
) -> None:
    some = cast(judge_decisions, 300)
    by_query = {vote.query_id: vote for vote in some}
    few = list(by_query.values())[: LEAST_QUERIES - 1]
    apart = [vote for vote in some if "sim-05" not in (vote.system_a, vote.system_b)]
    once = [*apart, next(vote for vote in some if "sim-05" in (vote.system_a, vote.system_b))]
    for cast_, reason in (
        ([], "votes on 0 queries"),
        (few, f"it takes {LEAST_QUERIES}"),
        (apart, "do not connect all systems: sim-05 apart"),
        (once, f"fewer than {LEAST_EACH} votes in sw on battles of sim-05"),
    ):
        with refuses(NotEnoughData, reason, do="vote on more battles in sw"):
            corrected(cast_, judge_decisions)
    with pytest.raises(NotEnoughData, match="judged no battle in te"):
        corrected(some, judge_decisions, language="te")


def test_a_system_that_never_lost_in_the_votes_alone_has_no_bound_and_is_refused() -> None:
    i, j = np.triu_indices(3, 1)
    first, second, query = np.tile(i, 40), np.tile(j, 40), np.repeat(np.arange(40), 3)
    human = np.where(first == 0, 1.0, 0.5)
    data = Data(first, second, query, np.zeros(120), human, np.ones(120), 3, 40)
    with pytest.raises(NotEnoughData, match="no bound"):
        powered_estimate(data, 0.0)


def test_the_direction_that_ratings_lack_has_no_error_whatever_the_rounding() -> None:
    """Of 19 systems the curvature's zero is sometimes a little more than rounding: errors were then thousands."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        w = np.triu(rng.poisson(2.3, (19, 19)), 1) / 400
        inverse = pseudo_inverse(curvature(w, rng.normal(0, 1, 19)) + 1e-16)
        assert np.abs(inverse.sum(axis=0)).max() < 1e-6


def test_intervals_of_the_rank_hold_what_the_ratings_allow() -> None:
    simulation = arena(systems=5, queries=60, languages=["sw"], seed=1, orders=2)
    verdicts = decisions(simulation.tables["judgments"])["judge"]
    correction = corrected(cast(verdicts, 150), verdicts)
    low, high = correction.interval()
    for a, b in itertools.permutations(range(5), 2):
        if low[a] > high[b]:
            assert correction.rank_interval()[0][b] > 1
    apart = dataclasses.replace(correction, theta=correction.theta * 100)
    assert (apart.rank_interval() == apart.ranks()).all()


# --- what counts, and what it weighs ----------------------------------------------------------------------------------


def test_one_method_makes_both_widths(judge_decisions: dict[Battle, Decision]) -> None:
    some = cast(judge_decisions, 150)
    correction = corrected(some, judge_decisions)
    without = corrected(some, judge_decisions, lam=0.0)
    assert correction.width is not None
    assert without.width is not None
    assert np.allclose(correction.width, correction.error / without.error)
    assert np.allclose(without.width, 1)
    assert [row.width for row in correction.rows()] == list(correction.width)
    both = join_corrections(in_languages(judge_decisions, "ar", "te"))
    assert 0.3 < both.width.mean() < 1


def chance(vote: Vote, value: float | None) -> Vote:
    return dataclasses.replace(vote, control=value is None, inclusion=value)


def test_a_vote_weighs_one_over_its_chance_and_equal_chances_are_no_chances(
    judge_decisions: dict[Battle, Decision],
) -> None:
    some = cast(judge_decisions, 200)
    plain = corrected(some, judge_decisions)
    half = corrected([chance(vote, 0.5) for vote in some], judge_decisions)
    assert np.allclose(half.theta, plain.theta)
    assert np.allclose(half.covariance, plain.covariance)
    unknown = [dataclasses.replace(vote, control=False) for vote in some]
    with pytest.raises(NotEnoughData, match="votes on 0 queries"):
        corrected(unknown, judge_decisions)


def test_votes_of_before_and_votes_with_chances_count_by_what_they_are_worth(
    judge_decisions: dict[Battle, Decision],
) -> None:
    some = cast(judge_decisions, 300)
    old, new = some[:100], [chance(vote, 0.25 if k % 2 else 1.0) for k, vote in enumerate(some[100:])]
    correction = corrected([*old, *new], judge_decisions)
    alone_ = corrected(new, judge_decisions)
    assert correction.error.mean() < alone_.error.mean()
    assert (correction.n_votes, alone_.n_votes) == (300, 200)


# --- real people ------------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.skipif(not REAL.exists(), reason="the judged battles are not here")
def test_with_real_people_corrected_intervals_cover_and_are_hardly_narrower() -> None:
    real = load()
    assert (len(real.whole.first), real.whole.systems) == (26_919, 20)
    of_votes, *of_judges = trials(real, 1_500, draws=6, seed=1).values()
    for name, covers, tally in zip(real.judges, (0.15, 0.45, 0.10), of_judges, strict=True):
        assert alone(real, name) == pytest.approx(covers, abs=0.051), "its own intervals hold few systems' ratings"
        assert tally.covers > 0.92
        assert 0.92 < tally.error / of_votes.error < 1
        assert not tally.refused


def test_votes_where_the_judge_is_silent_count_and_leave_no_bias_pitfall_128() -> None:
    """On three queries of ten people see the systems the other way round, and there the judge mostly says nothing."""
    run = coverage.DESIGNS["silent-judge"].run
    assert np.mean([run(np.random.default_rng([128, k])) for k in range(60)]) > 0.91, "86% where they did not count"


def test_a_language_with_three_votes_is_left_out_and_said_pitfall_133() -> None:
    simulation = arena(systems=5, queries=60, languages=["sw", "te"], seed=1, orders=2)
    judgments = simulation.tables["judgments"]
    ballots = cast({key: d for key, d in decisions(judgments)["judge"].items() if key.language == "sw"}, 200)
    ballots += cast({key: d for key, d in decisions(judgments)["judge"].items() if key.language == "te"}, 3)
    rows = [
        {name: getattr(v, name) for name in ("language", "query_id", "system_a", "system_b", "vote", "voter")}
        for v in ballots
    ]
    correction = mirage.correct(judgments.to_pandas(), pd.DataFrame(rows), judge="judge")
    assert correction.language == "sw"
    assert list(correction.left_out) == ["te"]
    assert "without te" in correction.method
    with pytest.raises(NotEnoughData, match="no ranking"):
        mirage.correct(judgments.to_pandas(), pd.DataFrame(rows[-3:]), judge="judge")


@pytest.mark.parametrize(("n", "possible"), [(20, False), (30, True), (90, True)])
def test_what_a_correction_needs_is_known_before_the_first_vote_pitfall_116(n: int, possible: bool) -> None:
    needs = correction_needs(n)
    assert str(LEAST_QUERIES) in needs
    assert str(LEAST_EACH) in needs
    assert ("cannot" in needs) == (not possible)
