"""Reports of the surrogate judge: compared regressors, and predictions of judged and of new systems.

judge = VerdictJudge("gpt-4o")
seen = training(features, verdicts, judge)                   # `training.py`
result = report_on(seen, judge)                              # every regressor on left-out systems
result.table()                                               # schema.Prediction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.ranking.judges import Judge
from mirage.ranking.surrogate.data import Training
from mirage.ranking.surrogate.evaluate import compare_regressors, margin
from mirage.ranking.surrogate.quality import HeldOut, HeldOutLanguage, paired_test
from mirage.ranking.surrogate.range import Distance, distances
from mirage.ranking.surrogate.regressors import REGRESSORS, SEED, predict
from mirage.stats.arrays import Array

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], None]

ALL = "all"


@dataclass(frozen=True, eq=False)
class Report:
    """Quality of the surrogates of one judge, and their predictions of each system."""

    held_out: Mapping[str, HeldOut]
    """The predictions of left-out systems by regressor; the last regressor predicts new systems."""
    rows: tuple[schema.Prediction, ...]
    """The predictions."""

    def table(self) -> pa.Table:
        """Return the predictions as table `predictions`."""
        return schema.from_rows("predictions", self.rows)


def report_on(
    seen: Training,
    judge: Judge,
    *,
    regressors: Sequence[str] | None = None,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Report:
    """Compare regressors on left-out systems, and predict every system.

    Args:
        seen: training data (`training`).
        judge: judge whose ratings are predicted.
        regressors: regressors to compare; None for all.
        seed: seed of the regressors.
        progress: called with the number of finished fits and their total.

    Raises:
        NotEnoughData: if there are too few rated systems with features.
    """
    compared = compare_regressors(seen, regressors, seed=seed, progress=progress)
    reach = {system: distances(seen, system) for system in (*seen.systems, *seen.new)}
    rows = []
    for name, held_out in compared.items():
        new = {s: predict_new(seen, s, name, held_out, reach[s], seed) for s in seen.new}
        for code, of in held_out.languages.items():
            offset = np.mean([seen.languages[c].offset for c in (seen.languages if code == ALL else [code])])
            columns = [ratings + offset for ratings in (of.predicted, of.low, of.high, of.judged)]
            columns += [of.tau_parts, of.slope_parts]
            predicted = [*zip(of.systems, *map(_or_null, columns), strict=True)]
            predicted += [(s, *own[code], None, None, None) for s, own in new.items() if code in own]
            ratings = np.array([values[1] for values in predicted])
            for system, rating, low, high, judged, *parts in predicted:
                place = int((ratings > rating + 1e-9).sum()) + 1
                beyond = reach[system][code].outside if code in reach[system] else ()
                rows.append(
                    schema.Prediction(
                        *(code, judge.name, judge.skill, name, system, rating, low, high, place, judged),
                        ", ".join(beyond) or None,
                        name == [*compared][-1],
                        *parts,
                    )
                )
    return Report(compared, tuple(rows))


def rows_of(predictions: pa.Table, judge: Judge) -> list[schema.Prediction]:
    """Return the stored predictions for a judge and its skill by the regressors that are declared.

    Raises:
        NotEnoughData: if there are none.
    """
    rows = [schema.Prediction(**row) for row in predictions.to_pylist() if row["regressor"] in REGRESSORS]
    rows = [row for row in rows if (row.judge, row.skill) == (judge.name, judge.skill)]
    if not rows:
        raise NotEnoughData(
            f"no predictions for the judge {judge.name} and the skill {judge.skill}",
            do=f"mirage rank surrogate DIR --judge {judge.name} --store",
        )
    return rows


def predict_new(
    seen: Training,
    system: str,
    regressor: str,
    held_out: HeldOut,
    reach: Mapping[str, Distance],
    seed: int,
) -> dict[str, tuple[float, float | None, float | None]]:
    """Predict the ratings of a system without battles from its features alone, on the judge's scale.

    Args:
        seen: training data, including the system's features.
        system: the system.
        regressor: the regressor.
        held_out: its predictions of left-out systems, whose residuals give the interval.
        reach: distances of the system (`distances`).
        seed: seed of a randomised regressor.

    Returns:
        By language the rating with the ends of its 95% prediction interval, null with too few left-out systems or
        outside their range; `all` last if it has a prediction in every language of several; without languages where the
        system shares too few features with the judged systems.
    """
    values = {}
    for code, predicted in predict(seen, regressor, out=[system], seed=seed).items():
        systems = seen.languages[code].systems
        if system in systems and np.isfinite(predicted[systems.index(system)]):
            values[code] = float(predicted[systems.index(system)]) + seen.languages[code].offset
    if len(values) == len(seen.languages) > 1:
        values[ALL] = float(np.mean([*values.values()]))
    expected = {}
    for code, value in values.items():
        of = held_out.languages.get(code)
        residuals = np.array([]) if of is None else of.judged - of.predicted
        half = margin(residuals, reach[code])
        low, high = _or_null(np.array([value - half, value + half]))
        expected[code] = value, low, high
    return expected


def _or_null(values: Array) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]


# --- summaries --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RegressorSummary:
    """One regressor on left-out systems: means over languages, and all languages jointly."""

    regressor: str
    """Its name."""
    published: str
    """Corresponding name in the paper's Table 3; empty if it is ours."""
    languages: int
    """Number of languages averaged."""
    systems: int
    """n: number of systems left out, one at a time, in all languages at once."""
    tau: float | None
    """Kendall's tau-b of predictions and ratings, over pairs of systems left out together, mean over languages; null if
    no pair was left out.
    """
    rmse: float
    """Root mean squared error in logits, over languages and systems."""
    r2: float | None
    """R2, mean over languages."""
    slope: float | None
    """Slope of the ratings on the predictions, mean over languages; 1 is calibrated."""
    covered: float | None
    """Share of the ratings inside their 95% prediction intervals."""
    tau_all: float | None
    """Kendall's tau-b of the means over languages; null with one language."""
    p: float | None
    """Paired test over systems of its tau against that of the regressor for new systems (`surrogate.PairedTest`)."""
    chosen: bool
    """Whether it is the regressor for new systems."""


