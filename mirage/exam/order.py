"""The order of systems by a judge beside people's on the same battles: tau-b and tau AP, with intervals.

Both ratings are drawn again together: the same queries weigh more in both. A rank correlation of two noisy orders is
smaller than that of the orders themselves, and that of the draws smaller still; the interval is therefore the basic
one, which sets the percentiles on the other side of the value (Davison and Hinkley 1997, 5.2).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mirage.battles.decision import FIRST, SECOND, TIE
from mirage.battles.verdict_rows import Verdicts
from mirage.exam.estimates import Array
from mirage.exam.items import Items
from mirage.exam.records import Estimate
from mirage.intervals import CONFIDENCE, bootstrap_tails
from mirage.rank.by_query import by_query
from mirage.rank.fit import RIDGE
from mirage.rank.languages import kendall
from mirage.votes import LEAST

_AT_ONCE = 100
"""Draws whose weights are held at once."""


@dataclass(frozen=True, eq=False)
class Order:
    """Ratings of the systems in one language, and draws of them."""

    systems: int
    """How many systems."""
    queries: int
    """Queries of the battles."""
    theta: Array
    """S ratings, systems by name."""
    draws: Array
    """B x S: the ratings when the queries are weighted anew."""


def order_of(items: Items, taken: Array, *, draws: int, seed: int) -> Order | None:
    """Rate the systems of one language by the points of the first system of each battle.

    The weights of the queries are those of every other order with the same queries, language and seed. The draws move
    the ratings by the empirical influence of each query.

    Args:
        items: the battles.
        taken: points of the first system of each, by the judge or by people.
        draws: how many draws.
        seed: their seed.

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


def tau_ap(order: Array, truth: Array) -> Array:
    """Rank correlation in which the top of an order weighs more.

    Args:
        order: ... x S ratings whose order is examined; those equal stand in the order of their places.
        truth: ratings of the same systems; systems equal here are half in order.

    Returns:
        In [-1, 1].

    Source: Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information retrieval, SIGIR 2008.
    """
    s = order.shape[-1]
    ranked = np.take_along_axis(truth, np.argsort(-order, axis=-1, kind="stable"), axis=-1)
    above, below = np.tril_indices(s, -1)[::-1]
    right = (np.sign(ranked[..., above] - ranked[..., below]) + 1) / 2
    return np.asarray(2 / (s - 1) * (right / below).sum(axis=-1) - 1)


def order_measures(pairs: Sequence[tuple[Order, Order]], *, none: str) -> dict[str, Estimate]:
    """Tau-b and tau AP of a judge's order and people's, the mean over languages.

    Args:
        pairs: the judge's order and people's, one of both a language.
        none: why there is no value, where there is none.
    """
    return {name: _estimate(pairs, name, none) for name in ("tau_b", "tau_ap")}


def _estimate(pairs: Sequence[tuple[Order, Order]], name: str, none: str) -> Estimate:
    correlation = kendall if name == "tau_b" else tau_ap
    n = max((judged.systems for judged, _ in pairs), default=0)
    queries = sum(judged.queries for judged, _ in pairs)
    values = [float(correlation(judged.theta, people.theta)) for judged, people in pairs]
    if not values or np.isnan(values).any():
        return Estimate(None, None, None, n, queries, none if not values else "all systems are equal")
    value = float(np.mean(values))
    drawn = np.mean([correlation(judged.draws, people.draws) for judged, people in pairs], axis=0)
    drawn = drawn[np.isfinite(drawn)]
    least = min(judged.queries for judged, _ in pairs)
    if least < LEAST or not len(drawn):
        return Estimate(value, None, None, n, queries, f"{least} queries are too few for an interval: it takes {LEAST}")
    low, high = np.quantile(drawn, bootstrap_tails(CONFIDENCE, least))
    ends = max(2 * value - float(high), -1.0), min(2 * value - float(low), 1.0)
    return Estimate(value, min(ends[0], value), max(ends[1], value), n, queries, None)
