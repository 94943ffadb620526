"""Means of labels on some answers, with predictions for all of them (prediction-powered inference).

The estimate is lambda * mean(f) over all answers + mean(y - lambda * f) over the labelled ones, for labels y and
predictions f, averaged over strata with equal weights. It is consistent for any f; the quality of f affects only the
width. lambda, from 0 (labels alone) to 1, minimises the variance of each stratum (PPI++), so the interval is at most
as wide as that of the labels alone, up to chance, and the mean over strata is the mean of their own estimates. f must
not depend on the labels.

Errors are clustered by unit, the query. The interval is Wilson's at the effective number of labels: the number of
labels at which a proportion would vary as much as the estimate does. Rare outcomes leave few residuals to estimate it,
so both variances in its ratio include `UNSEEN` extra labels with the largest residual. The interval stays within the
range and is never empty. `benchmarks/coverage.py` simulates its coverage.

Sources: Angelopoulos et al., Science 382 (2023), 669-674; lambda: Angelopoulos, Duchi and Zrnic, arXiv 2311.01453;
effective numbers in score intervals: Dean and Pagano, Journal of Survey Statistics and Methodology 3 (2015), 484-503.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mirage.errors import NotEnoughData
from mirage.stats.arrays import Array, Places
from mirage.stats.intervals import REACH, student_reach, wilson_at
from mirage.stats.units import centre_moves

UNSEEN = 1.0
"""Number of extra labels, with the largest residual, in the estimate of the effective number of labels."""
_LEAST_REACH = 0.5
"""Minimum residual of the extra label, if labels vary at all."""


@dataclass(frozen=True, eq=False)
class PoweredMean:
    """A mean from labels and predictions, for values in [0, 1]."""

    value: float
    """The estimate, in [0, 1]."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""
    lam: float
    """Weight of the predictions, from 0 (labels alone) to 1; the mean over strata."""


def powered_mean(
    labels: Array,
    predictions: Array,
    unit: Places,
    stratum: Places,
    *,
    lam: float | None = None,
) -> PoweredMean:
    """Estimate a mean over strata with equal weights.

    Args:
        labels: N: in [0, 1]; NaN without a label. Those with a label are a random sample of each stratum.
        predictions: N: in [0, 1].
        unit: N: unit numbers from 0; answers of one unit are dependent.
        stratum: N: the stratum of each answer.
        lam: weight of the predictions, from 0 (labels alone) to 1; None to minimise the variance.

    Raises:
        NotEnoughData: if a stratum has fewer than two labels.
    """
    n_units = int(unit.max()) + 1 if len(unit) else 0
    total = np.zeros(n_units)
    strata = [np.flatnonzero(stratum == k) for k in np.unique(stratum)]
    binomial, one, below, means, weights, centres = 0.0, 0.0, 0.0, [], [], []
    for rows in strata:
        y, f, u = labels[rows], predictions[rows], unit[rows]
        known = ~np.isnan(y)
        n = int(known.sum())
        if n < 2:
            raise NotEnoughData("a stratum has fewer than two labels", do="label more answers")
        mean = float(y[known].mean())
        share = 1 / len(strata)
        of_labels, of_predictions = np.zeros(n_units), np.zeros(n_units)
        moves = share * centre_moves(((y[known] - mean) / n)[:, None])[:, 0]
        np.add.at(of_labels, u[known], moves)
        if n < len(rows):  # if all are labelled, predictions add nothing
            seen = centre_moves(((f[known] - f[known].mean()) / n)[:, None])[:, 0]
            np.add.at(of_predictions, u, share * (f - f.mean()) / len(rows))
            np.subtract.at(of_predictions, u[known], share * seen)
        weights.append(tuned_weight(of_labels, of_predictions) if lam is None else lam)
        total += of_labels + weights[-1] * of_predictions
        means.append(mean + weights[-1] * float(f.mean() - f[known].mean()))
        smooth = (mean * n + 0.5) / (n + 1)
        centres.append(smooth)
        binomial += share**2 * smooth * (1 - smooth) / n
        one += share / n**2 * share
        # A tuned lambda costs a degree of freedom.
        below += share**4 * (smooth * (1 - smooth) / n) ** 2 / max(n - 1 - (weights[-1] > 0), 1)
    value = min(max(float(np.mean(means)), 0.0), 1.0)
    # Strata can share units, so there are fewer units than labels.
    of_units = len(np.unique(unit[~np.isnan(labels)])) - 1.0 - (max(weights) > 0)
    df = max(min(binomial**2 / below, of_units), 1.0)
    # If labels vary little, an extra label can deviate less than a proportion could.
    reach = float(np.nanmax(labels) - np.nanmin(labels)) or 1.0
    unseen = UNSEEN * max(reach, _LEAST_REACH) ** 2 * one / len(strata)
    ratio = (float(total @ total) + unseen) / (_plain_binomial(labels, strata) + unseen)
    centre = float(np.mean(centres))
    effective = centre * (1 - centre) / (binomial * ratio)
    low, high = wilson_at(value, effective * (REACH / student_reach(df)) ** 2)
    return PoweredMean(value, low, high, float(np.mean(weights)))


def tuned_weight(labels: Array, predictions: Array) -> float:
    """Return the weight of predictions, from 0 to 1, with the least variance of an estimate (PPI++).

    Args:
        labels: U or U x K: influence of each unit's labels on the K values estimated.
        predictions: of its predictions, where these are known without labels less where labels are.
    """
    spread = float((predictions**2).sum())
    return min(max(-float((labels * predictions).sum()) / spread, 0.0), 1.0) if spread > 0 else 0.0


def _plain_binomial(labels: Array, strata: Sequence[Places]) -> float:
    """Return the variance that the mean of independent proportions would have, with Bessel's correction."""
    total = 0.0
    for rows in strata:
        y = labels[rows]
        y = y[~np.isnan(y)]
        total += float(y.mean() * (1 - y.mean())) / (len(y) - 1)
    return total / len(strata) ** 2


def mean_of_programs(values: Array) -> Array:
    """Return the mean of the known values in each row of N x J; without any, the mean of all."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    middle = float(total.sum() / count.sum()) if count.any() else 0.5
    return np.where(count > 0, total / np.maximum(count, 1), middle)
