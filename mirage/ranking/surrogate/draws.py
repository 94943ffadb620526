"""Surrogates for many draws at once: the paper's tournaments, each with features and ratings of its own resample."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.surrogate.data import FEWEST, Array, Predicted
from mirage.ranking.surrogate.pooled import fit_together
from mirage.ranking.surrogate.regressors import ESTIMATORS, PUBLISHED, SEED, fit_and_predict

LINEAR = "pooled"
"""The regressor with a closed form for all draws at once."""


@dataclass(frozen=True, eq=False)
class Draws:
    """B draws of one language."""

    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    features: tuple[str, ...]
    """Names of the F features."""
    means: Array
    """B x S x F: mean of each feature over the draw's queries; NaN where a system has no value."""
    theta: Array
    """B x S: ratings of the draw, in logits, centred on 0; NaN where a draw has none."""

    def only(self, features: Collection[str]) -> Draws:
        """Return the draws with some of the features.

        Raises:
            UnknownName: if one does not exist.
        """
        for name in features:
            if name not in self.features:
                raise UnknownName("feature", name, self.features)
        columns = [k for k, name in enumerate(self.features) if name in set(features)]
        return Draws(self.systems, tuple(self.features[k] for k in columns), self.means[:, :, columns], self.theta)


def by_draw(
    draws: Mapping[str, Draws], name: str = PUBLISHED, *, out: Collection[str] = (), seed: int = SEED
) -> Predicted:
    """Fit every draw of every language without the systems left out, and predict all systems.

    As published (MIRAGE-Bench 5.2): one fit per draw, on the rows of that draw's systems. A draw's ratings were fitted
    with the battles of the systems left out, as in the published program; `evaluate` refits the others without them.
    Features that some system lacks in a language are excluded there.

    Args:
        draws: by language.
        name: one of the paper's five, or `pooled`, which solves all draws at once.
        out: systems not trained on (the paper holds out two).
        seed: seed of a randomised regressor.

    Returns:
        B x S predictions by language; those of systems not in `out` are in-sample. NaN for a draw without ratings.

    Raises:
        UnknownName: if the regressor is none of these.
        NotEnoughData: if a language has fewer than three training systems, or no feature that all of them have.
    """
    if name not in (*ESTIMATORS, LINEAR):
        raise UnknownName("regressor for draws", name, (*ESTIMATORS, LINEAR))
    if not draws:
        raise BadInput("there are no draws to fit", do="rate at least one language")
    for code, language_draws in draws.items():
        if sum(s not in set(out) for s in language_draws.systems) < FEWEST or not _use(language_draws).any():
            raise NotEnoughData(
                f"{code} has fewer than {FEWEST} systems to train on, or no feature that all have",
                do="exclude the language, or measure more features",
            )
    if name == LINEAR:
        return _all_at_once(draws, frozenset(out))
    predictions = {}
    for code, language_draws in sorted(draws.items()):
        train = np.array([s not in set(out) for s in language_draws.systems])
        X = language_draws.means[:, :, _use(language_draws)]
        predicted = np.full(language_draws.theta.shape, np.nan)
        for b, theta in enumerate(language_draws.theta):
            if np.isfinite(theta[train]).all():
                predicted[b] = fit_and_predict(ESTIMATORS[name](seed), X[b, train], theta[train], X[b])
        predictions[code] = predicted
    return predictions


def _use(draws: Draws) -> NDArray[np.bool_]:
    """Return the features that every system has in every draw (F)."""
    return np.asarray(np.isfinite(draws.means).all(axis=(0, 1)))


def _all_at_once(draws: Mapping[str, Draws], out: frozenset[str]) -> Predicted:
    """Fit the pooled ridge on every draw."""
    codes = sorted(draws)
    X, y, train, level = [], [], [], []
    for code in codes:
        language_draws = draws[code]
        counted = np.array([s not in out for s in language_draws.systems]) & np.isfinite(language_draws.theta)
        n = np.maximum(counted.sum(axis=1), 1)
        level.append(np.where(counted, language_draws.theta, 0.0).sum(axis=1)[:, None] / n[:, None])
        means = np.where(_use(language_draws), language_draws.means, 0.0)
        X.append(means - np.where(counted[..., None], means, 0.0).sum(axis=1)[:, None] / n[:, None, None])
        y.append(language_draws.theta - level[-1])
        train.append(counted)
    fitted = fit_together([draws[code].systems for code in codes], X, y, train)
    return {
        code: np.where(np.isfinite(draws[code].theta).any(axis=1, keepdims=True), values + own, np.nan)
        for code, values, own in zip(codes, fitted, level, strict=True)
    }
