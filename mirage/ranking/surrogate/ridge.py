"""Ridge regression in one language, its penalty selected on left-out systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.surrogate.data import Array, FitPart, Predicted

STRENGTHS = tuple(10.0 ** np.arange(-2, 4.01, 0.5))
"""Candidate penalties, on standardised features."""


def ridge(seen: Sequence[FitPart], _seed: int = 0) -> Predicted:
    """Fit each language separately."""
    predictions = {}
    for part in seen:
        predicted = np.full(len(part.train), np.nan)
        Z = scale_features(part.standard(), part.train)
        predicted[part.to_predict] = Z[part.to_predict] @ slopes(Z[part.train], part.y[part.train])
        predictions[part.language.code] = predicted
    return predictions


def scale_features(X: Array, train: NDArray[np.bool_]) -> Array:
    """Divide features by their standard deviation over the training systems; a constant feature becomes 0."""
    spread = X[train].std(axis=0)
    usable = spread > 1e-12
    return np.asarray(np.where(usable, X / np.where(usable, spread, 1.0), 0.0))


def slopes(Z: Array, y: Array) -> Array:
    """Return the F slopes with the penalty of the lowest leave-one-out error.

    The error of leaving out row i has a closed form, r_i / (1 - h_ii), with the hat matrix H of the centred fit (Golub,
    Heath and Wahba, Technometrics 21, 1979; the mean contributes 1 / n).
    """
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    shrink = s**2 / (s**2 + np.array(STRENGTHS)[:, None])
    uy = U.T @ y
    residual = y - (shrink * uy) @ U.T
    leverage = np.einsum("ik,gk,ik->gi", U, shrink, U) + 1 / len(y)
    error = ((residual / np.maximum(1 - leverage, 1e-9)) ** 2).sum(axis=1)
    best = STRENGTHS[int(np.argmin(error))]
    return np.asarray(Vt.T @ (s / (s**2 + best) * uy))
