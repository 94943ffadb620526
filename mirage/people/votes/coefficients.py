"""Coefficients of agreement as functions of sums over queries, and their intervals by resampling queries.

Shared by the agreement on battles (`agreement.py`), nuggets (`assignments.py`) and scores (`raters.py`), and by the
exam of judges (`mirage.people.exam`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND
from mirage.schema import Range
from mirage.stats.intervals import bootstrap_tails, wilson

Array = NDArray[np.float64]
Coefficient = Annotated[float, Range(-1, 1)]
Statistics = Mapping[str, Callable[[Array], Array]]
"""By name, a function from B x K sums to B values; NaN where undefined."""

DRAWS, SEED, LEVEL = 1_000, 0, 0.95
LEAST = 10
"""Minimum number of queries for an interval: a bootstrap of fewer covers less than its nominal level."""
ENOUGH = 30
"""Number of queries from which the figures are reliable; with fewer a badge is grey."""
_DEFINED = 0.9
"""Minimum share of draws with a value for an interval."""


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
    """Results of one language, with their draws."""

    row: Any
    """Row of the language: `language`, `queries` and each statistic with its interval."""
    drawn: Mapping[str, Array | None]
    """Value of each statistic in each draw; None if it has no interval."""
    people: frozenset[str] = frozenset()
    """People compared."""


def generator(seed: int, name: str) -> np.random.Generator:
    """Return the generator of the draws of one judge in one language."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def draw_sums(sums: Array, draws: int, rng: np.random.Generator) -> Array | None:
    """Return the sums over the queries of each draw (draws x K); None without queries.

    Queries with equal sums are drawn as one kind: tens of thousands of single battles have few distinct sums.
    """
    if not len(sums):
        return None
    kinds, counts = np.unique(sums, axis=0, return_counts=True)
    return np.asarray(rng.multinomial(len(sums), counts / len(sums), draws) @ kinds)


def estimate_statistics(
    sums: Array, drawn_sums: Array | None, statistics: Statistics
) -> tuple[dict[str, float | None], dict[str, Array | None]]:
    """Return the values and intervals of statistics of one language, as fields of a row, and their draws.

    Args:
        sums: Q x K: contribution of each query.
        drawn_sums: draws x K: sums over the queries of each draw.
        statistics: the statistics.
    """
    values: dict[str, float | None] = {}
    drawn: dict[str, Array | None] = {}
    for name, statistic in statistics.items():
        value = float(statistic(sums.sum(axis=0, keepdims=True))[0])
        drawn[name] = None if drawn_sums is None or np.isnan(value) else statistic(drawn_sums)
        values |= interval(name, value, drawn, len(sums))
    return values, drawn


def interval(name: str, value: float, drawn: dict[str, Array | None], queries: int) -> dict[str, float | None]:
    """Return a value and its 95% interval, as `name`, `name_low` and `name_high`; null if undefined.

    Args:
        name: of the statistic; `raw` and `distance` are shares, with Wilson's interval where they are 0 or 1.
        value: the statistic.
        drawn: its value in each draw of queries, by name; set to None here where there is no interval.
        queries: number of queries.
    """
    ends: tuple[float | None, float | None] = (None, None)
    draws = drawn[name]
    if draws is not None and queries >= LEAST and np.isfinite(draws).mean() >= _DEFINED:
        if name in ("raw", "distance") and value in (0, 1):
            ends = wilson(int(value) * queries, queries)
        elif np.ptp(draws[np.isfinite(draws)]) > 0:
            tails = bootstrap_tails(LEVEL, queries)
            low, high = np.quantile(draws[np.isfinite(draws)], tails, method="weibull")
            ends = float(low), float(high)
    if ends[0] is None:
        drawn[name] = None
    return {name: None if np.isnan(value) else value, f"{name}_low": ends[0], f"{name}_high": ends[1]}


def means_over_languages(parts: Sequence[LanguagePart], statistics: Sequence[str]) -> dict[str, Any]:
    """Average each statistic over languages, with its interval from the means of the draws, as fields of a row.

    Args:
        parts: the languages.
        statistics: names of the statistics.
    """
    values: dict[str, Any] = {}
    for name in statistics:
        known = [part for part in parts if getattr(part.row, name) is not None]
        drawn = [draws for part in known if (draws := part.drawn[name]) is not None]
        mean = float(np.mean([getattr(part.row, name) for part in known])) if known else np.nan
        joint = {name: np.mean(drawn, axis=0) if drawn and len(drawn) == len(known) else None}
        values |= interval(name, mean, joint, sum(part.row.queries for part in known))
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
        "draws": parts[0].row.draws,
        "seed": parts[0].row.seed,
    }
    return fields, [part.row.language for part in parts if part.row.raw_low is None]
