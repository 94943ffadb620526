"""Ratings corrected by votes: how often each 95% interval holds the truth, and how wide it is beside votes alone.

Two parts. Battles of Chatbot Arena that people and three LLM judges decided (not part of the project): of all battles
some are drawn at random, what people said of these corrects the judges, and the truth is the ranking by all that people
said. Simulated arenas: the truth is known, and the judges are wrong in ways that are known.

Both use one estimator and one kind of interval: the votes alone are its weight 0.
"""

from __future__ import annotations

import csv
import dataclasses
import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmarks.coverage import ratings, sigmoid
from benchmarks.harness import DATA, Row
from mirage.errors import NotEnoughData
from mirage.people.votes.powered import Data, judge_residuals, powered_estimate

Array = NDArray[np.float64]
REAL = DATA / "judged" / "chatbot_arena_verdicts.csv.gz"
VOTES = (500, 1_500, 4_000)
"""Random votes on the real battles."""
DRAWS = 60
"""Draws of these votes."""
ALONE = "votes alone"
_POINTS = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (bothbad)": 0.5}

TIE, BY_QUERY = 0.1, 0.6
RUNS = 400
SHAPES = ((6, 60), (6, 150), (10, 150), (19, 150), (19, 400))
"""Systems, and random votes."""


@dataclass
class Tally:
    """What came of many corrected rankings."""

    truth: Array
    """S: the true ratings."""
    held: list[NDArray[np.bool_]] = field(default_factory=list)
    """S: of each ranking, which intervals hold the truth."""
    errors: list[float] = field(default_factory=list)
    """Mean standard error of each ranking."""
    refused: int = 0
    """Rankings that the data did not allow."""

    def add(self, data: Data, lam: float | None) -> None:
        """Estimate a ranking with a weight of the judge, None for the best one, and count it."""
        try:
            result = powered_estimate(data, lam)
        except NotEnoughData:
            self.refused += 1
            return
        error = np.sqrt(np.diag(result.covariance))
        self.held.append(np.abs(result.theta - self.truth) <= stdtrit(data.n_queries_voted - 1, 0.975) * error)
        self.errors.append(float(error.mean()))

    @property
    def by_system(self) -> Array:
        """S: share of each system's intervals that hold the truth."""
        return np.asarray(np.mean(self.held, axis=0))

    @property
    def covers(self) -> float:
        """Share of all intervals that hold the truth."""
        return float(np.mean(self.held))

    @property
    def error(self) -> float:
        """Mean standard error."""
        return float(np.mean(self.errors))


def _row(title: str, ours: Tally, votes: Tally, note: str) -> Row:
    return Row(
        title,
        f"covers {ours.covers:.1%}, error {ours.error:.3f}, refused {ours.refused}",
        f"votes alone: {votes.covers:.1%}, {votes.error:.3f}; {note}",
        f"{ours.error / votes.error:.2f} of the width of votes alone",
        "covers 93-97%, at most 1.00",
    )


# --- real battles -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Real:
    """Real battles that people and judges decided."""

    whole: Data
    """All of them, with what people said of each, and nothing else known."""
    judges: Mapping[str, Array]
    """Points of the first system by judge."""


