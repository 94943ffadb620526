"""The order of systems by a judge against people's on the same battles: tau-b with its interval.

A rank correlation of two noisy orders is biased towards 0, and no bootstrap of the correlation corrects that if systems
are close. The interval therefore follows from the significant pairwise differences, by people and by the judge,
simultaneously for all pairs (step-down max-t, as Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91,
2024, for ranks). It covers every two orders consistent with these, so its coverage is at least nominal, and it is wide
if few pairs are significant.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND, TIE
from mirage.battles.verdict_rows import Verdicts
from mirage.people.exam.items import Items
from mirage.ranking.by_query import by_query
from mirage.ranking.fit import RIDGE
from mirage.stats.intervals import CONFIDENCE
from mirage.stats.jackknife import LEAST, Array, Estimate
from mirage.stats.kendall import kendall

Signs = NDArray[np.intp]
_AT_ONCE = 100
"""Draws per block."""


@dataclass(frozen=True, eq=False)
class Order:
    """Ratings of the systems in one language, and draws of them."""

    systems: int
    """Number of systems."""
    queries: int
    """Number of queries."""
    theta: Array
    """S ratings, systems by name."""
    draws: Array
    """B x S: the ratings with reweighted queries."""


def order_of(items: Items, taken: Array, *, draws: int, seed: int) -> Order | None:
    """Rate the systems of one language by the points of the first system of each battle.

    The query weights are the same for every order with the same queries, language and seed. The draws move the ratings
    by the empirical influence of each query.

    Args:
        items: the battles.
        taken: points of the first system of each, by the judge or by people.
        draws: number of draws.
        seed: seed of the draws.

    Returns:
        The order; None with fewer than three systems.
    """
    heard = items.opinions
    present, both = np.unique(
        np.concatenate([heard.first[items.battle], heard.second[items.battle]]), return_inverse=True
    )
    if len(present) < 3:
        return None
    with_items, query = np.unique(items.query, return_inverse=True)
    counted = Verdicts(
        "-",
        tuple(heard.systems[k] for k in present),
        tuple(heard.queries[k] for k in with_items),
        query,
        both[: len(items)],
        both[len(items) :],
        np.where(taken == 0.5, TIE, np.where(taken > 0.5, FIRST, SECOND)).astype(np.int8),
        taken.astype(np.float32),
        np.zeros(len(items), dtype=bool),
    ).battles()
    layout = by_query(counted, ties="half", penalty="jeffreys", ridge=RIDGE)
    n, s = len(counted.queries), len(counted.systems)
    rng = np.random.default_rng([seed, zlib.crc32(heard.language.encode())])
    theta, moves = layout.point[0, :s], layout.moves
    drawn = []
    for start in range(0, draws, _AT_ONCE):
        weights = rng.standard_exponential((min(_AT_ONCE, draws - start), n))
        drawn.append(theta + (weights / weights.mean(axis=1, keepdims=True) - 1) @ moves)
    return Order(s, n, theta, np.concatenate(drawn))


def order_measure(pairs: Sequence[tuple[Order, Order]], *, none: str) -> Estimate:
    """Compute tau-b of a judge's order and people's, averaged over languages.

    Args:
        pairs: the judge's order and people's, one pair per language.
        none: reason to give if there is no value.
    """
    n = max((judged.systems for judged, _ in pairs), default=0)
    queries = sum(judged.queries for judged, _ in pairs)
    values = [float(kendall(judged.theta, people.theta)) for judged, people in pairs]
    if not values or np.isnan(values).any():
        return Estimate(None, None, None, n, queries, none if not values else "all systems are equal")
    value = float(np.mean(values))
    least = min(judged.queries for judged, _ in pairs)
    if least < LEAST:
        return Estimate(
            value, None, None, n, queries, f"{least} queries are too few for an interval, which needs {LEAST}"
        )
    # The mean of ends valid in each language is valid for the mean, conservatively, since errors cancel.
    low, high = np.mean([tau_b_ends(*told_apart(pair)) for pair in pairs], axis=0)
    return Estimate(value, min(float(low), value), max(float(high), value), n, queries, None)


def told_apart(orders: tuple[Order, Order]) -> tuple[Signs, Signs]:
    """Find the significant pairwise differences in both orders, simultaneously for all pairs of both: with a
    probability of 95% no pair has a wrong sign.

    A significant pair is removed from the set that determines the critical value, which makes more pairs significant
    (step-down); its opposite direction stays.

    Args:
        orders: orders of the same systems and queries, with draws of the same weights.

    Returns:
        For each order S x S: 1 if the row's system is ahead of the column's, -1 behind, 0 not significant.
    """
    from scipy.special import ndtri, stdtrit

    i, j = np.triu_indices(orders[0].systems, 1)
    difference = np.concatenate([order.theta[i] - order.theta[j] for order in orders])
    noise = np.concatenate([order.draws[:, i] - order.draws[:, j] for order in orders], axis=1) - difference
    deviation = noise.std(axis=0)
    known = deviation > 1e-9
    safe = np.where(known, deviation, 1.0)
    # Student's t correction for an estimated deviation with few queries.
    wider = stdtrit(min(order.queries for order in orders) - 1, 0.5 + CONFIDENCE / 2) / ndtri(0.5 + CONFIDENCE / 2)
    z, t = np.where(known, noise / safe, 0.0) * wider, np.where(known, difference / safe, 0.0)
    signs = np.zeros(len(t), dtype=np.intp)
    while True:
        above, below = np.where(signs > 0, -np.inf, z), np.where(signs < 0, -np.inf, -z)
        bound = np.quantile(np.maximum(above.max(axis=1), below.max(axis=1)), CONFIDENCE, method="higher")
        further = np.where(np.abs(t) > bound, np.sign(t), 0).astype(np.intp)
        if (further == signs).all():
            break
        signs = further
    both = []
    for part in np.split(signs, 2):
        matrix = np.zeros((orders[0].systems,) * 2, dtype=np.intp)
        matrix[i, j], matrix[j, i] = part, -part
        both.append(add_implied(matrix))
    return both[0], both[1]


def add_implied(signs: Signs) -> Signs:
    """Add the pairs implied by transitivity."""
    ahead = signs > 0
    for k in range(len(signs)):
        ahead |= ahead[:, k, None] & ahead[k]
    return ahead.astype(np.intp) - ahead.T.astype(np.intp)


def tau_b_ends(judged: Signs, people: Signs) -> tuple[float, float]:
    """Return the minimum and maximum tau-b of two orders consistent with the significant pairs (`told_apart`)."""
    i, j = np.triu_indices(len(judged), 1)
    product = judged[i, j] * people[i, j]
    sure, open_ = float(product.sum()), int((product == 0).sum())
    return (sure - open_) / len(product), (sure + open_) / len(product)
