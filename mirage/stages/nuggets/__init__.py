"""Nuggets: the facts that a good answer states, which of them each answer states, and nugget scores.

    assign_by_terms(bank, answers)                          # by shared words: a lower bound (`terms.py`)
    nugget_scores([("vital", "support"), ...])              # nuggetizer's four scores (`bank.py`)

`stage.py` applies it to an arena, and has a model generate the nuggets of queries, and decide which of them an answer
states.
"""
