"""Variance that several votes of one person add to an estimate.

Each person favours some systems, so one person's votes are not an independent sample. Errors are clustered by query and
by person, also over languages (Cameron, Gelbach and Miller, Journal of Business and Economic Statistics 29, 2011): the
variance over queries, plus that over people, minus that over the cells of both. Fewer than `FEW_VOTERS` people give no
interval over people.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from mirage.battles.counts import FEW_VOTERS, Battles, PeoplesVotes
from mirage.ranking.by_query import ByQuery
from mirage.ranking.fit import expected_points
from mirage.stats.arrays import Array, Places
from mirage.stats.encoding import place_names
from mirage.stats.units import Units


def people_lines(battles: Mapping[str, Battles]) -> list[str]:
    """Return a line on the people that the intervals hold for, if named people gave several votes."""
    ballots = [part.ballots for part in battles.values() if part.ballots is not None and part.ballots.repeated]
    if not ballots:
        return []
    n = min(part.n_voters for part in ballots)
    if all(part.clustered for part in ballots):
        return [f"votes of {n} people: intervals and tests hold for other queries and other people"]
    who = f"these {n} people" if n > 1 else "this person"
    return [f"intervals and tests hold for other queries, of {who} only: it takes {FEW_VOTERS} for other people"]


def add_people(moves: Array, voter: Places, query: Places) -> Array:
    """Return the covariance that clusters of people add to that of K sums over queries (K x K).

    Args:
        moves: V x K: contribution of each vote to the sums.
        voter: V: the person.
        query: V: the query, from 0.
    """
    people = len(np.unique(voter))
    of_both = _products(voter * (query.max() + 1) + query, moves)
    return people / max(people - 1, 1) * _products(voter, moves) - of_both


def _products(cluster: Places, moves: Array) -> Array:
    """Return the sum over clusters of the products of their sums of moves (K x K)."""
    _, cluster = np.unique(cluster, return_inverse=True)
    sums = np.zeros((int(cluster.max()) + 1, moves.shape[1]))
    np.add.at(sums, cluster, moves)
    return sums.T @ sums


def draw_people(layout: ByQuery, ballots: PeoplesVotes | None, rng: np.random.Generator, draws: int) -> Array:
    """Return the variation that people add to each draw of the ratings (B x S); 0 if their votes are not clustered."""
    if ballots is None or not ballots.clustered:
        return np.zeros((draws, len(layout.systems)))
    return _draw(add_people(_vote_moves(layout, ballots), ballots.voter, ballots.query), rng, draws)


def draw_joint_people(
    layouts: Mapping[str, ByQuery],
    battles: Mapping[str, Battles],
    systems: Sequence[str],
    units: Units,
    rng: np.random.Generator,
    draws: int,
) -> Array:
    """Return the variation that people who vote in several languages add to each draw of the mean over languages (B x
    S), beyond that of each language.

    Args:
        layouts: the battles by query, by language.
        battles: the battles, by language.
        systems: the systems in all languages.
        units: the units of the languages' queries.
        rng: random numbers.
        draws: B.
    """
    moves, voter, query = [], [], []
    covariance = np.zeros((len(systems), len(systems)))
    for code, of_language in battles.items():
        if (ballots := of_language.ballots) is not None and ballots.clustered:
            place = place_names(systems, layouts[code].systems)
            moves.append(_vote_moves(layouts[code], ballots)[:, place] / len(battles))
            voter.append(ballots.voter)
            query.append(units.numbers[code][ballots.query])
            covariance -= add_people(moves[-1], voter[-1], query[-1])
    if len(moves) < 2:
        return np.zeros((draws, len(systems)))
    covariance += add_people(np.concatenate(moves), np.concatenate(voter), np.concatenate(query))
    return _draw(covariance, rng, draws)


def _vote_moves(layout: ByQuery, ballots: PeoplesVotes) -> Array:
    """Return the influence of each vote on the ratings (V x S)."""
    s = len(layout.systems)
    d = layout.theta[ballots.first] - layout.theta[ballots.second]
    win, _ = expected_points(d, layout.log_nu)
    inverse = np.linalg.inv(layout.whole.slopes(layout.point)[1][0])[:s, :s]
    moves = (ballots.points - win)[:, None] * (inverse[ballots.first] - inverse[ballots.second])
    moves *= layout.weights[ballots.query][:, None]
    return np.asarray(moves - moves.mean(axis=1, keepdims=True))


def _draw(covariance: Array, rng: np.random.Generator, draws: int) -> Array:
    """Return normal draws with the part of a covariance that is above 0 (B x S)."""
    values, vectors = np.linalg.eigh(covariance)
    normal = rng.standard_normal((draws, len(values)))
    return np.asarray(normal @ (vectors * np.sqrt(np.maximum(values, 0))).T)
