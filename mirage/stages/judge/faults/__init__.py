"""Faults planted in answers by rules, without a model: the items of a judge's passport.

`planting.py` has the faults, `wordings.toml` their words by language, and `stage.py` draws the items of an arena.
"""

from mirage.stages.judge.faults.planting import CONTROL, FAMILIES, ORIGINAL
from mirage.stages.judge.faults.stage import draw_items, has_items, item_pairs, passport_path

__all__ = ["CONTROL", "FAMILIES", "ORIGINAL", "draw_items", "has_items", "item_pairs", "passport_path"]
