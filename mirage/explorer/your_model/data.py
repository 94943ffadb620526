"""Data of the page Your system: features of a system beside those of the others.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.stages.features.families import FEATURES
from mirage.views.features import FeatureChoice, features_view

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena


@lru_cache(maxsize=32)
def languages_with_features(arena: Arena, system: str) -> tuple[str, ...]:
    """Return the languages in which a system has features."""
    rows = arena.sql("SELECT DISTINCT language FROM features WHERE system = ? ORDER BY language", [system])
    return tuple(rows["language"].to_pylist())


@lru_cache(maxsize=32)
def feature_means(arena: Arena, system: str, codes: tuple[str, ...]) -> pa.Table:
    """Return a system's mean of each feature and the others' means, in the same languages.

    Args:
        arena: with features.
        system: the system.
        codes: languages in which it has features.

    Returns:
        One row per feature of the system: feature, title, direction, mean, low, high, n, coverage; `others`, the
        median of the other systems, `least` and `most` of them; `place`, one more than the number of systems that are
        better (null where neither side is), and `of`, how many have the feature.
    """
    import pyarrow as pa

    records: list[dict[str, Any]] = []
    for name, table in features_view(arena, FeatureChoice(codes)).over.items():
        rows = {row["system"]: row for row in table.to_pylist() if row["mean"] is not None}
        if system not in rows or name not in FEATURES:
            continue
        spec, system_row = FEATURES[name], rows[system]
        others = sorted(row["mean"] for other, row in rows.items() if other != system)
        sign = {"higher": 1, "lower": -1, "none": 0}[spec.direction]
        middle = len(others) // 2
        records.append(
            {
                "feature": name,
                "title": spec.title,
                "direction": "neither is better" if not sign else f"{spec.direction} is better",
                **{part: system_row[part] for part in ("mean", "low", "high", "n", "coverage")},
                "others": (others[middle] + others[~middle]) / 2 if others else None,
                "least": others[0] if others else None,
                "most": others[-1] if others else None,
                "place": 1 + sum(sign * other > sign * system_row["mean"] for other in others) if sign else None,
                "of": len(rows),
            }
        )
    return pa.Table.from_pylist(records)
