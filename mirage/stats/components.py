"""Variance components of nested repeats by the method of moments, and the variance of designs with more repeats.

Observations are nested: a group (a system, or a pair of systems) has queries, a query has samples or judges, these have
orders, and so on. Every level adds its own noise. The half-width of an interval then follows from how many of each
there are.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.errors import NotEnoughData

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
FOLDS = 40
"""Maximum number of groups of queries that the jackknife leaves out in turn."""
LEAST = 10
"""Minimum number of queries for components."""
Z = 1.959963984540054
CAUTION = 0.8
"""Share of the jackknife's degrees of freedom that intervals use, since it underestimates the variance of a variance.
Calibrated by simulation, normal and binary values (`tests/library/test_variance.py`).
"""
FEWEST = 3.0
"""Minimum degrees of freedom of a mean square."""


@dataclass(frozen=True, slots=True)
class Nested:
    """Observations in nested levels."""

    group: Places
    """N: index of the group; groups are not compared with each other."""
    levels: tuple[Places, ...]
    """Labels of each observation (N each), outermost first, the query first. A label need not be unique beyond its
    parent; observations alike in all are repeats.
    """
    value: Floats
    """N: the values."""


@dataclass(frozen=True, slots=True)
class Component:
    """The noise that one level adds."""

    variance: float
    """Its variance; 0 if the estimate is negative."""
    low: float | None
    """Lower end of the 95% interval, at least 0: modified large-sample limits, degrees of freedom by the jackknife over
    queries.
    """
    high: float | None
    """Upper end."""
    n: float
    """Mean number of repeats of this level within its parent: of queries within a group, of samples within a query."""
    known: bool
    """False if no parent has two, so that the noise is part of the level above."""


def components(data: Nested) -> tuple[Component, ...]:
    """Estimate the variance that each level adds, by equating mean squares with their expectations.

    At each level the variance among the means of the children of one parent is that level's component plus the noise
    of these means, which the levels below determine (unweighted means, so unequal numbers of repeats are allowed).

    Args:
        data: the observations.

    Returns:
        One component per level, and a last one for repeats that are alike in all levels.

    Raises:
        NotEnoughData: if fewer than `LEAST` queries have values.

    Source: Searle, Casella and McCulloch, Variance Components (1992), ch. 5; Brennan, Generalizability Theory (2001).
    Intervals: the modified large-sample method of Burdick and Graybill, Confidence Intervals on Variance Components
    (1992), ch. 3, with degrees of freedom from the jackknife, since values are seldom normal, and with its variance of
    the difference, since the two mean squares of a rate depend on each other.
    """
    units = np.unique(data.levels[0], return_inverse=True)[1]
    n = int(units.max()) + 1 if len(units) else 0
    if n < LEAST:
        raise NotEnoughData(f"{n} queries are too few for variance components", do=f"measure at least {LEAST}")
    squares, noise, counts = _estimate(data)
    folds = min(n, FOLDS)
    # Queries alternate between the folds, since neighbouring queries can be alike.
    left_out = np.array(
        [
            _estimate(Nested(data.group[kept], tuple(level[kept] for level in data.levels), data.value[kept]))[:2]
            for kept in (units % folds != fold for fold in range(folds))
        ]
    )
    below, above = _half_widths(squares, noise, left_out[:, 0], left_out[:, 1])
    found = []
    for value, down, up, count in zip(squares - noise, below, above, counts, strict=True):
        if np.isfinite(value):
            positive, low, high = (max(float(end), 0.0) for end in (value, value - down, value + up))
            found.append(Component(positive, low, high, float(count), known=True))
        else:
            found.append(Component(0.0, None, None, float(count), known=False))
    return tuple(found)


def _half_widths(squares: Floats, noise: Floats, without: Floats, noise_without: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper widths of the 95% interval of `squares - noise`.

    Args:
        squares: mean square of each level (L).
        noise: the part of it due to the levels below (L).
        without: mean squares without each fold of queries (folds x L).
        noise_without: their noise (folds x L).
    """
    below_noise, above_noise = _reach(noise, _jackknife(noise_without))
    below, above = _reach(squares, _jackknife(without))
    apart = _jackknife(without) + _jackknife(noise_without)
    # 1 if the two are independent, as for normal values.
    ratio = np.divide(_jackknife(without - noise_without), apart, out=np.ones_like(apart), where=apart > 0)
    return np.sqrt(ratio * (below**2 + above_noise**2)), np.sqrt(ratio * (above**2 + below_noise**2))


