"""Surrogates of 18 languages x 200 tournaments: one forest a tournament, as published, against all in closed form."""

from __future__ import annotations

import functools

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.harness import Row, seconds
from benchmarks.simulated import draw_tournaments, simulate_arena
from mirage.battles.judge import Judge
from mirage.ranking.surrogate import Draws, by_draw, compare_regressors
from mirage.ranking.surrogate.training import training
from mirage.text.languages import LANGUAGES

SYSTEMS, QUERIES, DRAWS, SEED = 19, 100, 200, 2024
FORESTS = 10
"""Tournaments that forests are timed on, in each of two languages."""
ARENAS = 8
"""Simulated arenas of `held_out`."""


@functools.cache
def draws() -> dict[str, Draws]:
    """Feature means and ratings of 200 draws of a simulated arena of the paper's size."""
    return draw_tournaments(simulate_arena(systems=SYSTEMS, queries=QUERIES, seed=SEED).tables, DRAWS, SEED)


def left_out() -> tuple[str, ...]:
    """Two systems held out, as in the paper."""
    return tuple(next(iter(draws().values())).systems[4:6])


def _error(predicted: dict[str, np.ndarray], tournaments: dict[str, Draws], out: tuple[str, ...]) -> float:
    """Root mean squared error on the systems held out, over draws and languages."""
    squares = []
    for code, values in predicted.items():
        indices = [tournaments[code].systems.index(s) for s in out]
        squares.append(np.mean((values[:, indices] - tournaments[code].theta[:, indices]) ** 2))
    return float(np.sqrt(np.mean(squares)))


def held_out() -> Row:
    """Order of left-out systems by the regressor for new systems and the published forest, on arenas of known truth."""
    taus, forest_taus = [], []
    for seed in range(ARENAS):
        tables = simulate_arena(systems=8, queries=50, languages=["ar", "en", "sw"], seed=1_000 + seed).tables
        comparison = compare_regressors(
            training(tables["features"], tables["judgments"], Judge.single("judge")),
            ["forest", "answers"],
        )
        test = comparison.tests[0]
        taus.append(test.tau)
        forest_taus.append(test.tau_than)
    p = float(wilcoxon(taus, forest_taus).pvalue)
    return Row(
        f"Left-out systems of {ARENAS} arenas of 8 systems, 3 languages, 50 queries, in order",
        f"tau {np.mean(taus):.3f} (features by answer)",
        f"random forest a language: tau {np.mean(forest_taus):.3f}",
        f"higher in {sum(a > b for a, b in zip(taus, forest_taus, strict=True))} of {ARENAS}, p = {p:.4f} (Wilcoxon)",
        "above",
    )


def run() -> list[Row]:
    """Time both side by side; the forests on two languages and ten tournaments, scaled linearly (said so).

    The error is compared on the same tournaments, two systems held out at a time.
    """
    tournaments = draws()
    few = {
        code: Draws(
            language_draws.systems,
            language_draws.features,
            language_draws.means[:FORESTS],
            language_draws.theta[:FORESTS],
        )
        for code, language_draws in tournaments.items()
        if code in ("ar", "zh")
    }
    out = left_out()
    pooled_seconds, forest_seconds = seconds(
        lambda: by_draw(tournaments, out=out, name="pooled"), lambda: by_draw(few, "forest", out=out), rounds=3
    )
    scaled = forest_seconds * len(LANGUAGES) * DRAWS / (len(few) * FORESTS)
    systems = next(iter(tournaments.values())).systems
    shifts = [(systems[k], systems[k + 1]) for k in range(0, SYSTEMS - 1, 2)]
    two = {
        code: Draws(language_draws.systems, language_draws.features, language_draws.means[:2], language_draws.theta[:2])
        for code, language_draws in few.items()
    }
    errors = {
        name: float(np.sqrt(np.mean([_error(by_draw(two, name, out=pair), two, pair) ** 2 for pair in shifts])))
        for name in ("pooled", "forest")
    }
    title = f"Surrogates of {len(LANGUAGES)} languages x {DRAWS} tournaments x {SYSTEMS} systems, two held out"
    return [
        Row(
            title,
            f"{pooled_seconds:.3f} s (pooled ridge, all tournaments in closed form)",
            f"a random forest a tournament, as published: {scaled:.0f} s (scaled from {len(few)} x {FORESTS} fits)",
            f"{scaled / pooled_seconds:.0f} times",
            "at least 100 times",
        ),
        Row(
            f"Error on held-out systems ({len(shifts)} pairs, 2 languages, 2 tournaments)",
            f"RMSE {errors['pooled']:.3f} logits",
            f"random forest: RMSE {errors['forest']:.3f} logits",
            f"{errors['pooled'] / errors['forest']:.2f} of it",
            "no worse",
        ),
        held_out(),
    ]
