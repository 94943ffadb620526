"""The comparison graph of one data set (who won points from whom) and the ratings it leaves unbounded."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from mirage.ranking.fit import PairCounts
from mirage.stats.arrays import Flags
from mirage.text.segmentation import join_or_count

Side = Literal["above", "below", "both"]
"""Direction in which the data puts no bound on a rating."""
NO_BOUND: dict[Side, str] = {"above": "no upper bound", "below": "no lower bound", "both": "no bound"}
"""A side in words."""
Groups = tuple[tuple[str, ...], ...]


def groups(systems: tuple[str, ...], pairs: PairCounts) -> Groups:
    """Return the strongly connected components of the graph "won points from" (Ford 1957), the largest first."""
    reach = _took_points(pairs)
    return _components(systems, reach & reach.T)


def main_group(parts: Groups) -> tuple[str, ...]:
    """Return the single largest group; empty if there is none."""
    sizes = [len(group) for group in parts]
    alone = len(sizes) == 1 or (sizes[0] > 1 and sizes[0] > sizes[1])
    return parts[0] if alone else ()


def unbounded_sides(systems: tuple[str, ...], parts: Groups, pairs: PairCounts) -> dict[str, Side]:
    """Return the side on which the data does not bound a rating, for every system outside the main group.

    A rating is bounded above if the main group, or without one every other system, won points from it, directly or
    indirectly; below if it won points from them.
    """
    main = main_group(parts)
    if len(main) == len(systems):
        return {}
    from_system = _took_points(pairs)
    others = np.isin(systems, main) if main else np.ones(len(systems), dtype=bool)
    lost, won = (np.asarray(part.all(axis=k)) for k, part in enumerate((from_system[others], from_system[:, others])))
    sides_by_system = {}
    for k, system in enumerate(systems):
        if system not in main:
            open_: tuple[tuple[Side, Any], ...] = (("above", lost[k]), ("below", won[k]))
            sides_by_system[system] = common_side([side for side, bounded in open_ if not bounded])
    return sides_by_system


def common_side(sides: list[Side]) -> Side:
    """Return the side if all are the same, else `both`."""
    return sides[0] if len(set(sides)) == 1 else "both"


def apart_lines(pairs: Mapping[str, tuple[tuple[str, ...], Flags]]) -> list[str]:
    """Return a line for each language with groups of systems that no battle joins, given the systems of each language
    and which of them met (S x S).
    """
    lines = []
    for code, (systems, met) in pairs.items():
        parts = _components(systems, _closure(np.asarray(met | met.T)))
        if len(parts) > 1:
            listed = " | ".join(join_or_count(part, "system") for part in parts)
            where = f"{code}: " if len(pairs) > 1 else ""
            lines.append(f"{where}no battle joins {listed}: the differences between these parts are unknown")
    return lines


def _components(systems: tuple[str, ...], together: Flags) -> Groups:
    """Return the groups of systems that reach each other, the largest first."""
    parts = {tuple(name for name, is_in in zip(systems, row, strict=True) if is_in) for row in together.tolist()}
    return tuple(sorted(parts, key=lambda part: (-len(part), part)))


def _took_points(pairs: PairCounts) -> Flags:
    """Return whether the row system won points from the column system of a data set, directly or through others (S x
    S).
    """
    i, j = pairs.ends
    tied = 0 if pairs.ties is None else pairs.ties[0]
    beat = np.zeros((pairs.systems, pairs.systems), dtype=bool)
    beat[i, j], beat[j, i] = pairs.first[0] + tied > 0, pairs.second[0] + tied > 0
    return _closure(beat)


def _closure(steps: Flags) -> Flags:
    """Return whether a path of steps leads from each row to each column, or they are equal."""
    reach = steps | np.eye(len(steps), dtype=bool)
    while True:
        further = reach.astype(np.float32) @ reach.astype(np.float32) > 0
        if (further == reach).all():
            return reach
        reach = further
