"""Stages from features and verdicts to predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mirage import schema
from mirage.battles.judge import RELEVANCE, Judge
from mirage.ranking.settings import SEED
from mirage.ranking.surrogate.ablation import ablation_losses
from mirage.ranking.surrogate.reporting import Report, report_on
from mirage.ranking.surrogate.training import training
from mirage.stages.stage import Progress, Stage, Tables

if TYPE_CHECKING:
    import pyarrow as pa


def _predictions(
    tables: Tables,
    *,
    judge: str = RELEVANCE,
    skills: Sequence[schema.Skill] = ("both",),
    regressors: Sequence[str] | None = None,
    seed: int = SEED,
    progress: Progress | None = None,
    on_report: Callable[[Report], object] = lambda _: None,
    weigh: bool = True,
) -> dict[str, pa.Table]:
    import pyarrow as pa

    prediction_tables, weights = [], []
    for skill in skills:
        decider = Judge.from_name(judge, skill=skill)
        seen = training(tables["features"], tables[decider.table], decider)
        result = report_on(seen, decider, regressors=regressors, seed=seed, progress=progress)
        on_report(result)
        prediction_tables.append(result.table())
        if weigh:
            weights += ablation_losses(seen, result.comparison.default, decider, seed=seed)
    predicted = {"predictions": pa.concat_tables(prediction_tables)}
    return predicted | ({"importances": schema.from_rows("importances", weights)} if weigh else {})


_PREDICTED = ("predictions", "importances")
RELEVANCE_PREDICTIONS = Stage("predictions by relevance", ("features", "outcomes"), _PREDICTED, _predictions)
JUDGED_PREDICTIONS = Stage("predictions by a judge", ("features", "judgments"), _PREDICTED, _predictions)
