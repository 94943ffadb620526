"""Many tests at once: Holm's correction of their p-values."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of p-values, in their order: the family-wise level at which each would be rejected.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    for k, place in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - k) * p[place]))
        adjusted[place] = largest
    return adjusted
