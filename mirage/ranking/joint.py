"""The row `all`: the plain mean over languages with equal weights.

A rating that the data of some language does not bound leaves the mean unbounded on the same side: a system that never
lost in one of 18 languages has a mean without an upper bound. The estimate is the mean nevertheless, with the
language's estimate under Jeffreys' prior.

Weights by precision would estimate something else: a large lead is estimated less precisely than a small one, so it
would count less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mirage.ranking.fit import Array
from mirage.ranking.graph import Side, either


def mean_over_languages(values: Sequence[Array], draws: Sequence[Array]) -> tuple[Array, Array]:
    """Return the mean over languages (S) and its draws (B x S); or those of single values with B draws each.

    Each language's draws are shifted to have the language's value as their mean: their bias is small relative to their
    spread, but unlike the spread it does not shrink with the number of languages.

    Args:
        values: by language, S values.
        draws: by language, B x S draws; draw b of all languages is one joint draw.
    """
    total = np.zeros(draws[0].shape)
    for value, drawn in zip(values, draws, strict=True):
        total += drawn - drawn.mean(axis=0) + value
    return np.mean(values, axis=0), total / len(draws)


def open_sides(unbounded: Sequence[Mapping[str, Side]]) -> dict[str, Side]:
    """Return the side on which the mean over languages is not bounded, by system.

    Args:
        unbounded: by language, the side on which its data does not bound a system's value.
    """
    systems = sorted({system for sides in unbounded for system in sides})
    return {system: either([sides[system] for sides in unbounded if system in sides]) for system in systems}
