"""Faults planted in answers by rules, without a model: the items of a judge's passport.

`negation.py` and `wordings.py` are the tables by language, `answer.py` an answer with its sentences, `families.py` the
faults, and `stage.py` draws the items of an arena.
"""

from mirage.stages.judge.faults.families import CONTROL, FAMILIES, ORIGINAL, FaultFamily
from mirage.stages.judge.faults.stage import PASSPORT, draw_items, has_items, item_pairs, passport_path

__all__ = [
    "CONTROL",
    "FAMILIES",
    "ORIGINAL",
    "PASSPORT",
    "FaultFamily",
    "draw_items",
    "has_items",
    "item_pairs",
    "passport_path",
]
