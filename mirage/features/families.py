"""The register of families and features."""

from __future__ import annotations

from mirage.features import citation, language, length
from mirage.features.spec import Family, FeatureSpec

FAMILIES: tuple[Family, ...] = (language.FAMILY, citation.FAMILY, length.FAMILY)
"""Every family."""

FEATURES: dict[str, FeatureSpec] = {spec.name: spec for family in FAMILIES for spec in family.specs}
"""Every feature by its name."""
