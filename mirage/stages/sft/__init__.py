"""Training sets for answers with citations (MIRAGE-Bench, section 3.2), and a training recipe.

A teacher has answered each query from only its relevant passages. The student's prompt also contains the non-relevant
ones, and the student learns to give the teacher's answer all the same, citing only the passages that support it.
Several teachers can be mixed in one set. A judge's verdicts give preference pairs (`preferences.py`).
"""

from mirage.stages.sft.examples import Example, Mix, TrainingSet, build_examples, select_answers
from mirage.stages.sft.preferences import Preference, preferences
from mirage.stages.sft.recipe import HYPERPARAMETERS, MAX_LENGTH, recipe
from mirage.stages.sft.stats import SPLITS, STATS, Stats, by_teacher, statistics, table1

__all__ = [
    "HYPERPARAMETERS",
    "MAX_LENGTH",
    "SPLITS",
    "STATS",
    "Example",
    "Mix",
    "Preference",
    "Stats",
    "TrainingSet",
    "build_examples",
    "by_teacher",
    "preferences",
    "recipe",
    "select_answers",
    "statistics",
    "table1",
]
