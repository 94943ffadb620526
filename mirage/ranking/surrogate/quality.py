"""Quality of predictions of left-out systems; undefined values are null or an error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.surrogate.data import Array


@dataclass(frozen=True, slots=True)
class Quality:
    """Prediction quality of one regressor on systems whose battles it has not seen."""

    language: str
    """Code, or `all`."""
    regressor: str
    """The regressor."""
    systems: int
    """n: number of systems left out, one at a time."""
    tau: float | None
    """Kendall's tau-b of predictions and the judge's ratings, in [-1, 1], over pairs of systems left out together; 0
    if all predictions are equal; null if all ratings are, or if no pair was left out.
    """
    rmse: float
    """Root mean squared error, in logits."""
    r2: float | None
    """Share of the ratings' variance explained, at most 1, below 0 if the mean of the ratings predicts better; null
    with fewer than 2 systems.
    """
    slope: float | None
    """Calibration: slope of the ratings on the predictions, over pairs of systems left out together; 1 is calibrated,
    below 1 means over-dispersed predictions, 0 no information; null if all predictions are equal, or if no pair was
    left out.
    """
    covered: float | None
    """Share of the ratings inside the 95% prediction interval, in [0, 1], among the systems with a prediction interval;
    null if there are none.
    """


def r2(predicted: Array, true: Array) -> float:
    """Return the coefficient of determination, 1 - sum (y - p)^2 / sum (y - mean y)^2.

    Raises:
        NotEnoughData: with fewer than 2 systems, where the denominator is 0, or if all ratings are equal.
    """
    if len(true) < 2:
        raise NotEnoughData(
            f"R2 of {len(true)} held-out system is not defined: one rating has no variance to explain",
            do="hold out at least 2 systems, or leave out each in turn",
        )
    total = float(((true - true.mean()) ** 2).sum())
    if total < 1e-18:
        raise NotEnoughData("R2 is not defined where all ratings are equal", do="choose other systems")
    return 1 - float(((true - predicted) ** 2).sum()) / total


def quality(
    language: str,
    regressor: str,
    predicted: Array,
    true: Array,
    low: Array,
    high: Array,
    *,
    tau_parts: Array,
    slope_parts: Array,
) -> Quality:
    """Compare predictions of left-out systems with their ratings.

    Args:
        language: code, or `all`.
        regressor: its name.
        predicted: n predictions, each by a fit without the system.
        true: n ratings.
        low: n lower ends of the prediction intervals; NaN where there is none.
        high: n upper ends.
        tau_parts: n contributions to tau (`pairs.tau_parts`).
        slope_parts: n contributions to the slope (`pairs.slope_parts`).
    """
    n = len(true)
    if n < 1 or len(predicted) != n:
        raise BadInput(f"{len(predicted)} predictions of {n} ratings cannot be compared")
    inside = (true >= low) & (true <= high)
    bounded = np.isfinite(low) & np.isfinite(high)
    return Quality(
        language,
        regressor,
        n,
        _mean(tau_parts),
        float(np.sqrt(((true - predicted) ** 2).mean())),
        r2(predicted, true) if n > 1 and np.ptp(true) > 0 else None,
        _mean(slope_parts),
        float(inside[bounded].mean()) if bounded.any() else None,
    )


def _mean(parts: Array) -> float | None:
    """Return the mean; None if a part is missing."""
    return float(parts.mean()) if np.isfinite(parts).all() else None


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired test of two regressors on the same left-out systems."""

    better: str
    """The regressor under test."""
    than: str
    """The reference regressor."""
    tau: float
    """Mean over languages of Kendall's tau-b of the first."""
    tau_than: float
    """The same of the second."""
    p: float
    """Two-sided p-value of the difference in tau, by the jackknife over systems and Student's t; 1 if no two systems
    are ordered differently. Systems, not languages, are the unit: languages share them.
    """
    rmse: float
    """Root mean squared error of the first, over languages and systems, in logits."""
    rmse_than: float
    """The same of the second."""
    p_error: float
    """Two-sided p-value of the difference in squared errors, by a permutation test that swaps a system's two
    predictions in all languages at once.
    """
    languages: int
    """Number of languages compared."""
    ahead: int
    """Number of languages in which the first has the higher tau."""
    systems: int
    """Number of systems swapped."""
    swaps: int
    """Number of random swaps; 2 to the power of the systems if all were tried."""
    seed: int
    """Seed of the swaps."""


