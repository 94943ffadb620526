"""What the dependence of a person's votes on different queries adds to an estimate.

Each person favours some systems, so the votes of one are no independent sample of people's. Errors are clustered by
query and by person (Cameron, Gelbach and Miller, Journal of Business and Economic Statistics 29, 2011): to the variance
over queries comes that over people, less that over the cells of both. Fewer than `FEW_VOTERS` people give no interval
over people.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import FEW_VOTERS, Battles, PeoplesVotes
from mirage.ranking.by_query import ByQuery
from mirage.ranking.fit import Array, davidson, logistic


def people_lines(battles: Mapping[str, Battles]) -> list[str]:
    """Return a line on whom the intervals hold for, where named people gave several votes."""
    ballots = [part.ballots for part in battles.values() if part.ballots is not None and part.ballots.repeated]
    if not ballots:
        return []
    n = min(part.n_voters for part in ballots)
    if all(part.clustered for part in ballots):
        return [f"votes of {n} people: intervals and tests hold for other queries and other people"]
    who = f"these {n} people" if n > 1 else "this person"
    return [f"intervals and tests hold for other queries, of {who} only: it takes {FEW_VOTERS} for other people"]


def add_people(moves: Array, ballots: PeoplesVotes) -> Array:
    """Return what clusters of people add to the covariance of K sums over queries (K x K).

    Args:
        moves: V x K: contribution of each vote to the sums.
        ballots: the votes.
    """
    _, person = np.unique(ballots.voter, return_inverse=True)
    people = person.max() + 1
    of_people = _products(person, moves)
    of_both = _products(person * (ballots.query.max() + 1) + ballots.query, moves)
    return np.asarray(people / (people - 1) * of_people - of_both)


def _products(cluster: NDArray[np.intp], moves: Array) -> Array:
    """Return the sum over clusters of the products of their sums of moves (K x K)."""
    _, cluster = np.unique(cluster, return_inverse=True)
    sums = np.zeros((int(cluster.max()) + 1, moves.shape[1]))
    np.add.at(sums, cluster, moves)
    return np.asarray(sums.T @ sums)


def draw_people(layout: ByQuery, ballots: PeoplesVotes | None, rng: np.random.Generator, draws: int) -> Array:
    """Return what people add to each draw of the ratings (B x S); 0 where their votes are no clusters."""
    s = len(layout.systems)
    if ballots is None or not ballots.clustered:
        return np.zeros((draws, s))
    d = layout.theta[ballots.first] - layout.theta[ballots.second]
    win, _ = logistic(d)
    if layout.each.ties is not None:
        win, _, tie = (part[0] for part in davidson(d[None], layout.point[:, -1:]))
        win = win + tie / 2
    inverse = np.linalg.inv(layout.whole.slopes(layout.point)[1][0])[:s, :s]
    moves = (ballots.points - win)[:, None] * (inverse[ballots.first] - inverse[ballots.second])
    moves *= layout.weights[ballots.query][:, None]
    values, vectors = np.linalg.eigh(add_people(moves - moves.mean(axis=1, keepdims=True), ballots))
    return np.asarray(rng.standard_normal((draws, s)) @ (vectors * np.sqrt(np.maximum(values, 0))).T)
