"""Summaries of compared regressors, from a comparison or from stored predictions.

results = held_out(report.table(), Judge.single("gpt-4o"))    # by regressor, from table `predictions`
summary(results, "pooled")                                     # one row per regressor
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mirage import schema
from mirage.battles.judge import Judge
from mirage.ranking import surrogate
from mirage.ranking.surrogate.data import Array
from mirage.ranking.surrogate.reporting import ALL, Report, rows_of

if TYPE_CHECKING:
    import pyarrow as pa


_FEW = 3
"""Maximum number of languages a remark lists."""


@dataclass(frozen=True, slots=True)
class RegressorSummary:
    """One regressor on left-out systems: means over languages, and all languages jointly."""

    regressor: str
    """Its name; `default`: the one that nested validation chose for each system without seeing it."""
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
    tau_gain: float | None
    """The default procedure's tau minus this one's; null for itself."""
    p: float | None
    """Paired test of this difference over systems (`surrogate.PairedTest`)."""
    p_error: float | None
    """Paired test of the difference in squared errors over systems."""
    chosen: bool
    """Whether it is the regressor for new systems."""


def held_out(predictions: pa.Table, judge: Judge, *, seed: int = surrogate.SEED) -> dict[str, surrogate.HeldOut]:
    """Return stored predictions of the judged systems, by regressor.

    Raises:
        NotEnoughData: if there are no predictions for the judge and its skill.
    """
    parts: dict[str, dict[str, list[schema.Prediction]]] = {}
    for row in rows_of(predictions, judge):
        if row.judged is not None:
            parts.setdefault(row.regressor, {}).setdefault(row.language, []).append(row)
    results = {}
    for name in sorted(parts, key=_order):
        rows_by_language = {code: parts[name][code] for code in sorted(parts[name], key=lambda c: (c == ALL, c))}

        def column(of: str, groups: dict[str, list[schema.Prediction]] = rows_by_language) -> dict[str, Array]:
            return {code: np.array([getattr(row, of) for row in rows], dtype=float) for code, rows in groups.items()}

        systems = {code: tuple(row.system for row in rows) for code, rows in rows_by_language.items()}
        ends = column("low"), column("high")
        results[name] = surrogate.HeldOut(
            name,
            systems,
            column("rating"),
            *ends,
            column("judged"),
            column("tau_part"),
            column("slope_part"),
            seed,
        )
    return results


def summary(
    results: Mapping[str, surrogate.HeldOut], chosen: str = "", *, seed: int = surrogate.SEED
) -> list[RegressorSummary]:
    """Summarise regressors: the default procedure, then the paper's, then ours.

    Args:
        results: by regressor (`held_out`, or a comparison's).
        chosen: the regressor for new systems.
        seed: seed of the tests.
    """
    rows = []
    default = results.get(surrogate.NESTED)
    for name in sorted(results, key=_order):
        qualities = results[name].quality()
        single = [quality for quality in qualities if quality.language != ALL]
        joint = next((quality for quality in qualities if quality.language == ALL), None)
        difference = (
            surrogate.paired(default, results[name], seed=seed) if default and name != surrogate.NESTED else None
        )
        squares = sum(quality.systems * quality.rmse**2 for quality in single) / sum(
            quality.systems for quality in single
        )
        rows.append(
            RegressorSummary(
                name,
                surrogate.REGRESSORS[name].published if name in surrogate.REGRESSORS else "",
                len(single),
                len({s for systems in results[name].systems.values() for s in systems}),
                _mean([quality.tau for quality in single]),
                float(np.sqrt(squares)),
                _mean([quality.r2 for quality in single]),
                _mean([quality.slope for quality in single]),
                _mean([quality.covered for quality in single]),
                joint.tau if joint else None,
                difference.tau - difference.tau_than if difference and difference.languages else None,
                difference.p if difference and difference.languages else None,
                difference.p_error if difference else None,
                name == chosen,
            )
        )
    return rows


def _order(name: str) -> int:
    return [surrogate.NESTED, *surrogate.REGRESSORS].index(name)


def _mean(values: Sequence[float | None]) -> float | None:
    present = [v for v in values if v is not None]
    return float(np.mean(present)) if present else None


def conclusions(report: Report) -> list[str]:
    """Return the remarks a reader of a comparison needs besides the table.

    Args:
        report: the comparison.
    """
    comparison, training = report.comparison, report.training
    n, many = len(training.systems), len(training.languages)
    lines = [
        f"{n} systems, {many} language{'s' * (many > 1)}, {len(training.features)} features: "
        + ", ".join(training.features)
        + f"; seed {comparison.seed}"
    ]
    folds = ", ".join(
        f"{name} {count}" for name, count in sorted(comparison.chosen.items(), key=lambda c: (-c[1], c[0]))
    )
    lines.append(f"for a new system: {comparison.default}; nested validation over {n} left-out systems chose {folds}")
    lines += [
        f"default against {test.than}: tau {test.tau:.3f} and {test.tau_than:.3f}, p = {test.p:.3f}, higher in "
        f"{test.ahead} of {test.languages} languages; RMSE {test.rmse:.3f} and {test.rmse_than:.3f}, "
        f"p = {test.p_error:.3f} (paired over {test.systems} systems, {test.swaps:,} swaps)"
        for test in comparison.tests
        if test.than == surrogate.PUBLISHED and test.languages
    ]
    for feature, languages in training.unused_features().items():
        lacking = "; ".join(f"{code}: {', '.join(systems)}" for code, systems in languages.items())
        if len(languages) > _FEW:
            everyone = sorted({system for systems in languages.values() for system in systems})
            lacking = f"{', '.join(everyone)}, in {len(languages)} languages"
        under = f"a system has it on fewer than {surrogate.COVERAGE:.0%} of the queries"
        lines.append(f"{feature} is excluded where {under}: {lacking}")
    beyond = {row.system for row in report.rows if row.outside and row.default}
    lines.append(
        f"{len(beyond)} of {n + len(training.new)} systems are outside the range of the others in some feature: "
        "their predictions have no interval"
    )
    if report.calls:
        lines.append(f"a prediction needs no judge call; judging a system like the others took {report.calls:,}")
    return lines