def load() -> Real:
    """Read the battles; the first system of each is the one whose name comes first."""
    with gzip.open(REAL, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    judges = [name for name in rows[0] if name not in ("num", "question_id", "model_a", "model_b", "human")]
    turned = np.array([row["model_a"] > row["model_b"] for row in rows])
    systems = sorted({row[side] for row in rows for side in ("model_a", "model_b")})
    place = {name: k for k, name in enumerate(systems)}
    pairs = np.sort([[place[row["model_a"]], place[row["model_b"]]] for row in rows], axis=1).astype(np.intp)
    query = np.unique([row["question_id"] for row in rows], return_inverse=True)[1]

    def points(column: str) -> Array:
        of_a = np.array([_POINTS[row[column]] for row in rows])
        return np.where(turned, 1 - of_a, of_a)

    zero, one, n_queries = np.zeros(len(rows)), np.ones(len(rows)), int(query.max()) + 1
    whole = Data(pairs[:, 0], pairs[:, 1], query, zero, points("human"), one, len(systems), n_queries)
    return Real(whole, {name: points(name) for name in judges})


def trials(real: Real, votes: int, *, draws: int, seed: int) -> dict[str, Tally]:
    """Draw votes at random many times, and rank by them alone and by each judge corrected by them."""
    whole, rng = real.whole, np.random.default_rng([seed, votes])
    n = len(whole.first)
    predicted = {
        name: judge_residuals(whole.first, whole.second, whole.systems, points) for name, points in real.judges.items()
    }
    tallies = {name: Tally(powered_estimate(whole, 0.0).theta) for name in (ALONE, *real.judges)}
    for _ in range(draws):
        weight = np.zeros(n)
        weight[rng.choice(n, votes, replace=False)] = 1.0
        voted = dataclasses.replace(whole, human=whole.human * weight, weight=weight)
        tallies[ALONE].add(voted, 0.0)
        for name, prediction in predicted.items():
            tallies[name].add(dataclasses.replace(voted, predicted=prediction), None)
    return tallies


def alone(real: Real, judge: str) -> float:
    """Share of the systems whose rating by all that people said lies in the interval of the judge's own rating."""
    tally = Tally(powered_estimate(real.whole, 0.0).theta)
    tally.add(dataclasses.replace(real.whole, human=real.judges[judge]), 0.0)
    return tally.covers


def real_rows(real: Real) -> list[Row]:
    """The experiment on real battles."""
    rows, n = [], len(real.whole.first)
    for votes in VOTES:
        tallies = trials(real, votes, draws=DRAWS, seed=0)
        rows += [
            _row(
                f"Real battles, {votes:,} random votes of {n:,}, {judge}; {DRAWS} draws",
                tallies[judge],
                tallies[ALONE],
                f"the judge alone: {alone(real, judge):.0%}",
            )
            for judge in real.judges
        ]
    return rows


# --- simulated arenas -------------------------------------------------------------------------------------------------


def truth(theta: Array) -> Array:
    """The ratings that all battles of all queries would give: verdicts vary between queries, which shrinks them."""
    return ratings(theta, BY_QUERY * 2**0.5, TIE)


@dataclass(frozen=True)
class Judge:
    """How a simulated judge is wrong."""

    bias: Array | float = 0.0
    """S: what it adds to the quality of each system."""
    position: float = 0.0
    """What it gives the answer shown first; it then sees each battle in one order, drawn."""
    likeness: float = 0.8
    """Share of the battles on which the same chance decides for it and for people."""


def simulate(
    rng: np.random.Generator,
    theta: Array,
    judge: Judge,
    *,
    queries: int,
    votes: int,
    chosen: bool = False,
) -> tuple[Data, Array]:
    """Battles of every pair on every query, judged wrongly; votes on some, drawn with known chances.

    Args:
        rng: what draws.
        theta: the systems' quality.
        judge: the judge.
        queries: how many queries.
        votes: how many votes.
        chosen: whether the judge's ties are asked twice as often as other battles; else all alike.

    Returns:
        The battles, and the judge's points.
    """
    i, j = np.triu_indices(len(theta), 1)
    qualities = theta + rng.normal(0, BY_QUERY, (queries, len(theta)))
    q, a, b = np.repeat(np.arange(queries), len(i)), np.tile(i, queries), np.tile(j, queries)
    chance = rng.random(len(q))

    def points(quality: Array, u: Array, shift: Array | float = 0.0) -> Array:
        p = sigmoid(quality[q, a] - quality[q, b] + shift)
        return np.where(u < (1 - TIE) * p, 1.0, np.where(u > 1 - (1 - TIE) * (1 - p), 0.0, 0.5))

    human = points(qualities, chance)
    judge_chance = np.where(rng.random(len(q)) < judge.likeness, chance, rng.random(len(q)))
    judged = points(qualities + judge.bias, judge_chance, judge.position * rng.choice([-1.0, 1.0], len(q)))
    inclusion = np.where((judged == 0.5) | (not chosen), 1.0, 0.5)
    drawn = rng.choice(np.flatnonzero(rng.random(len(q)) < inclusion), votes, replace=False)
    weight = np.zeros(len(q))
    weight[drawn] = 1 / inclusion[drawn]
    predicted = judge_residuals(a, b, len(theta), judged)
    return Data(a, b, q, predicted, np.where(weight > 0, human, 0.0), weight, len(theta), queries), judged


def wrong_about_two(systems: int) -> Judge:
    """A judge that is wrong about two systems, by 0.6 and 0.4 logits."""
    bias = np.zeros(systems)
    bias[systems // 2], bias[0] = 0.6, -0.4
    return Judge(bias)


LIKES_FIRST = Judge(position=1.5, likeness=0.6)
"""A judge that likes what it sees first."""


def repeat(
    seed: int, theta: Array, judge: Judge, runs: int, *, queries: int, votes: int, chosen: bool = False
) -> tuple[Tally, Tally, Tally]:
    """Simulate arenas, and rate their systems by votes and a judge, by votes alone, and by the judge alone."""
    rng, real = np.random.default_rng(seed), truth(theta)
    corrected, of_votes, of_judge = Tally(real), Tally(real), Tally(real)
    for _ in range(runs):
        data, verdicts = simulate(rng, theta, judge, queries=queries, votes=votes, chosen=chosen)
        corrected.add(data, None)
        of_votes.add(data, 0.0)
        of_judge.add(dataclasses.replace(data, human=verdicts, weight=np.ones_like(data.weight)), 0.0)
    return corrected, of_votes, of_judge


def simulated_rows() -> list[Row]:
    """Simulated arenas of 100 queries."""
    rows = []
    for systems, votes in SHAPES:
        runs = RUNS // (1 if systems < 19 else 4)
        cases: dict[str, tuple[Judge, bool, int]] = {
            "a judge wrong about two systems": (wrong_about_two(systems), False, runs),
            "a judge that likes what it sees first, votes chosen": (LIKES_FIRST, True, runs // 5),
        }
        for name, (judge, chosen, n) in cases.items():
            corrected, of_votes, of_judge = repeat(
                2024, np.linspace(1, -1, systems), judge, n, queries=100, votes=votes, chosen=chosen
            )
            note = f"the judge alone, worst system: {of_judge.by_system.min():.1%}"
            rows.append(
                _row(f"Simulated, {systems} systems, {votes} votes, {name}, {n} arenas", corrected, of_votes, note)
            )
    return rows


def run() -> list[Row]:
    """Real battles first, where they are at hand, then simulated ones."""
    return [*(real_rows(load()) if REAL.exists() else []), *simulated_rows()]
