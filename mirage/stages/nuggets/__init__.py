"""Nuggets: the facts that a good answer states, which of them each answer states, and nugget scores.

    assign_by_terms(bank, answers)                          # by shared words: a lower bound (`terms.py`)
    nugget_scores([("vital", "support"), ...])              # nuggetizer's four scores (`scores.py`)

`stage.py` applies it to an arena, and has a model generate the nuggets of queries, and decide which of them an answer
states.
"""

from mirage.stages.nuggets.bank import nugget_id
from mirage.stages.nuggets.scores import POINTS, SCORES, nugget_scores
from mirage.stages.nuggets.terms import TERMS, assign_by_terms, match_terms

__all__ = [
    "POINTS",
    "SCORES",
    "TERMS",
    "assign_by_terms",
    "match_terms",
    "nugget_id",
    "nugget_scores",
]
