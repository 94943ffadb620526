"""Votes, verdicts and features of one language as arrays: what each battle's votes weigh, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mirage.votes.powered import Data, known
from mirage.votes.rows import Vote
from mirage.votes.verdicts import Battle, Said, label, points

Array = NDArray[np.float64]


def lay_out(
    battles: Sequence[Battle],
    opinions: Mapping[Battle, Sequence[Vote]],
    systems: Sequence[str],
    judges: Sequence[Mapping[Battle, Said]],
    features: Sequence[Mapping[tuple[str, str], float]],
) -> Data:
    """The arrays of the battles of one language.

    Args:
        battles: those that a judge decided, sorted.
        opinions: the votes with an opinion on each that was voted on.
        systems: the systems, in the order of their numbers.
        judges: what each judge said.
        features: for each feature its values by query_id and system.
    """
    place = {name: k for k, name in enumerate(systems)}
    queries = {name: k for k, name in enumerate(sorted({each[1] for each in battles}))}
    first, second = (np.array([place[each[k]] for each in battles], dtype=np.intp) for k in (2, 3))
    nothing = Said(0, np.nan, False)
    said = [[by.get(each, nothing) for each in battles] for by in judges]
    return Data(
        first,
        second,
        np.array([queries[each[1]] for each in battles], dtype=np.intp),
        known(
            first,
            second,
            len(systems),
            judges=[(np.array([s.points for s in by]), np.array([s.order for s in by])) for by in said],
            features=[
                np.array([of.get((q, a), np.nan) - of.get((q, b), np.nan) for _, q, a, b in battles]) for of in features
            ],
        ),
        np.array([_mean(opinions[each]) if each in opinions else 0.0 for each in battles]),
        _weights([opinions.get(each, ()) for each in battles]),
        len(systems),
        len(queries),
    )


def _mean(opinions: Sequence[Vote]) -> float:
    """Points of the first system, of several people their mean."""
    return float(np.mean([points(said) for vote in opinions if (said := label(vote)) is not None]))


def _weights(opinions: Sequence[Sequence[Vote]]) -> Array:
    """What the votes on each battle weigh: one over the battle's chance.

    Battles whose votes tell no chance are a plain random sample of their own, of weights 1. The two samples count by
    what they are worth: the number of equal weights that the others' come to (Kish 1965). A battle of both is one of
    those with a chance: whether it is says nothing of it, so that the others stay a random sample.
    """
    chance = np.array([max((vote.inclusion or 0.0 for vote in all_), default=0.0) for all_ in opinions])
    plain = np.array([bool(all_) for all_ in opinions]) & (chance == 0)
    weights = np.divide(1.0, chance, out=np.zeros(len(chance)), where=chance > 0)
    if plain.any() and weights.any():
        weights *= weights.sum() / (weights**2).sum()
    return np.asarray(weights + plain)
