"""Surrogates trained on single answers instead of a system's means: verdicts from feature differences, points from
trees.

Both give a system a score; its scale in logits of rating is calibrated on the training systems, by least squares
through 0 over all languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.surrogate.data import Array, FitPart, Predicted
from mirage.stats.newton import Rows, StepRule, newton

TREES = 10
"""Number of trees of `fit_answers`."""

LEAF = 0.002
"""Minimum share of the answers in a leaf; never below `_SMALLEST` answers."""
_SMALLEST = 10

_PENALTY = 1e-3
"""Ridge penalty on the standardised weights, per battle: bounds separable data."""

_HALF = 0.5
"""Minimum share of a system's answers with a feature for its differences to be used."""


def pairwise(seen: Sequence[FitPart], _seed: int = 0) -> Predicted:
    """Fit a logistic regression of verdicts on feature differences, without an intercept, so that the order of the two
    does not matter. Battles where either answer lacks a feature in use are excluded: nothing is imputed.
    """
    masks = np.array([part.use & (part.language.coverage[part.to_predict] >= _HALF).all(axis=0) for part in seen])
    blocks = [_differences(part, use) for part, use in zip(seen, masks, strict=True)]
    D = np.concatenate([block[0] for block in blocks])
    won = np.concatenate([block[1] for block in blocks])
    weight = np.concatenate([block[2] for block in blocks])
    spread = np.sqrt((D**2).mean(axis=0)) if len(D) else np.zeros(D.shape[1])
    usable = spread > 1e-12
    w = np.zeros(D.shape[1])
    if usable.any():
        w[usable] = _logistic(D[:, usable] / spread[usable], won, weight) / spread[usable]
    return _calibrate(seen, [np.where(use, part.standard(), 0.0) @ w for part, use in zip(seen, masks, strict=True)])


def _differences(part: FitPart, use: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Return N x F differences, N shares won by the first, and N weights of the battles among the training systems."""
    language = part.language
    trained = np.flatnonzero(part.train)
    i, j = np.triu_indices(len(trained), 1)
    first, second = language.points[:, trained[i], trained[j]], language.points[:, trained[j], trained[i]]
    n_battles = first + second
    whole = np.asarray(np.isfinite(language.values[:, :, use]).all(axis=2))
    q, p = np.nonzero((n_battles > 0) & whole[:, trained[i]] & whole[:, trained[j]])
    D = np.where(use, language.values[q, trained[i[p]]] - language.values[q, trained[j[p]]], 0.0)
    n = n_battles[q, p].astype(np.float64)
    return D, first[q, p] / n, n * language.weights[q]


def _logistic(D: Array, won: Array, weight: Array) -> Array:
    """Fit by Newton's method; the likelihood is concave, and the ridge makes the maximum finite and unique."""
    penalty = _PENALTY * weight.sum()

    def slopes(point: Array, _: Rows) -> tuple[Array, list[Array]]:
        w = point[0]
        p = 1 / (1 + np.exp(-np.clip(D @ w, -30, 30)))
        gradient = D.T @ (weight * (won - p)) - penalty * w
        curvature = (D * (weight * p * (1 - p))[:, None]).T @ D + penalty * np.eye(len(w))
        return gradient[None], [curvature[None]]

    return np.asarray(newton(slopes, np.zeros((1, D.shape[1])), StepRule(1e-9, 50, longest=5.0)).point[0])


def fit_answers(seen: Sequence[FitPart], seed: int = 0) -> Predicted:
    """Fit randomised trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006) on single answers.

    The target of an answer is its share of points against the training systems. A missing feature value is a separate
    branch of a tree, not a number; the stratum of the query is a feature too.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    X, y, weight = (np.concatenate(block) for block in zip(*map(_rows, seen), strict=True))
    some = np.isfinite(X).any(axis=0)
    leaf = max(_SMALLEST, round(LEAF * len(y)))
    model = ExtraTreesRegressor(TREES, min_samples_leaf=leaf, random_state=seed)
    model.fit(X[:, some], y, sample_weight=weight)
    scores = []
    for part in seen:
        to_predict = np.flatnonzero(part.to_predict)
        cells = _cells(part)[:, to_predict]
        share = model.predict(cells.reshape(-1, cells.shape[2])[:, some]).reshape(cells.shape[:2])
        answer_weights = np.isfinite(part.language.values[:, to_predict]).any(axis=2) * part.language.weights[:, None]
        mean = np.clip((share * answer_weights).sum(axis=0) / answer_weights.sum(axis=0), 0.01, 0.99)
        score = np.full(len(part.to_predict), np.nan)
        score[to_predict] = np.log(mean / (1 - mean))
        scores.append(score - score[part.train].mean())
    return _calibrate(seen, scores)


def _cells(part: FitPart) -> Array:
    """Return the features in use of every answer (NaN elsewhere), and the stratum of its query (Q x S x (F + 1))."""
    values = np.where(part.use, part.language.values, np.nan)
    stratum = np.broadcast_to(part.language.strata[:, None, None], (*values.shape[:2], 1))
    return np.concatenate([values, stratum], axis=2)


def _rows(part: FitPart) -> tuple[Array, Array, Array]:
    """Return features, share of points and weight of the training systems' answers that battled and have a feature."""
    trained = np.flatnonzero(part.train)
    points = part.language.points[:, trained][:, :, trained]
    took, gave = points.sum(axis=2), points.sum(axis=1)
    some = np.isfinite(part.language.values[:, trained][:, :, part.use]).any(axis=2)
    q, s = np.nonzero((took + gave > 0) & some)
    share = took[q, s].astype(np.float64) / (took[q, s] + gave[q, s])
    return _cells(part)[q, trained[s]], share, part.language.weights[q]


def _calibrate(seen: Sequence[FitPart], scores: Sequence[Array]) -> Predicted:
    """Multiply scores, centred on the training systems, by the slope that fits the ratings best."""
    pairs: list[Any] = [(score[part.train], part.y[part.train]) for part, score in zip(seen, scores, strict=True)]
    x, y = np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])
    square = float(x @ x)
    slope = max(float(x @ y) / square, 0.0) if square > 0 else 0.0
    return {
        part.language.code: np.where(part.to_predict, slope * score, np.nan)
        for part, score in zip(seen, scores, strict=True)
    }
