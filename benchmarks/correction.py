"""Ratings corrected by votes, with a biased judge: how often each 95% interval holds the truth, and how wide it is."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmarks.harness import Row
from mirage.errors import NotEnoughData
from mirage.votes.powered import Data, estimate, solve

Array = NDArray[np.float64]
TIE, BY_QUERY = 0.1, 0.6
RUNS = 1_000
SHAPES = ((6, 60), (6, 150), (10, 150), (19, 150), (19, 400))
"""Systems, and random votes."""


def truth(theta: Array) -> Array:
    """The ratings that all battles of all questions would give: verdicts vary between questions, which shrinks them."""
    x, weight = np.polynomial.hermite_e.hermegauss(41)
    gap = theta[:, None] - theta[None, :]
    won = sum(w / (1 + np.exp(-(gap + e * BY_QUERY * 2**0.5))) for e, w in zip(x, weight / weight.sum(), strict=True))
    pairs = np.triu(np.ones_like(gap), 1)
    return solve(pairs, pairs * ((1 - TIE) * won + TIE / 2), np.zeros(len(theta)))


def simulate(
    rng: np.random.Generator, theta: Array, bias: Array, *, queries: int, votes: int, likeness: float = 0.8
) -> Data:
    """Battles of every pair on every question, judged with a bias for single systems; votes on some, drawn at random.

    Args:
        rng: what draws.
        theta: the systems' quality.
        bias: what the judge adds to it.
        queries: how many questions.
        votes: how many votes.
        likeness: share of the battles on which the same chance decides for the judge and for people.
    """
    i, j = np.triu_indices(len(theta), 1)
    here = theta + rng.normal(0, BY_QUERY, (queries, len(theta)))
    q, a, b = np.repeat(np.arange(queries), len(i)), np.tile(i, queries), np.tile(j, queries)
    chance = rng.random(len(q))
    own = np.where(rng.random(len(q)) < likeness, chance, rng.random(len(q)))

    def points(quality: Array, u: Array) -> Array:
        p = 1 / (1 + np.exp(quality[q, b] - quality[q, a]))
        return np.where(u < (1 - TIE) * p, 1.0, np.where(u > 1 - (1 - TIE) * (1 - p), 0.0, 0.5))

    voted = np.zeros(len(q), dtype=bool)
    voted[rng.choice(len(q), votes, replace=False)] = True
    human = np.where(voted, points(here, chance), 0.0)
    return Data(a, b, q, points(here + bias, own), human, voted, len(theta), queries)


def run() -> list[Row]:
    """Simulate arenas of 100 questions; the judge is wrong about two systems, by 0.6 and 0.4 logits."""
    rows = []
    for systems, votes in SHAPES:
        rng = np.random.default_rng(2024)
        theta, bias = np.linspace(1, -1, systems), np.zeros(systems)
        bias[systems // 2], bias[0] = 0.6, -0.4
        real = truth(theta)
        hits: dict[str, list[Array]] = {"corrected": [], "votes alone": [], "judge alone": []}
        errors: dict[str, list[float]] = {name: [] for name in hits}
        refused = 0
        for _ in range(RUNS // (1 if systems < 19 else 4)):
            data = simulate(rng, theta, bias, queries=100, votes=votes)
            judged = dataclasses.replace(data, human=data.judge, voted=np.ones_like(data.voted))
            for name, (one, lam) in zip(hits, ((data, None), (data, 0.0), (judged, 0.0)), strict=True):
                try:
                    found, _, covariance = estimate(one, lam)
                except NotEnoughData:
                    refused += name == "corrected"
                    continue
                error = np.sqrt(np.diag(covariance))
                hits[name].append(np.abs(found - real) <= stdtrit(one.questions_voted - 1, 0.975) * error)
                errors[name].append(float(error.mean()))
        cover = {name: float(np.mean(each)) for name, each in hits.items()}
        width = {name: float(np.mean(each)) for name, each in errors.items()}
        wrong = float(np.mean([each[[0, systems // 2]] for each in hits["judge alone"]]))
        rows.append(
            Row(
                f"Corrected ratings, {systems} systems, {votes} random votes, {len(hits['judge alone'])} arenas",
                f"covers {cover['corrected']:.1%}, error {width['corrected']:.3f}, refused {refused}",
                f"votes alone: {cover['votes alone']:.1%}, {width['votes alone']:.3f}; judge alone, where it is wrong: "
                f"{wrong:.1%}",
                f"{width['corrected'] / width['votes alone']:.2f} of the width of votes alone",
                "covers 93-97%, at most 1.00",
            )
        )
    return rows
