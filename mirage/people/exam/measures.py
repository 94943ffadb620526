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
    best: float | None
    """Value of a judge that decides like people; null if people's own row is the reference."""
    group: Literal["agreement", "error", "leaning", "order"]
    """Group of measures."""
    none: str
    """Reason to give if there is no value."""


_NOTHING = "people and this judge decided no battle in common"
_ORDER = "it takes three systems that people and this judge compared"
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "agree",
            "Agrees",
            "Share of people's votes with which the judge agrees: the same winner, or a tie. Of votes.",
            "share",
            1.0,
            "agreement",
            _NOTHING,
        ),
        Measure(
            "kappa",
            "Kappa",
            "Cohen's kappa: agreement beyond chance. 1 is perfect, 0 is what chance gives. Of votes.",
            "difference",
            1.0,
            "agreement",
            "all opinions are the same, so that chance would agree too",
        ),
        Measure(
            "alpha",
            "Alpha",
            "Krippendorff's alpha, nominal, over the judge and every person. 1 is perfect, 0 is chance. Of votes.",
            "difference",
            1.0,
            "agreement",
            "all opinions are the same, so that chance would agree too",
        ),
        Measure(
            "sensitivity",
            "Finds the better",
            "Sensitivity of “better”: where a person says that an answer is better, how often the judge says the same.",
            "share",
            1.0,
            "error",
            "no person named a winner",
        ),
        Measure(
            "specificity",
            "Spares the others",
            "Specificity of “better”: where a person does not say that an answer is better, how often the judge does "
            "not either.",
            "share",
            1.0,
            "error",
            _NOTHING,
        ),
        Measure(
            "tie_sensitivity",
            "Finds ties",
            "Sensitivity of “tie”: where a person says tie, how often the judge does. “Both bad” is a tie.",
            "share",
            1.0,
            "error",
            "no person called a tie",
        ),
        Measure(
            "tie_specificity",
            "Spares winners",
            "Specificity of “tie”: where a person names a winner, how often the judge calls no tie.",
            "share",
            1.0,
            "error",
            "no person named a winner",
        ),
        Measure(
            "known",
            "Known answers",
            "Share of known-answer pairs on which the judge prefers the correct decision: those where, by relevance "
            "labels, one system decides correctly to answer or abstain and the other wrongly.",
            "share",
            1.0,
            "error",
            "no battle of this judge is between a correct and a wrong decision by the relevance labels",
        ),
        Measure(
            "first",
            "First position",
            "Points that the judge gives the answer shown first above what people give the same answer; of people, "
            "above one half. 0 is fair, 1 a battle won. Of verdicts.",
            "difference",
            0.0,
            "leaning",
            _NOTHING,
        ),
        Measure(
            "length",
            "Length",
            "Points that the judge gives the longer answer above what people give it. 0 is as people. Of battles.",
            "difference",
            0.0,
            "leaning",
            "no battle has two answers of known and different length (`mirage measure features`)",
        ),
        Measure(
            "family",
            "Own family",
            "Points that the judge gives its own maker's answer above what people give it. 0 is as people. Of battles.",
            "difference",
            0.0,
            "leaning",
            "no battle is between a system of the judge's maker and another's",
        ),
        Measure(
            "tau_b",
            "Order, tau-b",
            "Kendall's tau-b of the systems' order by the judge and by people on the same battles: 1 the same, -1 "
            "reversed. Of systems.",
            "difference",
            1.0,
            "order",
            _ORDER,
        ),
        Measure(
            "tau_ap",
            "Order, tau AP",
            "As tau-b, where the top of the judge's order weighs more (Yilmaz et al., SIGIR 2008). Of systems.",
            "difference",
            1.0,
            "order",
            _ORDER,
        ),
    )
}
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
}
"""Value and sample size of each measure, as functions of B x `WIDTH` sums. The order of systems is not a function of
sums, and known-answer pairs are not battles of people.
"""
KNOWN: tuple[Statistic, Statistic] = (lambda sums: ratio(sums[:, 0], sums[:, 1]), lambda sums: sums[:, 1])
"""Value and sample size of known-answer accuracy, as functions of B x 2 sums."""