def held_out(predictions: pa.Table, judge: Judge) -> dict[str, HeldOut]:
    """Return stored predictions of the judged systems, by regressor.

    Raises:
        NotEnoughData: if there are no predictions for the judge and its skill.
    """
    parts: dict[str, dict[str, list[schema.Prediction]]] = {}
    for row in rows_of(predictions, judge):
        if row.judged is not None:
            parts.setdefault(row.regressor, {}).setdefault(row.language, []).append(row)
    names = ("rating", "low", "high", "judged", "tau_part", "slope_part")
    results = {}
    for name in sorted(parts, key=[*REGRESSORS].index):
        languages = {
            code: HeldOutLanguage(
                tuple(row.system for row in rows),
                *(np.array([getattr(row, column) for row in rows], dtype=float) for column in names),
            )
            for code, rows in sorted(parts[name].items(), key=lambda part: (part[0] == ALL, part[0]))
        }
        results[name] = HeldOut(name, languages)
    return results


def summary(results: Mapping[str, HeldOut]) -> list[RegressorSummary]:
    """Summarise regressors, given the predictions of left-out systems by each (`held_out`); the last predicts new
    systems.
    """
    rows, chosen = [], [*results][-1]
    for name, of_regressor in results.items():
        qualities = of_regressor.quality()
        single = [quality for quality in qualities if quality.language != ALL]
        joint = next((quality for quality in qualities if quality.language == ALL), None)
        test = paired_test(results[chosen], of_regressor) if name != chosen else None
        n = [quality.systems for quality in single]
        rows.append(
            RegressorSummary(
                name,
                REGRESSORS[name].published,
                len(single),
                len({s for of in of_regressor.languages.values() for s in of.systems}),
                mean_known([quality.tau for quality in single]),
                float(np.sqrt(np.average([quality.rmse**2 for quality in single], weights=n))),
                mean_known([quality.r2 for quality in single]),
                mean_known([quality.slope for quality in single]),
                mean_known([quality.covered for quality in single]),
                joint.tau if joint else None,
                test.p if test else None,
                name == chosen,
            )
        )
    return rows


def mean_known(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are known; None if none is."""
    present = [v for v in values if v is not None]
    return float(np.mean(present)) if present else None
