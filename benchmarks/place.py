"""Battles drawn at random until a new system's tier is settled, and all pairs, with known truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Row
from benchmarks.simulated import simulate_arena
from mirage.battles.verdict_rows import from_judgments
from mirage.ranking.bootstrap import rate
from mirage.ranking.place import sequential
from mirage.ranking.place.sequential.field import by_pair
from mirage.ranking.tiers import separate

SEEDS = range(60)
LANGUAGE = "en"
PRIOR_SD = 0.5
"""Error of the surrogate, in logits: about that of the default on left-out systems."""


@dataclass(frozen=True, slots=True)
class Course:
    """How the placement of one system went."""

    battles: int
    """Battles fought until it was settled, or until none was left."""
    settled: bool
    """Whether it was."""
    right: bool
    """Whether its most probable tier at the end is the true one."""
    n_until_right: int
    """Battles after which the most probable tier was the true one, and stayed so; `all` of them and one where it
    was not at the end."""
    inside: bool
    """Whether the true rating lies in the 95% interval at the end."""
    all: int
    """Battles of all pairs."""


def course(seed: int, *, systems: int = 19, queries: int = 100, batch: int = 25) -> Course:
    """Place one system of a simulated arena, drawn by the seed, batch after batch, by its verdicts in that arena.

    Its prior is its true rating with an error of `PRIOR_SD`. The true tier is where the true rating lies among the
    boundaries of the tiers, taken at the true ratings; ratings without error are those of the simulation, on the scale
    of a Bradley-Terry fit.

    Args:
        seed: of arena, system, prior and choice.
        systems: systems of the arena, the new one among them.
        queries: queries.
        batch: battles chosen at a time.
    """
    simulation = simulate_arena(systems=systems, queries=queries, languages=[LANGUAGE], seed=seed)
    battles = from_judgments(simulation.tables["judgments"], judge="judge")[LANGUAGE]
    rng = np.random.default_rng([seed, 1])
    new = battles.systems[int(rng.integers(systems))]
    others = [name for name in battles.systems if name != new]
    judged = battles.subset(others)
    field = sequential.field(LANGUAGE, judged)
    tiers_of_field = separate(rate({LANGUAGE: judged}, draws=1))[LANGUAGE]
    last = max(tier for tier in tiers_of_field.tiers if tier is not None)
    tiers = [[s for s in tiers_of_field.systems if tiers_of_field.tier[s] == k] for k in range(1, last + 1)]

    theta = np.array([simulation.theta[LANGUAGE][name] for name in (*others, new)])
    theta -= theta[:-1].mean()
    theta *= field.theta @ theta[:-1] / (theta[:-1] @ theta[:-1])
    start = sequential.start([field], sequential.Prior([theta[-1] + rng.normal(0, PRIOR_SD)], [PRIOR_SD]))
    true_tier = 1 + int((sequential.boundaries(start, tiers) @ theta < 0).sum())

    points, fought_pairs = by_pair(battles)
    index, opponents = battles.systems.index(new), [battles.systems.index(name) for name in others]
    points, fought_pairs = points[:, index][:, opponents], fought_pairs[:, index][:, opponents]
    requested = np.zeros_like(fought_pairs)
    fought: list[sequential.BattleResult] = []
    rights = []
    while True:
        state = start.after(fought)
        now = sequential.posterior_standing(state, tiers, seed=seed)
        rights.append((len(fought), now.tier == true_tier))
        room = sequential.CandidatePool(battles.queries, fought_pairs & ~requested, requested)
        chosen = sequential.choose_battles(state, [room], n=batch, seed=seed)
        if now.settled or not chosen:
            break
        for battle in chosen:
            requested[battle.query, battle.opponent] = True
            fought.append(
                sequential.BattleResult(battle.query, battle.opponent, float(points[battle.query, battle.opponent]))
            )
    wrong = [n for n, right in rights if not right]
    first = next((n for n, _ in rights if not wrong or n > wrong[-1]), int(fought_pairs.sum()) + 1)
    return Course(
        len(fought), now.settled, rights[-1][1], first, bool(now.low <= theta[-1] <= now.high), int(fought_pairs.sum())
    )


def run() -> list[Row]:
    """Place systems of simulated arenas; rows for what it took and for whether it was right."""
    courses = [course(seed) for seed in SEEDS]
    where = f"19 systems x 100 queries, {len(SEEDS)} arenas"
    every = courses[0].all
    took = [placed.battles if placed.settled else placed.all + 1 for placed in courses]
    return [
        Row(
            f"battles until a tier is settled at 95%, {where}: median (90% range)",
            _range(took, every),
            f"all pairs: {every:,}",
            f"{every / np.median(took):.1f} times fewer than all pairs",
            "fewer than all pairs",
        ),
        Row(
            f"battles until the most probable tier is the true one and stays so, {where}: median (90% range)",
            _range([placed.n_until_right for placed in courses], every),
            f"all pairs: {every:,}",
            "",
            "",
        ),
        Row(
            f"settled with fewer than all pairs, and of those the right tier, {where}",
            _right(courses),
            "",
            f"true rating in the 95% interval: {np.mean([placed.inside for placed in courses]):.0%}",
            "at least 90% right",
        ),
    ]


def _range(battles: Sequence[int], every: int) -> str:
    low, middle, high = (
        f"{int(n):,}" if n <= every else "not by all"
        for n in np.quantile(battles, [0.05, 0.5, 0.95], method="inverted_cdf")
    )
    return f"{middle} ({low} to {high})"


def _right(courses: Sequence[Course]) -> str:
    settled = [placed for placed in courses if placed.settled]
    return f"{len(settled)} of {len(courses)} settled, {sum(placed.right for placed in settled)} right"
