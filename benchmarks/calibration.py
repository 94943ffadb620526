"""How often 95% intervals hold the truth, by design: the default estimator and what it was chosen over.

Arenas are drawn here and not by `benchmarks.simulated`: P(i beats j) = 1 / (1 + exp(theta_j + u_j - theta_i -
u_i)) with the u drawn anew on every query, and some battles tied. The truth is what infinitely many queries come to, by
quadrature.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row
from benchmarks.sandwich import analytic
from mirage.battles.counts import Battles
from mirage.ranking.bootstrap import rate
from mirage.ranking.fit import PairCounts, fit

Array = NDArray[np.float64]

Meets = Callable[[np.random.Generator, int, int], NDArray[np.bool_]]
"""Which pairs meet on each of some queries: queries x pairs, in the order of `numpy.triu_indices`."""

DRAWS = 400
"""Draws of each interval: coverage does not depend on them, only its noise does."""
SEED = 20261122
BY_LANGUAGE = 0.3
"""Spread of a system's deviation in a language, in logits."""


@dataclass(frozen=True)
class Design:
    """Arenas of one kind."""

    what: str
    theta: Array
    queries: int
    arenas: int
    languages: int = 1
    by_query: float = 0.0
    tie: float = 0.1
    meets: Meets | None = None


def five_pairs(rng: np.random.Generator, queries: int, systems: int) -> NDArray[np.bool_]:
    """Five random pairs meet on a query."""
    pairs = systems * (systems - 1) // 2
    return np.asarray(rng.permuted(np.arange(pairs)[None] + np.zeros((queries, 1)), axis=1) < 5)


def ten_battles(rng: np.random.Generator, queries: int, systems: int) -> NDArray[np.bool_]:
    """The third system has ten battles in all, each on another query; the others all meet."""
    i, j = np.triu_indices(systems, 1)
    own = np.flatnonzero((i == 2) | (j == 2))
    mask = np.ones((queries, len(i)), dtype=bool)
    mask[:, own] = False
    mask[rng.choice(queries, 10, replace=False), rng.choice(own, 10)] = True
    return mask


def star(_: np.random.Generator, queries: int, systems: int) -> NDArray[np.bool_]:
    """Every battle is with the first system."""
    i, _ = np.triu_indices(systems, 1)
    return np.tile(i == 0, (queries, 1))


DESIGNS = (
    Design("19 systems x 100 queries", np.linspace(1.5, -1.5, 19), 100, 60),
    Design("5 systems x 30 queries", np.linspace(1, -1, 5), 30, 300),
    Design("8 systems x 60 queries, one at -6, no ties", np.r_[np.linspace(1, -1, 7), -6.0], 60, 200, tie=0.0),
    Design("joint row, 18 languages x 8 systems x 10 queries, -3 to 3", np.linspace(3, -3, 8), 10, 50, languages=18),
    Design("the same without ties", np.linspace(3, -3, 8), 10, 50, languages=18, tie=0.0),
    Design("19 systems x 100 queries, five random pairs each", np.linspace(1.5, -1.5, 19), 100, 80, meets=five_pairs),
    Design("8 systems x 100 queries, one with ten battles", np.linspace(1.5, -1.5, 8), 100, 200, meets=ten_battles),
    Design("a star of 12 systems x 200 queries", np.linspace(1.5, -1.5, 12), 200, 120, meets=star),
    Design("8 systems x 100 queries, query effects of sd 3", np.linspace(3, -3, 8), 100, 200, by_query=3.0),
)


def expected(design: Design, theta: Array) -> Array:
    """S: the ratings that infinitely many queries come to, over all that may meet, centred on 0."""
    return _expected(design.by_query, design.tie, design.meets, tuple(theta.tolist()))


