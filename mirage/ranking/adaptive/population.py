"""The battles that could be judged, each language and pair of systems in its own random order.

A cell holds the battles of one pair of systems in one language, one per query. A design judges the first battles of
each cell's random order, so it is described by one number per cell, and within a cell every battle is as likely to have
been judged as any other: the inclusion probability of a battle is its cell's share of judged battles. The order is a
hash of the seed and of names: it depends neither on the order of rows nor on other queries and systems, and a run that
was interrupted chooses the same battles again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirage.errors import NotEnoughData
from mirage.stats.units import Units

Array = NDArray[np.float64]
Places = NDArray[np.intp]

_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Constants of the SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014)."""


@dataclass(frozen=True, eq=False)
class Population:
    """All battles that could be judged."""

    languages: tuple[str, ...]
    """The L language codes."""
    systems: tuple[str, ...]
    """The S systems, which answer in every language."""
    queries: Mapping[str, tuple[str, ...]]
    """By language, the ids of its queries; R over all languages, numbered language by language."""
    row: Places
    """B: number of each battle's query."""
    pair: Places
    """B: index of each battle's pair of systems, in the order of `numpy.triu_indices`."""
    cell: Places
    """B: language index x number of pairs + pair."""
    place: Places
    """B: place of each battle in the random order of its cell, from 0."""

    @property
    def n(self) -> int:
        """Number of battles."""
        return len(self.row)

    @property
    def pairs(self) -> int:
        """Number of pairs of systems."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @cached_property
    def sizes(self) -> Places:
        """Number of battles of each cell (L x P, flat)."""
        return np.bincount(self.cell, minlength=len(self.languages) * self.pairs)

    @cached_property
    def language_of_row(self) -> Places:
        """Language index of each query (R)."""
        return np.repeat(np.arange(len(self.languages)), [len(ids) for ids in self.queries.values()])

    @cached_property
    def units(self) -> Units:
        """The sampling units of the queries."""
        return Units(self.queries)

    @cached_property
    def unit_of_row(self) -> Places:
        """Unit of each query (R)."""
        return np.concatenate([self.units.numbers[code] for code in self.languages])

    def judged(self, counts: Places) -> NDArray[np.bool_]:
        """Return whether each battle is among the first of its cell (B).

        Args:
            counts: number of judged battles of each cell.
        """
        return np.asarray(self.place < counts[self.cell])


def populate(answered: Mapping[str, Mapping[str, Sequence[str]]], *, seed: int = 0) -> Population:
    """Return all battles of systems on the queries that both answer, among the systems that answer in every language.

    Args:
        answered: by language and query id, the systems with an answer.
        seed: seed of the random orders.

    Raises:
        NotEnoughData: if fewer than two systems answer in every language.
    """
    languages = tuple(sorted(answered))
    in_each = [{system for present in answered[code].values() for system in present} for code in languages]
    systems = tuple(sorted(set.intersection(*in_each))) if in_each else ()
    if len(systems) < 2:
        raise NotEnoughData(
            f"{len(systems)} systems answer in every language, and a battle needs two", do="choose other languages"
        )
    number = {system: k for k, system in enumerate(systems)}
    queries = {code: tuple(sorted(answered[code])) for code in languages}
    present = np.zeros((sum(map(len, queries.values())), len(systems)), dtype=bool)
    ids = [(code, query) for code in languages for query in queries[code]]
    for k, (code, query) in enumerate(ids):
        present[k, [number[system] for system in answered[code][query] if system in number]] = True
    i, j = np.triu_indices(len(systems), 1)
    row, pair = np.nonzero(present[:, i] & present[:, j])
    return arrange(languages, systems, queries, row, pair, seed=seed)


def arrange(
    languages: tuple[str, ...],
    systems: tuple[str, ...],
    queries: Mapping[str, tuple[str, ...]],
    row: Places,
    pair: Places,
    *,
    seed: int = 0,
) -> Population:
    """Return a population of given battles, with the random order of each cell.

    Args:
        languages: the language codes.
        systems: the systems, sorted by name.
        queries: by language, the ids of its queries.
        row: B: number of each battle's query, counted over all languages.
        pair: B: index of each battle's pair.
        seed: seed of the random orders.
    """
    of_query = np.array([_hash(seed, code, query) for code in languages for query in queries[code]], dtype=np.uint64)
    of_system = np.array([_hash(seed, system) for system in systems], dtype=np.uint64)
    i, j = np.triu_indices(len(systems), 1)
    key = _scramble(of_query[row] ^ _scramble(of_system[i] + _scramble(of_system[j]))[pair])
    language = np.repeat(np.arange(len(languages)), [len(queries[code]) for code in languages])
    cell = language[row] * len(i) + pair
    order = np.lexsort((key, cell))
    sizes = np.bincount(cell, minlength=len(languages) * len(i))
    place = np.empty(len(row), dtype=np.intp)
    place[order] = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Population(languages, systems, queries, row, pair, cell, place)


def _hash(seed: int, *names: str) -> int:
    return int.from_bytes(hashlib.blake2b("\0".join([str(seed), *names]).encode(), digest_size=8).digest(), "little")


def _scramble(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return one output of SplitMix64 for each state."""
    with np.errstate(over="ignore"):
        mixed = values + _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[1]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[2]
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))
