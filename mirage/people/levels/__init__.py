"""Levels (rates, means of features and scores) corrected by people's labels on answers.

    labels = read_labels(arena, "rate", read_log())
    levels = correct_levels(labels)                    # by language and system, `all` last
    levels.rows, levels.notes()

`labels.py` reads and imports labels, `levels.py` corrects.
`mirage.stats.powered_mean` has the estimator.
"""

from mirage.people.levels.labels import import_labels, label_measures, read_labels
from mirage.people.levels.levels import (
    CorrectedLevel,
    Levels,
    correct_levels,
    read_log,
)

__all__ = [
    "CorrectedLevel",
    "Levels",
    "correct_levels",
    "import_labels",
    "label_measures",
    "read_labels",
    "read_log",
]
