"""Choice of the two systems that answer a question.

The system with the fewest votes is paired with the system it has met least; ties go to fewer votes, then to chance. The
choice depends on numbers of votes and never on who won, so every vote has the same weight.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations

import numpy as np

from mirage.errors import NotEnoughData

Pair = tuple[str, str]
"""Two systems, in order of their names."""


def choose_pair(
    systems: Collection[str], votes: Iterable[Pair], *, excluded: Collection[Pair] = (), rng: np.random.Generator
) -> Pair:
    """Choose two systems, in the random order in which they are shown.

    Args:
        systems: the systems that can answer.
        votes: the two systems of each vote so far.
        excluded: pairs to exclude, in order of their names.
        rng: breaks ties, and draws the order.

    Raises:
        NotEnoughData: if every pair is excluded.
    """
    by_pair: dict[Pair, int] = {}
    for vote in votes:
        pair = ordered(*vote)
        by_pair[pair] = by_pair.get(pair, 0) + 1
    by_system = {
        system: sum(n for pair, n in by_pair.items() if system in pair and set(pair) <= set(systems))
        for system in systems
    }
    candidates = [pair for pair in combinations(sorted(systems), 2) if pair not in set(excluded)]
    if not candidates:
        raise NotEnoughData("you have voted on every pair of systems for this question", do="ask another question")

    def need(pair: Pair) -> tuple[int, int, int]:
        fewer, more = sorted(by_system[system] for system in pair)
        return fewer, by_pair.get(pair, 0), more

    least = min(map(need, candidates))
    best = [pair for pair in candidates if need(pair) == least]
    first, second = best[int(rng.integers(len(best)))]
    return (first, second) if rng.random() < 0.5 else (second, first)


def ordered(first: str, second: str) -> Pair:
    """Return two systems in order of their names."""
    return (first, second) if first <= second else (second, first)
