"""The stages, what each reads and writes, and their order: nothing else knows it.

    sources  (a folder)                  -> queries, passages, answers
    outcomes queries, answers            -> outcomes
    features queries, passages, answers  -> features
    judging  answers with their texts    -> judgments (`judging.py`)
    ratings  outcomes or judgments       -> ratings
    predicting  features, with either    -> predictions (`surrogate.py` joins, `predicting.py` predicts), importances

A stage is a function from tables to tables. `run` applies one to an arena (`stages.py`); the imports (of public data in
`imports.py`, of the user's own in `own.py`) and `bundle` go from files to a finished arena in one step, so that whoever
interrupts them finds the old arena or the new one. `steps.py` has the order of a whole run, `running.py` runs
what is not up to date. `ranking.py` chooses the battles of a ranking; `texts.py` brings what is not bundled.
"""

from mirage.pipeline.ablation import ABLATIONS
from mirage.pipeline.bundle import TEXTS_ABSENT, bundle
from mirage.pipeline.comparing import Summary, held_out, said, summary
from mirage.pipeline.grading import Grader, plan_grades
from mirage.pipeline.imports import import_miracl, import_mirage_bench, import_outputs, import_questions
from mirage.pipeline.judging import Sample, judge_by_features, judge_by_model, judges, plan_judging, read_battles
from mirage.pipeline.measuring import measure
from mirage.pipeline.own import Added, Own, import_own, read_own
from mirage.pipeline.placing import Placement, place, write_battles
from mirage.pipeline.predicting import Chosen, Expected, Report, chosen, expected, report
from mirage.pipeline.ranking import counted, moved, ordered, ranking, remarks, what_if
from mirage.pipeline.running import Done, run_all
from mirage.pipeline.stages import (
    BASELINES,
    FEATURES,
    JUDGED_PREDICTIONS,
    JUDGED_RATINGS,
    JUDGED_TOURNAMENTS,
    OUTCOMES,
    RELEVANCE_PREDICTIONS,
    RELEVANCE_RATINGS,
    RELEVANCE_TOURNAMENTS,
    STAGES,
    Progress,
    Stage,
    run,
)
from mirage.pipeline.steps import ORDER, Model, Wanted
from mirage.pipeline.texts import bring_texts
from mirage.pipeline.tournaments import keep_tournaments, tournament_rows, tournaments
from mirage.pipeline.voting import (
    Corrected,
    citations,
    correct_ranking,
    counting,
    export_votes,
    import_votes,
    people_verdicts,
    vote_agreement,
    vote_pool,
)

__all__ = [
    "ABLATIONS",
    "BASELINES",
    "FEATURES",
    "JUDGED_PREDICTIONS",
    "JUDGED_RATINGS",
    "JUDGED_TOURNAMENTS",
    "ORDER",
    "OUTCOMES",
    "RELEVANCE_PREDICTIONS",
    "RELEVANCE_RATINGS",
    "RELEVANCE_TOURNAMENTS",
    "STAGES",
    "TEXTS_ABSENT",
    "Added",
    "Chosen",
    "Corrected",
    "Done",
    "Expected",
    "Grader",
    "Model",
    "Own",
    "Placement",
    "Progress",
    "Report",
    "Sample",
    "Stage",
    "Summary",
    "Wanted",
    "bring_texts",
    "bundle",
    "chosen",
    "citations",
    "correct_ranking",
    "counted",
    "counting",
    "expected",
    "export_votes",
    "held_out",
    "import_miracl",
    "import_mirage_bench",
    "import_outputs",
    "import_own",
    "import_questions",
    "import_votes",
    "judge_by_features",
    "judge_by_model",
    "judges",
    "keep_tournaments",
    "measure",
    "moved",
    "ordered",
    "people_verdicts",
    "place",
    "plan_grades",
    "plan_judging",
    "ranking",
    "read_battles",
    "read_own",
    "remarks",
    "report",
    "run",
    "run_all",
    "said",
    "summary",
    "tournament_rows",
    "tournaments",
    "vote_agreement",
    "vote_pool",
    "what_if",
    "write_battles",
]
