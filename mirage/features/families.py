"""The register of families and features."""

from __future__ import annotations

from mirage.features import citation, grades, language, length, overlap, reranker, support
from mirage.features.spec import FeatureFamily, FeatureSpec

FAMILIES: tuple[FeatureFamily, ...] = (
    language.FAMILY,
    citation.FAMILY,
    length.FAMILY,
    overlap.FAMILY,
    support.FAMILY,
    reranker.FAMILY,
    grades.FAMILY,
)
"""Every family."""

FEATURES: dict[str, FeatureSpec] = {spec.name: spec for family in FAMILIES for spec in family.specs}
"""Every feature by its name."""
