"""Registry of feature families and features."""

from mirage.stages.features import (
    citation,
    graded_support,
    grades,
    language,
    length,
    nuggets,
    overlap,
    reranker,
    support,
)
from mirage.stages.features.spec import FeatureFamily, FeatureSpec

FAMILIES: tuple[FeatureFamily, ...] = (
    language.FAMILY,
    citation.FAMILY,
    length.FAMILY,
    overlap.FAMILY,
    support.FAMILY,
    reranker.FAMILY,
    grades.FAMILY,
    nuggets.FAMILY,
    graded_support.FAMILY,
)
"""Every family."""

FEATURES: dict[str, FeatureSpec] = {spec.name: spec for family in FAMILIES for spec in family.specs}
"""Every feature by name."""