def paired_test(
    first: dict[str, Array],
    second: dict[str, Array],
    true: dict[str, Array],
    systems: dict[str, tuple[str, ...]],
    *,
    parts: tuple[dict[str, Array], dict[str, Array]],
    names: tuple[str, str],
    seed: int = 0,
    swaps: int = 2_000,
) -> PairedTest:
    """Test whether one regressor orders left-out systems better than another, and which has the lower error.

    Args:
        first: by language, n predictions of left-out systems.
        second: the other's.
        true: the ratings.
        systems: the systems, in the same order.
        parts: for both: by language, n contributions to tau (`pairs.tau_parts`). A language where either has none is
            excluded.
        names: names of the two regressors.
        seed: seed of the swaps.
        swaps: number to draw; all are enumerated if there are fewer.
    """
    everyone = sorted({s for code in first for s in systems[code]})
    masks = _masks(len(everyone), swaps, seed)
    worse = np.zeros(len(everyone))
    gains: list[list[float]] = [[] for _ in everyone]
    both: list[tuple[float, float]] = []
    squares = []
    for code in sorted(first):
        indices = [everyone.index(s) for s in systems[code]]
        squares.append([((p - true[code]) ** 2).mean() for p in (first[code], second[code])])
        worse[indices] += ((second[code] - true[code]) ** 2 - (first[code] - true[code]) ** 2) / len(indices)
        first_parts, second_parts = parts[0][code], parts[1][code]
        if np.isfinite(first_parts).all() and np.isfinite(second_parts).all():
            both.append((float(first_parts.mean()), float(second_parts.mean())))
            for k, gain in zip(indices, first_parts - second_parts, strict=True):
                gains[k].append(float(gain))
    rise = np.abs(np.where(masks, -1, 1) @ worse)
    rmse = np.sqrt(np.mean(squares, axis=0))
    tau = np.mean(both, axis=0) if both else (np.nan, np.nan)
    return PairedTest(
        better=names[0],
        than=names[1],
        tau=float(tau[0]),
        tau_than=float(tau[1]),
        p=_jackknife(np.array([np.mean(gain) for gain in gains if gain])),
        rmse=float(rmse[0]),
        rmse_than=float(rmse[1]),
        p_error=float((rise >= rise[0] * (1 - 1e-9)).mean()),
        languages=len(both),
        ahead=sum(a > b for a, b in both),
        systems=len(everyone),
        swaps=len(masks),
        seed=seed,
    )


def _jackknife(parts: Array) -> float:
    """Return the two-sided p-value of the mean of n parts, each the mean over a system's n - 1 pairs.

    Without system i the mean of all pairs is (n D - 2 d_i) / (n - 2), for D the mean of the parts d; the variance of
    the n resulting pseudo-values is (2 (n - 1) / (n - 2))^2 times that of the parts (Arvesen, Annals of Mathematical
    Statistics 40, 1969).
    """
    from scipy.special import stdtr

    n = len(parts)
    if n < 3 or not np.abs(parts).max() > 1e-12:
        return 1.0
    spread = 2 * (n - 1) / (n - 2) * float(parts.std(ddof=1)) / np.sqrt(n)
    mean = abs(float(parts.mean()))
    if spread < 1e-12:
        return 0.0 if mean > 1e-12 else 1.0
    return float(2 * stdtr(n - 1, -mean / spread))


def _masks(n: int, swaps: int, seed: int) -> NDArray[np.bool_]:
    """Return the systems to swap (B x n); the first row swaps none."""
    if 2**n <= swaps:
        return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    masks = np.random.default_rng(seed).random((swaps, n)) < 0.5
    masks[0] = False
    return masks
