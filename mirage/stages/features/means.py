"""Feature means of a system: the mean over queries, with its interval and coverage."""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from mirage.stages.features.families import FEATURES
from mirage.stats.bounded import bounded_mean_intervals, mean_of_means
from mirage.stats.encoding import encode
from mirage.stats.rows import group
from mirage.stats.units import Unit, count_units, joint_variances

Bounds = tuple[float, float]
"""Lowest and highest possible value."""


@dataclass(frozen=True, slots=True)
class FeatureMean:
    """One system's mean of one feature in one language."""

    language: str
    """Language of the queries; `all` for the mean over languages."""
    system: str
    """The system."""
    feature: str
    """The feature."""
    mean: float | None
    """Mean over the queries with a value; null if there are none."""
    low: float | None
    """Lower end of the 95% interval of the mean over queries: that of `mirage.stats.bounded` if the feature is bounded
    on both sides, else Student's t, not below the lowest possible value. Null with fewer than two values, or if all
    values of an unbounded feature are equal.
    """
    high: float | None
    """Upper end, not above the highest possible value."""
    n: int
    """Queries with a value; an id shared by languages counts once."""
    total: int
    """Queries in all."""
    error: float | None = None
    """Standard error of the mean; null with fewer than two values."""
    bounded: bool = False
    """Whether the feature is bounded on both sides."""
    unit: Unit = "query"
    """Unit of the interval: for the mean over languages that share queries, the query across languages."""

    @property
    def coverage(self) -> float:
        """Share of the queries with a value, in [0, 1]."""
        return self.n / self.total


def means(features: pa.Table, *, bounds: Mapping[str, Bounds] = MappingProxyType({})) -> list[FeatureMean]:
    """Average a features table by language, system and feature, sorted.

    Args:
        features: rows of `schema.Feature`, each key once. Missing values are excluded from the mean but count in
            `total`. Text may be dictionary-encoded.
        bounds: lowest and highest possible value of undeclared features.
    """
    from scipy.special import stdtrit

    names, cell = [], np.zeros(len(features), dtype=np.intp)
    for key in ("language", "system", "feature"):
        values, codes = encode(features[key])
        names.append(values)
        cell = cell * len(values) + codes
    value = features["value"]
    known = value.is_valid().to_numpy()
    of_known, values = cell[known], value.drop_null().to_numpy()
    cells = math.prod(map(len, names))
    total, n = np.bincount(cell, minlength=cells), np.bincount(of_known, minlength=cells)
    mean = np.bincount(of_known, values, cells) / np.maximum(n, 1)
    squares = np.bincount(of_known, (values - mean[of_known]) ** 2, cells)
    error = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
    reach = stdtrit(np.maximum(n - 1, 1), 0.975) * error
    ranges = np.array([_bounds(name, bounds) for name in names[-1]]).reshape(-1, 2)
    lowest, highest = (np.tile(end, cells // max(len(end), 1)) for end in ranges.T)
    low, high = np.maximum(mean - reach, lowest), np.minimum(mean + reach, highest)
    bounded = np.isfinite(highest - lowest) & (n > 1)
    inside = bounded[of_known]
    number = np.cumsum(bounded) - 1
    low[bounded], high[bounded] = bounded_mean_intervals(
        values[inside], number[of_known[inside]], lowest[bounded], highest[bounded]
    )
    told = bounded | ((n > 1) & (error > 0))
    mean, low, high, error = (
        np.where(there, values, np.array(None, dtype=object))
        for there, values in ((n > 0, mean), (told, low), (told, high), (n > 1, error))
    )
    columns = mean, low, high, n, total, error, bounded
    rows = zip(itertools.product(*names), *(column.tolist() for column in columns), strict=True)
    result = [FeatureMean(*key, *of) for key, *of in rows if of[4]]
    return sorted(result, key=lambda row: (row.language, row.system, row.feature))


def over_languages(
    feature_means: Iterable[FeatureMean],
    features: pa.Table,
    *,
    bounds: Mapping[str, Bounds] = MappingProxyType({}),
) -> list[FeatureMean]:
    """Average each system's means over its languages, with equal weights.

    The interval assumes independent languages: for bounded features that of `mirage.stats.bounded.mean_of_means`, else
    Student's t at Satterthwaite's degrees of freedom (Biometrics Bulletin 2, 1946); null if a language's is. If
    languages share queries, it is widened by the variance with the query as the unit (`mirage.stats.units`).

    Args:
        feature_means: means by language (`means`).
        features: the averaged rows, which show the shared queries.
        bounds: as for `means`.

    Returns:
        One of language `all` per system and feature, sorted; a query shared by languages counts once.
    """
    from scipy.special import stdtrit

    valued = features.filter(features["value"].is_valid())
    shared, with_value, of_any = joint_variances(valued), count_units(valued), count_units(features)
    result = []
    for (system, feature), parts in sorted(group(((row.system, row.feature), row) for row in feature_means).items()):
        known = [part for part in parts if part.mean is not None]
        estimates = np.array([part.mean for part in known], dtype=float)
        errors = np.array([part.error for part in known if part.error is not None])
        mean = float(estimates.mean()) if known else None
        low: float | None = None
        high: float | None = None
        error: float | None = None
        bounded = bool(known) and all(part.bounded for part in known)
        lowest, highest = _bounds(feature, bounds)
        factor, df, unit, _ = shared.get((system, feature), (1.0, None, "query", 0))
        if mean is not None and len(errors) == len(known):
            error = float(np.sqrt(factor * (errors**2).sum())) / len(known)
            if bounded:
                lows, highs = (np.array([getattr(part, end) for part in known]) for end in ("low", "high"))
                _, low, high = mean_of_means(estimates, lows, highs, factor=factor)
                low, high = max(low, lowest), min(high, highest)
            elif error > 0:
                spread = float((errors**4 / [part.n - 1 for part in known]).sum())
                margin = float(stdtrit(df or (errors**2).sum() ** 2 / spread, 0.975)) * error
                low, high = max(mean - margin, lowest), min(mean + margin, highest)
        n = with_value.get((system, feature), sum(part.n for part in parts))
        total = of_any.get((system, feature), sum(part.total for part in parts))
        result.append(FeatureMean("all", system, feature, mean, low, high, n, total, error, bounded, unit))
    return result


def _bounds(feature: str, others: Mapping[str, Bounds]) -> Bounds:
    """Return the lowest and highest possible value of a feature; infinite where there is none."""
    spec = FEATURES.get(feature)
    if spec is None:
        return others.get(feature, (-math.inf, math.inf))
    return -math.inf if spec.low is None else spec.low, math.inf if spec.high is None else spec.high
