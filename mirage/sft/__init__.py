"""A training set for answers with citations (MIRAGE-Bench, section 3.2), and a recipe to train on it.

A teacher has answered each query from its relevant passages alone. The student is shown the non-relevant ones too,
mixed in, and learns to give the teacher's answer all the same: to cite the passages that hold it and no other.
Several teachers can be mixed in one set. A judge's verdicts make preference pairs (`preferences.py`).
"""

from mirage.sft.examples import Example, Mix, TrainingSet, answered, build_examples
from mirage.sft.preferences import Preference, preferences
from mirage.sft.recipe import HYPERPARAMETERS, MAX_LENGTH, recipe
from mirage.sft.stats import SPLITS, STATS, Stats, by_teacher, statistics, table1

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
    "answered",
    "build_examples",
    "by_teacher",
    "preferences",
    "recipe",
    "statistics",
    "table1",
]
