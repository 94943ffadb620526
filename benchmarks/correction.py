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
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmarks.harness import Row
from mirage.battles.decision import Battle, Decision
from mirage.errors import NotEnoughData
from mirage.people.votes import Vote, correct
from mirage.people.votes.powered import Data, PoweredEstimate, judge_residuals, powered_estimate, solve_points

Array = NDArray[np.float64]
REAL = Path(os.environ.get("MIRAGE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data")) / "judged"
FILE = "chatbot_arena_verdicts.csv.gz"
SIZES = (500, 1_500, 4_000)
"""Random votes on the real battles."""
SEEDS, DRAWS = 4, 15
"""Seeds, the worst of which is reported, and draws of votes with each."""
_POINTS = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (bothbad)": 0.5}

TIE, BY_QUERY = 0.1, 0.6
RUNS = 400
SHAPES = ((6, 60), (6, 150), (10, 150), (19, 150), (19, 400))
"""Systems, and random votes."""


# --- real battles -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Real:
    """Real battles that people and judges decided."""

    whole: Data
    """All of them, with what people said of each, and nothing else known."""
    judges: Mapping[str, Array]
    """Points of the first system by judge."""

    def predicted(self, name: str | None) -> Array:
        """Return what a judge predicts of each battle; nothing for None."""
        whole = self.whole
        if name is None:
            return np.zeros(len(whole.first))
        return judge_residuals(whole.first, whole.second, whole.systems, self.judges[name])


def load(folder: Path = REAL) -> Real:
    """Read the battles; the first system of each is the one whose name comes first."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as file:
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

    ones = np.ones(len(rows))
    return Real(
        Data(
            pairs[:, 0],
            pairs[:, 1],
            query,
            np.zeros(len(rows)),
            points("human"),
            ones,
            len(systems),
            int(query.max()) + 1,
        ),
        {name: points(name) for name in judges},
    )


@dataclass(frozen=True)
class Trial:
    """What came of many draws of votes."""

    covers: float
    """Share of the intervals that hold the rating by all that people said."""
    covers_here: float
    """The same of the narrower intervals that take these battles as all there are."""
    width: float
    """Mean standard error over that of the votes alone, plainly random and as many."""
    error: float
    """Mean standard error."""
    refused: int
    """Draws without a ranking."""


def trials(
    real: Real, judges: Sequence[str | None], votes: int, *, draws: int, seed: int, chosen: bool = False
) -> list[Trial]:
    """Draw votes at random, and correct each judge by them.

    Args:
        real: the battles.
        judges: the judge of each trial; None for the votes alone.
        votes: how many votes are drawn.
        draws: how often.
        seed: seed of the draws.
        chosen: whether the votes are the queue's: battles on which the first two judges differ are asked twice as often
            as others, and votes weigh one over the chance. Widths are then over those of the votes alone as many and
            plainly random.
    """
    whole, rng = real.whole, np.random.default_rng([seed, votes])
    true_theta, n = powered_estimate(whole, 0.0).theta, len(whole.first)
    predictions = [real.predicted(name) for name in judges]
    first, second = list(real.judges.values())[:2]
    inclusion = np.where(first != second, 1.0, 0.5) if chosen else np.ones(n)
    hits: list[list[Array]] = [[] for _ in judges]
    hits_here: list[list[Array]] = [[] for _ in judges]
    errors: list[list[float]] = [[] for _ in judges]
    refused = np.zeros(len(judges), dtype=int)
    compared = []
    for _ in range(draws):
        plain = np.zeros(n)
        plain[rng.choice(n, votes, replace=False)] = 1.0
        weight = plain
        if chosen:
            weight = np.zeros(n)
            drawn = rng.choice(np.flatnonzero(rng.random(n) < inclusion), votes, replace=False)
            weight[drawn] = 1 / inclusion[drawn]
        compared.append(_error(powered_estimate(_voted(whole, plain), 0.0)).mean())
        for k, name in enumerate(judges):
            data = _voted(whole, weight, predictions[k])
            try:
                result = powered_estimate(data, None if name else 0.0)
            except NotEnoughData:
                refused[k] += 1
                continue
            off = np.abs(result.theta - true_theta) / stdtrit(data.n_queries_voted - 1, 0.975)
            hits[k].append(off <= _error(result))
            hits_here[k].append(off <= np.sqrt((1 - votes / n) * (result.of_votes**2).sum(axis=0)))
            errors[k].append(_error(result).mean())
    return [
        Trial(
            float(np.mean(hits[k])),
            float(np.mean(hits_here[k])),
            float(np.mean(errors[k]) / np.mean(compared)),
            float(np.mean(errors[k])),
            int(refused[k]),
        )
        for k in range(len(judges))
    ]


def _voted(whole: Data, weight: Array, predicted: Array | None = None) -> Data:
    human = np.where(weight > 0, whole.human, 0.0)
    return dataclasses.replace(
        whole, human=human, weight=weight, predicted=whole.predicted if predicted is None else predicted
    )


def alone(real: Real, judge: str) -> float:
    """Share of the systems whose rating by all that people said lies in the interval of the judge's own rating."""
    result = powered_estimate(dataclasses.replace(real.whole, human=real.judges[judge]), 0.0)
    reach = stdtrit(real.whole.n_queries_voted - 1, 0.975) * _error(result)
    return float(np.mean(np.abs(result.theta - powered_estimate(real.whole, 0.0).theta) <= reach))


