"""How often the 95% intervals of rates corrected for label errors hold the truth, and what label errors do without.

Every simulation draws queries of both labels, wrong labels, the answers of a system that answers a query by what it
truly is, and an audit of some of these queries. A row joins 8 pairs of true rates for one share of wrong labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row
from mirage.errors import NotEnoughData
from mirage.stats.intervals import wilson
from mirage.stats.label_errors import LabelError, ObservedShare, correct_shares

SEED = 20261126
SIMULATIONS = 2000
RATES = ((0.02, 0.02), (0.02, 0.3), (0.1, 0.1), (0.1, 0.6), (0.3, 0.3), (0.6, 0.02), (0.9, 0.02), (0.9, 0.3))
"""True hallucination and error rates."""
ERRORS = ((0.0, 0.0), (0.05, 0.05), (0.1, 0.1), (0.2, 0.2), (0.2, 0.02), (0.02, 0.2))
"""True shares of wrong labels among the queries called unanswerable, and among those called answerable."""
DESIGNS = ((50, 20), (50, 50), (200, 20), (200, 60), (200, 200), (500, 20), (500, 60), (500, 200))
"""Queries of both labels, and how many of them are audited."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Coverage of one true rate under one design."""

    corrected: float
    """Share of simulations whose corrected interval holds the true rate."""
    printed: float
    """The same for the interval without correction."""
    delta: float
    """The same for the delta method."""
    bootstrap: float
    """The same for the percentiles of a parametric bootstrap of queries and audits (Jeffreys)."""
    width: float
    """Mean width of the corrected interval."""
    printed_width: float
    """Mean width of the interval without correction."""


@lru_cache(maxsize=200_000)
def corrected(answers: tuple[int, int], queries: int, wrong: tuple[int, int], audited: int) -> tuple[float, float]:
    """Return the corrected interval of the hallucination rate."""
    shares = [ObservedShare(k / queries, *wilson(k, queries), queries) for k in answers]
    errors = [LabelError(k / audited, *wilson(k, audited), audited, k, audited) for k in wrong]
    first, _ = correct_shares(shares[0], shares[1], (errors[0], errors[1]))
    return first.low, first.high


def delta(answers: NDArray[np.int64], queries: int, wrong: NDArray[np.int64], audited: int) -> NDArray[np.float64]:
    """Return the ends of the delta method's intervals, 2 x simulations."""
    a, b = answers / queries
    e, f = wrong / audited
    kept = np.maximum(1 - e - f, 0.05)
    value = ((1 - f) * a - e * b) / kept
    variance = (
        ((1 - f) / kept) ** 2 * a * (1 - a) / queries
        + (e / kept) ** 2 * b * (1 - b) / queries
        + ((1 - f) * (a - b) / kept**2) ** 2 * e * (1 - e) / audited
        + (e * (a - b) / kept**2) ** 2 * f * (1 - f) / audited
    )
    half = 1.96 * np.sqrt(variance)
    return np.clip([value - half, value + half], 0, 1)


def bootstrap(
    rng: np.random.Generator, answers: NDArray[np.int64], queries: int, wrong: NDArray[np.int64], audited: int
) -> NDArray[np.float64]:
    """Return the ends of the percentile intervals of a parametric bootstrap, 2 x simulations."""

    def draw(k: NDArray[np.int64], n: int) -> NDArray[np.float64]:
        return rng.beta(k[:, None] + 0.5, n - k[:, None] + 0.5, (len(k), 300))

    a, b = draw(answers[0], queries), draw(answers[1], queries)
    e, f = draw(wrong[0], audited), draw(wrong[1], audited)
    values = np.clip(((1 - f) * a - e * b) / np.maximum(1 - e - f, 0.05), 0, 1)
    return np.asarray(np.quantile(values, [0.025, 0.975], axis=1))


def simulate(
    rates: tuple[float, float], errors: tuple[float, float], design: tuple[int, int], *, simulations: int = SIMULATIONS
) -> Cell:
    """Simulate one truth under one design, with half of the queries and of the audit of either label."""
    queries, audited = design[0] // 2, design[1] // 2
    truth = (rates[0], 1 - rates[1])
    rng = np.random.default_rng([SEED, *design, *(round(1000 * share) for share in (*rates, *errors))])
    found = rng.binomial(audited, np.array(errors)[:, None], (2, simulations))
    wrong = found + rng.binomial(queries - audited, np.array(errors)[:, None], (2, simulations))
    other, own = np.array(truth[::-1])[:, None], np.array(truth)[:, None]
    answers = rng.binomial(wrong, other) + rng.binomial(queries - wrong, own)
    ends = []
    for k in range(simulations):
        try:
            given = tuple(map(int, answers[:, k])), queries, tuple(map(int, found[:, k])), audited
            ends.append(corrected(*given))  # type: ignore[arg-type]  # pairs
        except NotEnoughData:
            ends.append((0.0, 1.0))
    low, high = np.array(ends).T
    plain = np.array([wilson(int(k), queries) for k in answers[0]]).T
    few = slice(0, min(simulations, 400))
    drawn = bootstrap(rng, answers[:, few], queries, found[:, few], audited)

    def holds(interval: NDArray[np.float64]) -> float:
        return float(np.mean((interval[0] <= truth[0] + 1e-12) & (interval[1] >= truth[0] - 1e-12)))

    return Cell(
        holds(np.array([low, high])),
        holds(plain),
        holds(delta(answers, queries, found, audited)),
        holds(drawn),
        float(np.mean(high - low)),
        float(np.mean(plain[1] - plain[0])),
    )


def row(design: tuple[int, int], errors: tuple[float, float], cells: Sequence[Cell]) -> Row:
    """Join the cells of one design and one share of wrong labels."""

    def span(name: str) -> str:
        values = [getattr(cell, name) for cell in cells]
        return f"{np.mean(values):.1%} ({min(values):.1%} to {max(values):.1%})"

    width, plain = (np.mean([getattr(cell, name) for cell in cells]) for name in ("width", "printed_width"))
    return Row(
        f"{design[0]} queries, {design[1]} audited, {errors[0]:.0%} and {errors[1]:.0%} of labels wrong: coverage",
        span("corrected"),
        f"not corrected {span('printed')}; delta method {span('delta')}; bootstrap {span('bootstrap')}",
        f"width {width:.3f}, not corrected {plain:.3f}; {len(cells)} x {SIMULATIONS:,} simulations, +-1.0% each",
        "93 to 97%; more near 0 and 1",
    )


def run() -> list[Row]:
    """Simulate every design."""
    return [
        row(design, errors, [simulate(rates, errors, design) for rates in RATES])
        for design in DESIGNS
        for errors in ERRORS
    ]
