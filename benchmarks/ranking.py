"""Bradley-Terry with a query bootstrap, 18 languages x 19 systems x 100 queries x 200 draws, from rows to intervals."""

from __future__ import annotations

import functools
from typing import Any

import choix
import numpy as np
import pyarrow as pa

from benchmarks.harness import Row, seconds
from mirage import rank, schema
from mirage.languages import LANGUAGES

SYSTEMS, QUERIES, DRAWS, SEED = 19, 100, 200, 2024


@functools.cache
def judgments() -> pa.Table:
    """307,800 simulated verdicts: every pair of 19 systems on 100 queries in 18 languages, one in ten a tie."""
    rng = np.random.default_rng(SEED)
    theta = np.linspace(1.5, -1.5, SYSTEMS)
    i, j = np.triu_indices(SYSTEMS, 1)
    names = np.array([f"system-{k:02}" for k in range(SYSTEMS)])
    columns: dict[str, list[Any]] = {
        n: [] for n in ("language", "query_id", "judge", "system_a", "system_b", "verdict")
    }
    for code in LANGUAGES:
        here = theta + rng.normal(0, 0.6, (QUERIES, SYSTEMS))
        p = 1 / (1 + np.exp(here[:, j] - here[:, i]))
        verdict = np.where(rng.random(p.shape) < 0.1, "tie", np.where(rng.random(p.shape) < p, "A", "B"))
        n = p.size
        columns["language"] += [code] * n
        columns["query_id"] += np.repeat([f"{code}-{q}" for q in range(QUERIES)], len(i)).tolist()
        columns["judge"] += ["judge"] * n
        columns["system_a"] += np.tile(names[i], QUERIES).tolist()
        columns["system_b"] += np.tile(names[j], QUERIES).tolist()
        columns["verdict"] += verdict.ravel().tolist()
    return schema.from_columns("judgments", columns)


def ours() -> rank.Ranking:
    """From rows to a ranking with intervals."""
    return rank.rate(rank.from_judgments(judgments(), judge="judge"), draws=DRAWS, seed=SEED)


def choix_dense(battles: dict[str, rank.Battles], draws: int) -> None:
    """Resample queries and fit choix's dense solver, draw by draw, on win matrices that are already counted."""
    rng = np.random.default_rng(SEED)
    for one in battles.values():
        points = one.wins + one.ties / 2
        for _ in range(draws):
            picked = points[rng.integers(QUERIES, size=QUERIES)].sum(axis=0)
            choix.ilsr_pairwise_dense(picked, alpha=0.0)


def choix_lists(battles: dict[str, rank.Battles], draws: int) -> None:
    """Resample queries and fit `choix.ilsr_pairwise` on lists of pairs, as the MIRAGE-Bench program does."""
    rng = np.random.default_rng(SEED)
    for one in battles.values():
        by_query = [[(i, j) for i, j in np.argwhere(w)] for w in one.wins]
        for _ in range(draws):
            pairs = [pair for q in rng.integers(QUERIES, size=QUERIES) for pair in by_query[q]]
            choix.ilsr_pairwise(SYSTEMS, pairs, alpha=1e-4)


def run() -> list[Row]:
    """Time ours against choix's two solvers; the slow ones on fewer languages and draws, scaled linearly (said so)."""
    battles = rank.from_judgments(judgments(), judge="judge")
    two = {code: battles[code] for code in ("ar", "zh")}
    dense_draws, list_draws = 20, 4
    mine, dense, lists = seconds(
        ours, lambda: choix_dense(two, dense_draws), lambda: choix_lists(two, list_draws), rounds=3
    )
    everything = len(LANGUAGES) * DRAWS
    dense_all = dense * everything / (len(two) * dense_draws)
    lists_all = lists * everything / (len(two) * list_draws)
    what = "Bradley-Terry, 18 languages x 19 systems x 100 queries, 200 query bootstraps, from 307,800 rows"
    return [
        Row(
            what,
            f"{mine:.3f} s",
            f"choix.ilsr_pairwise_dense in a loop: {dense_all:.1f} s (scaled from {len(two)} x {dense_draws} fits)",
            f"{dense_all / mine:.0f} times",
            "at least 15 times",
        ),
        Row(
            what,
            f"{mine:.3f} s",
            f"choix.ilsr_pairwise on pair lists: {lists_all:.0f} s (scaled from {len(two)} x {list_draws} fits)",
            f"{lists_all / mine:.0f} times",
            "at least 500 times",
        ),
    ]
