"""Running the stages in order, from answers to a ranking.

    queries, passages            baselines  -> answers
    queries, answers             outcomes   -> outcomes
    queries, passages, answers   features   -> features
    queries, passages, answers   judge      -> judgments
    outcomes or judgments        ratings    -> ratings

`steps.py` has the order of a complete run, `running.py` runs what is not up to date, `evaluating.py` takes a file to a
ranking, and `findings.py` puts that into sentences. `adding.py` adds a user's system. Each domain package declares its
own stages (`mirage.stages.stage`).
"""

from mirage.pipeline.evaluating import EvaluateSettings, EvaluationReport, Watch, evaluate, judges_of_data, locate
from mirage.pipeline.running import StepReport, run_all
from mirage.pipeline.steps import ORDER, RunModel, RunSettings

__all__ = [
    "ORDER",
    "EvaluateSettings",
    "EvaluationReport",
    "RunModel",
    "RunSettings",
    "StepReport",
    "Watch",
    "evaluate",
    "judges_of_data",
    "locate",
    "run_all",
]
