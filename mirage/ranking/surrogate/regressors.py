"""The regressors by name: the five of the paper, and ours. Each predicts systems without seeing their battles."""

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirage.errors import BadInput, UnknownName
from mirage.ranking.surrogate.data import FitPart, Predicted, Training, fit_parts
from mirage.stats.arrays import Array
from mirage.store.cores import available

TREES = 10
"""Number of trees of `fit_answers`."""

LEAF = 0.002
"""Minimum share of the answers in a leaf; never below `_SMALLEST` answers."""
_SMALLEST = 10


def fit_answers(seen: Sequence[FitPart], seed: int = 0) -> Predicted:
    """Fit randomised trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006) on single answers.

    The target of an answer is its share of points against the training systems. A missing feature value is a separate
    branch of a tree, not a number; the stratum of the query is a feature too.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    X, y, weight = (np.concatenate(block) for block in zip(*map(_rows, seen), strict=True))
    some = np.isfinite(X).any(axis=0)
    leaf = max(_SMALLEST, round(LEAF * len(y)))
    model = ExtraTreesRegressor(TREES, min_samples_leaf=leaf, random_state=seed, n_jobs=available())
    model.fit(X[:, some], y, sample_weight=weight)
    model.n_jobs = 1  # threads would add the predictions of the trees in any order
    blocks = [_cells(part)[:, part.to_predict] for part in seen]
    shares = model.predict(np.concatenate([block.reshape(-1, len(some)) for block in blocks])[:, some])
    places = np.cumsum([block.shape[0] * block.shape[1] for block in blocks])[:-1]
    scores = []
    for part, block, found in zip(seen, blocks, np.split(shares, places), strict=True):
        to_predict, share = np.flatnonzero(part.to_predict), found.reshape(block.shape[:2])
        answer_weights = np.isfinite(part.language.values[:, to_predict]).any(axis=2) * part.language.weights[:, None]
        mean = np.clip((share * answer_weights).sum(axis=0) / answer_weights.sum(axis=0), 0.01, 0.99)
        score = np.full(len(part.to_predict), np.nan)
        score[to_predict] = np.log(mean / (1 - mean))
        scores.append(score - score[part.train].mean())
    # Scores are multiplied by the slope that fits the ratings best.
    x = np.concatenate([score[part.train] for part, score in zip(seen, scores, strict=True)])
    y = np.concatenate([part.y[part.train] for part in seen])
    square = float(x @ x)
    slope = max(float(x @ y) / square, 0.0) if square > 0 else 0.0
    return {
        part.language.code: np.where(part.to_predict, slope * score, np.nan)
        for part, score in zip(seen, scores, strict=True)
    }


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


SEED = 0
"""Seed of randomised regressors."""

STRENGTHS = tuple(10.0 ** np.arange(-2, 4.01, 0.5))
"""Candidate penalties of the ridge in one language, on standardised features; the one with the lowest leave-one-out
error is used.
"""


@dataclass(frozen=True, slots=True)
class Regressor:
    """Declaration of a regressor from features to ratings."""

    name: str
    """Name in options and in the column `regressor`."""
    title: str
    """Display name."""
    meaning: str
    """Description of the fit."""
    published: str
    """Corresponding name in the paper's Table 3; empty if it is ours."""
    fit: Callable[[Sequence[FitPart], int], Predicted]
    """Function that fits the parts and predicts them, given a seed."""


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed)


def _linear(_seed: int) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    # XGBoost's defaults where scikit-learn has the same setting.
    return GradientBoostingRegressor(n_estimators=100, learning_rate=0.3, max_depth=6, random_state=seed)


def _svr(_seed: int) -> Any:
    from sklearn.svm import SVR

    return SVR()


def _fit_ridge(seen: Sequence[FitPart], _seed: int) -> Predicted:
    """Fit a ridge in each language, its strength chosen by the leave-one-out error (scikit-learn's RidgeCV).

    With the singular values s of the standardised means, a fit shrinks each direction by s^2 / (s^2 + strength); the
    error of a left-out row is its residual over 1 minus its leverage.
    """
    predictions = {}
    for part in seen:
        X, y = part.standard(), part.y[part.train]
        spread = X[part.train].std(axis=0)
        X = X / np.where(spread > 0, spread, 1.0)
        left, s, right = np.linalg.svd(X[part.train], full_matrices=False)
        shrunk = s**2 / (s**2 + np.array(STRENGTHS)[:, None])
        fitted, leverage = (left * shrunk[:, None]) @ (left.T @ y), shrunk @ (left**2).T + 1 / len(y)
        errors = ((y - fitted) / (1 - leverage)) ** 2
        best = STRENGTHS[int(errors.mean(axis=1).argmin())]
        slopes = right.T @ (s / (s**2 + best) * (left.T @ y))
        predictions[part.language.code] = np.where(part.to_predict, X @ slopes, np.nan)
    return predictions


