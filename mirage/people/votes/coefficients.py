"""Coefficients of agreement as functions of sums over queries, with intervals over queries (`mirage.stats.jackknife`).

Shared by the agreement on battles (`agreement.py`) and scores (`raters.py`), and by the exam of judges
(`mirage.people.exam`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND
from mirage.schema import Range
from mirage.stats.jackknife import Spread, estimate, jackknife

Array = NDArray[np.float64]
Coefficient = Annotated[float, Range(-1, 1)]
Statistics = Mapping[str, Callable[[Array], Array]]
"""By name, a function from B x K sums to B values; NaN where undefined."""

ENOUGH = 30
"""Number of queries from which the figures are reliable; with fewer a badge is grey."""
_SHARES = ("raw", "distance", "equal")
"""Statistics in [0, 1]; others are in [-1, 1]."""


def ratio(a: Array, b: Array) -> Array:
    """Return the quotient, NaN for a denominator of 0."""
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=np.abs(b) > 1e-9))


def contingency(people: Array, label: NDArray[np.intp]) -> Array:
    """Return the contingency table of people and a judge on each battle (B x 3 x 3).

    Args:
        people: B x 3: number of people of each opinion.
        label: B: the judge's decision.
    """
    return np.asarray(people[:, :, None] * np.eye(3)[label][:, None, :])


def kappas(n: Array, agreeing: Array, first: Array, second: Array, *, pooled: bool = False) -> Array:
    """Return Cohen's kappa of B data sets.

    Args:
        n: B: number of pairs.
        agreeing: B: number of pairs that agree.
        first: B x C: marginal counts of one observer.
        second: B x C: those of the other.
        pooled: whether the first two values are two sides of one, with a common chance.

    Source: Cohen, Educational and Psychological Measurement 20 (1960).
    """
    chance = (_pool(first, pooled) * _pool(second, pooled)).sum(axis=1)
    return ratio(n * agreeing - chance, n**2 - chance)


def coincidences(counts: Array) -> Array:
    """Return each unit's observed disagreement and its counts (U x (1 + C)); zeros if nothing can be compared."""
    m = counts.sum(axis=1)
    two = m > 1
    disagreement = np.where(two, (m**2 - (counts**2).sum(axis=1)) / np.where(two, m - 1, 1), 0)
    return np.column_stack([disagreement, counts * two[:, None]])


def alphas(sums: Array, *, pooled: bool) -> Array:
    """Return Krippendorff's alpha for nominal values of B data sets; NaN if no two values differ or can be compared.

    Args:
        sums: B x (1 + C) sums of `coincidences`.
        pooled: as in `kappas`.

    Source: Krippendorff, Content Analysis, 4th ed. (2018), ch. 12: 1 - observed / expected disagreement.
    """
    counts = _pool(sums[:, 1:], pooled)
    n = counts.sum(axis=1)
    expected = n**2 - (counts**2).sum(axis=1)
    return np.asarray(1 - ratio((n - 1) * sums[:, 0], expected))


def _pool(counts: Array, pooled: bool) -> Array:
    if not pooled:
        return counts
    averaged = counts.copy()
    averaged[:, [FIRST, SECOND]] = counts[:, [FIRST, SECOND]].mean(axis=1, keepdims=True)
    return averaged


@dataclass(frozen=True, eq=False)
class LanguagePart:
    """Results of one language, with their variances."""

    row: Any
    """Row of the language: `language`, `queries` and each statistic with its interval."""
    spreads: Mapping[str, Spread]
    """Value and variance of each statistic."""
    people: frozenset[str] = frozenset()
    """People compared."""


def estimate_statistics(sums: Array, statistics: Statistics) -> tuple[dict[str, float | None], dict[str, Spread]]:
    """Return the values and intervals of statistics of one language, as fields of a row, and their variances.

    Args:
        sums: Q x K: contribution of each query, the number of pairs first.
        statistics: the statistics.
    """
    spreads = {name: jackknife(sums, statistic, lambda s: s[:, 0]) for name, statistic in statistics.items()}
    values: dict[str, float | None] = {}
    for name, spread in spreads.items():
        values |= _interval(name, [spread])
    return values, spreads


def _interval(name: str, spreads: Sequence[Spread]) -> dict[str, float | None]:
    """Return a statistic's mean over languages and its 95% interval, as `name`, `name_low` and `name_high`."""
    if name == "distance":  # half points vary less than shares: their number does not bound the effective one
        spreads = [replace(spread, n=10**9) for spread in spreads]
    found = estimate(spreads, none="", scale="share" if name in _SHARES else "difference")
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def means_over_languages(parts: Sequence[LanguagePart], statistics: Sequence[str]) -> dict[str, Any]:
    """Average each statistic over languages, with its interval, as fields of a row.

    Args:
        parts: the languages.
        statistics: names of the statistics.
    """
    values: dict[str, Any] = {}
    for name in statistics:
        values |= _interval(name, [part.spreads[name] for part in parts])
    return values


def joint_fields(
    parts: Sequence[LanguagePart], statistics: Sequence[str], counts: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of the row over all languages, and the languages without an interval, which are left out.

    The figures are means over the languages with an interval (all, if none has one), the counts sums over all.

    Args:
        parts: the languages.
        statistics: names of the averaged fields.
        counts: names of the summed fields.
    """
    used = [part for part in parts if part.row.raw_low is not None] or parts
    values = means_over_languages(used, statistics)
    fields = {
        "language": "all",
        "voters": len(frozenset().union(*(part.people for part in parts))),
        **values,
        **{name: sum(getattr(part.row, name) for part in parts) for name in counts},
        "enough": values["raw_low"] is not None and sum(part.row.queries for part in used) >= ENOUGH,
    }
    return fields, [part.row.language for part in parts if part.row.raw_low is None]
