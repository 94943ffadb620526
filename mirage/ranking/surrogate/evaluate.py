"""Leave-one-system-out evaluation: predictions, their intervals, the choice of a default regressor, and its nested
error.

A system is left out of all languages, with all its battles: the ratings of the others are fitted without them. The
default regressor for it is also chosen without it, by leaving out a second system in turn (nested validation), so the
error of the default is that of the whole procedure. The order of left-out systems is evaluated on fits that leave out
both of a pair (`pairs.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.surrogate.data import FEWEST, Array, Predicted, Training
from mirage.ranking.surrogate.pairs import Apart, apart, of_system, slope_parts, square, tau_parts
from mirage.ranking.surrogate.quality import PairedTest, Quality, paired_test, quality
from mirage.ranking.surrogate.range import ALL, Distance, distances
from mirage.ranking.surrogate.regressors import PUBLISHED, REGRESSORS, SEED, predict, regressor

LEVEL = 0.95
"""Nominal coverage of every prediction interval."""

NESTED = "default"
"""Name of the procedure "choose a regressor, then predict with it"."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predicted ratings of every system, each by a fit without that system's battles (leave-one-out)."""

    regressor: str
    """Name of the regressor, or `default` for the one chosen per system."""
    systems: Mapping[str, tuple[str, ...]]
    """By language (and `all` with several): the n systems."""
    predicted: Predicted
    """n ratings in logits, centred as the judge's."""
    low: Predicted
    """n lower ends of the 95% prediction intervals; NaN with too few left-out systems, or outside their range
    (`range.py`).
    """
    high: Predicted
    """n upper ends."""
    judged: Predicted
    """n ratings by the judge."""
    tau_parts: Predicted
    """Each system's contribution to Kendall's tau-b of pairs left out together, whose mean is the tau
    (`pairs.tau_parts`); NaN where pairs were not left out, or left too few training systems.
    """
    slope_parts: Predicted
    """Each system's contribution to the slope of the ratings on the predictions, from the same pairs
    (`pairs.slope_parts`).
    """
    seed: int
    """Seed of the regressor."""

    def quality(self) -> tuple[Quality, ...]:
        """Return the quality of the predictions by language, `all` last."""
        return tuple(
            quality(
                *(code, self.regressor, p, self.judged[code], self.low[code], self.high[code]),
                tau_parts=self.tau_parts[code],
                slope_parts=self.slope_parts[code],
            )
            for code, p in self.predicted.items()
        )


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
    training: Training, name: str, *, pairs: bool = True, seed: int = SEED, progress: Progress | None = None
) -> HeldOut:
    """Predict every system by a regressor trained without its battles.

    Args:
        training: the data.
        name: one of `REGRESSORS`.
        pairs: whether to also leave out every two systems together, which a tau needs.
        seed: seed of a randomised regressor.
        progress: called with the number of finished fits and their total.

    Raises:
        NotEnoughData: if there are fewer than four rated systems.
    """
    _enough(training)
    n = len(training.systems)
    count = _counter(n + pairs * n * (n - 1) // 2, progress)
    table = _table(training, name, seed, count)
    two = apart(training, name, seed, count) if pairs else {}
    return _held_out(training, name, table, two, _reach(training), seed)


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
    tables = {name: _table(training, name, seed, count) for name in regressors}
    two = {name: apart(training, name, seed, count) for name in regressors}
    errors = {name: _error(training, tables[name]) for name in eligible}
    default = min(errors, key=errors.__getitem__)
    inner = {name: _inner(training, two[name]) for name in eligible} if len(eligible) > 1 else {}
    reach = _reach(training)
    held_out = {
        name: _held_out(training, name, tables[name], two[name], reach, seed, inner.get(name)) for name in regressors
    }
    picks = {s: min(eligible, key=lambda name, s=s: inner[name][s].error) if inner else default for s in systems}  # type: ignore[misc]
    mixed = {s: tables[picks[s]][s] for s in systems}
    spread = {s: inner[picks[s]][s] for s in systems} if inner else None
    held_out[NESTED] = _held_out(training, NESTED, mixed, _mix_pairs(two, inner, default), reach, seed, spread)
    against = [PUBLISHED] * (PUBLISHED in regressors) + [name for name in regressors if name != PUBLISHED]
    return RegressorComparison(
        held_out,
        default,
        {name: sum(pick == name for pick in picks.values()) for name in eligible},
        errors,
        tuple(paired(held_out[NESTED], held_out[name], seed=seed) for name in against),
        seed,
    )


def paired(first: HeldOut, second: HeldOut, *, seed: int = 0) -> PairedTest:
    """Test whether one regressor orders left-out systems better than another, language by language (`paired_test`)."""
    codes = [code for code in first.predicted if code != ALL and code in second.predicted]
    codes = [code for code in codes if len(first.systems[code]) > 1] or list(first.predicted)
    return paired_test(
        {code: first.predicted[code] for code in codes},
        {code: second.predicted[code] for code in codes},
        {code: first.judged[code] for code in codes},
        {code: first.systems[code] for code in codes},
        parts=({code: first.tau_parts[code] for code in codes}, {code: second.tau_parts[code] for code in codes}),
        names=(first.regressor, second.regressor),
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Inner:
    """Results of nested validation without one system."""

    error: float
    """Mean squared error over the other systems and languages."""
    residuals: Mapping[str, Array]
    """By language: residuals of the other systems."""
    squares: Mapping[str, float]
    """By other system: its squared error, mean over languages."""


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


def _table(training: Training, name: str, seed: int, count: Callable[[], None]) -> dict[str, dict[str, float]]:
    """Return the prediction of each left-out system in each language, on the scale without it."""
    predictions = {}
    for system in training.systems:
        predictions[system] = of_system(training, predict(training, name, out=(system,), seed=seed), system)
        count()
    return predictions


def _truth(training: Training, system: str, without: frozenset[str] = frozenset()) -> dict[str, tuple[float, int]]:
    """Return by language the judge's rating of a system centred on the others, and their number, optionally without
    the battles of further systems.
    """
    truth = {}
    for code, language in training.languages.items():
        if system not in language.systems:
            continue
        theta = language.ratings(without & frozenset(language.systems))
        own = theta[language.systems.index(system)]
        k = int(np.isfinite(theta).sum()) - 1
        if np.isfinite(own) and k >= 1:
            theta = theta - np.nanmean(theta)
            own = theta[language.systems.index(system)]
            truth[code] = (float(own) * (k + 1) / k, k)
    return truth


def _error(training: Training, table: Mapping[str, Mapping[str, float]]) -> float:
    """Return the mean over languages of the mean squared error over left-out systems."""
    return _mean_square(_residuals(training, table, frozenset()))


def _residuals(
    training: Training, table: Mapping[str, Mapping[str, float]], without: frozenset[str]
) -> dict[str, Array]:
    """Return rating minus prediction of each left-out system, by language and `all`, on the common scale."""
    residuals: dict[str, list[float]] = {}
    for system, row in table.items():
        truth = _truth(training, system, without)
        both = [code for code in sorted(row) if code in truth]
        scaled = [(truth[c][0] - row[c]) * truth[c][1] / (truth[c][1] + 1) for c in both]
        for code, value in zip(both, scaled, strict=True):
            residuals.setdefault(code, []).append(value)
        if len(training.languages) > 1 and both:
            residuals.setdefault(ALL, []).append(float(np.mean(scaled)))
    return {code: np.array(values) for code, values in residuals.items()}


def _mean_square(residuals: Mapping[str, Array]) -> float:
    """Return the mean squared residual; infinite if nothing was left out."""
    errors = [(r**2).mean() for code, r in residuals.items() if code != ALL]
    return float(np.mean(errors)) if errors else np.inf


def _inner(training: Training, two: Apart) -> dict[str, _Inner]:
    """Return by system the errors on every other system, of fits without both."""
    inner = {}
    for outer in training.systems:
        without = frozenset({outer})
        own = {
            system: _residuals(training, {system: two[system][outer]}, without)
            for system in training.systems
            if system != outer
        }
        codes = dict.fromkeys(code for row in own.values() for code in row)
        residuals = {code: np.array([row[code][0] for row in own.values() if code in row]) for code in codes}
        squares = {s: _mean_square(row) for s, row in own.items() if row}
        inner[outer] = _Inner(_mean_square(residuals), residuals, squares)
    return inner


def _mix_pairs(two: Mapping[str, Apart], inner: Mapping[str, Mapping[str, _Inner]], default: str) -> Apart:
    """Select the pair predictions of the regressor with the lowest error on third systems, for fits without one of the
    pair.
    """

    def pick(system: str, mate: str) -> str:
        def error(name: str) -> float:
            both = [inner[name][out].squares for out in (system, mate)]
            thirds = [v for squares in both for third, v in squares.items() if third not in (system, mate)]
            return float(np.mean(thirds)) if thirds else np.inf

        return min(inner, key=error)

    return {
        system: {mate: two[pick(*sorted((system, mate))) if inner else default][system][mate] for mate in row}
        for system, row in two[default].items()
    }


def _held_out(
    training: Training,
    name: str,
    table: Mapping[str, Mapping[str, float]],
    two: Apart,
    reach: Mapping[str, Mapping[str, Distance]],
    seed: int,
    inner: Mapping[str, _Inner] | None = None,
) -> HeldOut:
    """Convert predictions of left-out systems to the scale of the judge's ratings, with their intervals."""
    rows: dict[str, list[tuple[str, float, float, float]]] = {}
    own = _residuals_by_system(training, table)
    for system, row in table.items():
        truth = _truth(training, system)
        both = [code for code in sorted(row) if code in truth]
        values = {code: row[code] * truth[code][1] / (truth[code][1] + 1) for code in both}
        judged = {code: truth[code][0] * truth[code][1] / (truth[code][1] + 1) for code in both}
        if len(both) == len(training.languages) > 1:
            values[ALL] = float(np.mean([values[code] for code in both]))
            judged[ALL] = float(np.mean([judged[code] for code in both]))
        for code, value in values.items():
            if inner is not None:
                others = inner[system].residuals.get(code, np.array([]))
            else:
                others = np.array([r[code] for s, r in own.items() if s != system and code in r])
            half = margin(others, reach[system][code])
            rows.setdefault(code, []).append((system, value, half, judged[code]))
    order = sorted(rows, key=lambda code: (code == ALL, code))
    arrays = {code: np.array([r[1:] for r in rows[code]]).T for code in order}
    systems = {code: tuple(r[0] for r in rows[code]) for code in order}
    squares = {code: square(two, systems[code], list(training.languages) if code == ALL else [code]) for code in order}
    return HeldOut(
        name,
        systems,
        {code: a[0] for code, a in arrays.items()},
        {code: a[0] - a[1] for code, a in arrays.items()},
        {code: a[0] + a[1] for code, a in arrays.items()},
        {code: a[2] for code, a in arrays.items()},
        {code: tau_parts(squares[code], a[2]) for code, a in arrays.items()},
        {code: slope_parts(squares[code], a[2]) for code, a in arrays.items()},
        seed,
    )


def _residuals_by_system(training: Training, table: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {
        system: {code: float(r[0]) for code, r in _residuals(training, {system: row}, frozenset()).items()}
        for system, row in table.items()
    }


def _reach(training: Training) -> dict[str, dict[str, Distance]]:
    return {system: distances(training, system) for system in training.systems}


def margin(residuals: Array, distance: Distance, level: float = LEVEL) -> float:
    """Return half the width of a prediction interval: Student's t times the root mean square of left-out residuals,
    widened as for the mean of n values, and by the system's distance from the others.

    The residuals are those of systems each left out in turn, so they include the error of the fit and what features do
    not explain. Conformal intervals need 39 systems for 95%: with fewer, they reduce to the largest residual. On
    simulated arenas of 8 to 19 systems these covered 92 to 97%, the largest residual 87 to 95%.

    Args:
        residuals: n ratings minus predictions, in logits.
        distance: distance of the system from the others.
        level: nominal coverage.

    Returns:
        Logits; NaN with fewer than two residuals, or if the system is outside the range of the others.
    """
    from scipy.special import stdtrit

    n = len(residuals)
    if n < 2 or distance.outside:
        return float("nan")
    return float(distance.stretch * stdtrit(n - 1, (1 + level) / 2) * np.sqrt((1 + 1 / n) * (residuals**2).mean()))
