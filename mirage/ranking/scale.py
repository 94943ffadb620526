"""Display scales of ratings; everything is computed and stored in logits."""

import math
from typing import Literal, get_args

from mirage.errors import BadInput

Scale = Literal["logit", "arena"]
"""`logit`: the natural logarithm of the odds, centred on 0. `arena`: the Elo scale of public arenas, 400 points per
factor 10 in the odds, centred on 1,000.
"""

ANCHOR = 1000.0
"""Rating on the arena scale of 0 logits."""

POINTS = 400 / math.log(10)
"""Points of the arena scale per logit, 173.7."""


def win_rate(logits: float | None) -> float | None:
    """Return the expected share of points of a battle, in [0, 1], at a rating or a difference of ratings in logits.

    At a rating it is against the average system, at a difference against the other system; None stays None.
    """
    return None if logits is None else 1 / (1 + math.exp(-logits))


def on_scale(logits: float | None, scale: Scale, *, difference: bool = False) -> float | None:
    """Convert a rating, an end of its interval, or a difference of two ratings to a scale.

    Args:
        logits: the value; None stays None.
        scale: the scale.
        difference: whether it is a difference of two ratings, which has no anchor.

    Raises:
        BadInput: if there is no such scale.
    """
    if scale not in get_args(Scale):
        raise BadInput(f"there is no scale {scale!r}", do=f"use {' or '.join(get_args(Scale))}")
    if logits is None or scale == "logit":
        return logits
    return logits * POINTS + (0.0 if difference else ANCHOR)
