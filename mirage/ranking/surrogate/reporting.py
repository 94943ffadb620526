"""Reports of the surrogate judge: compared regressors, predictions, and the expected rating of a new system.

referee = Referee.judge("gpt-4o")
seen = training(features, verdicts, referee)                   # `training.py`
result = report_on(seen, referee)                              # every regressor on left-out systems
result.table()                                                 # schema.Prediction
expected_ratings(seen, "my-model", chosen_regressor(result.table(), referee))     # {language: ExpectedRating}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mirage import schema
from mirage.battles.referee import Referee
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking import surrogate
from mirage.ranking.surrogate.data import Array

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], None]

ALL = "all"


@dataclass(frozen=True, eq=False)
class Report:
    """Quality of the surrogates of one referee, and their predictions of each system."""

    referee: Referee
    """Referee whose ratings are predicted."""
    training: surrogate.Training
    """The training data."""
    comparison: surrogate.RegressorComparison
    """The regressors on left-out systems, and the default."""
    rows: tuple[schema.Prediction, ...]
    """The predictions."""

    def table(self) -> pa.Table:
        """Return the predictions as table `predictions`."""
        return schema.from_rows("predictions", self.rows)

    @property
    def calls(self) -> int:
        """Judge calls a prediction saves for one new system: the mean number of battles of a judged system in all
        languages; 0 with the relevance referee, which calls no model.
        """
        if self.referee.by_labels:
            return 0
        battle_counts = [
            (language.points.sum(axis=(0, 1)) + language.points.sum(axis=(0, 2)))[language.rated].mean()
            for language in self.training.languages.values()
            if language.rated.any()
        ]
        return round(float(sum(battle_counts)))


@dataclass(frozen=True, slots=True)
class ChosenRegressor:
    """A regressor and its residuals on left-out systems."""

    regressor: str
    """Its name."""
    residuals: Mapping[str, Array]
    """By language and `all`: rating minus prediction of each left-out system, in logits."""


@dataclass(frozen=True, slots=True)
class ExpectedRating:
    """Predicted rating of a system in one language before any of its battles is judged."""

    language: str
    """Code, or `all`."""
    system: str
    """The system."""
    regressor: str
    """Regressor behind the prediction."""
    rating: float
    """Predicted rating in logits, on the referee's scale."""
    low: float | None
    """Lower end of the 95% prediction interval; null with too few left-out systems, or outside the range of the judged
    systems.
    """
    high: float | None
    """Upper end."""
    rank: int
    """Rank among the judged systems and itself; 1 is best."""
    rank_low: int
    """Best rank within the interval."""
    rank_high: int
    """Worst rank."""
    of: int
    """Number of ranked systems, including itself."""
    outside: tuple[str, ...]
    """Features in which it is outside the range of the judged systems (`surrogate.distances`); for `all`: on the mean
    over languages.
    """


def report_on(
    seen: surrogate.Training,
    referee: Referee,
    *,
    regressors: Sequence[str] | None = None,
    seed: int = surrogate.SEED,
    progress: Progress | None = None,
) -> Report:
    """Compare regressors on left-out systems, choose the default, and predict every system.

    Args:
        seen: training data (`training`).
        referee: referee whose ratings are predicted.
        regressors: regressors to compare; None for all.
        seed: seed of regressors and tests.
        progress: called with the number of finished fits and their total.

    Raises:
        NotEnoughData: if there are too few rated systems with features.
    """
    comparison = surrogate.compare_regressors(seen, regressors, seed=seed, progress=progress)
    beyond: dict[tuple[str, str], tuple[str, ...]] = {}
    for system in (*seen.systems, *seen.new):
        beyond |= {(code, system): distance.outside for code, distance in surrogate.distances(seen, system).items()}
    rows = []
    for name, held_out in comparison.held_out.items():
        used = comparison.default if name == surrogate.NESTED else name
        default = name == comparison.default
        choice = ChosenRegressor(
            used, {code: held_out.judged[code] - held_out.predicted[code] for code in held_out.predicted}
        )
        new = {system: expected_ratings(seen, system, choice, seed=seed) for system in seen.new}
        for code in held_out.predicted:
            offset = _offset(seen, code)
            predicted = [
                (system, *values)
                for system, *values in zip(
                    held_out.systems[code],
                    (held_out.predicted[code] + offset).tolist(),
                    _or_null(held_out.low[code] + offset),
                    _or_null(held_out.high[code] + offset),
                    (held_out.judged[code] + offset).tolist(),
                    _or_null(held_out.tau_parts[code]),
                    _or_null(held_out.slope_parts[code]),
                    strict=True,
                )
            ]
            predicted += [
                (s, expectations[code].rating, expectations[code].low, expectations[code].high, None, None, None)
                for s, expectations in new.items()
                if code in expectations
            ]
            ratings = np.array([values[1] for values in predicted])
            for system, rating, low, high, judged, *parts in predicted:
                place = int((ratings > rating + 1e-9).sum()) + 1
                names = beyond.get((code, system), ())
                rows.append(
                    schema.Prediction(
                        *(code, referee.name, referee.skill, name, system, rating, low, high, place, judged),
                        ", ".join(names) or None,
                        default,
                        *parts,
                    )
                )
    return Report(referee, seen, comparison, tuple(rows))


