"""A system's value of a feature: the mean over queries, with its uncertainty and coverage."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.encoded import encode
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
            Text may be Arrow dictionaries.
    """
    import numpy as np
    from scipy.special import stdtrit

    names, group = [], np.zeros(len(features), dtype=np.intp)
    for key in ("language", "system", "feature"):
        values, codes = encode(features[key])
        names.append(values)
        group = group * len(values) + codes
    value = features["value"]
    known = value.is_valid().to_numpy()
    of_known, values = group[known], value.drop_null().to_numpy()
    cells = math.prod(map(len, names))
    total, n = np.bincount(group, minlength=cells), np.bincount(of_known, minlength=cells)
    mean = np.bincount(of_known, values, cells) / np.maximum(n, 1)
    squares = np.bincount(of_known, (values - mean[of_known]) ** 2, cells)
    error = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
    reach = stdtrit(np.maximum(n - 1, 1), 0.975) * error
    result = []
    for k in np.flatnonzero(total).tolist():
        places = np.unravel_index(k, [len(values) for values in names])
        language, system, feature = (values[place] for values, place in zip(names, places, strict=True))
        several = n[k] > 1
        low, high = _within(feature, float(mean[k]), float(reach[k])) if several else (None, None)
        result.append(
            FeatureMean(
                language,
                system,
                feature,
                float(mean[k]) if n[k] else None,
                low,
                high,
                int(n[k]),
                int(total[k]),
                float(error[k]) if several else None,
            )
        )
    return sorted(result, key=lambda row: (row.language, row.system, row.feature))


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