def _jackknife(without: Floats) -> Floats:
    """Return the jackknife variance of estimates (folds x L)."""
    folds = len(without)
    return np.asarray((folds - 1) / folds * ((without - without.mean(axis=0)) ** 2).sum(axis=0))


def _reach(value: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper widths of the chi-squared interval of a positive mean square."""
    from scipy.special import gammaincinv

    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = np.clip(np.nan_to_num(CAUTION * 2 * value**2 / variance, nan=FEWEST), FEWEST, 1e9)
    low, high = (2 * gammaincinv(freedom / 2, share) / freedom for share in (0.025, 0.975))
    return value * (1 - 1 / high), value * (1 / low - 1)


def _estimate(data: Nested) -> tuple[Floats, Floats, Floats]:
    """Return the mean square of each level and of the repeats, NaN if unknown; the part of it that is noise of the
    levels below; and the mean numbers of repeats.
    """
    keys = [data.group]
    for level in data.levels:
        keys.append(_pair(keys[-1], level))
    values, noise, values_n = data.value, np.zeros(len(data.value)), []
    found: list[tuple[float, float]] = []
    # From the innermost level outwards: nodes are observations at first, then cells, ..., then queries.
    nodes = np.arange(len(data.value))
    for depth in range(len(keys) - 1, -1, -1):
        parents, parent = np.unique(keys[depth][nodes], return_inverse=True)
        n = np.bincount(parent).astype(np.float64)
        mean = np.bincount(parent, weights=values) / n
        squares = np.bincount(parent, weights=(values - mean[parent]) ** 2)
        freedom = n - 1
        square = explained = np.nan
        if freedom.sum() > 0:
            several = n > 1
            of_noise = np.bincount(parent, weights=noise) / n
            weight = freedom[several] / freedom.sum()
            square = float(squares.sum() / freedom.sum())
            explained = float((weight * of_noise[several]).sum())
        found.append((square, explained))
        values_n.append(float(n.mean()))
        own = 0.0 if np.isnan(square) else max(square - explained, 0.0)
        noise = (own + np.bincount(parent, weights=noise) / n) / n
        first = np.full(len(parents), len(data.value), dtype=np.intp)
        np.minimum.at(first, parent, nodes)
        values, nodes = mean, first
    both = np.array(found[::-1])
    return both[:, 0], both[:, 1], np.array(values_n[::-1])


def _pair(parent: Places, label: Places) -> Places:
    """Return an index for each distinct pair of two labels."""
    wide = int(label.max(initial=0)) + 1
    return np.asarray(np.unique(parent.astype(np.int64) * wide + label, return_inverse=True)[1], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Design:
    """Numbers of repeats: of queries, and of each further level within its parent."""

    numbers: tuple[int, ...]
    """Queries first."""

    @property
    def _sizes(self) -> list[int]:
        """Total number of each level."""
        return list(itertools.accumulate(self.numbers, operator.mul))

    def variance(self, parts: Sequence[float]) -> float:
        """Return the variance of the mean of a group.

        Args:
            parts: the variance that each level adds, outermost first.
        """
        return float(sum(part / size for part, size in zip(parts, self._sizes, strict=True)))

    def half_width(self, parts: Sequence[float]) -> float:
        """Return half the width of the 95% interval of the mean of a group."""
        return float(Z * self.variance(parts) ** 0.5)

    def cost(self, prices: Sequence[float]) -> float:
        """Return what the design costs, with the price of one more of each level (0 for levels that cost nothing)."""
        return float(sum(price * size for price, size in zip(prices, self._sizes, strict=True)))


def best_design(
    parts: Sequence[float],
    prices: Sequence[float],
    budget: float,
    *,
    between: Mapping[int, tuple[int, int]] | None = None,
) -> Design:
    """Return the design with the smallest variance that a budget pays for.

    Args:
        parts: the variance that each level adds, outermost first.
        prices: price of one more of each level; at least one more than 0.
        budget: what the whole design may cost.
        between: least and most of some levels, by index; 1 and 8 for others, no limit for queries.

    Raises:
        NotEnoughData: if the budget does not pay for one query.
    """
    limits = [(between or {}).get(k, (1, 8)) for k in range(1, len(parts))]
    found = []
    for inner in itertools.product(*(range(least, most + 1) for least, most in limits)):
        queries = int(budget / Design((1, *inner)).cost(prices))
        if queries:
            found.append(Design((queries, *inner)))
    if not found:
        raise NotEnoughData("the budget does not pay for one query", do="raise it")
    return min(found, key=lambda design: (design.variance(parts), design.numbers[1:]))
