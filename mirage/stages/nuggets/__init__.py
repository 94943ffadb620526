"""Nuggets: the facts that a good answer states, which of them each answer states, and nugget scores.

`terms.py` assigns them by shared words, a lower bound, `bank.py` has nuggetizer's four scores. `stage.py` applies it to
an arena, and has a model generate the nuggets of queries, and decide which of them an answer states.
"""
