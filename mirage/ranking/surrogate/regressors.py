"""The regressors by name: the five of the paper, and ours. Each predicts systems without seeing their battles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirage.errors import BadInput, UnknownName
from mirage.ranking.surrogate.answers import fit_answers, pairwise
from mirage.ranking.surrogate.data import Array, FitPart, Predicted, Training, fit_parts
from mirage.ranking.surrogate.pooled import fit_pooled
from mirage.ranking.surrogate.ridge import ridge

SEED = 0
"""Seed of randomised regressors."""


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
    candidate: bool = False
    """Whether nested validation may choose it as the default: fast enough to leave out every pair of systems."""
    fast: bool = False
    """Whether a fit takes about a millisecond per language, not a tenth of a second."""


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


def _each_language(make: Callable[[int], Any]) -> Callable[[Sequence[FitPart], int], Predicted]:
    def fit(seen: Sequence[FitPart], seed: int) -> Predicted:
        predictions = {}
        for part in seen:
            predicted = np.full(len(part.train), np.nan)
            predicted[part.to_predict] = fit_and_predict(
                make(seed), part.X[part.train], part.y[part.train], part.X[part.to_predict]
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
        Regressor("linear", "Linear regression", _MEANS, "Linear Regression", _each_language(_linear), fast=True),
        Regressor("mlp", "Multi-layer perceptron", _MEANS, "MLP Regressor", _each_language(_mlp)),
        Regressor(
            "boosting",
            "Gradient boosting",
            "scikit-learn's gradient boosting on the feature means of one language, with XGBoost's default number, "
            "depth and learning rate of trees; it stands for XGBoost, which is not installed.",
            "XGB Regressor",
            _each_language(_boosting),
        ),
        Regressor("svr", "Support vector regression", _MEANS, "SVR", _each_language(_svr), fast=True),
        Regressor(
            "ridge",
            "Ridge",
            "Ridge regression on the standardised feature means of one language, its strength chosen by the error on "
            "systems left out of the training systems.",
            "",
            ridge,
            fast=True,
        ),
        Regressor(
            "pooled",
            "Pooled ridge",
            "One slope a feature for all languages and a deviation in each, both shrunk; how far is chosen by the "
            "error on systems left out of all languages at once.",
            "",
            fit_pooled,
            candidate=True,
            fast=True,
        ),
        Regressor(
            "pairwise",
            "Pairwise",
            "Logistic regression of each verdict on the difference of the two answers' features, over all languages; "
            "a system's score is at its feature means, calibrated on the ratings of the others.",
            "",
            pairwise,
            candidate=True,
        ),
        Regressor(
            "answers",
            "Answers",
            "Randomised trees from the features of single answers to the share of battles each won; a system's score "
            "is the mean over its answers in logits, calibrated on the ratings of the others.",
            "",
            fit_answers,
            candidate=True,
        ),
    )
}
"""Every regressor by name: the paper's five, then ours."""


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
