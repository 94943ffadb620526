"""A system's value of a feature: the mean over questions, with its uncertainty and coverage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.features.families import FEATURES

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class FeatureMean:
    """One system's mean of one feature in one language."""

    language: str
    """Language of the questions."""
    system: str
    """The system."""
    feature: str
    """The feature."""
    mean: float | None
    """Mean over the questions where the feature has a value; null where it has none."""
    low: float | None
    """Lower end of the 95% interval of the mean (Student's t, the question as the unit), not below the lowest possible
    value; null with fewer than two values."""
    high: float | None
    """Upper end, not above the highest possible value."""
    n: int
    """Questions with a value."""
    total: int
    """Questions in all."""

    @property
    def coverage(self) -> float:
        """Share of the questions with a value, in [0, 1]."""
        return self.n / self.total


def means(features: pa.Table) -> list[FeatureMean]:
    """Average a features table by language, system and feature, in this order.

    Args:
        features: rows of `schema.Feature`, each key once. Missing values stay out of the mean and count in `total`.
    """
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
    result = []
    for row in grouped.sort_by([(k, "ascending") for k in keys]).to_pylist():
        mean, n = row["value_mean"], row["value_count"]
        low: float | None = None
        high: float | None = None
        if n > 1:
            margin = float(stdtrit(n - 1, 0.975)) * row["value_stddev"] / math.sqrt(n)
            spec = FEATURES.get(row["feature"])
            lowest = -math.inf if spec is None or spec.low is None else spec.low
            highest = math.inf if spec is None or spec.high is None else spec.high
            low, high = max(mean - margin, lowest), min(mean + margin, highest)
        result.append(FeatureMean(row["language"], row["system"], row["feature"], mean, low, high, n, row["count_all"]))
    return result
