"""Order and calibration of left-out systems, two left out at a time.

Predictions of systems that were each left out alone say nothing about their order: each fit was trained on the other
system. With noise features Kendall's tau of such predictions is below 0: on simulated arenas of 8 systems -0.17 for a
ridge with selected penalty and -0.11 for trees. Of two systems that one fit has not seen, noise ranks either first
equally often, whatever the regressor; so tau and slope use fits that leave out a pair (Airola, Pahikkala, Waegeman, De
Baets and Salakoski, Computational Statistics and Data Analysis 55, 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import combinations

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.surrogate.data import Array, Predicted, Training
from mirage.ranking.surrogate.regressors import predict

Apart = dict[str, dict[str, dict[str, float]]]
"""By system, by the other one left out with it, by language: the prediction of the first, in logits, centred on the
training systems.
"""


def apart(training: Training, name: str, seed: int, count: Callable[[], None] | None = None) -> Apart:
    """Predict every two systems by a fit without the battles of either.

    Args:
        training: the data.
        name: the regressor.
        seed: seed of a randomised regressor.
        count: called after each fit.

    Returns:
        The predictions; none for a language with too few training systems left.
    """

    def fit(out: tuple[str, str]) -> Predicted:
        try:
            return predict(training, name, out=out, seed=seed)
        except NotEnoughData:
            return {}

    return apart_by(training, fit, count)


def apart_by(
    training: Training, fit: Callable[[tuple[str, str]], Predicted], count: Callable[[], None] | None = None
) -> Apart:
    """Predict every two systems by any fit, which is given the two systems to leave out."""
    systems = training.systems
    predictions: Apart = {system: {} for system in systems}
    for out in combinations(systems, 2):
        predicted = fit(out)
        for system, mate in (out, out[::-1]):
            predictions[system][mate] = of_system(training, predicted, system)
        if count:
            count()
    return predictions


def of_system(training: Training, predicted: Predicted, system: str) -> dict[str, float]:
    """Return the predictions of one system, by language."""
    row = {}
    for code, values in predicted.items():
        systems = training.languages[code].systems
        if system in systems and np.isfinite(values[systems.index(system)]):
            row[code] = float(values[systems.index(system)])
    return row


def square(predictions: Apart, systems: Sequence[str], codes: Collection[str]) -> Array:
    """Return predictions (n x n) of the row's system with the column's left out too, mean over some languages; NaN on
    the diagonal, and where a language has none.
    """

    def cell(system: str, mate: str) -> float:
        row = predictions.get(system, {}).get(mate, {})
        return float(np.mean([row[code] for code in codes])) if row.keys() >= set(codes) else np.nan

    return np.array([[np.nan if s == t else cell(s, t) for t in systems] for s in systems])


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
