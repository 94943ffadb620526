"""Quality of predictions of left-out systems; undefined values are null or an error."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.surrogate.range import ALL
from mirage.stats.arrays import Array


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
    if all predictions are equal; null if all ratings are, or if every pair leaves too few training systems.
    """
    rmse: float
    """Root mean squared error, in logits."""
    r2: float | None
    """Share of the ratings' variance explained, at most 1, below 0 if the mean of the ratings predicts better; null
    with fewer than 2 systems.
    """
    slope: float | None
    """Calibration: slope of the ratings on the predictions, over pairs of systems left out together; 1 is calibrated,
    below 1 means over-dispersed predictions, 0 no information; null if all predictions are equal,
    or if every pair leaves too few training systems.
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


@dataclass(frozen=True, eq=False)
class HeldOutLanguage:
    """Predicted ratings of the n systems of one language, or on the mean over languages."""

    systems: tuple[str, ...]
    """The n systems."""
    predicted: Array
    """n ratings in logits, centred as the judge's."""
    low: Array
    """n lower ends of the 95% prediction intervals; NaN with too few left-out systems, or outside their range
    (`range.py`).
    """
    high: Array
    """n upper ends."""
    judged: Array
    """n ratings by the judge."""
    tau_parts: Array
    """Each system's contribution to Kendall's tau-b of pairs left out together, whose mean is the tau (`tau_parts`);
    NaN where pairs leave too few training systems.
    """
    slope_parts: Array
    """Each system's contribution to the slope of ratings on predictions, from the same pairs (`slope_parts`)."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predicted ratings of every system, each by a fit without that system's battles (leave-one-out)."""

    regressor: str
    """Name of the regressor."""
    languages: Mapping[str, HeldOutLanguage]
    """By language, `all` last with several."""

    def quality(self) -> tuple[Quality, ...]:
        """Return the quality of the predictions by language, `all` last."""
        rows = []
        for code, of in self.languages.items():
            n, true, bounded = len(of.systems), of.judged, np.isfinite(of.low) & np.isfinite(of.high)
            rows.append(
                Quality(
                    code,
                    self.regressor,
                    n,
                    _mean(of.tau_parts),
                    float(np.sqrt(((true - of.predicted) ** 2).mean())),
                    r2(of.predicted, true) if n > 1 and np.ptp(true) > 0 else None,
                    _mean(of.slope_parts),
                    float(((true >= of.low) & (true <= of.high))[bounded].mean()) if bounded.any() else None,
                )
            )
        return tuple(rows)


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
    languages: int
    """Number of languages compared."""
    ahead: int
    """Number of languages in which the first has the higher tau."""
    systems: int
    """Number of systems left out."""


def paired_test(first: HeldOut, second: HeldOut) -> PairedTest | None:
    """Test whether one regressor orders left-out systems better than another, language by language.

    Args:
        first: its predictions of left-out systems.
        second: the other's, of the same systems.

    Returns:
        The test over the languages where both have a tau; None if there is none.
    """
    gains: dict[str, list[float]] = {}
    taus = []
    for code, of in first.languages.items():
        if code == ALL or code not in second.languages:
            continue
        parts = np.array([of.tau_parts, second.languages[code].tau_parts])
        if np.isfinite(parts).all():
            taus.append(parts.mean(axis=1))
            for system, gain in zip(of.systems, (parts[0] - parts[1]).tolist(), strict=True):
                gains.setdefault(system, []).append(gain)
    if not taus:
        return None
    tau = np.mean(taus, axis=0)
    return PairedTest(
        better=first.regressor,
        than=second.regressor,
        tau=float(tau[0]),
        tau_than=float(tau[1]),
        p=_jackknife(np.array([np.mean(gains[system]) for system in sorted(gains)])),
        languages=len(taus),
        ahead=sum(a > b for a, b in taus),
        systems=len(gains),
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


def tau_parts(predicted: Array, true: Array) -> Array:
    """Return each system's contribution to Kendall's tau-b of left-out systems, whose mean is the tau.

    Args:
        predicted: n x n: prediction of the row's system by a fit without it and the column's; NaN where there is none.
            A row of equal values is a prediction independent of the other system.
        true: n ratings.

    Returns:
        n contributions; all 0 if all predictions are equal, since these order nothing; all NaN if no pair was
        predicted, or all ratings are equal.
    """
    gap = predicted - predicted.T
    known = np.isfinite(gap)
    signs = [np.sign(np.where(known & (np.abs(d) >= 1e-9), d, 0.0)) for d in (gap, true[:, None] - true[None, :])]
    np.fill_diagonal(signs[1], 0.0)
    agree = (signs[0] * signs[1]).sum(axis=1)
    ordered, different = (float((s**2).sum()) for s in signs)
    if different == 0:
        return np.full(len(true), np.nan)
    return np.asarray(agree * len(true) / np.sqrt(max(ordered, 1.0) * different))


def slope_parts(predicted: Array, true: Array) -> Array:
    """Return each system's contribution to the slope of the ratings on predictions of left-out systems, whose mean is
    the slope.

    The slope is that of a line through the origin, from differences between predictions to differences between ratings
    of systems left out together: sum (p_i - p_j) (y_i - y_j) / sum (p_i - p_j)^2 over pairs. If predictions do not
    depend on the other left-out system it is the least-squares slope. With noise features the numerator is 0 on
    average, whatever the regressor; the ratio was within 0.3 of 0 on average over 30 simulated arenas of 6 systems.

    Args:
        predicted: n x n, as in `tau_parts`.
        true: n ratings.

    Returns:
        n contributions; all NaN if no pair was predicted, or all predictions are equal.
    """
    gap = np.nan_to_num(predicted - predicted.T)
    square_sum = float((gap**2).sum())
    if square_sum < 1e-18:
        return np.full(len(true), np.nan)
    return np.asarray((gap * (true[:, None] - true[None, :])).sum(axis=1) * len(true) / square_sum)
