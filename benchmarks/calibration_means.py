"""How often 95% intervals of means, differences and chances hold: rare values, values near an end, close systems.

Values are drawn here, not by `benchmarks.simulated`. Each row says the number of simulations and its Monte Carlo
error: two standard errors of a coverage of 95%.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmarks.harness import Row
from mirage.battles import Battle, Decision
from mirage.people.votes import Vote, correct
from mirage.people.votes.powered import solve_points
from mirage.stages.retrieve.attribution import Attribution, Cause
from mirage.stages.retrieve.causes import AnswerCause, given_retrieval
from mirage.stats.bounded import bounded_mean_intervals

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Array]

SEED = 20261125
SIMULATIONS = 4000


def of_values(*values: float) -> Draw:
    """Draw values with the chance that follows each."""
    numbers, chances = np.array(values[::2]), np.cumsum(values[1::2])
    return lambda rng, shape: numbers[np.searchsorted(chances / chances[-1], rng.random(shape), "right")]


NEAR_AN_END: dict[str, tuple[Draw, float]] = {
    "0 or 1, truly 0.95": (of_values(0, 0.05, 1, 0.95), 0.95),
    "0, 1/2 or 1, truly 0.95": (of_values(0, 0.02, 0.5, 0.06, 1, 0.92), 0.95),
    "reciprocal ranks, truly 0.9": (of_values(1, 0.85, 0.5, 0.1, 0, 0.05), 0.9),
    "nDCG: beta(8, 1), one in 50 is 0": (
        lambda rng, shape: rng.beta(8, 1, shape) * (rng.random(shape) > 0.02),
        0.98 * 8 / 9,
    ),
    "BLEU: beta(2, 18)": (lambda rng, shape: rng.beta(2, 18, shape), 0.1),
    "nugget scores: beta(0.5, 0.5)": (lambda rng, shape: rng.beta(0.5, 0.5, shape), 0.5),
}
RARE: dict[str, tuple[Draw, float]] = {
    "one in 20 loses all": (of_values(-1, 0.05, 0, 0.95), -0.05),
    "one in 50 loses all": (of_values(-1, 0.02, 0, 0.98), -0.02),
    "twins: +0.05, one in 20 -0.95": (of_values(0.05, 0.95, -0.95, 0.05), 0.0),
    "twins: +0.1, one in 10 -0.9": (of_values(0.1, 0.9, -0.9, 0.1), 0.0),
    "twins: beta(0.3, 3) less its mean": (lambda rng, shape: rng.beta(0.3, 3, shape) - 0.3 / 3.3, 0.0),
}


def noise(n: int, share: float = 0.95) -> str:
    """Return two standard errors of a share of n simulations."""
    return f"{2 * np.sqrt(share * (1 - share) / n):.1%}"


def bounded(sample: Array, low: float, high: float) -> tuple[Array, Array]:
    """Return the interval of the mean of each row."""
    count, n = sample.shape
    group = np.repeat(np.arange(count), n)
    return bounded_mean_intervals(sample.ravel(), group, np.full(count, low), np.full(count, high))


def student(sample: Array, low: float, high: float) -> tuple[Array, Array]:
    """Return the interval of the mean of each row by Student's t, within the range."""
    n, mean = sample.shape[1], sample.mean(axis=1)
    half = stdtrit(n - 1, 0.975) * sample.std(axis=1, ddof=1) / np.sqrt(n)
    return np.maximum(mean - half, low), np.minimum(mean + half, high)