def _error(result: PoweredEstimate) -> Array:
    return np.asarray(np.sqrt(np.diag(result.covariance)))


def real_rows(real: Real) -> list[Row]:
    """The experiment on real battles: the worst of several seeds."""
    rows = []
    judges = [None, *real.judges]
    for votes in SIZES:
        by_seed = [trials(real, judges, votes, draws=DRAWS, seed=seed) for seed in range(SEEDS)]
        for name, seed_trials in zip(judges, zip(*by_seed, strict=True), strict=True):
            note = f"; {name} alone covers {alone(real, name):.0%}" if name else ""
            title = f"Real battles, {votes:,} random votes of {len(real.whole.first):,}, {name or 'votes alone'}"
            rows.append(_row(title, seed_trials, note, "of the width of votes alone"))
    votes, quarter = SIZES[1], SIZES[1] // 4
    chosen = [trials(real, judges[1:2], votes, draws=DRAWS, seed=seed, chosen=True)[0] for seed in range(SEEDS)]
    before = [trials(real, judges[1:2], quarter, draws=DRAWS, seed=seed)[0] for seed in range(SEEDS)]
    ratio = max(trial.error / other.error for trial, other in zip(chosen, before, strict=True))
    note = f"; {ratio:.2f} of the width by a quarter of them, plainly random, as before"
    title = f"Real battles, {votes:,} votes chosen by the queue and weighed, {judges[1]}"
    rows.append(_row(title, chosen, note, f"of the width of {votes:,} plainly random votes alone"))
    return rows


def _row(title: str, seed_trials: Sequence[Trial], note: str, over: str) -> Row:
    covers, covers_here = [trial.covers for trial in seed_trials], [trial.covers_here for trial in seed_trials]
    return Row(
        f"{title}; {SEEDS} seeds x {DRAWS} draws",
        f"covers {np.mean(covers):.1%} ({min(covers):.1%} to {max(covers):.1%} by seed), refused "
        f"{sum(trial.refused for trial in seed_trials)}",
        f"with these battles as all there are: {np.mean(covers_here):.1%} ({min(covers_here):.1%} to "
        f"{max(covers_here):.1%}){note}",
        f"{max(trial.width for trial in seed_trials):.3f} {over} (worst seed)",
        "covers 93-97%, at most 1.00",
    )


# --- simulated arenas -------------------------------------------------------------------------------------------------


def truth(theta: Array) -> Array:
    """The ratings that all battles of all queries would give: verdicts vary between queries, which shrinks them."""
    x, weight = np.polynomial.hermite_e.hermegauss(41)
    gap = theta[:, None] - theta[None, :]
    won = sum(w / (1 + np.exp(-(gap + e * BY_QUERY * 2**0.5))) for e, w in zip(x, weight / weight.sum(), strict=True))
    pairs = np.triu(np.ones_like(gap), 1)
    return solve_points(pairs, pairs * ((1 - TIE) * won + TIE / 2), np.zeros(len(theta)))


