"""Ridge regression over all languages jointly: shared slopes, and each language's deviations shrunk towards them.

The slopes of language l are w + d_l. The objective is

    sum_l |y_l - X_l (w + d_l)|^2 + lambda |w|^2 + mu sum_l |d_l|^2.

For given w each d_l = (A_l + mu)^-1 (b_l - A_l w), with A_l = X_l' X_l and b_l = X_l' y_l, and w then solves

    [lambda + sum_l (A_l - A_l (A_l + mu)^-1 A_l)] w = sum_l (b_l - A_l (A_l + mu)^-1 b_l):

systems of F equations only, so that every left-out system, penalty and draw is solved in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.surrogate.data import Array, FitPart, Predicted

SHARED = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Penalties lambda of the shared slopes, on standardised features."""

OWN = (3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 1e6)
"""Penalties mu of the languages' deviations; the last removes them."""


def fit_pooled(seen: Sequence[FitPart], _seed: int = 0) -> Predicted:
    """Fit all languages jointly."""
    fitted = fit_together(
        [part.language.systems for part in seen],
        [part.standard()[None] for part in seen],
        [part.y[None] for part in seen],
        [part.train[None] for part in seen],
    )
    return {
        part.language.code: np.where(part.to_predict, values[0], np.nan)
        for part, values in zip(seen, fitted, strict=True)
    }


def fit_together(
    systems: Sequence[Sequence[str]], X: Sequence[Array], y: Sequence[Array], train: Sequence[NDArray[np.bool_]]
) -> list[Array]:
    """Fit B draws of all languages jointly: the penalties from the mean of the draws, then one batch of small linear
    systems.

    Args:
        systems: by language, its S systems.
        X: by language, B x S x F features, centred on the training systems; 0 where not in use.
        y: by language, B x S targets, centred in the same way; of training systems.
        train: by language, B x S: the training systems.

    Returns:
        By language, B x S predictions.
    """
    names = sorted({system for of_language in systems for system in of_language})
    places = [[names.index(system) for system in of_language] for of_language in systems]
    Z = np.zeros((len(X[0]), len(X), len(names), X[0].shape[2]))
    targets, member = np.zeros(Z.shape[:3]), np.zeros(Z.shape[:3], dtype=bool)
    for k, rows in enumerate(places):
        Z[:, k, rows], member[:, k, rows] = X[k], train[k]
        targets[:, k, rows] = np.where(train[k], y[k], 0.0)
    always = np.asarray(member.all(axis=0))
    mean = unit_scale(Z.mean(axis=0), always), np.where(always, targets.mean(axis=0), 0.0)
    Z = unit_scale(Z, member)
    w, d = solve_shared(*moments(Z, targets, member), *strengths(*mean, always))
    fitted = (Z @ (w[:, None, :] + d)[..., None])[..., 0]
    return [fitted[:, k, rows] for k, rows in enumerate(places)]


def unit_scale(Z: Array, member: NDArray[np.bool_]) -> Array:
    """Divide features (... x L x S x F) by their spread over all training rows; a constant feature becomes 0."""
    counted = np.where(member[..., None], Z, 0.0)
    n = np.maximum(member.sum(axis=(-2, -1)), 1)[..., None, None, None]
    spread = np.sqrt((counted**2).sum(axis=(-3, -2), keepdims=True) / n)
    usable = spread > 1e-12
    return np.asarray(np.where(usable, Z / np.where(usable, spread, 1.0), 0.0))


def moments(Z: Array, y: Array, member: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return A (... x L x F x F) and b (... x L x F) of the training rows of Z (... x L x S x F) and y (... x L x
    S).
    """
    X = np.where(member[..., None], Z, 0.0)
    Xt = np.swapaxes(X, -1, -2)
    return Xt @ X, (Xt @ y[..., None])[..., 0]


def solve_shared(A: Array, b: Array, shared: float, own: float) -> tuple[Array, Array]:
    """Return the shared slopes w (... x F) and the deviations d (... x L x F) for A (... x L x F x F), b (... x L
    x F).
    """
    eye = np.eye(A.shape[-1])
    # (A + mu)^-1 [A, b] of every language at once.
    inner = np.linalg.solve(A + own * eye, np.concatenate([A, b[..., None]], axis=-1))
    M = (A - A @ inner[..., :-1]).sum(axis=-3) + shared * eye
    v = (b - (A @ inner[..., -1:])[..., 0]).sum(axis=-2)
    w = np.linalg.solve(M, v[..., None])[..., 0]
    d = inner[..., -1] - (inner[..., :-1] @ w[..., None, :, None])[..., 0]
    return w, d


def strengths(Z: Array, y: Array, member: NDArray[np.bool_]) -> tuple[float, float]:
    """Select the two penalties with the lowest error over systems left out of all languages at once.

    Args:
        Z: L x S x F features.
        y: L x S targets.
        member: L x S: the training systems.
    """
    A, b = moments(Z, y, member)
    # T x L x ...: the rows of each system, and the moments without them.
    rows = np.where(member[..., None], Z, 0.0).swapaxes(0, 1)
    targets, counted = y.T, member.T
    A = A - rows[..., :, None] * rows[..., None, :]
    b = b - rows * targets[..., None]
    errors = {}
    for own in OWN if len(Z) > 1 else OWN[-1:]:
        for shared in SHARED:
            w, d = solve_shared(A, b, shared, own)
            error = targets - (rows * (w[:, None] + d)).sum(axis=-1)
            errors[shared, own] = float((error[counted] ** 2).sum())
    return min(errors, key=errors.__getitem__)
