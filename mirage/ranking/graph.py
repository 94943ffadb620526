"""The comparison graph of one data set (who won points from whom) and the ratings it leaves unbounded."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.fit import PairCounts

_SQUARE = 4_000
"""Number of systems up to which dense matrices of all pairs are used."""
Side = Literal["above", "below", "both"]
"""Direction in which the data puts no bound on a rating."""


def groups(systems: tuple[str, ...], pairs: PairCounts) -> tuple[tuple[str, ...], ...]:
    """Return the strongly connected components of the graph "won points from" (Ford 1957), the largest first."""
    _, label = components(pairs, 0)
    parts: dict[int, list[str]] = {}
    for name, k in zip(systems, label.tolist(), strict=True):
        parts.setdefault(k, []).append(name)
    return tuple(sorted(map(tuple, parts.values()), key=lambda g: (-len(g), g)))


def main_group(parts: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return the single largest group; empty if there is none."""
    sizes = [len(group) for group in parts]
    alone = len(sizes) == 1 or (sizes[0] > 1 and sizes[0] > sizes[1])
    return parts[0] if alone else ()


def unbounded_sides(systems: tuple[str, ...], parts: tuple[tuple[str, ...], ...], pairs: PairCounts) -> dict[str, Side]:
    """Return the side on which the data does not bound a rating, for every system outside the main group."""
    main = set(main_group(parts))
    outside = [name for name in systems if name not in main]
    if not outside:
        return {}
    beat = _took_points(pairs, 0)
    _, label = components(pairs, 0)
    # Without a main group, a component is reached from all other systems if it is the only sink.
    start = systems.index(min(main)) if main else None
    to, of = _find_reachable(beat, label, start), _find_reachable(beat.T.tocsr(), label, start)
    sides_by_system = {}
    for k, system in enumerate(systems):
        if system not in main:
            open_: tuple[tuple[Side, bool], ...] = (("above", not to[k]), ("below", not of[k]))
            sides_by_system[system] = either([side for side, without in open_ if without])
    return sides_by_system


def _find_reachable(beat: Any, label: NDArray[np.int32], start: int | None) -> NDArray[np.bool_]:
    """Return whether a path leads to each system from a start (S); with None, from all other systems."""
    from scipy.sparse.csgraph import breadth_first_order

    if start is None:
        rows, columns = beat.nonzero()
        leaves = np.zeros(label.max() + 1, dtype=bool)
        leaves[label[rows[label[rows] != label[columns]]]] = True
        ends = np.flatnonzero(~leaves)
        return np.asarray(label == ends[0] if len(ends) == 1 else np.zeros(len(label), dtype=bool))
    reached = np.zeros(len(label), dtype=bool)
    reached[breadth_first_order(beat, start, return_predecessors=False)] = True
    return reached


def either(sides: list[Side]) -> Side:
    """Return the side if all are the same, else `both`."""
    return sides[0] if len(set(sides)) == 1 else "both"


def _took_points(pairs: PairCounts, row: int) -> Any:
    """Return whether the row system won a point from the column system in one data set (S x S, sparse)."""
    from scipy.sparse import csr_array

    i, j = pairs.ends
    tied = 0 if pairs.ties is None else pairs.ties[row]
    up, down = pairs.first[row] + tied > 0, pairs.second[row] + tied > 0
    cells = (np.concatenate([i[up], j[down]]), np.concatenate([j[up], i[down]]))
    return csr_array((np.ones(len(cells[0])), cells), shape=(pairs.systems, pairs.systems))


def components(pairs: PairCounts, row: int) -> tuple[int, NDArray[np.int32]]:
    """Return the number of strongly connected components of one data set, and the component of each system."""
    s = pairs.systems
    if 0 < s <= _SQUARE and _one_component(pairs, row):
        return 1, np.zeros(s, dtype=np.int32)
    from scipy.sparse.csgraph import connected_components

    n, label = connected_components(_took_points(pairs, row), directed=True, connection="strong")
    return n, label


def _one_component(pairs: PairCounts, row: int) -> bool:
    """Return whether the graph of one data set is strongly connected, as most are. Avoids importing
    `scipy.sparse.csgraph`, which takes longer than a whole ranking.
    """
    i, j = pairs.ends
    tied = 0 if pairs.ties is None else pairs.ties[row]
    beat = np.zeros((pairs.systems, pairs.systems), dtype=bool)
    beat[i, j] |= pairs.first[row] + tied > 0
    beat[j, i] |= pairs.second[row] + tied > 0
    return all(_all_reached(steps) for steps in (beat, beat.T))


def _all_reached(steps: NDArray[np.bool_]) -> bool:
    reached = np.arange(len(steps)) == 0
    edge = reached
    while edge.any():
        edge = steps[edge].any(axis=0) & ~reached
        reached = reached | edge
    return bool(reached.all())
