"""Risk-coverage curves from arrays, with intervals and area."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage.errors import BadInput
from mirage.stages.abstain.records import Curve, Point
from mirage.stats.intervals import CONFIDENCE, bootstrap_tails, wilson_of_variance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

DRAWS = 1_000
"""Bootstrap draws."""
FEWEST = 20
"""Minimum queries for a curve or a threshold, and minimum answers given for an interval of a point."""
STEPS = 20
"""Number of points of a curve."""
BLOCK = 2_000_000
"""Maximum weights in memory at once."""


def check_signals(signal: Floats, loss: Floats) -> None:
    """Check that signals and losses are valid and aligned.

    Raises:
        BadInput: if lengths differ, a signal is not finite, or a loss is not in [0, 1].
    """
    import numpy as np

    if signal.ndim != 1 or signal.shape != loss.shape:
        raise BadInput(f"{signal.shape} signals and {loss.shape} losses", do="pass one of each per query")
    if not np.isfinite(signal).all():
        raise BadInput("a signal is not finite", do="remove the answers without a signal")
    if not ((loss >= 0) & (loss <= 1)).all():
        raise BadInput("a loss is not between 0 and 1", do="scale the losses")


def lacking(signal: Floats) -> str | None:
    """Return why a signal cannot be analysed, or None."""
    if not len(signal):
        return "no answers"
    if len(signal) < FEWEST:
        return "too few queries"
    return "constant signal" if signal.min() == signal.max() else None


def curve(
    signal: Floats,
    loss: Floats,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    confidence: float = CONFIDENCE,
    units: Places | None = None,
) -> Curve:
    """Compute the risk-coverage curve of a signal, with pointwise intervals.

    Args:
        signal: of one answer per query; higher favours answering.
        loss: of the same answers, 0 (correct) to 1 (wrong).
        draws: bootstrap draws over queries, at least 2.
        seed: seed of the draws.
        confidence: level of the intervals.
        units: unit of each answer, for queries shared by several languages; None if each answer is to its own query.

    Returns:
        The curve, or the reason why there is none. Intervals of risks and of the area are Wilson's at the effective
        sample size of the bootstrap variance (`wilson_of_variance`); those of the excess are percentiles
        (`bootstrap_tails`).

    Raises:
        BadInput: if the arrays are not aligned or not valid.

    Source: El-Yaniv and Wiener, JMLR 11 (2010); Geifman, Uziel and El-Yaniv, ICLR 2019 (AURC, E-AURC).
    """
    import numpy as np

    check_signals(signal, loss)
    n, reason = len(signal), lacking(signal)
    if reason is not None:
        mean = float(loss.mean()) if n else None
        return Curve(n, (), mean, None, None, None, None, None, None, None, draws, seed, confidence, reason)
    orders = np.argsort(-signal, kind="stable"), np.argsort(loss, kind="stable")
    groups = _ends(signal[orders[0]]), _ends(loss[orders[1]])
    steps = np.arange(1, STEPS + 1) / STEPS

    def risks_of(weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Risks at the steps, area and oracle's area of each row of weights."""
        count, total = _sums(weights[:, orders[0]], loss[orders[0]], groups[0])
        risks = np.array([np.interp(steps * n, *row) for row in zip(count, total, strict=True)]) / (steps * n)
        return (
            np.clip(risks, 0, 1),
            _area(count, total),
            _area(*_sums(weights[:, orders[1]], loss[orders[1]], groups[1])),
        )

    risks, areas, oracles = risks_of(np.ones((1, n)))
    rng = np.random.default_rng([seed, n])
    block = max(1, BLOCK // n)
    place = np.arange(n) if units is None else np.unique(units, return_inverse=True)[1]
    sizes = np.bincount(place)
    m = len(sizes)
    drawn = [
        risks_of(_resample_counts(rng, sizes, min(block, draws - start))[:, place]) for start in range(0, draws, block)
    ]
    drawn_risks, drawn_areas, drawn_oracles = (np.concatenate(part) for part in zip(*drawn, strict=True))
    # The bootstrap variance of m queries is too small by the factor (m - 1) / m.
    spread = drawn_risks.var(axis=0, ddof=1) * m / max(m - 1, 1)
    points = []
    for step, risk, variance in zip(steps.tolist(), risks[0].tolist(), spread.tolist(), strict=True):
        wide = step * n >= FEWEST
        band = wilson_of_variance(risk, variance, step * n, confidence=confidence) if wide else (None, None)
        points.append(Point(step, risk, *band))
    area, oracle = float(areas[0]), float(oracles[0])
    variance = float(drawn_areas.var(ddof=1)) * m / max(m - 1, 1)
    area_low, area_high = wilson_of_variance(area, variance, n, confidence=confidence)
    excess = np.quantile(np.maximum(drawn_areas - drawn_oracles, 0), bootstrap_tails(confidence, m)).tolist()
    return Curve(
        n=n,
        points=tuple(points),
        risk=float(loss.mean()),
        area=area,
        area_low=area_low,
        area_high=area_high,
        oracle=oracle,
        excess=max(0.0, area - oracle),
        excess_low=excess[0],
        excess_high=excess[1],
        draws=draws,
        seed=seed,
        confidence=confidence,
        reason=None,
    )


def _resample_counts(rng: np.random.Generator, sizes: NDArray[np.int64], n: int) -> Floats:
    """Return N x M counts of each of M units in n resamples.

    Units are drawn among those with equally many answers, so that every resample has as many answers.
    """
    import numpy as np

    drawn = np.empty((n, len(sizes)))
    for size in np.unique(sizes):
        (alike,) = np.nonzero(sizes == size)
        drawn[:, alike] = rng.multinomial(len(alike), np.full(len(alike), 1 / len(alike)), size=n)
    return drawn


def _ends(ordered: Floats) -> NDArray[np.int64]:
    """Return the number of answers up to the end of each run of equal signals."""
    import numpy as np

    return np.append(np.flatnonzero(np.diff(ordered)) + 1, len(ordered))


def _sums(weights: Floats, loss: Floats, ends: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return answers given and their loss at the end of each run, from 0, per row of weights."""
    import numpy as np

    start = np.zeros((len(weights), 1))
    both = (np.cumsum(weights * each, axis=1)[:, ends - 1] for each in (1.0, loss))
    count, total = (np.hstack([start, sums]) for sums in both)
    return count, total


def _area(count: Floats, total: Floats) -> Floats:
    """Return the mean of the risks at 1, 2 ... n answers given.

    Within a run of equal signals the expected loss over its orders is linear: at c answers it is t + m (c - s), so a
    run adds m to each risk, and (t - m s) / c.
    """
    import numpy as np

    places = count.astype(np.int64)
    n = int(places[0, -1])
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, n + 1))])
    size = np.diff(count, axis=1)
    slope = np.diff(total, axis=1) / np.maximum(size, 1)
    rest = (total[:, :-1] - slope * count[:, :-1]) * np.diff(harmonic[places], axis=1)
    area: Floats = np.clip((slope * size + rest).sum(axis=1) / n, 0.0, 1.0)
    return area
