"""Stages from features and verdicts to predictions."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from mirage import schema
from mirage.battles.judge import RELEVANCE
from mirage.errors import NotEnoughData
from mirage.ranking.judges import Judge
from mirage.ranking.stage import rows_of_judge
from mirage.ranking.surrogate.data import Training, fit_parts
from mirage.ranking.surrogate.evaluate import leave_one_out
from mirage.ranking.surrogate.importance import importances
from mirage.ranking.surrogate.quality import HeldOut
from mirage.ranking.surrogate.range import ALL
from mirage.ranking.surrogate.regressors import CHEAP, REGRESSORS, SEED
from mirage.ranking.surrogate.reporting import report_on
from mirage.ranking.surrogate.training import training
from mirage.schema import Tables
from mirage.stages.features.families import FEATURES
from mirage.stages.stage import Progress, Stage, run
from mirage.stats.kendall import kendall
from mirage.store.arena import Arena

GRADES = tuple(name for name, spec in FEATURES.items() if "grade" in spec.needs)
"""Features graded by an LLM."""
KEPT = 7
"""Number of features the paper retains when it drops those of low correlation."""
ABLATIONS = ("All features", "Without LLM-as-judge", "Without low-correlation", "Only LLM-as-judge")
"""The feature sets of MIRAGE-Bench, Table 4."""


def ablation_losses(seen: Training, regressor: str, judge: Judge, *, seed: int = SEED) -> list[schema.Importance]:
    """Measure a regressor's loss on left-out systems if a feature is permuted or removed.

    Args:
        seen: training data.
        regressor: name of the regressor.
        judge: judge whose ratings are predicted.
        seed: seed of the permutations and of a randomised regressor.

    Returns:
        `permutation`: one row per feature over all languages. `ablation`: one row per language and feature set of
        `ABLATIONS`; a set that equals all features of the arena has no value, with the reason.
    """

    def row(code: str, kind: Literal["permutation", "ablation"], of: str, *values: Any) -> schema.Importance:
        return schema.Importance(code, judge.name, judge.skill, regressor, kind, of, *values)

    rows = [
        row(
            ALL,
            "permutation",
            importance.feature,
            importance.rise,
            importance.low,
            importance.high,
            importance.systems,
            None,
        )
        for importance in importances(seen, regressor, seed=seed)
    ]
    for name, names in sets(seen.features).items():
        try:
            if isinstance(names, str):
                raise NotEnoughData(names)
            held_out = without_features(seen, regressor, names, seed)
        except NotEnoughData as error:
            rows.append(row(ALL, "ablation", name, None, None, None, 0, error.what))
            continue
        for quality in held_out.quality():
            reason = None if quality.tau is not None else "two systems left out leave too few, or all ratings are equal"
            rows.append(row(quality.language, "ablation", name, quality.tau, None, None, quality.systems, reason))
    return rows


def sets(features: Sequence[str]) -> dict[str, tuple[str, ...] | str | None]:
    """Return the features of each ablation by name; None if they are selected per left-out system; or the reason why
    there are none.
    """
    graded = tuple(f for f in features if f in GRADES)
    free = tuple(f for f in features if f not in GRADES)
    few = f"none is dropped: there are only {len(features)} features"
    return {
        "All features": tuple(features),
        "Without LLM-as-judge": (free or "every feature is graded by an LLM") if graded else "no LLM graded a feature",
        "Without low-correlation": None if len(features) > KEPT else few,
        "Only LLM-as-judge": graded or "no LLM graded a feature",
    }


def without_features(seen: Training, regressor: str, names: tuple[str, ...] | None, seed: int) -> HeldOut:
    """Leave out every system with some of the features; None for the strongest, selected for each fit."""
    if names is not None:
        return leave_one_out(seen.select_features(names), regressor, seed=seed)
    return leave_one_out(seen, regressor, features=lambda out: strongest(seen, out), seed=seed)


def strongest(seen: Training, without: Collection[str]) -> tuple[str, ...]:
    """Return the `KEPT` features whose means order the other systems most like their ratings do (absolute tau, mean
    over languages), without using the systems left out.
    """
    strength: Mapping[str, list[float]] = {name: [] for name in seen.features}
    for part in fit_parts(seen, without):
        for f, name in enumerate(seen.features):
            if part.use[f]:
                tau = abs(float(kendall(part.language.means[part.train, f], part.y[part.train])))
                strength[name].append(tau if np.isfinite(tau) else 0.0)
    mean = {name: float(np.mean(values)) if values else 0.0 for name, values in strength.items()}
    return tuple(sorted(sorted(seen.features, key=lambda name: -mean[name])[:KEPT], key=seen.features.index))


def _predictions(
    tables: Tables,
    *,
    judge: str = RELEVANCE,
    skills: Sequence[schema.Skill] = ("both",),
    regressors: Sequence[str] = CHEAP,
    seed: int = SEED,
    progress: Progress | None = None,
    weigh: bool = True,
) -> dict[str, pa.Table]:
    prediction_tables, weights = [], []
    for skill in skills:
        decider = Judge.from_name(judge, skill=skill)
        seen = training(tables["features"], rows_of_judge(tables, decider), decider)
        result = report_on(seen, decider, regressors=regressors, seed=seed, progress=progress)
        prediction_tables.append(result.table())
        if weigh:
            weights += ablation_losses(seen, [*result.held_out][-1], decider, seed=seed)
    predicted = {"predictions": pa.concat_tables(prediction_tables)}
    return predicted | ({"importances": schema.from_rows("importances", weights)} if weigh else {})


def predicted_with(regressors: Sequence[str] = CHEAP, seed: int = SEED) -> dict[str, Any]:
    """Return how stored predictions are made, for the manifest."""
    return {"method": "leave one out", "regressors": [name for name in REGRESSORS if name in regressors], "seed": seed}


_PREDICTED = ("predictions", "importances")
RELEVANCE_PREDICTIONS = Stage("predictions by relevance", ("features", "outcomes"), _PREDICTED, _predictions)
JUDGED_PREDICTIONS = Stage(
    "predictions by a judge", ("features", "judgments"), _PREDICTED, _predictions, uses=("answers",)
)
PREDICTION_STAGES = {"outcomes": RELEVANCE_PREDICTIONS, "judgments": JUDGED_PREDICTIONS}
"""The stage that predicts, by the table of the judge."""


def store_predictions(
    arena: Arena, judge: Judge, *, regressors: Sequence[str] = CHEAP, progress: Progress | None = None
) -> Arena:
    """Store the predictions of a judge's ratings, by relevance labels those of every skill, with importances; those of
    other judges stay.
    """
    stage = PREDICTION_STAGES[judge.table]
    for table in stage.reads:
        arena.need(table)
    return run(
        stage,
        arena.path,
        made_by="mirage rank surrogate --store",
        part="judge",
        settings=predicted_with(regressors),
        judge=judge.name,
        skills=judge.skills,
        regressors=regressors,
        progress=progress,
    )