@dataclass(frozen=True)
class Judge:
    """How a simulated judge is wrong."""

    bias: Array | float = 0.0
    """S: what it adds to the quality of each system."""
    length: float = 0.0
    """What it gives for a standard deviation of length."""
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
    # Some systems write more than others, and every answer has a length of its own.
    lengths = np.resize([0.5, -0.5, 0.0], len(theta)) + rng.normal(0, 1, (queries, len(theta)))
    chance = rng.random(len(q))

    def points(quality: Array, u: Array, shift: Array | float = 0.0) -> Array:
        p = 1 / (1 + np.exp(quality[q, b] - quality[q, a] - shift))
        return np.where(u < (1 - TIE) * p, 1.0, np.where(u > 1 - (1 - TIE) * (1 - p), 0.0, 0.5))

    human = points(qualities, chance)
    order = rng.choice([-1.0, 1.0], len(q)) if judge.position else np.zeros(len(q))
    judge_chance = np.where(rng.random(len(q)) < judge.likeness, chance, rng.random(len(q)))
    judged = points(qualities + judge.bias + judge.length * lengths, judge_chance, judge.position * order)
    inclusion = np.where((judged == 0.5) | (not chosen), 1.0, 0.5)
    candidates = np.flatnonzero(rng.random(len(q)) < inclusion)
    drawn = rng.choice(candidates, votes, replace=False)
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


@dataclass(frozen=True)
class Simulated:
    """What came of many simulated arenas, by how the ratings were made."""

    covers: dict[str, float]
    """Share of the intervals that hold the truth."""
    error: dict[str, float]
    """Mean standard error."""
    by_system: dict[str, Array]
    """S: `covers` of each system."""
    refused: int
    """Arenas without a corrected ranking."""


def repeat(
    seed: int,
    theta: Array,
    judge: Judge,
    runs: int,
    *,
    queries: int,
    votes: int,
    chosen: bool = False,
) -> Simulated:
    """Simulate arenas, and rate their systems by votes and a judge (`corrected`), votes alone, and the judge alone."""
    rng, real = np.random.default_rng(seed), truth(theta)
    hits: dict[str, list[Array]] = {"corrected": [], "votes alone": [], "judge alone": []}
    errors: dict[str, list[float]] = {name: [] for name in hits}
    refused = 0
    for _ in range(runs):
        data, verdicts = simulate(rng, theta, judge, queries=queries, votes=votes, chosen=chosen)
        judged = dataclasses.replace(data, human=verdicts, weight=np.ones_like(data.weight))
        for name, (battles, lam) in zip(hits, ((data, None), (data, 0.0), (judged, 0.0)), strict=True):
            try:
                result = powered_estimate(battles, lam)
            except NotEnoughData:
                refused += name == "corrected"
                continue
            hits[name].append(
                np.abs(result.theta - real) <= stdtrit(battles.n_queries_voted - 1, 0.975) * _error(result)
            )
            errors[name].append(float(_error(result).mean()))
    return Simulated(
        {name: float(np.mean(values)) for name, values in hits.items()},
        {name: float(np.mean(values)) for name, values in errors.items()},
        {name: np.mean(values, axis=0) for name, values in hits.items()},
        refused,
    )


def simulated_rows() -> list[Row]:
    """Simulated arenas of 100 queries."""
    rows = []
    for systems, votes in SHAPES:
        theta, runs = np.linspace(1, -1, systems), RUNS // (1 if systems < 19 else 4)
        cases = {
            "a judge wrong about two systems": (wrong_about_two(systems), False),
            "a judge that likes what it sees first, votes chosen": (LIKES_FIRST, True),
        }
        for name, (judge, chosen) in cases.items():
            n = runs if not chosen else runs // 5
            result = repeat(2024, theta, judge, n, queries=100, votes=votes, chosen=chosen)
            width = result.error["corrected"] / result.error["votes alone"]
            rows.append(
                Row(
                    f"Simulated, {systems} systems, {votes} votes, {name}, {n} arenas",
                    f"covers {result.covers['corrected']:.1%}, error {result.error['corrected']:.3f}, refused "
                    f"{result.refused}",
                    f"votes alone: {result.covers['votes alone']:.1%}, {result.error['votes alone']:.3f}; the "
                    f"judge alone, worst system: {result.by_system['judge alone'].min():.1%}",
                    f"{width:.2f} of the width of votes alone",
                    "covers 93-97%, at most 1.00",
                )
            )
    return rows