def _each_language(make: Callable[[int], Any]) -> Callable[[Sequence[FitPart], int], Predicted]:
    def fit(seen: Sequence[FitPart], seed: int) -> Predicted:
        predictions = {}
        for part in seen:
            X = part.X
            predicted = np.full(len(part.train), np.nan)
            predicted[part.to_predict] = fit_and_predict(
                make(seed), X[part.train], part.y[part.train], X[part.to_predict]
            )
            predictions[part.language.code] = predicted
        return predictions

    return fit


def fit_and_predict(model: Any, X: Array, y: Array, X_new: Array) -> Array:
    """Fit a scikit-learn regressor and predict new rows."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # The MLP stops after 200 iterations, scikit-learn's default, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(X, y).predict(X_new), dtype=np.float64)


ESTIMATORS: dict[str, Callable[[int], Any]] = {
    "forest": _forest,
    "linear": _linear,
    "mlp": _mlp,
    "boosting": _boosting,
    "svr": _svr,
}
"""The paper's five regressors, as scikit-learn estimators."""

PUBLISHED = "forest"
"""The regressor of the published surrogate judge."""

_MEANS = "Feature means of the systems of one language, raw, as published; scikit-learn's defaults."

REGRESSORS: dict[str, Regressor] = {
    declaration.name: declaration
    for declaration in (
        Regressor("forest", "Random forest", _MEANS, "Random Forest", _each_language(_forest)),
        Regressor("linear", "Linear regression", _MEANS, "Linear Regression", _each_language(_linear)),
        Regressor("mlp", "Multi-layer perceptron", _MEANS, "MLP Regressor", _each_language(_mlp)),
        Regressor(
            "boosting",
            "Gradient boosting",
            "scikit-learn's gradient boosting on the feature means of one language, with XGBoost's default number, "
            "depth and learning rate of trees; it stands for XGBoost, which is not installed.",
            "XGB Regressor",
            _each_language(_boosting),
        ),
        Regressor("svr", "Support vector regression", _MEANS, "SVR", _each_language(_svr)),
        Regressor(
            "ridge",
            "Ridge",
            "Ridge regression on the standardised feature means of one language, its strength chosen by the error on "
            "systems left out of the training systems.",
            "",
            _fit_ridge,
        ),
        Regressor(
            "answers",
            "Features by answer",
            "Randomised trees from the features of single answers to the share of battles each won; a system's score "
            "is the mean over its answers in logits, calibrated on the ratings of the others.",
            "",
            fit_answers,
        ),
    )
}
"""Every regressor by name: the paper's five, then ours. Of those compared, the last predicts new systems."""


CHEAP = ("linear", "ridge", "answers")
"""The regressors fitted unless others are named: they take seconds, and agree on every machine to six digits."""


def regressor(name: str) -> Regressor:
    """Return a regressor by name.

    Raises:
        UnknownName: if there is none with this name.
    """
    if name not in REGRESSORS:
        raise UnknownName("regressor", name, REGRESSORS)
    return REGRESSORS[name]


def predict(training: Training, name: str, *, out: Collection[str] = (), seed: int = SEED) -> Predicted:
    """Fit a regressor without the battles of some systems, and predict every system, including these.

    Args:
        training: the data.
        name: one of `REGRESSORS`.
        out: systems whose battles are excluded, in all languages: left-out or new systems.
        seed: seed of a randomised regressor.

    Returns:
        Predictions by language. Those of systems not in `out` are in-sample and no measure of quality.

    Raises:
        NotEnoughData: if no language has enough systems that share a feature.
        BadInput: if every rated system is left out.
    """
    known = set(training.systems) | set(training.new)
    for system in sorted(out):
        if system not in known:
            raise UnknownName("system", system, known)
    if set(out) >= set(training.systems):
        raise BadInput("every rated system is left out", do="keep some for training")
    return regressor(name).fit(list(fit_parts(training, out)), seed)
