"""Leave-one-system-out evaluation: predictions, their intervals, the choice of a default regressor, and its nested
error.

A system is left out of all languages, with all its battles: the ratings of the others are fitted without them. The
default regressor for it is also chosen without it, by leaving out a second system in turn (nested validation), so the
error of the default is that of the whole procedure.

Predictions of systems that were each left out alone say nothing about their order: each fit was trained on the other
system. With noise features Kendall's tau of such predictions is below 0: on simulated arenas of 8 systems -0.17 for a
ridge with selected penalty and -0.11 for trees. Of two systems that one fit has not seen, noise ranks either first
equally often, whatever the regressor; so tau and slope use fits that leave out a pair (Airola, Pahikkala, Waegeman, De
Baets and Salakoski, Computational Statistics and Data Analysis 55, 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.surrogate.data import FEWEST, Array, Training
from mirage.ranking.surrogate.quality import HeldOut, PairedTest, Quality, paired_test, slope_parts, tau_parts
from mirage.ranking.surrogate.range import ALL, Distance, distances
from mirage.ranking.surrogate.regressors import PUBLISHED, REGRESSORS, SEED, predict, regressor

LEVEL = 0.95
"""Nominal coverage of every prediction interval."""

NESTED = "default"
"""Name of the procedure "choose a regressor, then predict with it"."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class RegressorComparison:
    """Regressors compared on left-out systems."""

    held_out: Mapping[str, HeldOut]
    """By regressor; `default` is the choice by nested validation."""
    default: str
    """The regressor with the lowest error over all left-out systems: the one to use for a new system."""
    chosen: Mapping[str, int]
    """By candidate: number of left-out systems for which nested validation, without them, chose it."""
    errors: Mapping[str, float]
    """By candidate: mean squared error over left-out systems and languages; the default has the lowest."""
    tests: tuple[PairedTest, ...]
    """The default against the published regressor, if compared, and against each other one."""
    seed: int
    """Seed of regressors and tests."""

    def quality(self) -> tuple[Quality, ...]:
        """Return the qualities by language, then regressor."""
        rows = [row for held_out in self.held_out.values() for row in held_out.quality()]
        order = {code: k for k, code in enumerate(sorted({r.language for r in rows}, key=lambda c: (c == ALL, c)))}
        return tuple(sorted(rows, key=lambda row: order[row.language]))


def leave_one_out(
    training: Training,
    name: str,
    *,
    features: Callable[[Collection[str]], Sequence[str]] | None = None,
    pairs: bool = True,
    seed: int = SEED,
) -> HeldOut:
    """Predict every system by a regressor trained without its battles.

    Args:
        training: the data.
        name: one of `REGRESSORS`.
        features: if given, selects the features of each fit without the systems left out.
        pairs: whether to also leave out every two systems together, which a tau needs.
        seed: seed of a randomised regressor.

    Raises:
        NotEnoughData: if there are fewer than four rated systems.
    """
    _enough(training)
    return _Scale(training).held_out(name, predict_left_out(training, name, seed, features=features, pairs=pairs), seed)


