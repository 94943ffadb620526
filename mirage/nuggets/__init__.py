"""Nuggets: the facts that a good answer states, which of them each answer states, and scores by them.

    change = reword(bank, key, "It was lit by oil.", ...)   # the bank with one change by a person (`bank.py`)
    assign_by_terms(bank, answers)                          # by shared words: the floor (`terms.py`)
    nugget_scores([("vital", "support"), ...])              # nuggetizer's four scores (`scores.py`)

`create.py` lets a model write the nuggets of a query, `assign.py` lets it decide which of them an answer states;
`stage.py` does all of it to an arena.
"""

from mirage.nuggets.bank import (
    BankChange,
    NuggetKey,
    NuggetText,
    add,
    drop,
    merge,
    nugget_id,
    reword,
    set_importance,
    split,
)
from mirage.nuggets.scores import POINTS, SCORES, nugget_scores
from mirage.nuggets.terms import TERMS, assign_by_terms, match_terms

__all__ = [
    "POINTS",
    "SCORES",
    "TERMS",
    "BankChange",
    "NuggetKey",
    "NuggetText",
    "add",
    "assign_by_terms",
    "drop",
    "match_terms",
    "merge",
    "nugget_id",
    "nugget_scores",
    "reword",
    "set_importance",
    "split",
]
