"""Leave-one-system-out evaluation: predictions, and their intervals.

A system is left out of all languages, with all its battles: the ratings of the others are fitted without them. The
regressor for new systems is fixed by its declaration, not chosen by these errors, so that its own hold for it.

Predictions of systems that were each left out alone say nothing about their order: each fit was trained on the other
system. With noise features Kendall's tau of such predictions is below 0: on simulated arenas of 8 systems -0.17 for a
ridge with selected penalty and -0.11 for trees. Of two systems that one fit has not seen, noise ranks either first
equally often, whatever the regressor; so tau and slope use fits that leave out a pair (Airola, Pahikkala, Waegeman, De
Baets and Salakoski, Computational Statistics and Data Analysis 55, 2011).
"""

import itertools
from collections.abc import Callable, Collection, Sequence
from itertools import combinations

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.surrogate.data import FEWEST, Training
from mirage.ranking.surrogate.quality import HeldOut, HeldOutLanguage, slope_parts, tau_parts
from mirage.ranking.surrogate.range import ALL, Distance, distances
from mirage.ranking.surrogate.regressors import REGRESSORS, SEED, predict, regressor
from mirage.stats.arrays import Array
from mirage.stats.intervals import student_reach

Progress = Callable[[int, int], None]


def leave_one_out(
    training: Training,
    name: str,
    *,
    features: Callable[[Collection[str]], Sequence[str]] | None = None,
    seed: int = SEED,
) -> HeldOut:
    """Predict every system by a regressor trained without its battles.

    Args:
        training: the data.
        name: one of `REGRESSORS`.
        features: if given, selects the features of each fit without the systems left out.
        seed: seed of a randomised regressor.

    Raises:
        NotEnoughData: if there are fewer than four rated systems.
    """
    _need_enough(training)
    return _Scale(training).held_out(name, predict_left_out(training, name, seed, features=features))