def compare_regressors(
    training: Training,
    names: Sequence[str] | None = None,
    *,
    candidates: Sequence[str] | None = None,
    seed: int = SEED,
    progress: Progress | None = None,
) -> RegressorComparison:
    """Compare regressors on left-out systems, and choose the default among the candidates by nested validation.

    Args:
        training: the data.
        names: regressors to compare; None for all.
        candidates: regressors that may become the default; None for those of `names` declared as candidates, or for all
            of `names` if none is.
        seed: seed of regressors and tests.
        progress: called with the number of finished fits and their total.

    Raises:
        NotEnoughData: if there are fewer than five rated systems: two are left out at a time.
    """
    regressors = [regressor(name).name for name in (names if names is not None else REGRESSORS)]
    eligible = [name for name in regressors if REGRESSORS[name].candidate] or regressors
    eligible = eligible if candidates is None else [regressor(name).name for name in candidates]
    regressors += [name for name in eligible if name not in regressors]
    _enough(training, extra=len(eligible) > 1)
    systems = training.systems
    n = len(systems)
    count = _counter(len(regressors) * (n + n * (n - 1) // 2), progress)
    scale = _Scale(training)
    predicted = {name: predict_left_out(training, name, seed, count=count) for name in regressors}
    several = len(eligible) > 1
    held_out = {
        name: scale.held_out(name, predicted[name], seed, predicted[name] if several and name in eligible else None)
        for name in regressors
    }
    candidate = np.array([predicted[name] for name in eligible])
    squares = (scale.judged - candidate * scale.factor) ** 2
    alone = np.eye(n, dtype=bool)
    means = _mean(_mean(np.where(alone, squares, np.nan), (2, 3)), 1)
    errors = dict(zip(eligible, np.nan_to_num(means, nan=np.inf).tolist(), strict=True))
    default = min(errors, key=errors.__getitem__)
    picks, nested = [eligible.index(default)] * n, candidate[eligible.index(default)]
    inner = None
    if several:
        # C x S x S: error on the row's system without the column's too; then C x S without the column's alone.
        on_third = np.where(alone, np.nan, _mean(squares, 1))
        without = _mean(_mean(np.where(alone, np.nan, squares), 2), 1)
        picks = np.argmin(np.nan_to_num(without, nan=np.inf), axis=0).tolist()
        nested = np.stack([candidate[pick, :, k] for k, pick in enumerate(picks)], axis=1)
        for i, j in combinations(range(n), 2):
            thirds = np.delete(on_third[:, :, [i, j]], [i, j], axis=1)
            pick = int(np.argmin(np.nan_to_num(_mean(thirds, (1, 2)), nan=np.inf)))
            nested[:, i, j], nested[:, j, i] = candidate[pick, :, i, j], candidate[pick, :, j, i]
        # The residuals behind a system's interval are those of the nested validation without it.
        inner = np.stack([candidate[pick, :, :, k] for k, pick in enumerate(picks)], axis=2)
    held_out[NESTED] = scale.held_out(NESTED, nested, seed, inner)
    against = [PUBLISHED] * (PUBLISHED in regressors) + [name for name in regressors if name != PUBLISHED]
    return RegressorComparison(
        held_out,
        default,
        {name: picks.count(k) for k, name in enumerate(eligible)},
        errors,
        tuple(paired_test(held_out[NESTED], held_out[name], seed=seed) for name in against),
        seed,
    )


def predict_left_out(
    training: Training,
    name: str,
    seed: int = SEED,
    *,
    features: Callable[[Collection[str]], Sequence[str]] | None = None,
    pairs: bool = True,
    count: Callable[[], object] = lambda: None,
) -> Array:
    """Predict every system by a fit without it and without every other one.

    Args:
        training: the data; its S rated systems are left out, in each of its L languages sorted by code.
        name: the regressor.
        seed: seed of a randomised regressor.
        features: if given, selects the features of each fit without the systems left out.
        pairs: whether to leave out pairs.
        count: called after each fit.

    Returns:
        L x S x S predictions in logits, centred on the training systems: of the row's system by a fit without the
        battles of it and the column's system; on the diagonal by a fit without it alone. NaN where there is none.

    Raises:
        NotEnoughData: if too few systems are left without one; without two, there are no predictions.
    """
    systems, codes = training.systems, sorted(training.languages)
    predicted = np.full((len(codes), len(systems), len(systems)), np.nan)
    for out in [*((system,) for system in systems), *(combinations(systems, 2) if pairs else ())]:
        try:
            seen = training if features is None else training.only(features=features(out))
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
        n = len(self._systems)
        self.judged = np.full((len(self._codes), n, n), np.nan)
        """L x S x S: rating of the row's system without the battles of the column's; on the diagonal with all."""
        self.factor = np.full(self.judged.shape, np.nan)
        """L x S x S: factor from a prediction, centred on the other systems, to this scale, centred on all."""
        self._reach = [distances(training, system) for system in self._systems]
        for k, code in enumerate(self._codes):
            language = training.languages[code]
            rows = [i for i, system in enumerate(self._systems) if system in language.systems]
            places = [language.systems.index(self._systems[i]) for i in rows]
            columns: list[tuple[int | list[int], str]] = [*enumerate(self._systems), (rows, "")]
            for column, system in columns:
                theta = language.ratings(frozenset({system}) & frozenset(language.systems))
                rated = int(np.isfinite(theta).sum())
                if rated > 1:
                    self.judged[k, rows, column] = (theta - np.nanmean(theta))[places]
                    self.factor[k, rows, column] = (rated - 1) / rated

    def held_out(self, name: str, predicted: Array, seed: int, inner: Array | None = None) -> HeldOut:
        """Convert predictions of left-out systems to the judge's scale, with their intervals.

        Args:
            name: the regressor.
            predicted: L x S x S (`predict_left_out`).
            seed: its seed.
            inner: if given, L x S x S predictions of the row's system whose residuals give the interval of the
                column's; else those of the other systems left out alone.
        """
        values, judged = (np.diagonal(of, axis1=1, axis2=2) for of in (predicted * self.factor, self.judged))
        if inner is None:
            residuals = np.repeat((judged - values)[:, :, None], judged.shape[1], axis=2)
        else:
            residuals = self.judged - inner * self.factor
        codes, squares = self._codes, predicted
        if len(codes) > 1:
            codes = [*codes, ALL]
            values, judged, squares = (np.concatenate([of, of.mean(axis=0)[None]]) for of in (values, judged, squares))
            residuals = np.concatenate([residuals, _mean(residuals, 0)[None]])
        columns: list[dict[str, Array]] = [{} for _ in range(6)]
        systems = {}
        for c, code in enumerate(codes):
            rows = np.flatnonzero(np.isfinite(values[c]) & np.isfinite(judged[c]))
            if not len(rows):
                continue
            systems[code] = tuple(self._systems[k] for k in rows)
            half = np.array([margin(np.delete(residuals[c, :, k], k), self._reach[k][code]) for k in rows])
            square = squares[c][np.ix_(rows, rows)].copy()
            np.fill_diagonal(square, np.nan)
            own, true = values[c, rows], judged[c, rows]
            parts = tau_parts(square, true), slope_parts(square, true)
            for column, of_code in zip(columns, (own, own - half, own + half, true, *parts), strict=True):
                column[code] = of_code
        predicted_ratings, low, high, true_ratings, tau, slope = columns
        return HeldOut(name, systems, predicted_ratings, low, high, true_ratings, tau, slope, seed)


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
    from scipy.special import stdtrit

    residuals = residuals[np.isfinite(residuals)]
    n = len(residuals)
    if n < 2 or distance.outside:
        return float("nan")
    return float(distance.stretch * stdtrit(n - 1, (1 + LEVEL) / 2) * np.sqrt((1 + 1 / n) * (residuals**2).mean()))


def _mean(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Return the mean of the finite values; NaN without one."""
    known = np.isfinite(values)
    n = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))


def _enough(training: Training, *, extra: bool = False) -> None:
    need = FEWEST + 1 + extra
    if len(training.systems) < need:
        raise NotEnoughData(
            f"{len(training.systems)} rated systems with features are too few to leave some out",
            do=f"add features and battles of at least {need} systems",
        )


def _counter(total: int, progress: Progress | None) -> Callable[[], None]:
    completed = 0

    def count() -> None:
        nonlocal completed
        completed += 1
        if progress:
            progress(completed, total)

    return count
