"""A system's value of a feature: the mean over queries, with its uncertainty and coverage."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.features.families import FEATURES

if TYPE_CHECKING:
    import pyarrow as pa


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
    """Mean over the queries where the feature has a value; null where it has none."""
    low: float | None
    """Lower end of the 95% interval of the mean (Student's t, the query as the unit), not below the lowest possible
    value; null with fewer than two values."""
    high: float | None
    """Upper end, not above the highest possible value."""
    n: int
    """Queries with a value."""
    total: int
    """Queries in all."""
    error: float | None = None
    """Standard error of the mean; null with fewer than two values."""

    @property
    def coverage(self) -> float:
        """Share of the queries with a value, in [0, 1]."""
        return self.n / self.total


def means(features: pa.Table) -> list[FeatureMean]:
    """Average a features table by language, system and feature, in this order.

    Args:
        features: rows of `schema.Feature`, each key once. Missing values stay out of the mean and count in `total`.
            Text may be Arrow dictionaries, the same in all chunks.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from scipy.special import stdtrit

    keys = ["language", "system", "feature"]
    grouped = features.group_by(keys).aggregate(
        [
            ("value", "mean"),
            ("value", "stddev", pc.VarianceOptions(ddof=1)),
            ("value", "count"),
            ([], "count_all"),
        ]
    )
    for k, name in enumerate(grouped.column_names):
        if name in keys:
            grouped = grouped.set_column(k, name, grouped[name].cast(pa.string()))
    result = []
    for row in grouped.sort_by([(k, "ascending") for k in keys]).to_pylist():
        mean, n = row["value_mean"], row["value_count"]
        error = row["value_stddev"] / math.sqrt(n) if n > 1 else None
        low, high = (
            (None, None) if error is None else _within(row["feature"], mean, float(stdtrit(n - 1, 0.975)) * error)
        )
        key = row["language"], row["system"], row["feature"]
        result.append(FeatureMean(*key, mean, low, high, n, row["count_all"], error))
    return result


def over_languages(feature_means: Iterable[FeatureMean]) -> list[FeatureMean]:
    """Average each system's means over the languages where it has one, every language counting alike.

    The interval takes the languages' means as independent: the root of the summed squared standard errors over the
    number of languages, with Student's t at Satterthwaite's degrees of freedom (Biometrics Bulletin 2, 1946); null
    where a language's mean has no standard error.

    Args:
        feature_means: means by language (`means`).

    Returns:
        One of language `all` for each system and feature, in this order; `n` and `total` are sums.
    """
    from scipy.special import stdtrit

    groups: dict[tuple[str, str], list[FeatureMean]] = {}
    for row in feature_means:
        groups.setdefault((row.system, row.feature), []).append(row)
    result = []
    for (system, feature), parts in sorted(groups.items()):
        estimates = [(part.mean, part.error, part.n) for part in parts if part.mean is not None]
        errors = [error for _, error, _ in estimates if error is not None]
        mean = sum(m for m, _, _ in estimates) / len(estimates) if estimates else None
        low: float | None = None
        high: float | None = None
        error: float | None = None
        if mean is not None and len(errors) == len(estimates):
            variance = sum(e**2 for e in errors)
            error = math.sqrt(variance) / len(estimates)
            spread = sum(e**4 / (n - 1) for e, (_, _, n) in zip(errors, estimates, strict=True))
            margin = float(stdtrit(variance**2 / spread, 0.975)) * error if spread else 0.0
            low, high = _within(feature, mean, margin)
        n, total = sum(part.n for part in parts), sum(part.total for part in parts)
        result.append(FeatureMean("all", system, feature, mean, low, high, n, total, error))
    return result


def _within(feature: str, mean: float, margin: float) -> tuple[float, float]:
    """An interval that ends where the feature does."""
    spec = FEATURES.get(feature)
    lowest = -math.inf if spec is None or spec.low is None else spec.low
    highest = math.inf if spec is None or spec.high is None else spec.high
    return max(mean - margin, lowest), min(mean + margin, highest)
