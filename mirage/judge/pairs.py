"""Which answers battle: every pair, or a seeded sample, each in both orders."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mirage.errors import BadInput, NotEnoughData

if TYPE_CHECKING:
    import pyarrow as pa

ANSWERS = ("ok", "truncated", "empty", "refused")
"""Statuses of answers that battle: what the system said, if only nothing. A failed call says nothing about a system."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class OrderedPair:
    """Two answers to one query, in the order shown."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    system_a: str
    """The system shown first."""
    system_b: str
    """The system shown second."""


def choose_pairs(
    answers: pa.Table,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = 0,
    among: Collection[tuple[str, str]] | None = None,
) -> list[OrderedPair]:
    """Choose the battles: all pairs of answers to a query, or a sample, in each language; every pair both ways.

    A sample depends on the seed and on the names alone, so it is the same wherever and in whatever order the rows
    stand, and a larger sample holds the smaller one. Of queries, those are drawn whose hash is lowest. Pairs are
    drawn balanced: systems, pairs and queries occur about equally often (a round-robin schedule of the systems, each
    pair on that of its queries which was drawn least).

    Args:
        answers: `schema.Answer` rows; columns language, query_id, system and status suffice. Answers that are missing
            or failed take no part.
        queries: queries a language; all if None.
        pairs: pairs of answers a language, each in both orders; all if None. With `queries` they are drawn from those.
        seed: seed of the draw.
        among: language and id of the queries that can be judged; all if None.

    Returns:
        The battles, the two orders of a pair side by side; the languages one after the other, the rest in the order of
        the draw, so that whoever stops early has a sample.

    Raises:
        BadInput: if a number is not positive.
        NotEnoughData: if no query has answers of two systems.
    """
    for name, number in (("queries", queries), ("pairs", pairs)):
        if number is not None and number < 1:
            raise BadInput(f"{number} {name} cannot be drawn", do="give 1 or more, or leave it out for all")
    battles = []
    for language, answered in _answered(answers, among).items():
        query_ids = _shuffled(answered, seed, language, "query")[:queries]
        drawn = (
            ((query, pair) for query in query_ids for pair in _schedule(answered[query], seed, language))
            if pairs is None
            else itertools.islice(_balanced({query: answered[query] for query in query_ids}, seed, language), pairs)
        )
        for query, (first, second) in drawn:
            battles += [OrderedPair(language, query, first, second), OrderedPair(language, query, second, first)]
    if not battles:
        raise NotEnoughData(
            "no query that can be judged has answers of two systems",
            do="bring the texts of the queries and passages, and the answers of a second system",
        )
    return battles


def choose_known(
    answers: pa.Table,
    outcomes: pa.Table,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = 0,
    among: Collection[tuple[str, str]] | None = None,
) -> list[OrderedPair]:
    """Choose battles whose winner the relevance labels tell: one answer is right and the other wrong.

    They are drawn as by `choose_pairs`; queries where no passage answers and queries where one does take turns, so
    that a judge that always prefers an abstention, or never does, is right on half of them.

    Args:
        answers: as for `choose_pairs`.
        outcomes: columns language, query_id, system, subset and correct, a row an answer; null is not known.
        queries: queries a language that have such a pair; all if None.
        pairs: pairs of answers a language, each in both orders; all if None.
        seed: seed of the draw.
        among: language and id of the queries that can be judged; all if None.

    Returns:
        The battles, the two orders of a pair side by side, as of `choose_pairs`.

    Raises:
        NotEnoughData: if no query that can be judged has a right and a wrong answer.
    """
    subsets: dict[tuple[str, str], str] = {}
    known: dict[tuple[str, str], dict[str, bool]] = {}
    columns = (outcomes[name].to_pylist() for name in ("language", "query_id", "system", "subset", "correct"))
    for language, query, system, subset, correct in zip(*columns, strict=True):
        if correct is not None:
            subsets[language, query] = subset
            known.setdefault((language, query), {})[system] = correct
    battles = []
    for language, answered in _answered(answers, among).items():
        right = {query: known.get((language, query), {}) for query in answered}
        opposed = {
            query: [system for system in systems if system in right[query]]
            for query, systems in answered.items()
            if len({right[query][system] for system in systems if system in right[query]}) > 1
        }
        drawn: dict[str, dict[str, list[str]]] = {}
        for query in _shuffled(opposed, seed, language, "query")[:queries]:
            drawn.setdefault(subsets[language, query], {})[query] = opposed[query]
        by_subset = [_balanced(drawn[subset], seed, language, right) for subset in sorted(drawn)]
        turns = (item for turn in itertools.zip_longest(*by_subset) for item in turn if item is not None)
        for query, (first, second) in itertools.islice(turns, pairs):
            battles += [OrderedPair(language, query, first, second), OrderedPair(language, query, second, first)]
    if not battles:
        raise NotEnoughData(
            "no query that can be judged has a right and a wrong answer by its relevance labels",
            do="compute outcomes from labels and answers first: mirage outcomes DIR",
        )
    return battles


def listed(
    answers: pa.Table, battles: Iterable[OrderedPair], *, among: Collection[tuple[str, str]] | None = None
) -> list[OrderedPair]:
    """The battles of a list, each pair both ways, once.

    Args:
        answers: `schema.Answer` rows, as for `choose_pairs`.
        battles: pairs of answers in either order, or in both.
        among: language and id of the queries that can be judged; all if None.

    Returns:
        The battles in the order of the list, the two orders of a pair side by side.

    Raises:
        BadInput: if one cannot be fought: a query that cannot be judged, or a system without an answer to it.
        NotEnoughData: if the list is empty.
    """
    answered = _answered(answers, among)
    pairs: dict[tuple[str, str, frozenset[str]], list[OrderedPair]] = {}
    for battle in battles:
        systems = answered.get(battle.language, {}).get(battle.query_id, [])
        for system in (battle.system_a, battle.system_b):
            if system not in systems or battle.system_a == battle.system_b:
                raise BadInput(
                    f"{battle.system_a} cannot battle {battle.system_b}",
                    where=f"language={battle.language}, query_id={battle.query_id}",
                    do=f"there must be two answers, the texts of the query and of a passage; answered: {systems}",
                )
        pair = battle.language, battle.query_id, frozenset((battle.system_a, battle.system_b))
        pairs.setdefault(
            pair, [battle, OrderedPair(battle.language, battle.query_id, battle.system_b, battle.system_a)]
        )
    if not pairs:
        raise NotEnoughData("the list of battles is empty", do="leave it out to judge all")
    return [battle for both in pairs.values() for battle in both]


def _answered(answers: pa.Table, among: Collection[tuple[str, str]] | None) -> dict[str, dict[str, list[str]]]:
    """The systems with an answer, by language and query, for queries where there are two."""
    columns = (answers[name].to_pylist() for name in ("language", "query_id", "system", "status"))
    by_language: dict[str, dict[str, list[str]]] = {}
    for language, query, system, status in sorted(zip(*columns, strict=True)):
        if status in ANSWERS and (among is None or (language, query) in among):
            by_language.setdefault(language, {}).setdefault(query, []).append(system)
    return {
        language: {query: systems for query, systems in answered.items() if len(systems) > 1}
        for language, answered in by_language.items()
    }


def _shuffled(names: Collection[str], seed: int, *about: str) -> list[str]:
    """Names in an order drawn by a seed: that of their hashes."""
    return sorted(names, key=lambda name: hashlib.sha256("\0".join([str(seed), *about, name]).encode()).digest())


def _schedule(systems: Collection[str], seed: int, language: str) -> list[Pair]:
    """Every pair once, as rounds of a tournament in which each system plays once (the circle method)."""
    circle: list[str | None] = [*_shuffled(systems, seed, language, "system")]
    circle += [None] * (len(circle) % 2)
    half = len(circle) // 2
    schedule = []
    for _ in range(len(circle) - 1):
        facing = zip(circle[:half], circle[: -half - 1 : -1], strict=True)
        schedule += [(a, b) for a, b in facing if a is not None and b is not None]
        circle.insert(1, circle.pop())
    return schedule


def _balanced(
    answered: Mapping[str, Sequence[str]],
    seed: int,
    language: str,
    right: Mapping[str, Mapping[str, bool]] | None = None,
) -> Iterator[tuple[str, Pair]]:
    """Queries with pairs, until there are no more: turn by turn through the schedule, each pair on that of its
    queries which was drawn least. With `right`, by query and system, only pairs of a right and a wrong answer.
    """
    queries = list(answered)
    systems = sorted({system for present in answered.values() for system in present})
    present = {system: np.array([system in answered[query] for query in queries]) for system in systems}
    left = {(a, b): present[a] & present[b] for a, b in _schedule(systems, seed, language)}
    if right is not None:
        won = {
            system: np.array([right[query].get(system, False) for query in queries], dtype=bool) for system in systems
        }
        left = {(a, b): free & (won[a] != won[b]) for (a, b), free in left.items()}
    drawn = np.zeros(len(queries), dtype=np.intp)
    while left:
        for pair, free in list(left.items()):
            if not free.any():
                del left[pair]
                continue
            index = int(np.argmin(np.where(free, drawn, len(left) + drawn.max())))
            drawn[index] += 1
            free[index] = False
            yield queries[index], pair
