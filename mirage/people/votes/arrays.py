"""Arrays of one language's votes, verdicts and features, with the weights of votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import UNPARSED, Battle, Decision, points
from mirage.people.votes.powered import Ballots, Data, prediction_components
from mirage.people.votes.rows import Vote
from mirage.people.votes.verdicts import is_named, label

Array = NDArray[np.float64]


def lay_out(
    battles: Sequence[Battle],
    opinions: Mapping[Battle, Sequence[Vote]],
    systems: Sequence[str],
    judges: Sequence[Mapping[Battle, Decision]],
    features: Sequence[Mapping[tuple[str, str], float]],
) -> Data:
    """Return the arrays of the battles of one language.

    Args:
        battles: those that a judge decided or people voted on, sorted.
        opinions: the votes with an opinion on each that was voted on.
        systems: the systems, in the order of their numbers.
        judges: what each judge said.
        features: for each feature its values by query_id and system.
    """
    place = {name: k for k, name in enumerate(systems)}
    queries = {name: k for k, name in enumerate(sorted({battle[1] for battle in battles}))}
    first, second = (np.array([place[battle[k]] for battle in battles], dtype=np.intp) for k in (2, 3))
    nothing = Decision(UNPARSED, np.nan, True, n_verdicts=0, n_read=0)
    verdicts = [[judge.get(battle, nothing) for battle in battles] for judge in judges]
    return Data(
        first,
        second,
        np.array([queries[battle[1]] for battle in battles], dtype=np.intp),
        prediction_components(
            first,
            second,
            len(systems),
            judges=[
                (np.array([verdict.points for verdict in column]), np.array([verdict.order for verdict in column]))
                for column in verdicts
            ],
            features=[
                np.array([feature.get((q, a), np.nan) - feature.get((q, b), np.nan) for _, q, a, b in battles])
                for feature in features
            ],
        ),
        np.array([_mean(opinions[battle]) if battle in opinions else 0.0 for battle in battles]),
        _weights([opinions.get(battle, ()) for battle in battles]),
        len(systems),
        len(queries),
        np.array([all(not verdict.n_read for verdict in row) for row in zip(*verdicts, strict=True)]),
        _ballots([opinions.get(battle, ()) for battle in battles]),
    )


def _ballots(opinions: Sequence[Sequence[Vote]]) -> Ballots | None:
    """Return the single votes; a vote without a name is taken for that of another person."""
    cast = [(k, vote) for k, votes in enumerate(opinions) for vote in votes]
    names = [vote.voter if is_named(vote) else f"\0{n}" for n, (_, vote) in enumerate(cast)]
    if not cast or len(set(names)) == len(names):
        return None
    return Ballots(
        np.array([k for k, _ in cast], dtype=np.intp),
        np.unique(names, return_inverse=True)[1].astype(np.intp),
        np.array([_mean([vote]) for _, vote in cast]),
    )


def _mean(opinions: Sequence[Vote]) -> float:
    """Return the mean points of the first system over people."""
    return float(np.mean([points(outcome) for vote in opinions if (outcome := label(vote)) is not None]))


def _weights(opinions: Sequence[Sequence[Vote]]) -> Array:
    """Return the weight of each battle's votes: the inverse of the battle's inclusion probability.

    Battles whose votes have no probability are a plain random sample, with weights 1. The two samples are combined by
    their effective sizes (Kish 1965). A battle in both counts as one with a probability: membership is not informative,
    so the others stay a random sample.
    """
    chance = np.array([max((vote.inclusion or 0.0 for vote in votes), default=0.0) for votes in opinions])
    plain = np.array([bool(votes) for votes in opinions]) & (chance == 0)
    weights = np.divide(1.0, chance, out=np.zeros(len(chance)), where=chance > 0)
    if plain.any() and weights.any():
        weights *= weights.sum() / (weights**2).sum()
    return np.asarray(weights + plain)
