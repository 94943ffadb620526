"""What the comparison graph bounds: who took points from whom, in one data set."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.rank.fit import PairCounts

Side = Literal["above", "below", "both"]
"""Where the data puts no bound on a rating."""


def groups(systems: tuple[str, ...], pairs: PairCounts) -> tuple[tuple[str, ...], ...]:
    """Strongly connected components of the graph "took points from" (Ford 1957), the largest first."""
    n, label = components(pairs, 0)
    parts = [tuple(name for name, k in zip(systems, label, strict=True) if k == g) for g in range(n)]
    return tuple(sorted(parts, key=lambda g: (-len(g), g)))


def main_group(parts: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The one largest group; none where there is no single largest."""
    sizes = [len(group) for group in parts]
    alone = len(sizes) == 1 or (sizes[0] > 1 and sizes[0] > sizes[1])
    return parts[0] if alone else ()


def unbounded(systems: tuple[str, ...], parts: tuple[tuple[str, ...], ...], pairs: PairCounts) -> dict[str, Side]:
    """On which side nothing bounds a rating, for every system outside the main group."""
    from scipy.sparse.csgraph import breadth_first_order

    main = main_group(parts)
    outside = [s for s in systems if s not in main]
    if not outside:
        return {}
    beat = _took_points(pairs, 0)
    # Whom each system took points from, itself or through others.
    reached = {
        s: {systems[k] for k in breadth_first_order(beat, systems.index(s), return_predecessors=False)} for s in systems
    }
    sides_by_system = {}
    for system in outside:
        rest = main or [s for s in systems if s != system]
        sides: list[Side] = []
        if any(system not in reached[s] for s in rest):
            sides.append("above")
        if any(s not in reached[system] for s in rest):
            sides.append("below")
        sides_by_system[system] = either(sides)
    return sides_by_system


def either(sides: list[Side]) -> Side:
    """The one side of all, else both."""
    return sides[0] if len(set(sides)) == 1 else "both"


def _took_points(pairs: PairCounts, row: int) -> NDArray[np.bool_]:
    """S x S: whether the row system took a point from the column system, in one data set."""
    i, j = np.triu_indices(pairs.systems, 1)
    beat = np.zeros((pairs.systems, pairs.systems), dtype=bool)
    tied = 0 if pairs.ties is None else pairs.ties[row]
    beat[i, j] = pairs.first[row] + tied > 0
    beat[j, i] = pairs.second[row] + tied > 0
    return beat


def components(pairs: PairCounts, row: int) -> tuple[int, NDArray[np.int32]]:
    """How many strongly connected components one data set has, and which of them each system is in."""
    from scipy.sparse.csgraph import connected_components

    n, label = connected_components(_took_points(pairs, row), directed=True, connection="strong")
    return n, label