# --- a judge that says nothing where people differ --------------------------------------------------------------------


SILENT_RUNS = 200
"""Simulations of the silent judge."""
SILENT_SYSTEMS = tuple(f"s{k}" for k in range(5))
"""Systems of the arena in which the judge is silent now and then."""


def silent_chances() -> tuple[Array, Array]:
    """Return the chance that the first of each two systems wins, on most queries and on those of the reversed order."""
    theta = np.linspace(0.8, -0.8, len(SILENT_SYSTEMS))
    i, j = np.triu_indices(len(theta), 1)
    return 1 / (1 + np.exp(theta[j] - theta[i])), 1 / (1 + np.exp((theta[i] - theta[j]) / 2))


def silent_truth() -> Array:
    """Return the ratings that people's verdicts on all queries come to: three queries of ten reverse the order."""
    chance, reversed_chance = silent_chances()
    s = len(SILENT_SYSTEMS)
    points, pairs = np.zeros((2, s, s))
    above = np.triu_indices(s, 1)
    points[above], pairs[above] = 0.7 * chance + 0.3 * reversed_chance, 1
    return solve_points(pairs, points, np.zeros(s))


def silent_arena(rng: np.random.Generator) -> tuple[list[Vote], dict[Battle, Decision]]:
    """Draw votes and a judge's decisions on 120 queries; where the order is reversed the judge mostly says nothing."""
    chance, reversed_chance = silent_chances()
    i, j = np.triu_indices(len(SILENT_SYSTEMS), 1)
    votes: list[Vote] = []
    decided: dict[Battle, Decision] = {}
    for q in range(120):
        hard = rng.random() < 0.3
        wins = rng.random(len(i)) < (reversed_chance if hard else chance)
        for a, b, won in zip(i.tolist(), j.tolist(), wins.tolist(), strict=True):
            key = Battle("sw", f"q{q:03}", SILENT_SYSTEMS[a], SILENT_SYSTEMS[b])
            if not (hard and rng.random() < 0.9):
                judged_first = won if rng.random() < 0.7 else bool(rng.random() < 0.5)
                decided[key] = Decision(0 if judged_first else 1, float(judged_first), True)
            if rng.random() < 0.15:
                votes.append(_vote(key, "A" if won else "B", f"{q}-{a}-{b}", voter=f"v{len(votes) % 12}"))
    return votes, decided


def silent_row() -> Row:
    """Simulate a corrected ranking where the judge is silent on queries on which people see the order reversed."""
    real = silent_truth()
    rng, held, errors = np.random.default_rng(128), [], []
    for _ in range(SILENT_RUNS):
        votes, decided = silent_arena(rng)
        correction = correct(votes, decided, language="sw", judge="judge")
        low, high = correction.interval()
        held.append((low <= real) & (real <= high))
        errors.append(correction.theta - real)
    bias, noise = np.abs(np.mean(errors, axis=0)).max(), 2 * np.std(errors) / SILENT_RUNS**0.5
    return Row(
        f"Corrected ratings, 120 queries, the judge silent on 27% of the battles, {SILENT_RUNS} arenas",
        f"covers {np.mean(held):.1%}",
        "",
        f"largest bias {bias:.3f} (+-{noise:.3f})",
        "covers 93-97%",
    )


def _vote(key: Battle, word: str, vote_id: str, *, voter: str) -> Vote:
    return Vote(
        vote_id=vote_id,
        time="2026-01-01T00:00:00Z",
        arena="a",
        language=key.language,
        query_id=key.query_id,
        system_a=key[2],
        system_b=key[3],
        voter=voter,
        vote=word,
        control=True,
        why="random",
        note=None,
        undoes=None,
        seconds=None,
        session=None,
        shown=None,
    )


def run() -> list[Row]:
    """Real battles first, where they are at hand, then simulated ones."""
    return [*(real_rows(load()) if (REAL / FILE).exists() else []), *simulated_rows(), silent_row()]