def near_an_end(name: str, n: int) -> Row:
    """Simulate means in [0, 1]."""
    draw, truth = NEAR_AN_END[name]
    sample = draw(np.random.default_rng([SEED, n, *name.encode()]), (SIMULATIONS, n))
    held = []
    for method in (bounded, student):
        low, high = method(sample, 0, 1)
        held.append((np.mean((low <= truth) & (truth <= high)), np.mean(high - low < 1e-9), np.mean(high - low)))
    (ours, none, width), (theirs, theirs_none, their_width) = held
    return Row(
        f"means of {n} queries, {name}: 95% intervals hold the truth",
        f"{ours:.1%}; without width {none:.0%}",
        f"Student's t {theirs:.1%}; without width {theirs_none:.0%}",
        f"width {width:.3f}, of t {their_width:.3f}; {SIMULATIONS:,} simulations, +-{noise(SIMULATIONS)}",
        "93 to 97% (to 99% where values are of two kinds)",
    )


def rare(name: str, n: int) -> Row:
    """Simulate differences in [-1, 1]: how often an end is on the wrong side of the truth."""
    draw, truth = RARE[name]
    sample = draw(np.random.default_rng([SEED, n, *name.encode()]), (SIMULATIONS, n))
    sides = []
    for method in (bounded, student):
        low, high = method(sample, -1, 1)
        sides.append(f"{np.mean(low > truth + 1e-9):.1%} above, {np.mean(high < truth - 1e-9):.1%} below")
    return Row(
        f"differences on {n} queries, {name}: intervals that lie on one side of the truth",
        sides[0],
        f"Student's t {sides[1]}",
        f"{SIMULATIONS:,} simulations, +-{noise(SIMULATIONS, 0.025)}",
        "at most 2.5% a side",
    )


def lost(n: int, shown: float, given: float, other: float, *, simulations: int = 1000) -> Row:
    """Simulate what retrieval costs a system."""
    rng, held, none = np.random.default_rng([SEED, n, int(shown * 100)]), [], 0
    truth = (1 - shown) * (given - other)
    for _ in range(simulations):
        complete = rng.random(n) < shown
        right = rng.random(n) < np.where(complete, given, other)
        causes: list[Cause] = ["right" if good else "ignored" for good in right]
        entries = [
            AnswerCause(Attribution("en", f"q{k}", "s", cause, ""), bool(complete[k])) for k, cause in enumerate(causes)
        ]
        compared = given_retrieval(entries)
        if compared and compared[0].low is not None and compared[0].high is not None:
            held.append(compared[0].low <= truth <= compared[0].high)
        else:
            none += 1
    return Row(
        f"`lost`: {n} queries, {shown:.0%} wholly shown, right {given:.0%} there and {other:.0%} elsewhere",
        f"{np.mean(held):.1%}",
        "",
        f"{len(held):,} simulations, +-{noise(len(held))}; no interval in {none:,}",
        "93 to 97% or no interval",
    )


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


def silent_judge(*, simulations: int = 200) -> Row:
    """Simulate a corrected ranking where the judge is silent on queries on which people see the order reversed."""
    truth = silent_truth()
    rng, held, errors = np.random.default_rng([SEED, 128]), [], []
    for _ in range(simulations):
        votes, decided = silent_arena(rng)
        correction = correct(votes, decided, language="sw", judge="judge")
        low, high = correction.interval()
        held.append((low <= truth) & (truth <= high))
        errors.append(correction.theta - truth)
    return Row(
        "corrected ratings, 120 queries, the judge silent on 27% of the battles, where people differ",
        f"{np.mean(held):.1%}",
        "",
        f"largest bias {np.abs(np.mean(errors, axis=0)).max():.3f} (+-{2 * np.std(errors) / simulations**0.5:.3f}); "
        f"{simulations:,} simulations, +-{noise(simulations)}",
        "93 to 97%",
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


def rows() -> list[Row]:
    """Simulate every design."""
    return [
        *(near_an_end(name, n) for name in NEAR_AN_END for n in (20, 60)),
        *(rare(name, n) for name in RARE for n in (30, 100)),
        lost(20, 0.1, 0.9, 0.5),
        lost(20, 0.3, 0.95, 0.2),
        lost(40, 0.7, 0.9, 0.5),
        silent_judge(),
    ]
