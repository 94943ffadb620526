"""Training sets for answers with citations (MIRAGE-Bench, section 3.2).

A teacher has answered each query from only its relevant passages. The student's prompt also contains the non-relevant
ones, and the student learns to give the teacher's answer all the same, citing only the passages that support it.
Several teachers can be mixed in one set. A judge's verdicts give preference pairs (`preferences.py`).
"""

from mirage.stages.sft.examples import MAX_LENGTH, Example, Mix, TrainingSet, build_examples, select_answers
from mirage.stages.sft.preferences import Preference, preferences
from mirage.stages.sft.stats import Stats, statistics

__all__ = [
    "MAX_LENGTH",
    "Example",
    "Mix",
    "Preference",
    "Stats",
    "TrainingSet",
    "build_examples",
    "preferences",
    "select_answers",
    "statistics",
]
