"""A judge's ranking corrected by votes: right where the judge is not, no wider than the votes alone, or a reason."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from test_votes_agreement import ballot

from benchmarks.correction import simulate, truth
from mirage import rank, votes
from mirage.errors import BadInput, NotEnoughData
from mirage.sources.simulated import simulate as arena
from mirage.votes import Vote
from mirage.votes.powered import Data, estimate, solve

SYSTEMS = 6
THETA = np.linspace(1, -1, SYSTEMS)
BIAS = np.array([-0.4, 0, 0, 0.6, 0, 0])


def coverage(n_votes: int, runs: int, *, likeness: float = 0.8) -> dict[str, tuple[float, float, NDArray[np.float64]]]:
    """Share of the intervals that hold the truth, mean standard error, and that share by system, for each estimate."""
    from scipy.special import stdtrit

    rng, real = np.random.default_rng(3), truth(THETA)
    hits: dict[str, list[NDArray[np.bool_]]] = {"tuned": [], "votes": [], "judge": []}
    errors: dict[str, list[NDArray[np.float64]]] = {name: [] for name in hits}
    for _ in range(runs):
        data = simulate(rng, THETA, BIAS, queries=100, votes=n_votes, likeness=likeness)
        all_judged = dataclasses.replace(data, human=data.judge, voted=np.ones_like(data.voted))
        for name, (one, lam) in {"tuned": (data, None), "votes": (data, 0.0), "judge": (all_judged, 0.0)}.items():
            theta, _, covariance = estimate(one, lam)
            error = np.sqrt(np.diag(covariance))
            hits[name].append(np.abs(theta - real) <= stdtrit(one.questions_voted - 1, 0.975) * error)
            errors[name].append(error)
    return {
        name: (float(np.mean(hits[name])), float(np.mean(errors[name])), np.mean(hits[name], axis=0)) for name in hits
    }


def test_with_a_biased_judge_the_uncorrected_interval_misses_the_truth_and_the_corrected_one_covers_it() -> None:
    found = coverage(100, 160)
    assert 0.93 <= found["tuned"][0] <= 0.97
    assert found["judge"][2][[0, 3]].max() < 0.2, "the systems that the judge is wrong about"
    assert found["tuned"][1] < 0.75 * found["votes"][1], "the judge is worth something"


def test_a_judge_that_knows_nothing_costs_no_width() -> None:
    found = coverage(100, 40, likeness=0.0)
    assert found["tuned"][1] < 1.02 * found["votes"][1]


def cast(said: dict[votes.Battle, votes.Said], n: int, seed: int = 0) -> list[Vote]:
    """Random votes that mostly say what the judge says."""
    rng = np.random.default_rng(seed)
    battles = sorted(said)
    made = []
    for k in rng.permutation(len(battles))[:n]:
        language, query, a, b = battles[k]
        word = ["A", "B", "tie"][said[battles[k]].label] if rng.random() < 0.8 else str(rng.choice(["A", "B"]))
        made.append(ballot(0, word, language=language, query_id=query, system_a=a, system_b=b, voter=f"v{k % 3}"))
    return made


@pytest.fixture(scope="module")
def said() -> dict[votes.Battle, votes.Said]:
    made = arena(systems=5, queries=60, languages=["sw"], seed=1, orders=2)
    return votes.judged(made.tables["judgments"])["judge"]


def test_where_people_say_what_the_judge_says_nothing_is_corrected(said: dict[votes.Battle, votes.Said]) -> None:
    word = {1.0: "A", 0.0: "B", 0.5: "tie"}
    sure = {
        one: votes.Said({1.0: 0, 0.0: 1, 0.5: 2}[each.points], each.points, False)
        for one, each in said.items()
        if each.points in word
    }
    everybody = [
        ballot(0, word[each.points], language=one[0], query_id=one[1], system_a=one[2], system_b=one[3])
        for one, each in sure.items()
    ]
    whole = votes.correct(everybody, sure, language="sw", judge="judge", lam=0.0)
    third = {
        lam: votes.correct(everybody[::3], sure, language="sw", judge="judge", lam=lam) for lam in (None, 0.0, 1.0)
    }
    assert np.abs(third[1.0].theta - whole.theta).max() < 1e-9, "the judge whole is everybody"
    off = {lam: float(np.abs(one.theta - whole.theta).max()) for lam, one in third.items()}
    assert off[None] < off[0.0] / 2
    assert third[None].lam > 0.7
    assert (third[None].error < third[0.0].error).all()


def test_votes_alone_on_everything_are_the_ranking_of_rank() -> None:
    made = arena(systems=5, queries=60, languages=["sw"], seed=4)
    table = made.tables["judgments"]
    said = votes.judged(table)["judge"]
    everybody = [
        ballot(0, row["verdict"], **{n: row[n] for n in ("language", "query_id", "system_a", "system_b")})
        for row in table.to_pylist()
    ]
    found = votes.correct(everybody, said, language="sw", judge="judge", lam=0.0)
    one = rank.rate(rank.from_judgments(table, judge="judge")).languages["sw"]
    assert found.systems == one.systems
    assert np.abs(found.theta - one.theta).max() < 1e-5
    assert (found.ranks() == one.ranks()).all()
    assert np.allclose(found.error, one.draws.std(axis=0), rtol=0.2), "the sandwich and the bootstrap of queries"


def test_the_record_says_how_it_was_made_and_what_was_left_out(said: dict[votes.Battle, votes.Said]) -> None:
    some = cast(said, 90)
    skip = dataclasses.replace(some[0], vote="skip", voter="other", vote_id="s")
    unknown = dataclasses.replace(some[0], query_id="nowhere", vote_id="u")
    preferred = [dataclasses.replace(vote, control=False, vote="B", vote_id=f"p{k}") for k, vote in enumerate(some)]
    found = votes.correct([*some, skip, unknown, *preferred], said, language="sw", judge="judge", seed=7)
    plain = votes.correct(some, said, language="sw", judge="judge", seed=7)
    assert (found.theta == plain.theta).all(), "only votes on battles drawn at random"
    assert (found.n_votes, found.n_battles, found.skipped, found.unread) == (90, 600, 1, 1)
    assert (len(found.voters), found.n_voted, found.seed, found.tuned) == (3, 90, 7, True)
    assert found.votes.sum() == 180
    for part in (
        "600 battles judged by judge",
        "90 random votes of 3 people",
        f"lambda {found.lam:.2f} (tuned)",
        "seed 7",
    ):
        assert part in found.method
    rows = found.table().to_pylist()
    assert [row["system"] for row in rows] == list(found.systems)
    assert all(row["low"] < row["rating"] < row["high"] for row in rows)
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in rows)
    assert found.table().equals(
        votes.correct([*some[::-1], skip, unknown], said, language="sw", judge="judge", seed=7).table()
    )


def test_two_people_on_one_battle_are_one_battle_of_their_mean(said: dict[votes.Battle, votes.Said]) -> None:
    some = cast(said, 80)
    twice = [*some, *(dataclasses.replace(vote, voter="second", vote_id=f"2{k}") for k, vote in enumerate(some))]
    one, two = (votes.correct(each, said, language="sw", judge="judge") for each in (some, twice))
    assert (one.theta == two.theta).all()
    assert (one.covariance == two.covariance).all(), "the same opinion twice is no more information"
    assert (two.n_votes, two.n_voted) == (160, 80)


def in_languages(said: dict[votes.Battle, votes.Said], *codes: str) -> list[votes.Correction]:
    """The same battles in several languages, with votes of their own."""
    made = []
    for k, code in enumerate(codes):
        here = {(code, *one[1:]): each for one, each in said.items()}
        made.append(votes.correct(cast(here, 90 + 30 * k, seed=k), here, language=code, judge="judge"))
    return made


def test_languages_together_are_their_mean_and_the_least_sure_widens_it(said: dict[votes.Battle, votes.Said]) -> None:
    parts = in_languages(said, "te", "ar", "sw")
    both = votes.together(parts)
    assert (both.language, both.languages) == ("all", ("ar", "sw", "te"))
    assert np.allclose(both.theta, np.mean([one.theta for one in parts], axis=0))
    assert np.allclose(both.error**2, np.sum([one.error**2 for one in parts], axis=0) / 9)
    assert np.allclose(both.covariance.sum(axis=0), 0)
    assert both.n_votes == sum(one.n_votes for one in parts)
    assert (both.votes == np.sum([one.votes for one in parts], axis=0)).all()
    assert both.voters == ("v0", "v1", "v2"), "who votes in two languages is one person"
    assert (both.df > parts[0].df).all()
    assert (both.df <= sum(one.df for one in parts)).all()
    assert "the mean over 3 languages" in both.method
    assert {row.language for row in both.rows()} == {"all"}
    assert votes.together(parts[::-1]).table().equals(both.table())


def test_only_systems_of_all_languages_are_put_together(said: dict[votes.Battle, votes.Said]) -> None:
    one, two = in_languages(said, "ar", "te")
    fewer = {battle: each for battle, each in said.items() if one.systems[0] not in battle}
    three = votes.correct(cast(fewer, 120), fewer, language="sw", judge="judge")
    both = votes.together([one, two, three])
    assert both.systems == one.systems[1:]
    assert abs(both.theta.sum()) < 1e-9
    shifted = [each.theta[-4:] - each.theta[-4:].mean() for each in (one, two, three)]
    assert np.allclose(both.theta, np.mean(shifted, axis=0))


def test_what_does_not_go_together_is_refused(said: dict[votes.Battle, votes.Said]) -> None:
    one, two = in_languages(said, "ar", "te")
    with pytest.raises(NotEnoughData, match="two corrected languages"):
        votes.together([one])
    with pytest.raises(NotEnoughData, match="two corrected languages"):
        votes.together([])
    with pytest.raises(BadInput, match="do not go together"):
        votes.together([one, one])
    with pytest.raises(BadInput, match="do not go together"):
        votes.together([one, dataclasses.replace(two, judge="other")])


def test_the_joint_interval_covers_where_the_judge_alone_does_not() -> None:
    """Three languages with a judge that is wrong in the same way in each: 120 arenas."""
    from scipy.special import stdtrit

    rng = np.random.default_rng(8)
    thetas = [THETA, THETA[::-1] / 2, np.roll(THETA, 2)]
    real = np.mean([truth(theta) for theta in thetas], axis=0)
    hits: dict[str, list[NDArray[np.bool_]]] = {"corrected": [], "judge": []}
    blank = np.zeros(SYSTEMS, dtype=np.int64)
    for _ in range(120):
        parts: dict[str, list[votes.Correction]] = {name: [] for name in hits}
        for code, theta in zip(("ar", "en", "te"), thetas, strict=True):
            data = simulate(rng, theta, BIAS, queries=100, votes=60, likeness=0.8)
            alone = dataclasses.replace(data, human=data.judge, voted=np.ones_like(data.voted))
            for name, one, lam in (("corrected", data, None), ("judge", alone, 0.0)):
                rating, weight, covariance = estimate(one, lam)
                n = one.questions_voted
                parts[name].append(
                    votes.Correction(
                        code, "j", tuple("abcdef"), rating, covariance, np.full(SYSTEMS, n - 1.0), weight, True,
                        blank, blank, 60, ("v",), 60, n, 1500, 0, 0, 0,
                    )
                )  # fmt: skip
        for name, each in parts.items():
            both = votes.together(each)
            assert np.allclose(both.interval()[1] - both.theta, stdtrit(both.df, 0.975) * both.error)
            low, high = both.interval()
            hits[name].append((low <= real) & (real <= high))
    assert 0.93 <= np.mean(hits["corrected"]) <= 0.975
    assert np.mean(hits["judge"], axis=0)[[0, 3]].max() < 0.1


def test_votes_that_are_too_few_or_do_not_connect_are_refused_with_a_reason(
    said: dict[votes.Battle, votes.Said],
) -> None:
    some = cast(said, 300)
    each = {vote.query_id: vote for vote in some}
    few = list(each.values())[: votes.LEAST_QUESTIONS - 1]
    apart = [vote for vote in some if "sim-05" not in (vote.system_a, vote.system_b)]
    once = [*apart, next(vote for vote in some if "sim-05" in (vote.system_a, vote.system_b))]
    for cast_, what in (
        ([], "random votes on 0 questions"),
        (few, f"it takes {votes.LEAST_QUESTIONS}"),
        (apart, "do not connect all systems: sim-05 apart"),
        (once, f"fewer than {votes.LEAST_EACH} random votes in sw on battles of sim-05"),
    ):
        with pytest.raises(NotEnoughData, match=what) as caught:
            votes.correct(cast_, said, language="sw", judge="judge")
        assert "vote on more battles in sw" in caught.value.do
    with pytest.raises(NotEnoughData, match="judged no battle in te"):
        votes.correct(some, said, language="te", judge="judge")
    with pytest.raises(BadInput, match="weight"):
        votes.correct(some, said, language="sw", judge="judge", lam=1.5)


def test_a_system_that_never_lost_in_the_votes_alone_has_no_bound_and_is_refused() -> None:
    i, j = np.triu_indices(3, 1)
    first, second, query = np.tile(i, 40), np.tile(j, 40), np.repeat(np.arange(40), 3)
    human = np.where(first == 0, 1.0, 0.5)
    data = Data(first, second, query, human * 0.8, human, np.ones(120, dtype=bool), 3, 40)
    with pytest.raises(NotEnoughData, match="no bound"):
        estimate(data, 0.0)


def test_the_solver_finds_the_ratings_that_made_the_points() -> None:
    theta = np.array([1.3, 0.2, -0.4, -1.1])
    w = np.triu(np.arange(16).reshape(4, 4) + 1.0, 1)
    expected = w / (1 + np.exp(theta[None, :] - theta[:, None]))
    assert np.abs(solve(w, expected, np.zeros(4)) - theta).max() < 1e-9


def test_intervals_of_the_rank_hold_what_the_ratings_allow() -> None:
    made = arena(systems=5, queries=60, languages=["sw"], seed=1, orders=2)
    said = votes.judged(made.tables["judgments"])["judge"]
    found = votes.correct(cast(said, 150), said, language="sw", judge="judge")
    low, high = found.interval()
    for a, b in itertools.permutations(range(5), 2):
        if low[a] > high[b]:
            assert found.rank_interval()[0][b] > 1
    apart = dataclasses.replace(found, theta=found.theta * 100)
    assert (apart.rank_interval() == apart.ranks()).all()
