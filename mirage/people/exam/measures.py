"""The measures of an exam, as functions of sums over queries.

A contingency table has people's opinions as rows and the judge's decisions as columns, in the order `FIRST`, `SECOND`,
`TIE`. Each pair counts half from either side, so the table is symmetric in the two systems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mirage.people.votes.coefficients import kappas, ratio
from mirage.stats.jackknife import Array, Scale, Statistic
from mirage.text.data import load_words

WIDTH = 11
"""Number of sums per query: the 3 x 3 table, and sum and count of the leaning to the answer shown first."""
FIRST_SHOWN = 9
"""Index of the leaning's sum; its count follows."""


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
    none: str
    """Reason to give if there is no value."""


MEASURES = {name: Measure(name, **facts) for name, facts in load_words("measures", "mirage.people.exam").items()}
"""All measures of an exam, by name, in the order of the columns."""


def _table(sums: Array) -> Array:
    return sums[:, :9].reshape(-1, 3, 3)


def _pairs(sums: Array) -> Array:
    return np.asarray(sums[:, :9].sum(axis=1))


def _agreeing(sums: Array) -> Array:
    return np.asarray(np.trace(_table(sums), axis1=1, axis2=2))


def _kappa(sums: Array) -> Array:
    table = _table(sums)
    return kappas(_pairs(sums), _agreeing(sums), table.sum(axis=2), table.sum(axis=1))


STATISTICS: dict[str, tuple[Statistic, Statistic]] = {
    "agree": (lambda sums: ratio(_agreeing(sums), _pairs(sums)), _pairs),
    "kappa": (_kappa, _pairs),
    "first": (
        lambda sums: ratio(sums[:, FIRST_SHOWN], sums[:, FIRST_SHOWN + 1]),
        lambda sums: sums[:, FIRST_SHOWN + 1],
    ),
    "known": (lambda sums: ratio(sums[:, 0], sums[:, 1]), lambda sums: sums[:, 1]),
}
"""Value and sample size of each measure, as functions of B x `WIDTH` sums; of known-answer pairs, which are not battles
of people, as functions of B x 2 sums: correct ones, and all. The order of systems is not a function of sums.
"""
