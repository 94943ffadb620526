"""The measures of an exam, as functions of sums over queries.

A contingency table has people's opinions as rows and the judge's decisions as columns, in the order `FIRST`, `SECOND`,
`TIE`. Each pair counts half from either side, so the table is symmetric in the two systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mirage.people.votes.coefficients import alphas, kappas, ratio
from mirage.stats.jackknife import Array, Scale, Statistic
from mirage.text.data import load_words

WIDTH = 19
"""Number of sums per query: the 3 x 3 table, 4 of Krippendorff's coincidences, and sum and count of three leanings."""
COINCIDENCES = slice(9, 13)
LEANINGS = {"first": 13, "length": 15, "family": 17}
"""Index of each leaning's sum; its count follows."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One column of an exam."""

    name: str
    """Name in records and tables."""
    title: str
    """Display name."""
    meaning: str
    """Definition, unit of analysis and interpretation."""
    scale: Scale
    """Range: [0, 1] or [-1, 1]."""
    best: float
    """Value of a judge that decides like people."""
    group: Literal["agreement", "error", "leaning", "order"]
    """Group of measures."""
    none: str
    """Reason to give if there is no value."""


MEASURES = {name: Measure(name, **facts) for name, facts in load_words("measures", "mirage.people.exam").items()}
"""All measures of an exam, by name, in the order of the columns."""


def _table(sums: Array) -> Array:
    return sums[:, :9].reshape(-1, 3, 3)


def _pairs(sums: Array) -> Array:
    return np.asarray(sums[:, :9].sum(axis=1))


def _winners(sums: Array) -> Array:
    return np.asarray(sums[:, :6].sum(axis=1))


def _ties(sums: Array) -> Array:
    return np.asarray(sums[:, 6:9].sum(axis=1))


def _kappa(sums: Array) -> Array:
    table = _table(sums)
    return kappas(_pairs(sums), np.trace(table, axis1=1, axis2=2), table.sum(axis=2), table.sum(axis=1))


def _leaning(place: int) -> tuple[Statistic, Statistic]:
    return lambda sums: ratio(sums[:, place], sums[:, place + 1]), lambda sums: sums[:, place + 1]


STATISTICS: dict[str, tuple[Statistic, Statistic]] = {
    "agree": (lambda sums: ratio(np.trace(_table(sums), axis1=1, axis2=2), _pairs(sums)), _pairs),
    "kappa": (_kappa, _pairs),
    "alpha": (lambda sums: alphas(sums[:, COINCIDENCES], pooled=True), _pairs),
    "sensitivity": (lambda sums: ratio(sums[:, 0] + sums[:, 4], _winners(sums)), _winners),
    # From the side of the first system: neither says that it is better. The second is the same by symmetry.
    "specificity": (
        lambda sums: ratio(_table(sums)[:, 1:, 1:].sum(axis=(1, 2)), _table(sums)[:, 1:].sum(axis=(1, 2))),
        _pairs,
    ),
    "tie_sensitivity": (lambda sums: ratio(sums[:, 8], _ties(sums)), _ties),
    "tie_specificity": (lambda sums: ratio(_table(sums)[:, :2, :2].sum(axis=(1, 2)), _winners(sums)), _winners),
    **{name: _leaning(place) for name, place in LEANINGS.items()},
    "known": _leaning(0),
}
"""Value and sample size of each measure, as functions of B x `WIDTH` sums; of known-answer pairs, which are not battles
of people, as functions of B x 2 sums: correct ones, and all. The order of systems is not a function of sums.
"""
