"""Variance components of nested repeats by the method of moments, and the variance of designs with more repeats.

Observations are nested: a group (a system, or a pair of systems) has queries, a query has samples or judges, these have
orders, and so on. Every level adds its own noise. The half-width of an interval then follows from how many of each
there are.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.errors import NotEnoughData

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
LEAST = 10
"""Minimum number of queries for components."""
Z = 1.959963984540054


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

    Components have no intervals: those of a rare rate on few queries would not hold.

    Source: Searle, Casella and McCulloch, Variance Components (1992), ch. 5; Brennan, Generalizability Theory (2001).
    """
    n = len(np.unique(data.levels[0]))
    if n < LEAST:
        raise NotEnoughData(f"{n} queries are too few for variance components", do=f"measure at least {LEAST}")
    squares, noise, counts = _estimate(data)
    return tuple(
        Component(max(float(value), 0.0) if known else 0.0, float(count), known)
        for value, known, count in zip(squares - noise, np.isfinite(squares - noise).tolist(), counts, strict=True)
    )


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