def rows_of(predictions: pa.Table, referee: Referee) -> list[schema.Prediction]:
    """Return the stored predictions for a referee and its skill.

    Raises:
        NotEnoughData: if there are none.
    """
    rows = [schema.Prediction(**row) for row in predictions.to_pylist()]
    rows = [row for row in rows if (row.referee, row.skill) == (referee.name, referee.skill)]
    if not rows:
        raise NotEnoughData(
            f"no predictions for the referee {referee.name} and the skill {referee.skill}",
            do=f"mirage rank surrogate DIR --judge {referee.name} --store",
        )
    return rows


def chosen_regressor(predictions: pa.Table, referee: Referee, *, regressor: str | None = None) -> ChosenRegressor:
    """Return the default regressor of stored predictions, or one by name, with its residuals.

    Raises:
        NotEnoughData: if there are no predictions for the referee and its skill.
        UnknownName: if the regressor is not among the predictions.
    """
    rows = rows_of(predictions, referee)
    name = regressor or next(row.regressor for row in rows if row.default)
    residuals: dict[str, list[float]] = {}
    for row in rows:
        if row.regressor == name and row.judged is not None:
            residuals.setdefault(row.language, []).append(row.judged - row.rating)
    if not residuals:
        raise UnknownName("regressor", name, sorted({row.regressor for row in rows}))
    return ChosenRegressor(name, {code: np.array(values) for code, values in residuals.items()})


def expected_ratings(
    seen: surrogate.Training, system: str, choice: ChosenRegressor, *, seed: int = surrogate.SEED
) -> dict[str, ExpectedRating]:
    """Predict a system's ratings from its features alone, ignoring its own battles, if any.

    Args:
        seen: training data, including the system's features.
        system: the system.
        choice: the regressor and its residuals, for the interval.
        seed: seed of a randomised regressor.

    Returns:
        By language, `all` last if it has a prediction in every language of several; without languages where the system
        shares too few features with the judged systems.

    Raises:
        UnknownName: if the system has no features.
    """
    predictions = surrogate.predict(seen, choice.regressor, out=[system], seed=seed)
    beyond = surrogate.distances(seen, system)
    expectations: dict[str, ExpectedRating] = {}
    ratings: dict[str, dict[str, float]] = {}
    for code, values in predictions.items():
        language = seen.languages[code]
        if system not in language.systems or not np.isfinite(values[language.systems.index(system)]):
            continue
        full = language.ratings(frozenset())
        others = {
            s: float(r) + language.offset
            for s, r in zip(language.systems, full, strict=True)
            if s != system and np.isfinite(r)
        }
        # Predictions are centred on the others; the referee's ratings include the system, if judged.
        k = len(others)
        rated = bool(language.rated[language.systems.index(system)])
        value = float(values[language.systems.index(system)]) * (k / (k + 1) if rated else 1.0) + language.offset
        ratings[code] = others
        expectations[code] = _expected_rating(code, system, choice, value, others, beyond[code])
    if len(expectations) == len(seen.languages) > 1:
        common = set.intersection(*(set(others) for others in ratings.values()))
        joint = {s: float(np.mean([others[s] for others in ratings.values()])) for s in sorted(common)}
        value = float(np.mean([expectation.rating for expectation in expectations.values()]))
        expectations[ALL] = _expected_rating(ALL, system, choice, value, joint, beyond[ALL])
    return expectations


def _expected_rating(
    code: str,
    system: str,
    choice: ChosenRegressor,
    value: float,
    others: Mapping[str, float],
    distance: surrogate.Distance,
) -> ExpectedRating:
    half_width = surrogate.margin(choice.residuals.get(code, np.array([])), distance)
    low, high = (value - half_width, value + half_width) if np.isfinite(half_width) else (None, None)

    def place(rating: float | None, without: int) -> int:
        return without if rating is None else 1 + sum(other > rating + 1e-9 for other in others.values())

    of = len(others) + 1
    return ExpectedRating(
        *(code, system, choice.regressor, value, low, high),
        *(place(value, 1), place(high, 1), place(low, of), of, distance.outside),
    )


def _offset(seen: surrogate.Training, code: str) -> float:
    if code != ALL:
        return seen.languages[code].offset
    return float(np.mean([language.offset for language in seen.languages.values()]))


def _or_null(values: Array) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]