def compare_regressors(
    training: Training,
    names: Sequence[str] | None = None,
    *,
    seed: int = SEED,
    progress: Progress | None = None,
) -> dict[str, HeldOut]:
    """Return the predictions of left-out systems by regressor, in the order of `REGRESSORS`; the last of them predicts
    new systems.

    Args:
        training: the data.
        names: regressors to compare; None for all.
        seed: seed of the regressors.
        progress: called with the number of finished fits and their total.

    Raises:
        NotEnoughData: if there are fewer than four rated systems.
    """
    chosen = {regressor(name).name for name in (REGRESSORS if names is None else names)}
    regressors = [name for name in REGRESSORS if name in chosen]
    _need_enough(training)
    n, done = len(training.systems), itertools.count(1)
    total = len(regressors) * (n + n * (n - 1) // 2)

    def count() -> None:
        if progress:
            progress(next(done), total)

    scale = _Scale(training)
    return {name: scale.held_out(name, predict_left_out(training, name, seed, count=count)) for name in regressors}


def predict_left_out(
    training: Training,
    name: str,
    seed: int = SEED,
    *,
    features: Callable[[Collection[str]], Sequence[str]] | None = None,
    count: Callable[[], object] = lambda: None,
) -> Array:
    """Predict every system by a fit without it and without every other one.

    Args:
        training: the data; its S rated systems are left out, in each of its L languages sorted by code.
        name: the regressor.
        seed: seed of a randomised regressor.
        features: if given, selects the features of each fit without the systems left out.
        count: called after each fit.

    Returns:
        L x S x S predictions in logits, centred on the training systems: of the row's system by a fit without the
        battles of it and the column's system; on the diagonal by a fit without it alone. NaN where there is none.

    Raises:
        NotEnoughData: if too few systems are left without one; without two, there are no predictions.
    """
    systems, codes = training.systems, sorted(training.languages)
    predicted = np.full((len(codes), len(systems), len(systems)), np.nan)
    for out in [*((system,) for system in systems), *combinations(systems, 2)]:
        try:
            seen = training if features is None else training.select_features(features(out))
            predictions = predict(seen, name, out=out, seed=seed)
        except NotEnoughData:
            if len(out) == 1:
                raise
            predictions = {}
        for code, values in predictions.items():
            known = training.languages[code].systems
            for system, other in zip(out, out[::-1], strict=True):
                if system in known:
                    place = codes.index(code), systems.index(system), systems.index(other)
                    predicted[place] = values[known.index(system)]
        count()
    return predicted


class _Scale:
    """The scale of the judge's ratings, to which predictions of left-out systems are converted."""

    def __init__(self, training: Training) -> None:
        self._systems, self._codes = training.systems, sorted(training.languages)
        shape = len(self._codes), len(self._systems)
        self._judged = np.full(shape, np.nan)
        """L x S: ratings."""
        self._factor = np.full((shape[0], 1), np.nan)
        """L x 1: factor from a prediction, centred on the other systems, to this scale, centred on all."""
        self._reach = [distances(training, system) for system in self._systems]
        for k, code in enumerate(self._codes):
            language = training.languages[code]
            theta = language.ratings(frozenset())
            rated = int(np.isfinite(theta).sum())
            if rated > 1:
                rows = [i for i, system in enumerate(self._systems) if system in language.systems]
                places = [language.systems.index(self._systems[i]) for i in rows]
                self._judged[k, rows] = (theta - np.nanmean(theta))[places]
                self._factor[k] = (rated - 1) / rated

    def held_out(self, name: str, predicted: Array) -> HeldOut:
        """Convert predictions of left-out systems (`predict_left_out`) to the judge's scale, with their intervals."""
        values, judged = np.diagonal(predicted, axis1=1, axis2=2) * self._factor, self._judged
        codes, squares, residuals = self._codes, predicted, judged - values
        if len(codes) > 1:
            codes = [*codes, ALL]
            values, judged, squares = (np.concatenate([of, of.mean(axis=0)[None]]) for of in (values, judged, squares))
            residuals = np.concatenate([residuals, _mean(residuals)[None]])
        languages = {}
        for c, code in enumerate(codes):
            rows = np.flatnonzero(np.isfinite(values[c]) & np.isfinite(judged[c]))
            if not len(rows):
                continue
            half = np.array([margin(np.delete(residuals[c], k), self._reach[k][code]) for k in rows])
            square = squares[c][np.ix_(rows, rows)].copy()
            np.fill_diagonal(square, np.nan)
            own, true = values[c, rows], judged[c, rows]
            languages[code] = HeldOutLanguage(
                tuple(self._systems[k] for k in rows),
                *(own, own - half, own + half, true, tau_parts(square, true), slope_parts(square, true)),
            )
        return HeldOut(name, languages)


def margin(residuals: Array, distance: Distance) -> float:
    """Return half the width of a 95% prediction interval: Student's t times the root mean square of left-out residuals,
    widened as for the mean of n values, and by the system's distance from the others.

    The residuals are those of systems each left out in turn, so they include the error of the fit and what features do
    not explain. Conformal intervals need 39 systems for 95%: with fewer, they reduce to the largest residual. On
    simulated arenas of 8 to 19 systems these covered 92 to 97%, the largest residual 87 to 95%.

    Args:
        residuals: ratings minus predictions, in logits; n of them finite.
        distance: distance of the system from the others.

    Returns:
        Logits; NaN with fewer than two residuals, or if the system is outside the range of the others.
    """
    residuals = residuals[np.isfinite(residuals)]
    n = len(residuals)
    if n < 2 or distance.outside:
        return float("nan")
    return float(distance.stretch * student_reach(n - 1) * np.sqrt((1 + 1 / n) * (residuals**2).mean()))


def _mean(values: Array) -> Array:
    """Return the mean over languages of the finite values; NaN without one."""
    known = np.isfinite(values)
    n, total = known.sum(axis=0), np.where(known, values, 0.0).sum(axis=0)
    return np.asarray(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))


def _need_enough(training: Training) -> None:
    if len(training.systems) <= FEWEST:
        raise NotEnoughData(
            f"{len(training.systems)} rated systems with features are too few to leave some out",
            do=f"add features and battles of at least {FEWEST + 1} systems",
        )