@functools.lru_cache(maxsize=8)
def _expected(by_query: float, tie: float, meets: Meets | None, strengths: tuple[float, ...]) -> Array:
    theta = np.array(strengths)
    s = len(theta)
    i, j = np.triu_indices(s, 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(81)
    gap = theta[i] - theta[j]
    wins = (1 / (1 + np.exp(-gap[:, None] - np.sqrt(2) * by_query * nodes))) @ (weights / weights.sum())
    points = tie / 2 + (1 - tie) * wins
    shares = np.ones(len(i))
    if meets is not None:
        rng = np.random.default_rng(0)
        shares = np.mean([meets(rng, 100, s).mean(axis=0) for _ in range(500)], axis=0)
    return fit(PairCounts((1e4 * shares * points)[None], (1e4 * shares * (1 - points))[None], None, s)).theta[0]


def arena(design: Design, theta: Array, rng: np.random.Generator, prefix: str = "") -> Battles:
    """The battles of one language, on queries whose ids begin with the prefix."""
    q, s = design.queries, len(theta)
    i, j = np.triu_indices(s, 1)
    strength = theta + design.by_query * rng.standard_normal((q, s))
    first = rng.random((q, len(i))) < 1 / (1 + np.exp(strength[:, j] - strength[:, i]))
    tied = rng.random(first.shape) < design.tie
    mask = np.ones(first.shape, dtype=bool) if design.meets is None else design.meets(rng, q, s)
    wins, ties = np.zeros((2, q, s, s), dtype=np.uint8)
    wins[:, i, j], wins[:, j, i] = first & ~tied & mask, ~first & ~tied & mask
    ties[:, i, j] = ties[:, j, i] = tied & mask
    names = tuple(f"s{k:02}" for k in range(s))
    ids = tuple(f"{prefix}q{k:05}" for k in range(q))
    return Battles(names, ids, wins, ties, np.zeros(q, dtype=np.intp), judge="judge", skill="both")


def intervals(battles: dict[str, Battles], seed: int) -> dict[str, tuple[Array, Array, Array]]:
    """Rating, low and high of every system: ours, the analytic interval of our ratings, and maximum likelihood's."""
    ours = rate(battles, draws=DRAWS, seed=seed)
    likelihood = rate(battles, draws=DRAWS, seed=seed, penalty="none")
    rows = {
        "ours": list(ours.languages.values())[-1],
        "sandwich": list(analytic(ours).values())[-1],
        "maximum likelihood": list(likelihood.languages.values())[-1],
    }
    return {name: (row.theta, *row.interval()) for name, row in rows.items()}


def simulate(design: Design) -> Row:
    """One row: coverage by each method, and how far the printed ratings are off on average."""
    rng = np.random.default_rng([SEED, *design.what.encode()])
    inside: dict[str, list[NDArray[np.bool_]]] = {}
    errors: list[Array] = []
    halves: list[Array] = []
    for seed in range(design.arenas):
        spread = BY_LANGUAGE if design.languages > 1 else 0.0
        thetas = [design.theta + spread * rng.standard_normal(len(design.theta)) for _ in range(design.languages)]
        truth = np.mean([expected(design, theta) for theta in thetas], axis=0)
        battles = {f"l{k:02}": arena(design, theta, rng, f"l{k:02}-") for k, theta in enumerate(thetas)}
        for name, (rating, low, high) in intervals(battles, seed).items():
            inside.setdefault(name, []).append((low <= truth) & (truth <= high))
            if name == "ours":
                errors.append(rating - truth)
                halves.append(np.where(np.isfinite(high - low), (high - low) / 2, np.nan))
    # Too far out, or too close together: the part of the error that all systems share.
    out = np.sign(design.theta) * (np.array(errors) / np.nanmean(halves, axis=0))
    share, noise = out.mean(), out.mean(axis=1).std() / np.sqrt(len(out))
    by_system = np.mean(inside["ours"], axis=0)
    others = "; ".join(f"{name} {np.mean(coverage):.1%}" for name, coverage in inside.items() if name != "ours")
    return Row(
        f"{design.what}: 95% intervals hold the truth",
        f"{np.mean(inside['ours']):.1%} (a system {by_system.min():.1%} to {by_system.max():.1%})",
        others,
        f"ratings are too far out by {share:.2f} (standard error {noise:.2f}) of the half-width",
        "93 to 97%, under 0.1",
    )


def run() -> list[Row]:
    """Simulate every design."""
    return [simulate(design) for design in DESIGNS]
